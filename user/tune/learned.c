// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows, model and predictions of a search, and the messages of failed fits.
 */
#include "tune/learned.h"

/* cblas.h declares openblas_set_num_threads(): OpenBLAS uses one thread, because jetwatt runs on
 * the measured machine. */
#include <cblas.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

int jetwatt_tuner_no_memory(void)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM),
				 jetwatt_error_advice(ENOMEM), "cannot continue");
}

int jetwatt_tuner_failed(const struct jetwatt_tuner *l, int err, const char *what)
{
	const struct jetwatt_predictor *by = jetwatt_estimator_by(&l->by);
	char why[48];

	snprintf(why, sizeof(why), "fewer than %zu modes have been measured", by->min_rows);
	if (err == -ENOTSUP)
		return jetwatt_error_report(
			JETWATT_EXIT_USAGE,
			"either the rows or the references have several minibatch sizes",
			"use --method auto, or rows and references of one minibatch size",
			"method %s cannot use the measured rows", by->name);
	if (err == -ENODATA)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, why,
					 "measure more modes: jetwatt profile -o FILE.csv -p PID",
					 "%s", what);
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), jetwatt_error_advice(-err),
				 "%s", what);
}

int jetwatt_tuner_add(struct jetwatt_tuner *l, const struct jetwatt_row *row)
{
	if (l->nr_rows == l->max_rows) {
		size_t max = l->max_rows ? 2 * l->max_rows : 32;
		struct jetwatt_row *r = reallocarray(l->row, max, sizeof(*r));

		if (!r)
			return jetwatt_tuner_no_memory();
		l->row = r;
		l->max_rows = max;
	}
	l->row[l->nr_rows++] = *row;
	return 0;
}

/* Forget the model and its predictions, except the model of the last full fit and the parametric
 * means, which are precise enough to exclude modes until the next full fit. */
static void forget_warm_model(struct jetwatt_tuner *l)
{
	if (l->model != l->base)
		jetwatt_fitted_free(l->model);
	l->model = NULL;
	free(l->memory.predicted);
	l->memory.predicted = NULL;
}

static void forget_model(struct jetwatt_tuner *l)
{
	forget_warm_model(l);
	jetwatt_plan_forget(&l->memory);
	jetwatt_fitted_free(l->base);
	l->base = NULL;
}

void jetwatt_tuner_forget_prior(struct jetwatt_tuner *l)
{
	jetwatt_estimator_forget(&l->by);
	forget_model(l);
}

/* Smallest number of rows of other devices: fewer rows do not determine the parametric means. */
#define CROSS_DEVICE_ROWS_MIN	3

int jetwatt_tuner_add_cross_device(struct jetwatt_tuner *l, const struct jetwatt_row *row, size_t n)
{
	int err;

	openblas_set_num_threads(1);
	forget_model(l);
	err = n < CROSS_DEVICE_ROWS_MIN ? -ENOTSUP :
				  jetwatt_estimator_add_cross_device(&l->by, row, n, JETWATT_TUNER_SEED);
	if (!err || err == -ENOTSUP)
		return err != 0;
	return -jetwatt_tuner_failed(l, err, "cannot predict");
}

const struct jetwatt_row *jetwatt_tuner_row(const struct jetwatt_tuner *l,
					    const struct jetwatt_mode *mode)
{
	for (size_t i = l->nr_rows; i > 0; i--)
		if (jetwatt_mode_same(&l->row[i - 1].mode, mode))
			return &l->row[i - 1];
	return NULL;
}

size_t jetwatt_tuner_known(const struct jetwatt_tuner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_modes; i++)
		n += jetwatt_tuner_row(l, &l->mode[i]) != NULL;
	return n;
}

/* A full fit of n rows takes a time that grows with the cube of n, and changes the hyper-parameters
 * little if few rows are new. */
#define GROWTH		1.25

/* Return: 1 if the model is fitted to the present rows. */
static int is_fitted(const struct jetwatt_tuner *l)
{
	return l->model && l->nr_fitted == l->nr_rows &&
	       (!l->nr_rows || !memcmp(l->fitted, l->row, l->nr_rows * sizeof(*l->row)));
}

/* Store a copy of the rows that the model was fitted to. */
static int note_fitted(struct jetwatt_tuner *l)
{
	struct jetwatt_row *copy = reallocarray(l->fitted, l->max_rows ? l->max_rows : 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	l->fitted = copy;
	l->nr_fitted = l->nr_rows;
	if (l->nr_rows)
		memcpy(copy, l->row, l->nr_rows * sizeof(*copy));
	return 0;
}

/* Return: 1 if the hyper-parameters of the last full fit may be kept: the rows begin with those of
 * that fit, and few are new. The fit with rows of other devices decides this itself. */
static int fits_warm(const struct jetwatt_tuner *l)
{
	return l->warm_rows && l->nr_rows > l->warm_rows && l->base && l->nr_rows >= l->nr_base &&
	       l->nr_rows <= l->nr_base * GROWTH &&
	       !jetwatt_estimator_cross_device_agrees(&l->by, NULL, 0) &&
	       !memcmp(l->fitted, l->row, l->nr_base * sizeof(*l->row));
}

static int full_fit(struct jetwatt_tuner *l)
{
	int err;

	forget_model(l);
	err = jetwatt_estimator_fit(&l->base, &l->by, l->row, l->nr_rows, 0, JETWATT_TUNER_SEED);
	l->model = l->base;
	l->nr_base = l->nr_rows;
	return err;
}

int jetwatt_tuner_fit(struct jetwatt_tuner *l)
{
	int err = 0;

	openblas_set_num_threads(1);
	if (l->given || is_fitted(l))
		return 0;
	forget_warm_model(l);
	if (!jetwatt_estimator_enough(&l->by, l->nr_rows))
		err = -ENODATA;
	else if (fits_warm(l))
		err = jetwatt_estimator_refit(&l->model, &l->by, l->base, l->row, l->nr_rows,
					      JETWATT_TUNER_SEED);
	else
		err = full_fit(l);
	err = err ? err : note_fitted(l);
	return err ? jetwatt_tuner_failed(l, err, "cannot predict") : 0;
}

/* Fit the model, and allocate the predictions. Return: 0, exit code. */
static int prepare_predictions(struct jetwatt_tuner *l)
{
	int err = jetwatt_tuner_fit(l);

	if (err)
		return err;
	if (!l->prediction)
		l->prediction = calloc(l->nr_modes, sizeof(*l->prediction));
	return l->prediction ? 0 : jetwatt_tuner_no_memory();
}

int jetwatt_tuner_predict(struct jetwatt_tuner *l)
{
	int err = prepare_predictions(l);

	if (err)
		return err;
	/* A prediction of another minibatch size must not replace one that @memory has. */
	jetwatt_plan_forget(&l->memory);
	err = jetwatt_fitted_predict(l->model, l->mode, l->batch, l->nr_modes, l->prediction);
	return err ? jetwatt_tuner_failed(l, err, "cannot predict") : 0;
}

int jetwatt_tuner_predict_possible(struct jetwatt_tuner *l, double limit_w, double beat_ms, unsigned char *seen)
{
	int err = prepare_predictions(l);

	if (err)
		return err;
	err = jetwatt_plan_predict_possible(l->model, l->mode, l->nr_modes, limit_w, beat_ms, seen, l->prediction,
					    &l->memory);
	return err ? jetwatt_tuner_failed(l, err, "cannot predict") : 0;
}

void jetwatt_tuner_free(struct jetwatt_tuner *l)
{
	free(l->mode);
	free(l->batch);
	free(l->row);
	free(l->prediction);
	free(l->fitted);
	jetwatt_estimator_forget(&l->by);
	forget_model(l);
}
