/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evaluate a prediction method on a corpus, a file in which every mode of a workload was measured.
 * The method is fitted to some rows of the file; its predictions, or the modes that it chooses, are
 * compared with the measured values.
 */
#ifndef JETWATT_CMD_EVAL_EVAL_H
#define JETWATT_CMD_EVAL_EVAL_H

#include "model/estimator.h"
#include "tune/corpus.h"
#include "util/args.h"

#define JETWATT_EVAL_CURVE	16

/**
 * struct jetwatt_eval - one evaluation
 * @args: global options
 * @path: file of the corpus
 * @reference: files of other workloads to learn from
 * @method: the predictor
 * @samples: number of rows that the method is fitted to
 * @repeats: number of repeats, each with another seed
 * @curve, @nr_curve: numbers of rows, if --samples is a list; each number of rows is evaluated
 * @plot: file to write a plot to, NULL: no plot
 * @presets: nvpmodel.conf whose presets are compared, NULL: no comparison
 * @pool: file of measurements of the same workload by other devices, NULL: no file
 * @designed: positive: rows are chosen by the plan, or by the method itself; 0: rows are drawn at
 *	random; -1: the option was not given
 * @json: print JSON
 * @seed: seed of all random choices
 * @lo, @hi, @step: budgets in W (optimize)
 * @risk: accepted probability of exceeding the budget (optimize)
 * @verify: maximum number of candidates to measure per budget (optimize)
 * @row, @batch, @mode, @n: the corpus; @batch is NULL if the minibatch size is no feature
 * @highest: highest level of each knob in the corpus
 * @prior: what the method learned from the files @reference and @pool, NULL: nothing
 * @guide: predictor that guides a search: @method and @prior if the method predicts standard
 *	deviations, else the default predictor
 */
struct jetwatt_eval {
	struct jetwatt_args args;
	const char *path;
	struct jetwatt_references reference;
	const struct jetwatt_predictor *method;
	size_t samples, repeats, curve[JETWATT_EVAL_CURVE], nr_curve;
	const char *plot, *presets, *pool;
	int designed, json;
	uint64_t seed;
	double lo, hi, step, risk;
	int verify;
	struct jetwatt_row *row;
	uint32_t *batch;
	struct jetwatt_mode *mode, highest;
	size_t n;
	void *prior;
	struct jetwatt_estimator guide;
};

/* Run the evaluation and print the result. Return: 0, or an exit code after printing the error. */
int jetwatt_eval_predict(struct jetwatt_eval *e);
int jetwatt_eval_optimize(struct jetwatt_eval *e);

/**
 * jetwatt_eval_sample() - choose the rows that the method is fitted to
 * @r: number of the repeat, from which the seed of the choice is computed; not used if the method
 *	chooses its rows itself
 * @at: e->n entries, a permutation of all row indices; the method is fitted to the first e->samples
 *	of these rows
 *
 * Return: 0, negative errno.
 */
int jetwatt_eval_sample(const struct jetwatt_eval *e, size_t r, size_t *at);

/* Fit the method to the first @k rows of @at. @r: number of the repeat, from which the seed is
 * computed. @model: set to the fitted model, which the caller frees. @ms: set to the CPU time of
 * the fit in ms; may be NULL. Return: 0; -ENODATA if the method needs more rows; other negative
 * errno. */
int jetwatt_eval_fit(const struct jetwatt_eval *e, size_t r, const size_t *at, size_t k,
		     void **model, double *ms);
/* Predict all e->n rows. @ms: set to the CPU time of the prediction in ms; may be NULL. Return: 0,
 * negative errno. */
int jetwatt_eval_all(const struct jetwatt_eval *e, const void *model,
		     struct jetwatt_prediction *out, double *ms);

/* Return: "designed" or "random". */
const char *jetwatt_eval_sampling(const struct jetwatt_eval *e);
/* Return: the CPU time of the process in ms. CPU time excludes waiting, because the machine
 * may run other jobs. */
double jetwatt_eval_now_ms(void);

/* Print "repeat 3 of 10" on standard error, if progress is enabled; @r = e->repeats clears it. */
void jetwatt_eval_progress(const struct jetwatt_eval *e, size_t r);
/* Return: quantile @q (0 to 1) of @v, interpolated linearly; NAN if @n is 0. Sorts @v. */
double jetwatt_eval_quantile(double *v, size_t n, double q);
/* Print that the method failed with @err. Return: exit code. */
int jetwatt_eval_failed(const struct jetwatt_eval *e, int err);

#endif
