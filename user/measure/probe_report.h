/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports by which backend of the probe the job's waits were detected.
 */
#ifndef JETWATT_MEASURE_PROBE_REPORT_H
#define JETWATT_MEASURE_PROBE_REPORT_H

#include <stdio.h>

#include "jetwatt.h"
#include "out/json.h"

/* Return the backend that detected the most frequent kind of wait, or JETWATT_BACKEND_MARKER if
 * there were only marks. If there were neither waits nor marks, return the best backend that is
 * attached, or 0. */
uint32_t jetwatt_probe_report_backend(const struct jetwatt_probe_state *st);

/* Print which backend has detected the waits; add the object "probe" to the JSON output. */
void jetwatt_probe_report_print(const struct jetwatt_probe_state *st, FILE *f);
void jetwatt_probe_report_json(const struct jetwatt_probe_state *st, struct jetwatt_json *j);

#endif
