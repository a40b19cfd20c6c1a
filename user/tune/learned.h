/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the search for a job's best mode: candidates, measured rows and the model fitted to
 * them. The functions here access no board, session or database; the functions of tuner.h do. Used
 * by the verbs and by jetwattd.
 */
#ifndef JETWATT_TUNE_LEARNED_H
#define JETWATT_TUNE_LEARNED_H

#include "model/estimator.h"
#include "plan/plan.h"

/* Seed of the fits and searches of verbs and jetwattd: the same rows give the same result. */
#define JETWATT_TUNER_SEED	1

struct jetwatt_args;
struct jetwatt_mode_guard;
struct jetwatt_profile_store;
struct jetwatt_session;

/**
 * struct jetwatt_tuner - state of the search for a job's best mode
 * @args: common options
 * @session: measurement session of the job; NULL: no job runs
 * @guard: restores the board at the end
 * @store: profile database; NULL: none
 * @mode: candidates
 * @batch: minibatch size of each candidate; NULL: not a feature
 * @size: minibatch size of the rows of the file, 0: unknown or several sizes; in optimize --latency
 *	with a job: minibatch size of the running job
 * @nr_modes: number of candidates
 * @row: measured rows, beginning with the rows of a file or database; a mode may occur more than
 *	once
 * @nr_rows: number of rows
 * @from_file: number of rows from a file or database
 * @max_rows: number of rows allocated
 * @measured: number of new modes measured in this run; optimize counts those of @out's old file too
 * @max_measured: largest value of @measured, for the progress bar
 * @out: CSV file that is rewritten after every measured row; NULL: none
 * @budget_w: power budget, in watts; 0: no budget
 * @wait_s: timeout for GPU work of the job, in seconds
 * @risk: accepted probability that an unmeasured mode exceeds the budget
 * @prediction: prediction of every candidate by jetwatt_tuner_predict(), or of those that
 *	jetwatt_tuner_predict_possible() does not exclude; NULL: not yet
 * @by: predictor and prior; all zero: the default predictor without a prior
 * @model: model of the last fit; NULL: none
 * @fitted: rows of the last fit
 * @nr_fitted: number of elements of @fitted
 * @warm_rows: with more rows than this, the model is fitted with the hyper-parameters of the last
 *	full fit until the number of rows has grown by a quarter; 0: every fit is a full fit
 * @base: model of the last full fit; NULL: none
 * @nr_base: number of rows of that fit, the first elements of @fitted
 * @memory: what jetwatt_tuner_predict_possible() has computed with @model
 * @given: 1: the model @model was read from a file and is not fitted again
 * @begun_ns: start of the measurements, CLOCK_MONOTONIC in nanoseconds
 * @ended_ns: end of the last measurement, CLOCK_MONOTONIC in nanoseconds; 0: nothing was measured
 *	yet
 * @silent: 1: print nothing on standard output
 * @down: 1: the clocks of CPU and GPU must not be raised from one mode to the next
 * @sizes: 1: the minibatch size is a feature
 */
struct jetwatt_tuner {
	const struct jetwatt_args *args;
	struct jetwatt_session *session;
	struct jetwatt_mode_guard *guard;
	struct jetwatt_profile_store *store;
	struct jetwatt_mode *mode;
	uint32_t *batch, size;
	size_t nr_modes;
	struct jetwatt_row *row;
	size_t nr_rows, from_file, max_rows;
	unsigned int measured, max_measured;
	const char *out;
	double budget_w, wait_s, risk;
	struct jetwatt_prediction *prediction;
	struct jetwatt_estimator by;
	struct jetwatt_fitted *model;
	struct jetwatt_row *fitted;
	size_t nr_fitted, warm_rows;
	struct jetwatt_fitted *base;
	size_t nr_base;
	struct jetwatt_plan_memory memory;
	int given;
	uint64_t begun_ns, ended_ns;
	int silent, down, sizes;
};

/* Append a row. Return: 0, exit code. */
int jetwatt_tuner_add(struct jetwatt_tuner *l, const struct jetwatt_row *row);

/*
 * Set the prior's rows from other devices to these @n rows of the same workload; earlier such rows
 * are discarded. Return: 0; 1 if the predictor does not use rows of other devices or @n is less than
 * 3, then the prior is unchanged; negative exit code, after printing the error.
 */
int jetwatt_tuner_add_cross_device(struct jetwatt_tuner *l, const struct jetwatt_row *row, size_t n);

/* Return: number of candidates that have a measured row. */
size_t jetwatt_tuner_known(const struct jetwatt_tuner *l);

/* Drop the prior, and the model that was fitted with it. */
void jetwatt_tuner_forget_prior(struct jetwatt_tuner *l);

/* Fit the model to the measured rows, unless the last fit used the same rows; a model that was read
 * from a file stays unchanged. Return: 0, exit code. */
int jetwatt_tuner_fit(struct jetwatt_tuner *l);
/* Fit the model to the measured rows, and predict every candidate. Return: 0, exit code. */
int jetwatt_tuner_predict(struct jetwatt_tuner *l);
/* As jetwatt_tuner_predict(), but only for the candidates that jetwatt_plan_predict_possible() does
 * not exclude; the minibatch size must not be a feature. @limit_w: power budget, in watts; @beat_ms: time
 * to beat, in ms, 0: none; @seen: state of each candidate. Return: 0, exit code. */
int jetwatt_tuner_predict_possible(struct jetwatt_tuner *l, double limit_w, double beat_ms, unsigned char *seen);

/* Return: the latest row of the mode, NULL if it has not been measured. */
const struct jetwatt_row *jetwatt_tuner_row(const struct jetwatt_tuner *l,
					    const struct jetwatt_mode *mode);

/*
 * Print why a fit or a prediction failed. @err: negative errno; @what: the action that failed, for
 * the message. Return: exit code.
 */
int jetwatt_tuner_failed(const struct jetwatt_tuner *l, int err, const char *what);
/* Print that the process is out of memory. Return: exit code. */
int jetwatt_tuner_no_memory(void);

/* Free the contents of @l. */
void jetwatt_tuner_free(struct jetwatt_tuner *l);

#endif
