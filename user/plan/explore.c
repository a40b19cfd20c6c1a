// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search without a budget. For each mode of a sample, the search estimates by how much a measurement
 * of the mode would reduce the variance of the predictions, summed over a second sample
 * (integrated-variance design). Of the modes with at least 90 % of the largest reduction, the search
 * takes the one that is quickest to switch to. The mode with the largest variance is a poor choice:
 * it is at a corner of the grid and its measurement says little about other modes.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/form.h"

/* Sizes of the samples: modes to choose from, and modes whose variances are summed. */
#define CANDIDATES	96
#define REFERENCES	192

static uint64_t explore_hash(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A single power reading is taken as an outlier if it deviates from the model by more than
 * OUTLIER_LOG in the logarithm and is outside of the 95 % interval: known data sets have readings 5
 * to 60 % too low. Without a second reading, the model would be fitted to the outlier. Times are
 * not tested for outliers: if the number of minibatches is wrong by one, the time looks like an
 * outlier. */
#define OUTLIER_LOG	0.05
#define Z_95		1.96

/* Of the modes whose variance reduction is at least this share of the largest one, the search takes
 * the mode that is quickest to switch to. */
#define AS_GOOD		0.9

/* Relative standard error that the next measurement is assumed to have. */
#define MEASURED	0.01

/* A sample of unmeasured modes, with their predicted times. */
struct explore_sample {
	size_t index[REFERENCES];
	struct jetwatt_mode mode[REFERENCES];
	double time_ms[REFERENCES];
	size_t n;
};

/* Draw at most @want unmeasured modes: a pseudo-random one from each of @want equal intervals. */
static void explore_draw(const struct jetwatt_search *s, struct explore_sample *k, size_t want,
			 uint64_t phase)
{
	size_t left = 0, at = 0;

	for (size_t i = 0; i < s->n; i++)
		left += !s->seen[i];
	if (want > left)
		want = left;
	k->n = 0;
	for (size_t i = 0; i < s->n && k->n < want; i++) {
		size_t lo = k->n * left / want, hi = (k->n + 1) * left / want;

		if (s->seen[i])
			continue;
		if (at++ != lo + explore_hash(phase + k->n) % (hi - lo))
			continue;
		k->index[k->n] = i;
		k->mode[k->n] = s->mode[i];
		k->time_ms[k->n] = s->p[i].time_ms;
		k->n++;
	}
}

/* Length scale of the assumed correlation, as in model/gp.h. */
#define LENGTH		1.2

/* Return: assumed correlation of the prediction errors of two modes: Matern-5/2 in the logarithm of
 * each knob that is not optional. */
static double explore_correlation(const struct jetwatt_features *a, const struct jetwatt_features *b)
{
	double all = 1;

	for (int d = 0; d < JETWATT_DIMS; d++) {
		double h = fabs(a->lg[d] - b->lg[d]) * sqrt(5) / LENGTH;

		all *= (1 + h + h * h / 3) * exp(-h);
	}
	return all;
}

/* Return: share of a variance at @x that remains after measuring the nearest row. */
static double explore_variance_left(const struct jetwatt_search *s, const struct jetwatt_features *x)
{
	double near = 0;
	struct jetwatt_features y;

	for (size_t i = 0; i < s->rows; i++)
		if (!jetwatt_features_of(&y, &s->row[i].mode))
			near = fmax(near, explore_correlation(x, &y));
	return 1 - near * near;
}

/* Set @x and @var (variances of log time and log power) for each mode of the sample. */
static void explore_variances(const struct jetwatt_search *s, const struct explore_sample *k,
			      struct jetwatt_features *x, double (*var)[2])
{
	for (size_t i = 0; i < k->n; i++) {
		const struct jetwatt_prediction *p = &s->p[k->index[i]];
		double share;

		jetwatt_features_of(&x[i], &k->mode[i]);
		share = explore_variance_left(s, &x[i]);
		var[i][0] = share * p->time_sd * p->time_sd;
		var[i][1] = share * p->power_sd * p->power_sd;
	}
}

/*
 * Estimate, for a predictor without @reduce, how much the variances of the modes of @r fall in
 * total if a mode of @c is measured. The estimate assumes a Gaussian process: its variances are the
 * predicted ones, reduced by the nearest measured row, and its correlations are those of
 * explore_correlation(). Add the result to @gain, one value per mode of @c. Return: 0, -ENOMEM.
 */
static int explore_reduce(const struct jetwatt_search *s, const struct explore_sample *c,
			  const struct explore_sample *r, double sd, double *gain)
{
	struct jetwatt_features *x = malloc((c->n + r->n) * sizeof(*x)), *y = x + c->n;
	double (*var)[2] = malloc((c->n + r->n) * sizeof(*var)), (*far)[2] = var + c->n;
	int err = x && var ? 0 : -ENOMEM;

	if (!err) {
		explore_variances(s, c, x, var);
		explore_variances(s, r, y, far);
	}
	for (size_t i = 0; i < c->n && !err; i++)
		for (size_t k = 0; k < r->n; k++) {
			double by = explore_correlation(&x[i], &y[k]);

			for (int w = 0; w < 2; w++)
				gain[i] += var[i][w] * far[k][w] * by * by / (var[i][w] + sd * sd);
		}
	free(x);
	free(var);
	return err;
}

/* Set @gain to the variance reduction of each candidate. Return: 0, negative errno. */
static int explore_gains(const struct jetwatt_search *s, const struct explore_sample *c,
			 const struct explore_sample *r, double sd, double *gain)
{
	const struct jetwatt_predictor_modes of = { c->mode, c->time_ms, c->n };
	const struct jetwatt_predictor_modes over = { r->mode, r->time_ms, r->n };

	if (s->m->by->reduce && s->m->model)
		return s->m->by->reduce(s->m->model, &of, &over, sd, gain);
	return explore_reduce(s, c, r, sd, gain);
}

/* Return: duration of a switch, in ms: 1, 5 and 8 for the clocks of CPU, GPU and EMC (arXiv
 * 2606.16106, on an Orin Nano), and about 30 for each core that is taken on- or offline. */
static double explore_switch_ms(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return (a->cpu_khz != b->cpu_khz) + 5.0 * (a->gpu_hz != b->gpu_hz) +
	       8.0 * (a->emc_hz != b->emc_hz) + 30 * fabs((double)a->cores - b->cores);
}

int jetwatt_remeasure_outlier(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double far = OUTLIER_LOG;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;
		double d;

		if (s->seen[i] != JETWATT_MEASURED ||
		    jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean) > 1)
			continue;
		d = fabs(log(mean.power_w / s->p[i].power_w));
		if (d > far && d > Z_95 * s->p[i].power_sd) {
			far = d;
			next->index = i;
		}
	}
	next->why = "again: likely outlier";
	return far > OUTLIER_LOG ? 0 : 1;
}

int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next)
{
	struct explore_sample *c = malloc(sizeof(*c)), *r = malloc(sizeof(*r));
	double gain[CANDIDATES] = { 0 }, open = 0, top = 0, least = INFINITY;
	int err = c && r ? 0 : -ENOMEM;

	if (err)
		goto out;
	explore_draw(s, c, CANDIDATES, explore_hash(seed + 2 * s->rows + 1));
	explore_draw(s, r, REFERENCES, explore_hash(seed + 2 * s->rows + 2));
	if (!c->n) {
		err = 1;
		goto out;
	}
	err = explore_gains(s, c, r, MEASURED, gain);
	if (err)
		goto out;
	for (size_t i = 0; i < c->n; i++)
		top = fmax(top, gain[i]);
	for (size_t i = 0; i < c->n; i++) {
		/* Rows of other devices may be known before the first row of this one. */
		double ms = s->rows ? explore_switch_ms(&s->row[s->rows - 1].mode, &s->mode[c->index[i]]) :
				      top - gain[i];

		if (gain[i] >= AS_GOOD * top && ms < least) {
			least = ms;
			next->index = c->index[i];
		}
	}
	next->why = "variance reduction";
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_prediction *p = &s->p[r->index[i]];

		open += (p->time_sd * p->time_sd + p->power_sd * p->power_sd) / r->n;
	}
	err = open < JETWATT_PLAN_SD_ENOUGH * JETWATT_PLAN_SD_ENOUGH;
out:
	free(c);
	free(r);
	return err;
}
