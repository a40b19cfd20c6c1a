/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fit-and-measure loop of profile and optimize. The plan (plan/plan.h) chooses the next mode;
 * the functions of this file apply the mode, measure it, and store the row.
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

/* Default of the largest number of modes to measure. */
#define JETWATT_TUNER_MAX_MODES	20
/* Default of the accepted probability of exceeding the budget. */
#define JETWATT_TUNER_RISK	0.05

/* Set the candidates of the search: the modes of the file @path, or if @path is NULL the grid of
 * the board. Return: 0, exit code. */
int jetwatt_tuner_modes(struct jetwatt_tuner *l, const struct jetwatt_board *board,
			const char *path);

/* Read the measured rows of a CSV file. @must: 1: the file must exist. Return: 0, exit code. */
int jetwatt_tuner_read(struct jetwatt_tuner *l, const char *path, int must);

/*
 * Set the minibatch size of the rows that jetwatt_tuner_read() has read without one, because all of
 * them have the size @l->size. @only: size of the rows of a file without a column batch; 0: unknown.
 * A search for a minibatch size needs it. Return: 0, exit code.
 */
int jetwatt_tuner_label_rows(struct jetwatt_tuner *l, uint32_t only);

/*
 * Read rows of the same workload from the database, and rows of the same workload from other
 * devices, releases or cgroups as a prior. Return: 0, exit code.
 */
int jetwatt_tuner_reuse(struct jetwatt_tuner *l);

/* Read rows of the same workload on other devices, releases or in other cgroups from the database
 * as a prior. Return: 0, exit code. */
int jetwatt_tuner_others(struct jetwatt_tuner *l);

/*
 * Switch to candidate @index, measure it, and append and store the row. @why: reason why the mode
 * was chosen, for the report; @limits: limits of the length of the measurement; NULL: those of
 * profile. Return: 0, exit code.
 */
int jetwatt_tuner_measure(struct jetwatt_tuner *l, size_t index, const char *why,
			  const struct jetwatt_measure_limits *limits);

/*
 * Measure the mode that the plan chooses. @modes: largest number of different modes that may be
 * measured. Return: 0; an exit code; or -ENODATA if no mode is worth measuring.
 */
int jetwatt_tuner_one(struct jetwatt_tuner *l, size_t modes);

/* Call jetwatt_tuner_one() until no mode is worth measuring, for at most @modes different modes.
 * Return: 0, exit code. */
int jetwatt_tuner_run(struct jetwatt_tuner *l, size_t modes);

#endif
