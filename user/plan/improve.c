// SPDX-License-Identifier: GPL-2.0-only
#include "plan/search.h"

#include <math.h>

/* Aim a little under the budget: the sensor has an error too. */
#define MARGIN	0.99
/* Probability of meeting the budget below which a mode is out of the question. */
#define HOPELESS	1e-3
/* Time bends where few rows show it (a loader's rounds, a step of the memory):
 * no prediction of a mode that was not measured is surer than this. */
#define TIME_DOUBT	0.04
/* Of what is known from elsewhere less; and few tries are meant to last. */
#define TWIN_DOUBT	0.02
#define TWIN_CAUTION	2.0
/* What misses in a row add to the weight of the budget: the promise of much
 * time saved over it had been too loud. */
#define CAUTION		0.5

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

/* Time of the best answer there is, INFINITY: none. @drawn: the least power seen.
 * What reads within a standard error of the budget counts for nothing yet: its
 * proof may fail, and the next best must not be far behind then. */
static double incumbent(const struct jetwatt_search *s, double *drawn)
{
	double best = INFINITY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;

		if (s->seen[i] != JETWATT_SEEN)
			continue;
		jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean);
		*drawn = fmin(*drawn, mean.power_w);
		if (mean.power_w * (1 + mean.power_sd) <= s->budget_w)
			best = fmin(best, mean.time_ms);
	}
	return best;
}

/* The exponent of the probability to be within the budget, from how many of the
 * last measurements were over it. */
static double caution(const struct jetwatt_search *s)
{
	size_t over = 0;

	while (s->rows - over > JETWATT_DESIGN &&
	       s->row[s->rows - 1 - over].power_w > s->budget_w)
		over++;
	return over > 1 ? 1 + CAUTION * (over - 1) : 1;
}

int jetwatt_improve_again(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double sure = INFINITY, doubtful = INFINITY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;
		size_t times;

		if (s->seen[i] != JETWATT_SEEN)
			continue;
		times = jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean);
		if (mean.power_w > s->budget_w)
			continue;
		if (jetwatt_answer_ok(mean.power_w, times, &s->p[i], s->budget_w)) {
			sure = fmin(sure, mean.time_ms);
		} else if (mean.time_ms < doubtful) {
			doubtful = mean.time_ms;
			next->index = i;
		}
	}
	next->why = "again: looks too good";
	return doubtful < sure ? 0 : 1;
}

int jetwatt_improve_next(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double best, top = -1, slow = 0, least = INFINITY, drawn = INFINITY, hope = 0;
	double limit = log(s->budget_w * MARGIN), weight = caution(s) * (s->foretold ? TWIN_CAUTION : 1),
	       doubt = s->foretold ? TWIN_DOUBT : TIME_DOUBT;
	size_t low = 0;

	best = incumbent(s, &drawn);
	for (size_t i = 0; i < s->n; i++)
		slow = fmax(slow, s->p[i].time_ms);
	next->why = isfinite(best) ? "expected improvement" : "likely under budget";
	for (size_t i = 0; i < s->n; i++) {
		const struct jetwatt_prediction *p = &s->p[i];
		double ok, score;

		if (s->seen[i])
			continue;
		if (p->power_w < least) {
			least = p->power_w;
			low = i;
		}
		ok = cdf((limit - log(p->power_w)) / hypot(p->power_sd, 0.01));
		hope = fmax(hope, ok);
		score = pow(ok, weight) *
			gain(log((isfinite(best) ? best : slow) / p->time_ms),
			     hypot(p->time_sd, doubt));
		if (score > top) {
			top = score;
			next->index = i;
		}
	}
	if (top < 0)
		return 1;
	if (!isfinite(best) && hope < HOPELESS) {
		/* No mode will do: know the closest one, then say so. */
		next->index = low;
		next->why = "closest to the budget";
		return least >= drawn;
	}
	return top < JETWATT_PLAN_GAIN && s->rows >= JETWATT_PLAN_LEAST;
}
