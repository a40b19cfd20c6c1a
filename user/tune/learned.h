/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a job: its candidates, its measurements, and the model fitted to them. No
 * board, no session and no database; tuner.h has those.
 */
#ifndef JETWATT_TUNE_LEARNED_H
#define JETWATT_TUNE_LEARNED_H

#include "model/estimator.h"

#define JETWATT_LEARN_SEED	1

struct jetwatt_args;
struct jetwatt_guard;
struct jetwatt_keep;
struct jetwatt_watch;

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

/* One more measurement. Return: 0, exit code. */
int jetwatt_learn_add(struct jetwatt_learn *l, const struct jetwatt_row *row);

/* Rows of the same workload from elsewhere become a prior, if they are enough and the predictor
 * uses them. Return: 0: they have; 1: they have not; -code: exit code, said. */
int jetwatt_learn_twin(struct jetwatt_learn *l, const struct jetwatt_row *row, size_t n);

/* How many of the candidates have been measured, a file's among them. */
size_t jetwatt_learn_known(const struct jetwatt_learn *l);

/* Fit what was measured; a model that is given stays. Return: 0, exit code. */
int jetwatt_learn_fit(struct jetwatt_learn *l);
/* And predict every candidate. Return: 0, exit code. */
int jetwatt_learn_predict(struct jetwatt_learn *l);

/* Row of a candidate, the newest one, NULL: not measured. */
const struct jetwatt_row *jetwatt_learn_row(const struct jetwatt_learn *l,
					    const struct jetwatt_mode *mode);

/* Say why a fit or a prediction has failed. @err: negative errno; @what: the consequence. Return:
 * exit code. */
int jetwatt_learn_failed(const struct jetwatt_learn *l, int err, const char *what);
/* The same for want of memory. */
int jetwatt_learn_no_memory(void);

void jetwatt_learn_free(struct jetwatt_learn *l);

#endif
