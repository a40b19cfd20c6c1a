// SPDX-License-Identifier: GPL-2.0-only
/*
 * No budget given: the mode that teaches most about all the others, by the fall
 * of the variance over a sample of them. (The mode of the greatest variance
 * sits in a corner and teaches about corners.)
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/form.h"

#define CANDIDATES	96
#define REFERENCES	192

static uint64_t hash(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A fit goes through its readings of power, but for those that the others
 * contradict; one so far off was likely disturbed (corpora have some 5 to 60 % too
 * low), if the others know better: it is outside of their 95 %. Times may bend so:
 * whole minibatches were counted. */
#define DIRTY		0.05
#define Z_95		1.96

/* Of modes that teach as much, up to this share, the one that is soonest reached. */
#define AS_GOOD		0.9

/* Standard error of a measurement. */
#define MEASURED	0.01

struct sample {
	size_t index[REFERENCES];
	struct jetwatt_mode mode[REFERENCES];
	double time_ms[REFERENCES];
	size_t n;
};

/* An even selection with a random phase, unmeasured modes only. */
static void draw(const struct jetwatt_search *s, struct sample *k, size_t want, uint64_t phase)
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
		if (at++ != lo + hash(phase + k->n) % (hi - lo))
			continue;
		k->index[k->n] = i;
		k->mode[k->n] = s->mode[i];
		k->time_ms[k->n] = s->p[i].time_ms;
		k->n++;
	}
}

/* Correlation of what is not known of two modes: Matern-5/2 over the logarithms of each knob, of
 * the length that is expected of a workload's surfaces. */
#define LENGTH		1.2

static double correlation(const struct jetwatt_point *a, const struct jetwatt_point *b)
{
	double all = 1;

	for (int d = 0; d < JETWATT_DIMS; d++) {
		double h = fabs(a->lg[d] - b->lg[d]) * sqrt(5) / LENGTH;

		all *= (1 + h + h * h / 3) * exp(-h);
	}
	return all;
}

/* What of a variance at @x is left where the nearest of the rows is known. */
static double left(const struct jetwatt_search *s, const struct jetwatt_point *x)
{
	double near = 0;
	struct jetwatt_point y;

	for (size_t i = 0; i < s->rows; i++)
		if (!jetwatt_point_of(&y, &s->row[i].mode))
			near = fmax(near, correlation(x, &y));
	return 1 - near * near;
}

/* @var: of log time and log power, of each of the sample. */
static void places(const struct jetwatt_search *s, const struct sample *k, struct jetwatt_point *x,
		   double (*var)[2])
{
	for (size_t i = 0; i < k->n; i++) {
		const struct jetwatt_prediction *p = &s->p[k->index[i]];
		double share;

		jetwatt_point_of(&x[i], &k->mode[i]);
		share = left(s, &x[i]);
		var[i][0] = share * p->time_sd * p->time_sd;
		var[i][1] = share * p->power_sd * p->power_sd;
	}
}

/*
 * For a predictor that does not tell how its predictions hang together: the fall of the
 * variances over @r if a mode of @c is measured, as of a Gaussian process with the
 * predictor's variances, less what the nearest row takes of them, and fixed correlations.
 */
static int reduce(const struct jetwatt_search *s, const struct sample *c, const struct sample *r,
		  double sd, double *gain)
{
	struct jetwatt_point *x = malloc((c->n + r->n) * sizeof(*x)), *y = x + c->n;
	double (*var)[2] = malloc((c->n + r->n) * sizeof(*var)), (*far)[2] = var + c->n;
	int err = x && var ? 0 : -ENOMEM;

	if (!err) {
		places(s, c, x, var);
		places(s, r, y, far);
	}
	for (size_t i = 0; i < c->n && !err; i++)
		for (size_t k = 0; k < r->n; k++) {
			double by = correlation(&x[i], &y[k]);

			for (int w = 0; w < 2; w++)
				gain[i] += var[i][w] * far[k][w] * by * by / (var[i][w] + sd * sd);
		}
	free(x);
	free(var);
	return err;
}

static int gains(const struct jetwatt_search *s, const struct sample *c, const struct sample *r,
		 double sd, double *gain)
{
	const struct jetwatt_predictor_modes of = { c->mode, c->time_ms, c->n };
	const struct jetwatt_predictor_modes over = { r->mode, r->time_ms, r->n };

	if (s->m->by->reduce && s->m->model)
		return s->m->by->reduce(s->m->model, &of, &over, sd, gain);
	return reduce(s, c, r, sd, gain);
}

/* What a switch takes, in ms: clocks of CPU, GPU and memory 1, 5 and 8 (arXiv
 * 2606.16106), each core some 30 to be plugged. */
static double switching(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return (a->cpu_khz != b->cpu_khz) + 5.0 * (a->gpu_hz != b->gpu_hz) +
	       8.0 * (a->emc_hz != b->emc_hz) + 30 * fabs((double)a->cores - b->cores);
}

int jetwatt_explore_again(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double far = DIRTY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;
		double d;

		if (s->seen[i] != JETWATT_SEEN ||
		    jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean) > 1)
			continue;
		d = fabs(log(mean.power_w / s->p[i].power_w));
		if (d > far && d > Z_95 * s->p[i].power_sd) {
			far = d;
			next->index = i;
		}
	}
	next->why = "again: looks odd";
	return far > DIRTY ? 0 : 1;
}

int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next)
{
	struct sample *c = malloc(sizeof(*c)), *r = malloc(sizeof(*r));
	double gain[CANDIDATES] = { 0 }, open = 0, top = 0, least = INFINITY;
	int err = c && r ? 0 : -ENOMEM;

	if (err)
		goto out;
	draw(s, c, CANDIDATES, hash(seed + 2 * s->rows + 1));
	draw(s, r, REFERENCES, hash(seed + 2 * s->rows + 2));
	if (!c->n) {
		err = 1;
		goto out;
	}
	err = gains(s, c, r, MEASURED, gain);
	if (err)
		goto out;
	for (size_t i = 0; i < c->n; i++)
		top = fmax(top, gain[i]);
	for (size_t i = 0; i < c->n; i++) {
		double ms = switching(&s->row[s->rows - 1].mode, &s->mode[c->index[i]]);

		if (gain[i] >= AS_GOOD * top && ms < least) {
			least = ms;
			next->index = c->index[i];
		}
	}
	next->why = "teaches most";
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_prediction *p = &s->p[r->index[i]];

		open += (p->time_sd * p->time_sd + p->power_sd * p->power_sd) / r->n;
	}
	err = open < JETWATT_PLAN_ENOUGH * JETWATT_PLAN_ENOUGH;
out:
	free(c);
	free(r);
	return err;
}
