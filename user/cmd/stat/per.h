/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of the figures per work unit (--per), as text and as JSON. */
#ifndef JETWATT_CMD_STAT_PER_H
#define JETWATT_CMD_STAT_PER_H

#include <stdio.h>

#include "measure/work_units.h"
#include "out/json.h"
#include "util/args.h"

/* Print the figures of @n counters. */
void jetwatt_stat_per_print(const struct jetwatt_work_unit *unit, int n, FILE *f,
			    const struct jetwatt_args *a);
/* Add the object "per" to the JSON object that is open, with one member for each counter. */
void jetwatt_stat_per_json(const struct jetwatt_work_unit *unit, int n, struct jetwatt_json *j);

#endif
