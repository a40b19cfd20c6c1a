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
#include "tune/mode_guard.h"
#include "tune/profile_store.h"
#include "util/args.h"

#define JETWATT_LEARN_SEED	1
#define JETWATT_LEARN_MOST	20
#define JETWATT_LEARN_RISK	0.05

/**
 * struct jetwatt_learn - what is known of a job so far
 * @mode, @nr_modes: candidates; @batch: minibatch size of each, NULL: no feature
 * @sizes: a profile may have several minibatch sizes, they are a feature then
 * @size: of the rows, where they have one only and tell it; with @sizes of what runs
 * @row, @nr_rows: measurements, those of a file first; a mode may be there twice
 * @from_file: rows that were there before
 * @measured: modes measured by us that were new
 * @most: of them in all, for the bar
 * @keep: the profile database, NULL: none
 * @out: written after every row, NULL: not
 * @prediction: of every candidate after jetwatt_learn_predict(), else NULL
 * @model: what the last jetwatt_learn_predict() went by; @given: it is complete,
 *	and stays as it is
 * @by: the predictor, and what it has learned of references and other boards; all
 *	zero: the default one, and nothing
 * @risk: accepted probability that a mode not measured is over the budget
 * @down: clocks must not be raised from one mode to the next
 * @wait_s: how long to wait for GPU work
 * @detected: minibatches seen so far, over all modes
 */
struct jetwatt_learn {
	const struct jetwatt_args *args;
	struct jetwatt_watch *watch;
	struct jetwatt_guard *guard;
	struct jetwatt_keep *keep;
	struct jetwatt_mode *mode;
	uint32_t *batch, size;
	size_t nr_modes;
	struct jetwatt_row *row;
	size_t nr_rows, from_file, max_rows;
	unsigned int measured, most;
	const char *out;
	double budget_w, wait_s, risk;
	struct jetwatt_prediction *prediction;
	struct jetwatt_estimator by;
	struct jetwatt_fitted *model;
	int given;
	uint64_t begun_ns, ended_ns;
	int silent, down, sizes;
};

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

/* One more measurement. Return: 0, exit code. */
int jetwatt_learn_add(struct jetwatt_learn *l, const struct jetwatt_row *row);

/* Switch to a mode and measure it; the row is appended and written.
 * @limits: NULL: those of a profile. Return: 0, exit code. */
int jetwatt_learn_measure(struct jetwatt_learn *l, size_t index, const char *why,
			  const struct jetwatt_measure_limits *limits);

/* How many of the candidates have been measured, a file's among them. */
size_t jetwatt_learn_known(const struct jetwatt_learn *l);

/* Measure what the plan asks for next, on the way to @modes of them. Return: 0,
 * exit code, -ENODATA: nothing is worth measuring. */
int jetwatt_learn_one(struct jetwatt_learn *l, size_t modes);

/* Measure what the plan asks for until @modes are known, or it is content.
 * Return: 0, exit code. */
int jetwatt_learn_run(struct jetwatt_learn *l, size_t modes);

/* Fit what was measured; a model that is given stays. Return: 0, exit code. */
int jetwatt_learn_fit(struct jetwatt_learn *l);
/* And predict every candidate. Return: 0, exit code. */
int jetwatt_learn_predict(struct jetwatt_learn *l);

/* Row of a candidate, the newest one, NULL: not measured. */
const struct jetwatt_row *jetwatt_learn_row(const struct jetwatt_learn *l,
					    const struct jetwatt_mode *mode);

void jetwatt_learn_free(struct jetwatt_learn *l);

#endif
