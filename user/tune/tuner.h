/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Learning a job's modes: the loop of profile and optimize. What to measure
 * next is the plan's business; here it is switched to and measured.
 */
#ifndef JETWATT_TUNE_TUNER_H
#define JETWATT_TUNE_TUNER_H

#include "measure/mode.h"
#include "measure/session.h"
#include "plan/plan.h"
#include "tune/learned.h"
#include "tune/mode_guard.h"
#include "tune/profile_store.h"
#include "util/args.h"

#define JETWATT_LEARN_MOST	20
#define JETWATT_LEARN_RISK	0.05

/* Candidates from a file, or the board's grid. Return: 0, exit code. */
int jetwatt_learn_modes(struct jetwatt_learn *l, const struct jetwatt_board *board,
			const char *path);

/* Rows of a profile. @must: it has to exist. Return: 0, exit code. */
int jetwatt_learn_read(struct jetwatt_learn *l, const char *path, int must);

/* Rows of the same workload that are in the database; what is known of it from
 * elsewhere becomes a prior. Return: 0, exit code. */
int jetwatt_learn_reuse(struct jetwatt_learn *l);

/* What is known of it elsewhere alone. */
int jetwatt_learn_others(struct jetwatt_learn *l);

/* Switch to a mode and measure it; the row is appended and written.
 * @limits: NULL: those of a profile. Return: 0, exit code. */
int jetwatt_learn_measure(struct jetwatt_learn *l, size_t index, const char *why,
			  const struct jetwatt_measure_limits *limits);

/* Measure what the plan asks for next, on the way to @modes of them. Return: 0,
 * exit code, -ENODATA: nothing is worth measuring. */
int jetwatt_learn_one(struct jetwatt_learn *l, size_t modes);

/* Measure what the plan asks for until @modes are known, or it is content.
 * Return: 0, exit code. */
int jetwatt_learn_run(struct jetwatt_learn *l, size_t modes);

#endif
