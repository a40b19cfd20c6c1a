// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cross-validation of a predictor over five folds of modes.
 */
#include "model/crossval.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"

/* Number of folds; fewer if there are fewer modes. */
#define FOLDS	5
/* Number of modes that are predicted in one block. */
#define CHUNK	1024
/* Prior relative error of the predictor, and the weight of this prior, in rows. */
#define ERROR		0.1
#define ERROR_ROWS	2
/* Standard deviation of log time and log power if the rows have only one mode, so that no mode can
 * be left out. */
#define UNKNOWN_SD	0.5

/**
 * struct jetwatt_crossval - fits of one predictor
 * @by: the predictor
 * @whole: fit to all rows
 * @fold: for each fold, the fit to all rows outside of that fold
 * @folds: number of folds; 0: there are too few modes
 * @time_var: mean squared error of log time on the rows left out, over all folds, averaged with
 *	the prior error; with 0 @folds, the square of UNKNOWN_SD
 * @power_var: mean squared error of log power, computed as @time_var
 */
struct jetwatt_crossval {
	const struct jetwatt_predictor *by;
	void *whole, *fold[FOLDS];
	size_t folds;
	double time_var, power_var;
};

/**
 * struct cross_sorted - rows in sorted order, so that folds do not depend on the caller's order
 * @row: the rows
 * @batch: minibatch size of each row
 * @of: fold of each row: modes that are adjacent in sorted order are in different folds, repeated
 *	measurements of a mode in the same one
 * @n: number of rows
 * @modes: number of different modes
 */
struct cross_sorted {
	struct jetwatt_row *row;
	uint32_t *batch;
	size_t *of, n, modes;
};

static int cross_sort(struct cross_sorted *s, const struct jetwatt_corpus *c)
{
	*s = (struct cross_sorted){ .row = malloc(c->n * sizeof(*s->row)), .n = c->n,
			      .batch = malloc(c->n * sizeof(*s->batch)),
			      .of = malloc(c->n * sizeof(*s->of)) };
	if (!s->row || !s->batch || !s->of)
		return -ENOMEM;
	memcpy(s->row, c->row, c->n * sizeof(*s->row));
	qsort(s->row, c->n, sizeof(*s->row), jetwatt_order_rows);
	for (size_t i = 0; i < c->n; i++) {
		s->batch[i] = s->row[i].batch;
		s->modes += !i || !jetwatt_mode_same(&s->row[i - 1].mode, &s->row[i].mode);
		s->of[i] = (s->modes - 1) % FOLDS;
	}
	return 0;
}

static void cross_sorted_free(struct cross_sorted *s)
{
	free(s->row);
	free(s->batch);
	free(s->of);
}

/**
 * struct cross_errors - squared errors on the rows left out
 * @time: sum of the squared errors of log time
 * @power: sum of the squared errors of log power
 * @n: number of rows
 */
struct cross_errors {
	double time, power;
	size_t n;
};

/* Fit the predictor to all rows outside of fold @k and predict the rows of fold @k. @part: scratch
 * array for the rows outside of the fold. */
static int cross_leave_out(struct jetwatt_crossval *c, const struct cross_sorted *s, size_t k,
			   const struct jetwatt_predictor_input *in, struct cross_sorted *part,
			   struct cross_errors *e)
{
	struct jetwatt_predictor_input less = *in;
	const uint32_t *batch = in->sample.batch ? part->batch : NULL;
	int err;

	part->n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->of[i] != k) {
			part->row[part->n] = s->row[i];
			part->batch[part->n++] = s->batch[i];
		}
	less.sample = (struct jetwatt_corpus){ part->row, batch, part->n };
	err = c->by->fit(&c->fold[k], &less);
	for (size_t i = 0; i < s->n && !err; i++) {
		struct jetwatt_prediction p;

		if (s->of[i] != k)
			continue;
		err = c->by->predict(c->fold[k], &s->row[i].mode,
				     in->sample.batch ? &s->batch[i] : NULL, 1, &p);
		if (err)
			break;
		e->time += pow(log(s->row[i].time_ms / p.time_ms), 2);
		e->power += pow(log(s->row[i].power_w / p.power_w), 2);
		e->n++;
	}
	return err;
}

static double cross_variance(double sum, size_t n)
{
	return (ERROR_ROWS * ERROR * ERROR + sum) / (ERROR_ROWS + n);
}

int jetwatt_crossval_fit(struct jetwatt_crossval **out, const struct jetwatt_predictor *by,
		      const struct jetwatt_predictor_input *in)
{
	struct jetwatt_crossval *c = calloc(1, sizeof(*c));
	struct cross_sorted s = { .row = NULL }, part = { .row = NULL };
	struct cross_errors e = { 0, 0, 0 };
	int err = c ? 0 : -ENOMEM;

	*out = NULL;
	if (!err) {
		c->by = by;
		err = by->fit(&c->whole, in);
	}
	if (!err)
		err = cross_sort(&s, &in->sample);
	if (!err)
		err = cross_sort(&part, &in->sample);
	if (!err && s.modes > 1)
		c->folds = s.modes < FOLDS ? s.modes : FOLDS;
	for (size_t k = 0; !err && k < c->folds; k++)
		err = cross_leave_out(c, &s, k, in, &part, &e);
	cross_sorted_free(&s);
	cross_sorted_free(&part);
	if (err) {
		jetwatt_crossval_free(c);
		return err;
	}
	c->time_var = e.n ? cross_variance(e.time, e.n) : UNKNOWN_SD * UNKNOWN_SD;
	c->power_var = e.n ? cross_variance(e.power, e.n) : UNKNOWN_SD * UNKNOWN_SD;
	*out = c;
	return 0;
}

/* Running mean and sum of squared deviations (Welford) of log time and log power. */
struct cross_moments {
	double mean[2], square[2];
};

static void cross_add(struct cross_moments *s, const struct jetwatt_prediction *p, size_t k)
{
	const double v[2] = { log(p->time_ms), log(p->power_w) };

	for (int w = 0; w < 2; w++) {
		double by = v[w] - s->mean[w];

		s->mean[w] += by / (k + 1);
		s->square[w] += by * (v[w] - s->mean[w]);
	}
}

static int cross_predict_block(const struct jetwatt_crossval *c, const struct jetwatt_mode *mode,
			       const uint32_t *batch, size_t n, struct jetwatt_prediction *out,
			       struct jetwatt_prediction *p, struct cross_moments *s)
{
	int err = c->by->predict(c->whole, mode, batch, n, out);

	memset(s, 0, n * sizeof(*s));
	for (size_t k = 0; k < c->folds && !err; k++) {
		err = c->by->predict(c->fold[k], mode, batch, n, p);
		for (size_t i = 0; i < n && !err; i++)
			cross_add(&s[i], &p[i], k);
	}
	for (size_t i = 0; i < n && !err; i++) {
		out[i].time_sd = sqrt(c->time_var + (c->folds ? s[i].square[0] / c->folds : 0));
		out[i].power_sd = sqrt(c->power_var + (c->folds ? s[i].square[1] / c->folds : 0));
	}
	return err;
}

int jetwatt_crossval_predict(const struct jetwatt_crossval *c, const struct jetwatt_mode *mode,
			  const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	struct jetwatt_prediction *p = malloc(CHUNK * sizeof(*p));
	struct cross_moments *s = malloc(CHUNK * sizeof(*s));
	int err = p && s ? 0 : -ENOMEM;

	for (size_t at = 0; at < n && !err; at += CHUNK)
		err = cross_predict_block(c, mode + at, batch ? batch + at : NULL,
					  n - at < CHUNK ? n - at : CHUNK, out + at, p, s);
	free(p);
	free(s);
	return err;
}

void jetwatt_crossval_free(struct jetwatt_crossval *c)
{
	if (!c)
		return;
	if (c->whole)
		c->by->free(c->whole);
	for (size_t k = 0; k < FOLDS; k++)
		if (c->fold[k])
			c->by->free(c->fold[k]);
	free(c);
}
