// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warm-start fit of the default model: hyper-parameters, priors and outlier weights stay, only the
 * parameters of the parametric means and the weighted sum of the references are fitted again.
 */
#include "model/refit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/transfer.h"

/* Largest number of iterations of the optimiser: few are enough, because the starting point is
 * close to the optimum. */
#define REFIT_STEPS	6

/* Return: the outlier weight of the point in @from; 1 if @from does not have the point. */
static double refit_outlier_weight(const struct jetwatt_surface *from,
				   const struct jetwatt_features *x, double y)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->y[i] == y && !memcmp(from->x[i].lg, x->lg, sizeof(x->lg)))
			return from->outlier_weight[i];
	return 1;
}

static int refit_surface(struct jetwatt_surface **out, const struct jetwatt_surface *from,
			 const struct jetwatt_features *x, const double *y, const double *sd, size_t n)
{
	struct jetwatt_surface *s = jetwatt_surface_new(from->form, n);
	double cost;
	int err;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->gp = from->gp;
	s->prior = from->prior;
	s->calibration = from->calibration;
	s->evidence = from->evidence;
	memcpy(s->theta, from->theta, sizeof(s->theta));
	memcpy(s->x, x, n * sizeof(*x));
	memcpy(s->y, y, n * sizeof(*y));
	memcpy(s->sd, sd, n * sizeof(*sd));
	jetwatt_surface_set_cpu_sensitivity(from, s->x, n);
	for (size_t i = 0; i < n; i++)
		s->outlier_weight[i] = refit_outlier_weight(from, &x[i], y[i]);
	err = jetwatt_surface_factor(s);
	return err ? err : jetwatt_surface_optimize(s, REFIT_STEPS, INFINITY, &cost);
}

int jetwatt_refit(struct jetwatt_model **out, const struct jetwatt_model *from,
		  const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_features *x = calloc(n + 1, sizeof(*x)), ref = { .rate = 1, .v = { 1, 1, 1, 1, 1 } };
	struct jetwatt_model *m = calloc(1, sizeof(*m));
	double *y = calloc(2 * n + 1, sizeof(*y)), *sd = y + n;
	int err = x && m && y ? 0 : -ENOMEM;

	*out = NULL;
	if (!err)
		m->seen = calloc(n + 1, sizeof(*m->seen));
	if (!err && !m->seen)
		err = -ENOMEM;
	if (!err && !n)
		err = -EINVAL;
	for (size_t i = 0; i < n && !err; i++) {
		err = jetwatt_features_of(&x[i], &row[i].mode);
		if (err)
			break;
		jetwatt_features_batch(&x[i], row[i].batch);
		m->seen[i] = (struct jetwatt_seen_mode){ row[i].mode, row[i].batch };
		y[i] = log(row[i].time_ms);
		sd[i] = row[i].time_sd > 0 ? row[i].time_sd : JETWATT_SD_UNKNOWN;
	}
	if (!err)
		err = refit_surface(&m->time, from->time, x, y, sd, n);
	if (!err)
		m->at_ref = jetwatt_surface_form(m->time, &ref);
	for (size_t i = 0; i < n && !err; i++) {
		jetwatt_model_features(m, row[i].time_ms, &x[i]);
		y[i] = log(row[i].power_w);
		sd[i] = row[i].power_sd > 0 ? row[i].power_sd : JETWATT_SD_UNKNOWN;
	}
	if (!err)
		err = refit_surface(&m->power, from->power, x, y, sd, n);
	if (!err && from->like) {
		err = jetwatt_transfer_fit(&m->like, jetwatt_transferred_by(from->like), row, n);
		memcpy(m->trust, from->trust, sizeof(m->trust));
	}
	if (err)
		jetwatt_model_free(m);
	else
		*out = m;
	free(x);
	free(y);
	return err;
}
