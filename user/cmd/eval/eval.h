/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well would this do on my corpus? A file in which every mode was measured,
 * of which a method sees a few rows; it is judged by the others.
 */
#ifndef JETWATT_CMD_EVAL_EVAL_H
#define JETWATT_CMD_EVAL_EVAL_H

#include "model/estimator.h"
#include "tune/corpus.h"
#include "util/args.h"

#define JETWATT_EVAL_CURVE	16

/**
 * struct jetwatt_eval - one evaluation
 * @path, @reference: files as given
 * @designed: the modes are chosen by plan, else drawn; -1: not said
 * @lo, @hi, @step: budgets in W; @verify: candidates measured per budget;
 *	@risk: accepted probability of being over it (all three: optimize)
 * @row, @batch, @mode: the corpus, @n rows; @batch is NULL where it is no feature
 * @most: the highest step of each of its knobs
 * @presets: file of the vendor's modes to compare with, NULL: none
 * @curve: --samples was a list: a figure for each; @plot: NULL: no picture
 * @prior: what the method made of the references
 * @guide: what a search goes by: the method with its prior, if it predicts spreads; else
 *	the default one without
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
	struct jetwatt_mode *mode, most;
	size_t n;
	void *prior;
	struct jetwatt_estimator guide;
};

/* Both print their result. Return: 0, or an exit code after saying why. */
int jetwatt_eval_predict(struct jetwatt_eval *e);
int jetwatt_eval_optimize(struct jetwatt_eval *e);

/**
 * jetwatt_eval_sample() - which rows the method gets to see
 * @r: the repeat: other modes each time
 * @at: e->n entries; the first e->samples of them become indices of rows, all
 *	different, the others follow
 *
 * Return: 0, negative errno.
 */
int jetwatt_eval_sample(const struct jetwatt_eval *e, size_t r, size_t *at);

/* Fit to the first @k rows of @at. @ms: how long it took. Return: 0, negative errno. */
int jetwatt_eval_fit(const struct jetwatt_eval *e, size_t r, const size_t *at, size_t k,
		     void **model, double *ms);
/* @out: of all e->n rows. */
int jetwatt_eval_all(const struct jetwatt_eval *e, const void *model,
		     struct jetwatt_prediction *out, double *ms);

const char *jetwatt_eval_sampling(const struct jetwatt_eval *e);
/* "repeat 3 of 10", where progress is wanted; @r = e->repeats ends it. */
/* CPU time so far: of computing, not of waiting, for the machine may have other work. */
double jetwatt_eval_now_ms(void);

void jetwatt_eval_progress(const struct jetwatt_eval *e, size_t r);
/* Sorts @v. @q: 0 to 1, between two values by their distance. NAN of none. */
double jetwatt_eval_quantile(double *v, size_t n, double q);
/* Say what went wrong. Return: exit code. */
int jetwatt_eval_failed(const struct jetwatt_eval *e, int err);

#endif
