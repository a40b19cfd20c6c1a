// SPDX-License-Identifier: GPL-2.0-only
/* Prints the figures of a recorded run as text or JSON. */
#include "cmd/run_figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/stat/per.h"
#include "measure/summary.h"
#include "util/error.h"

int jetwatt_run_figures(const struct jetwatt_replay *r, const struct jetwatt_run_energy *m, int json,
			const struct jetwatt_args *a)
{
	struct jetwatt_work_unit unit[JETWATT_UNITS_MAX];
	int n = jetwatt_replay_units(r, unit);
	struct jetwatt_summary s;
	struct jetwatt_json j;

	if (jetwatt_summary_make(&s, m))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot compute the summary of the run");
	if (!json) {
		jetwatt_summary_print(&s, stdout, a);
		jetwatt_stat_per_print(unit, n, stdout, a);
		return 0;
	}
	jetwatt_json_init(&j, stdout, 1);
	jetwatt_json_object(&j, NULL);
	jetwatt_summary_fields(&s, &j);
	if (n)
		jetwatt_stat_per_json(unit, n, &j);
	jetwatt_json_end(&j);
	return 0;
}
