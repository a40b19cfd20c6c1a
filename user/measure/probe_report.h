/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the job's waits were seen, in words.
 */
#ifndef JETWATT_MEASURE_PROBE_REPORT_H
#define JETWATT_MEASURE_PROBE_REPORT_H

#include <stdio.h>

#include "jetwatt.h"
#include "out/json.h"

/* The rung that most of the waits came by, marks aside; else what is attached. */
uint32_t jetwatt_rung_used(const struct jetwatt_probe_state *st);

void jetwatt_rung_print(const struct jetwatt_probe_state *st, FILE *f);
void jetwatt_rung_json(const struct jetwatt_probe_state *st, struct jetwatt_json *j);

#endif
