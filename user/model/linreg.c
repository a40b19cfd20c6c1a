// SPDX-License-Identifier: GPL-2.0-only
/*
 * Least squares with a small ridge, and the predictor "linreg".
 */
#include "model/linreg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/linalg.h"
#include "model/order.h"
#include "model/predictor.h"

#define KNOBS	4
#define TERMS	JETWATT_LINREG_TERMS

/* Ridge, as a share of the largest diagonal entry of the normal equations. The ridge selects the
 * smallest coefficients if the rows do not determine all coefficients; if they do, the ridge is
 * below the noise of the rows. */
#define RIDGE	1e-9

/* The paper's four modes, as shares of the highest levels of Xavier AGX. */
static const double representative[JETWATT_LINREG_MODES][KNOBS] = {
	{ 1.00, 2100.0 / 2265, 900.0 / 1377, 1600.0 / 2133 },
	{ 0.25, 2100.0 / 2265, 900.0 / 1377, 1600.0 / 2133 },
	{ 1.00, 1.0, 1.0, 1333.0 / 2133 },
	{ 1.00, 1.0, 1.0, 1600.0 / 2133 },
};

static void linreg_shares(double x[KNOBS], const struct jetwatt_mode *m,
			  const struct jetwatt_mode *highest)
{
	for (int k = 0; k < KNOBS; k++)
		x[k] = (double)jetwatt_mode_get(m, (enum jetwatt_knob)k) /
		       jetwatt_mode_get(highest, (enum jetwatt_knob)k);
}

static int linreg_is_taken(const size_t *at, int n, size_t i)
{
	for (int k = 0; k < n; k++)
		if (at[k] == i)
			return 1;
	return 0;
}

int jetwatt_linreg_modes(const struct jetwatt_mode *mode, size_t n,
			 size_t at[JETWATT_LINREG_MODES])
{
	struct jetwatt_mode highest = { .cores = 1 };
	int k = 0;

	jetwatt_each_knob(j)
		jetwatt_mode_set(&highest, j, 1);
	for (size_t i = 0; i < n; i++)
		jetwatt_mode_raise(&highest, &mode[i]);
	for (int r = 0; r < JETWATT_LINREG_MODES; r++) {
		double least = INFINITY, x[KNOBS];
		size_t near = 0;

		for (size_t i = 0; i < n; i++) {
			double d = 0;

			linreg_shares(x, &mode[i], &highest);
			for (int j = 0; j < KNOBS; j++)
				d += (x[j] - representative[r][j]) * (x[j] - representative[r][j]);
			/* On a coarse grid two of the paper's four modes may have the same nearest
			 * mode: the second one then gets the next nearest mode. */
			if (d < least && !linreg_is_taken(at, k, i)) {
				least = d;
				near = i;
			}
		}
		if (isfinite(least))
			at[k++] = near;
	}
	return k;
}

/* Least squares of @y on the first @terms columns of @x. Return: 0; -EINVAL. */
static int linreg_solve(const double (*x)[TERMS], const double *y, size_t n, size_t terms,
			double out[TERMS])
{
	double a[TERMS * TERMS] = { 0 }, most = 0;

	memset(out, 0, TERMS * sizeof(*out));
	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; i < terms; i++) {
			for (size_t j = 0; j < terms; j++)
				a[i * terms + j] += x[r][i] * x[r][j];
			out[i] += x[r][i] * y[r];
		}
	for (size_t i = 0; i < terms; i++)
		most = fmax(most, a[i * terms + i]);
	for (size_t i = 0; i < terms; i++)
		a[i * terms + i] += RIDGE * most;
	if (jetwatt_linalg_chol(a, terms))
		return -EINVAL;
	jetwatt_linalg_lower(a, terms, out, 1);
	jetwatt_linalg_upper(a, terms, out, 1);
	return 0;
}

static double linreg_sum(const double c[TERMS], const double x[TERMS], int terms)
{
	double sum = 0;

	for (int i = 0; i < terms; i++)
		sum += c[i] * x[i];
	return sum;
}

static void linreg_features(const struct jetwatt_linreg *l, const struct jetwatt_mode *m,
			    double x[TERMS])
{
	linreg_shares(x, m, &l->highest);
	x[4] = 1;
	x[5] = fmax(linreg_sum(l->time, x, TERMS - 1), l->time_min) / l->time_ms;
}

static int linreg_row_valid(const struct jetwatt_row *r)
{
	return isfinite(r->time_ms) && r->time_ms > 0 && isfinite(r->power_w) && r->power_w > 0 &&
	       jetwatt_mode_whole(&r->mode);
}

/*
 * @row is sorted, so that sums do not depend on the caller's order.
 */
static int linreg_fit_rows(struct jetwatt_linreg *l, const struct jetwatt_row *row, size_t n,
			   double (*x)[TERMS], double *y)
{
	int err;

	l->time_min = l->power_min = INFINITY;
	for (size_t i = 0; i < n; i++) {
		l->time_ms += row[i].time_ms / n;
		l->time_min = fmin(l->time_min, row[i].time_ms / 2);
		l->power_min = fmin(l->power_min, row[i].power_w / 2);
	}
	for (size_t i = 0; i < n; i++) {
		linreg_features(l, &row[i].mode, x[i]);
		y[i] = row[i].time_ms;
	}
	err = linreg_solve(x, y, n, TERMS - 1, l->time);
	for (size_t i = 0; i < n && !err; i++) {
		linreg_features(l, &row[i].mode, x[i]);
		y[i] = row[i].time_ms * row[i].power_w;
	}
	return err ? err : linreg_solve(x, y, n, TERMS, l->energy);
}

int jetwatt_linreg_fit(struct jetwatt_linreg *l, const struct jetwatt_row *row, size_t n,
		       const struct jetwatt_mode *highest)
{
	struct jetwatt_row *r;
	double (*x)[TERMS], *y;
	int err = -ENOMEM;

	*l = (struct jetwatt_linreg){ .highest = *highest };
	if (!n)
		return -ENODATA;
	for (size_t i = 0; i < n; i++)
		if (!linreg_row_valid(&row[i]))
			return -EINVAL;
	if (!jetwatt_mode_whole(highest))
		return -EINVAL;
	r = malloc(n * sizeof(*r));
	x = malloc(n * sizeof(*x));
	y = malloc(n * sizeof(*y));
	if (r && x && y) {
		memcpy(r, row, n * sizeof(*r));
		qsort(r, n, sizeof(*r), jetwatt_order_rows);
		err = linreg_fit_rows(l, r, n, x, y);
	}
	free(r);
	free(x);
	free(y);
	return err;
}

void jetwatt_linreg_predict(const struct jetwatt_linreg *l, const struct jetwatt_mode *mode,
			    size_t n, struct jetwatt_prediction *out)
{
	double x[TERMS], time;

	for (size_t i = 0; i < n; i++) {
		linreg_features(l, &mode[i], x);
		time = x[TERMS - 1] * l->time_ms;
		out[i] = (struct jetwatt_prediction){
			.time_ms = time,
			.power_w = fmax(linreg_sum(l->energy, x, TERMS) / time, l->power_min),
		};
	}
}

static int linreg_fit(void **model, const struct jetwatt_predictor_input *in)
{
	struct jetwatt_linreg *l = malloc(sizeof(*l));
	int err = l ? jetwatt_linreg_fit(l, in->sample.row, in->sample.n, &in->highest) : -ENOMEM;

	if (err) {
		free(l);
		l = NULL;
	}
	*model = l;
	return err;
}

static int linreg_predict(const void *model, const struct jetwatt_mode *mode,
			  const uint32_t *batch, size_t n, struct jetwatt_prediction *out)
{
	(void)batch;
	for (size_t i = 0; i < n; i++)
		if (!jetwatt_mode_whole(&mode[i]))
			return -EINVAL;
	jetwatt_linreg_predict(model, mode, n, out);
	return 0;
}

const struct jetwatt_predictor jetwatt_predictor_linreg = {
	.name = "linreg", .does = "linear regression on four representative modes",
	.kind = JETWATT_PREDICTOR_OWN_MODES, .min_rows = 1,
	.fit = linreg_fit, .predict = linreg_predict, .free = free,
};
