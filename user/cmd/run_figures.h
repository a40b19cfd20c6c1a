/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of a recorded run on standard output; for jetwatt record and report. */
#ifndef JETWATT_CMD_RUN_FIGURES_H
#define JETWATT_CMD_RUN_FIGURES_H

#include "measure/replay.h"
#include "util/args.h"

/* Print the summary of the run @m of the trace @r, and the figures of its work units. @json: 1: as JSON.
 * Return: 0, exit code. */
int jetwatt_run_figures(const struct jetwatt_replay *r, const struct jetwatt_run_energy *m, int json,
			const struct jetwatt_args *a);

#endif
