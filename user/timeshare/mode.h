/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power mode for two programs in time slices: among the modes that the board supports and in which
 * both were measured, choose the one with the highest training throughput within the power budget and
 * the latency limit, at a given request rate. Built on plan/slice.h.
 */
#ifndef JETWATT_TIMESHARE_MODE_H
#define JETWATT_TIMESHARE_MODE_H

#include <stdio.h>

#include "out/json.h"
#include "plan/slice.h"
#include "timeshare/conf.h"
#include "tune/mode_guard.h"

struct jetwatt_mode_table;

/**
 * struct jetwatt_timeshare_mode - the chosen mode
 * @files: measured modes of both programs; NULL: no power budget
 * @guard: restores the board at the end
 * @plan: the plan by which the present mode was chosen
 * @arrival_hz: request rate for which the present mode was last chosen or kept, in requests per second
 * @switches: number of times that a mode was applied, with the first one
 * @held: 1: the lease of the board is held
 */
struct jetwatt_timeshare_mode {
	struct jetwatt_mode_table *files;
	struct jetwatt_mode_guard guard;
	struct jetwatt_slice_plan plan;
	double arrival_hz;
	unsigned int switches;
	int held;
};

/* Read the files, take the lease of the board and apply the first mode. Without a power budget do
 * nothing. Return: 0 or an exit code; the error has been reported. */
int jetwatt_timeshare_mode_open(struct jetwatt_timeshare_mode *m, struct jetwatt_board *board,
			       const struct jetwatt_timeshare_conf *conf);

/* Adapt the mode to a request rate that differs by at least 10 % from that of the last choice: switch
 * to the best mode within the limits if the present mode exceeds them, or if the best mode has over
 * 5 % more training throughput. If no mode is within the limits, or the switch fails and is rolled
 * back, stay. Return: 1 if the mode was switched; 0 if not; -EIO if the board is not in the present
 * mode after a failed switch, which has been reported. */
int jetwatt_timeshare_mode_follow(struct jetwatt_timeshare_mode *m,
				 const struct jetwatt_timeshare_conf *conf, double arrival_hz);

/* Write the chosen mode and its figures to the report, as JSON or as text. */
void jetwatt_timeshare_mode_json(const struct jetwatt_timeshare_mode *m, struct jetwatt_json *j);
void jetwatt_timeshare_mode_show(const struct jetwatt_timeshare_mode *m, FILE *f);

/* Restore the board and free everything. Return: 0 or an exit code. */
int jetwatt_timeshare_mode_close(struct jetwatt_timeshare_mode *m);

#endif
