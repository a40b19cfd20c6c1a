// SPDX-License-Identifier: GPL-2.0-only
/* Predictions of the modes that may be the answer; parametric means exclude other modes. */
#include "plan/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Exclude modes whose parametric mean is above these multiples of the budget or of the best time:
 * with fewer than MANY rows, and with more. The Gaussian process changes the parametric means by a
 * few per cent only. */
static const double too_much[] = { 1.35, 1.2 }, too_slow[] = { 1.5, 1.25 };
#define MANY		32
/* The best time is the lowest of the modes within this share of the budget, or a lower @beat_ms. */
#define WITHIN		0.85

/* Exclude new modes by their parametric means @time and @power. @many: 1: the model has at least
 * MANY rows. */
static void possible_exclude(unsigned char *seen, size_t n, const double *time, const double *power,
			     double budget_w, double beat_ms, int many)
{
	double best = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (power[i] <= WITHIN * budget_w)
			best = fmin(best, time[i]);
	if (beat_ms > 0)
		best = fmin(best, beat_ms);
	if (!isfinite(best))
		return;
	for (size_t i = 0; i < n; i++)
		if (!seen[i] &&
		    (power[i] > budget_w * too_much[many] || time[i] > best * too_slow[many]))
			seen[i] = JETWATT_EXCLUDED;
}

void jetwatt_plan_forget(struct jetwatt_plan_memory *memory)
{
	free(memory->mean);
	free(memory->predicted);
	*memory = (struct jetwatt_plan_memory){ 0 };
}

/* Compute the parametric means of all modes, unless @memory has them, and exclude modes by them. */
static int possible_apply_means(const struct jetwatt_fitted *m, const struct jetwatt_mode *mode,
				size_t n, double budget_w, double beat_ms, unsigned char *seen,
				struct jetwatt_plan_memory *memory)
{
	double *time = memory->mean;
	int err = 0;

	if (!m->by->predict_mean || !m->model ||
	    jetwatt_fitted_reference_weight(m) >= JETWATT_PLAN_REFERENCE_WEIGHT)
		return 0;
	if (!time) {
		time = malloc(2 * n * sizeof(*time));
		if (!time)
			return -ENOMEM;
		err = m->by->predict_mean(m->model, mode, n, time, time + n);
	}
	if (err) {
		free(time);
		return err;
	}
	memory->mean = time;
	possible_exclude(seen, n, time, time + n, budget_w, beat_ms, m->n >= MANY);
	return 0;
}

/* Predict the modes that are neither excluded nor predicted already. */
static int possible_predict(const struct jetwatt_fitted *m, const struct jetwatt_mode *mode, size_t n,
			    const unsigned char *seen, struct jetwatt_prediction *p, unsigned char *predicted)
{
	struct jetwatt_prediction *some = malloc(n * sizeof(*some));
	struct jetwatt_mode *possible = malloc(n * sizeof(*possible));
	int err = some && possible ? 0 : -ENOMEM;
	size_t k = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (seen[i] != JETWATT_EXCLUDED && !predicted[i])
			possible[k++] = mode[i];
	if (!err && k)
		err = jetwatt_fitted_predict(m, possible, NULL, k, some);
	k = 0;
	for (size_t i = 0; i < n && !err; i++)
		if (seen[i] != JETWATT_EXCLUDED && !predicted[i]) {
			p[i] = some[k++];
			predicted[i] = 1;
		}
	free(some);
	free(possible);
	return err;
}

int jetwatt_plan_predict_possible(const struct jetwatt_fitted *m, const struct jetwatt_mode *mode,
				  size_t n, double budget_w, double beat_ms, unsigned char *seen,
				  struct jetwatt_prediction *p, struct jetwatt_plan_memory *memory)
{
	struct jetwatt_plan_memory none = { 0 }, *k = memory ? memory : &none;
	int err = possible_apply_means(m, mode, n, budget_w, beat_ms, seen, k);

	if (!err && !k->predicted) {
		k->predicted = calloc(n, 1);
		err = k->predicted ? 0 : -ENOMEM;
	}
	if (!err)
		err = possible_predict(m, mode, n, seen, p, k->predicted);
	jetwatt_plan_forget(&none);
	return err;
}
