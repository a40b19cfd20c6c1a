// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fit.h"

struct view {
	const struct jetwatt_mode *mode;
	size_t n;
	const struct jetwatt_row *row;
	size_t rows;
	double budget;
	unsigned char *seen;
	struct jetwatt_prediction *p;
};

static double cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* E[max(0, z)] for z ~ N(mean, sd) */
static double gain(double mean, double sd)
{
	double z = mean / sd;

	return mean * cdf(z) + sd * exp(-z * z / 2) * 0.3989422804014327;
}

static int same(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return a->cores == b->cores && a->cpu_khz == b->cpu_khz && a->gpu_hz == b->gpu_hz &&
	       a->emc_hz == b->emc_hz;
}

static void mark_seen(struct view *v)
{
	for (size_t i = 0; i < v->n; i++)
		for (size_t j = 0; j < v->rows && !v->seen[i]; j++)
			v->seen[i] = same(&v->mode[i], &v->row[j].mode);
}

/* The mode nearest to the given fractions of the knobs' logarithmic ranges. */
static size_t nearest(const struct view *v, const double frac[JETWATT_DIMS])
{
	double lo[JETWATT_DIMS], hi[JETWATT_DIMS], best = INFINITY;
	struct jetwatt_point x;
	size_t at = 0;

	for (size_t i = 0; i < v->n; i++) {
		jetwatt_point_of(&x, &v->mode[i]);
		for (int d = 0; d < JETWATT_DIMS; d++) {
			lo[d] = !i || x.lg[d] < lo[d] ? x.lg[d] : lo[d];
			hi[d] = !i || x.lg[d] > hi[d] ? x.lg[d] : hi[d];
		}
	}
	for (size_t i = 0; i < v->n; i++) {
		double r = 0;

		if (v->seen[i])
			continue;
		jetwatt_point_of(&x, &v->mode[i]);
		for (int d = 0; d < JETWATT_DIMS; d++) {
			double w = hi[d] > lo[d] ? (x.lg[d] - lo[d]) / (hi[d] - lo[d]) - frac[d] : 0;

			r += w * w;
		}
		if (r < best) {
			best = r;
			at = i;
		}
	}
	return at;
}

static int expected(const struct view *v, struct jetwatt_plan_next *next)
{
	double best = INFINITY, top = -1, slow = -INFINITY;
	double limit = log(v->budget * 0.99);

	for (size_t j = 0; j < v->rows; j++)
		if (v->row[j].power_w <= v->budget && v->row[j].time_ms < best)
			best = v->row[j].time_ms;
	for (size_t i = 0; i < v->n; i++)
		slow = v->p[i].time_ms > slow ? v->p[i].time_ms : slow;
	next->why = isfinite(best) ? "expected improvement" : "likely under budget";
	if (!isfinite(best))
		best = slow;
	for (size_t i = 0; i < v->n; i++) {
		const struct jetwatt_prediction *p = &v->p[i];
		double score;

		if (v->seen[i])
			continue;
		score = gain(log(best / p->time_ms), p->time_sd) *
			cdf((limit - log(p->power_w)) / hypot(p->power_sd, 0.01));
		if (score > top) {
			top = score;
			next->index = i;
		}
	}
	if (top < 0)
		return 1;
	return top < 2e-4 && v->rows >= 10;
}

int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, double budget_w, size_t most, uint64_t seed,
		      struct jetwatt_plan_next *next)
{
	static const double first[][JETWATT_DIMS] = {
		{ .5, .5, .5, .7 }, { .8, .8, .8, 1 }, { .5, .9, .4, 1 }, { .3, .6, .8, .7 },
	};
	struct view v = { mode, n, row, rows, budget_w, NULL, NULL };
	struct jetwatt_model *m = NULL;
	int err = -ENOMEM;

	if (!n)
		return -EINVAL;
	if (rows >= most)
		return 1;
	v.seen = calloc(n, 1);
	v.p = malloc(n * sizeof(*v.p));
	if (!v.seen || !v.p)
		goto out;
	mark_seen(&v);
	err = 0;
	if (rows < 4) {
		next->index = nearest(&v, first[rows]);
		next->why = "spread";
		goto out;
	}
	err = jetwatt_fit(&m, row, rows, seed);
	if (!err)
		err = jetwatt_model_predict(m, mode, n, v.p);
	if (!err)
		err = expected(&v, next);
out:
	jetwatt_model_free(m);
	free(v.seen);
	free(v.p);
	return err;
}
