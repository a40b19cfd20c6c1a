/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which power mode two programs take turns in: of the modes in which both were
 * measured, the one in which most training fits beside so many requests, within a
 * power budget and the latency.
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
 * struct jetwatt_schedule_mode - the mode at hand
 * @files: what was measured
 * @plan: why this one; @arrival_hz: for so many requests
 * @switches: modes that were applied
 */
struct jetwatt_schedule_mode {
	struct jetwatt_mode_table *files;
	struct jetwatt_guard guard;
	struct jetwatt_slice_plan plan;
	double arrival_hz;
	unsigned int switches;
	int held;
};

/* Read the files, hold the board and switch to the first mode. Nothing without a power
 * budget. Says what is wrong. Return: exit code. */
int jetwatt_schedule_mode_open(struct jetwatt_schedule_mode *m, struct jetwatt_board *board,
			       const struct jetwatt_schedule_conf *conf);

/* So many requests come now. Another mode is switched to if the one at hand cannot keep the
 * limits, or another one trains more. Return: 1: it was switched, 0: not; -EIO: refused, and
 * it was said why. */
int jetwatt_schedule_mode_follow(struct jetwatt_schedule_mode *m,
				 const struct jetwatt_schedule_conf *conf, double arrival_hz);

/* For the report, as JSON and as text. */
void jetwatt_schedule_mode_json(const struct jetwatt_schedule_mode *m, struct jetwatt_json *j);
void jetwatt_schedule_mode_show(const struct jetwatt_schedule_mode *m, FILE *f);

/* The board as it was. Return: exit code. */
int jetwatt_schedule_mode_close(struct jetwatt_schedule_mode *m);

#endif
