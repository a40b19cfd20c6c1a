// SPDX-License-Identifier: GPL-2.0-only
/*
 * The strategy "gmd" of Fulcrum (arXiv 2509.20205, section 5): gradient descent over the knobs. The
 * strategy measures the middle of all knobs, then each knob alone at one end. Then the strategy
 * halves the range of the knob with the largest change of time per watt: it keeps the upper half if
 * the power is within the budget, and the lower half if the power is above the budget. Levels of a
 * knob outside of the halved range are never tried again.
 *
 * The strategy keeps no state: each call repeats the path over the known measurements and stops at
 * the first cell that has not been measured. With two workloads, the path begins with the highest
 * mode, in which the strategy chooses the minibatch size.
 *
 * The slope of a knob comes from the first measurement at another level of this knob and is not
 * updated; a knob that changes the power by less than 1 W in this measurement is not moved. With
 * slopes that are not updated, the results on measured modes are those of the paper; updating the
 * slopes after each step would give better results.
 *
 * Choices that the paper leaves open: of an even number of levels, the upper middle one is taken,
 * or the lower one in a lower half; if the grid lacks a mode, the nearest one in levels is taken.
 */
#include "plan/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define DIMS	JETWATT_KNOBS
/* Largest number of levels of a knob. */
#define STEPS	64
/* A change of power below this number of watts gives a slope of 0. */
#define SAME_POWER_W	1.0

/**
 * struct gmd_walk - one pass along the path of measured modes
 * @k: measurements
 * @q: query
 * @value: for each knob, its levels in ascending order
 * @steps: number of levels of each knob
 * @size: index of the minibatch size of the inference workloads
 * @visited: modes on the path
 * @visits: number of entries of @visited
 * @max_modes: largest number of modes on the path
 * @next: set to the cell at which the pass stops
 */
struct gmd_walk {
	const struct jetwatt_observed *k;
	const struct jetwatt_slice_query *q;
	uint64_t value[DIMS][STEPS];
	int steps[DIMS];
	size_t size, *visited, visits, max_modes;
	struct jetwatt_cell *next;
};

/* Collect the levels of each knob. */
static void gmd_axes(struct gmd_walk *w)
{
	for (size_t i = 0; i < w->k->n; i++)
		for (int d = 0; d < DIMS; d++) {
			uint64_t v = jetwatt_mode_get(&w->k->mode[i], (enum jetwatt_knob)d);
			uint64_t *a = w->value[d];
			int at = 0;

			while (at < w->steps[d] && a[at] < v)
				at++;
			if ((at < w->steps[d] && a[at] == v) || w->steps[d] == STEPS)
				continue;
			for (int j = w->steps[d]++; j > at; j--)
				a[j] = a[j - 1];
			a[at] = v;
		}
}

/* Return: index of the mode at the given levels of the knobs, or of the nearest mode. */
static size_t gmd_mode_at(const struct gmd_walk *w, const int *step)
{
	size_t best = 0, least = SIZE_MAX;

	for (size_t i = 0; i < w->k->n && least; i++) {
		size_t sum = 0;

		for (int d = 0; d < DIMS; d++) {
			uint64_t v = jetwatt_mode_get(&w->k->mode[i], (enum jetwatt_knob)d);
			int at = 0;

			while (at < w->steps[d] - 1 && w->value[d][at] < v)
				at++;
			sum += abs(at - step[d]);
		}
		if (sum < least) {
			least = sum;
			best = i;
		}
	}
	return best;
}

/* Return: index of a minibatch size, at most the last one of the workload. */
static size_t gmd_size(const struct gmd_walk *w, size_t work, size_t size)
{
	size_t most = w->k->work[work].sizes - 1;

	return size < most ? size : most;
}

/* Add a mode to the path. Return: 1 if all workloads are measured in the mode at this minibatch
 * size; 0 if a cell is missing, then w->next is the cell; -ENOSPC if the path already has the
 * largest number of modes. */
static int gmd_visit(struct gmd_walk *w, size_t mode, size_t size)
{
	size_t i = 0;

	while (i < w->visits && w->visited[i] != mode)
		i++;
	if (i == w->visits) {
		if (w->visits == w->max_modes)
			return -ENOSPC;
		w->visited[w->visits++] = mode;
	}
	for (size_t work = 0; work < w->k->works; work++) {
		struct jetwatt_cell c = { work, gmd_size(w, work, size), mode };

		if (!jetwatt_observed_has(w->k, &c)) {
			*w->next = c;
			return 0;
		}
	}
	return 1;
}

/* Return: time or power (@of) of a workload in a measured mode. */
static double gmd_value(const struct gmd_walk *w, const double *of, size_t work, size_t mode)
{
	return of[gmd_size(w, work, w->size) * w->k->n + mode];
}

/* Return: the workload with the higher power in @mode; @power: set to this power. */
static size_t gmd_max_power(const struct gmd_walk *w, size_t mode, double *power)
{
	size_t best = 0;

	*power = 0;
	for (size_t i = 0; i < w->k->works; i++) {
		double p = gmd_value(w, w->k->work[i].power_w, i, mode);

		if (p > *power) {
			*power = p;
			best = i;
		}
	}
	return best;
}

/* Return: change of time per watt between two modes, for the workload with the higher power in mode
 * @a; 0 if the powers differ by less than SAME_POWER_W. */
static double gmd_slope(const struct gmd_walk *w, size_t a, size_t b)
{
	double power, dt, dp;
	size_t work = gmd_max_power(w, a, &power);
	const struct jetwatt_workload_data *t = &w->k->work[work];

	dt = gmd_value(w, t->time_ms, work, a) - gmd_value(w, t->time_ms, work, b);
	dp = gmd_value(w, t->power_w, work, a) - gmd_value(w, t->power_w, work, b);
	return fabs(dp) < SAME_POWER_W ? 0 : fabs(dt / dp);
}

/* Descend. Return: 1 if the path has ended; 0 if the cell w->next must be measured first. */
static int gmd_descend(struct gmd_walk *w)
{
	int at[DIMS], lo[DIMS], hi[DIMS], got;
	double power, steep[DIMS];
	size_t now, other;

	for (int d = 0; d < DIMS; d++) {
		lo[d] = 0;
		hi[d] = w->steps[d] - 1;
		at[d] = w->steps[d] / 2;
	}
	now = gmd_mode_at(w, at);
	got = gmd_visit(w, now, w->size);
	if (got != 1)
		return got == -ENOSPC;
	gmd_max_power(w, now, &power);
	for (int d = 0; d < DIMS; d++) {
		int was = at[d];

		at[d] = power > w->q->power_w ? lo[d] : hi[d];
		other = gmd_mode_at(w, at);
		at[d] = was;
		steep[d] = 0;
		if (other == now)
			continue;
		got = gmd_visit(w, other, w->size);
		if (got != 1)
			return got == -ENOSPC;
		steep[d] = gmd_slope(w, now, other);
	}
	for (;;) {
		int go = -1, up;

		gmd_max_power(w, now, &power);
		up = power <= w->q->power_w;
		for (int d = 0; d < DIMS; d++)
			if ((up ? at[d] < hi[d] : at[d] > lo[d]) &&
			    steep[d] > (go < 0 ? 0 : steep[go]))
				go = d;
		if (go < 0)
			return 1;
		if (up)
			lo[go] = at[go] + 1;
		else
			hi[go] = at[go] - 1;
		at[go] = (lo[go] + hi[go] + up) / 2;
		now = gmd_mode_at(w, at);
		got = gmd_visit(w, now, w->size);
		if (got != 1)
			return got == -ENOSPC;
	}
}

/* Return: 1 if a measured plan meets the limits. */
static int gmd_answered(const struct gmd_walk *w)
{
	struct jetwatt_slice_plan plan;

	return jetwatt_observed_best(w->k, w->q, &plan);
}

/* Visit the modes of the path at another minibatch size. Return: 1 if a measured plan meets the
 * limits or the path has ended; 0 if the pass stopped at an unmeasured cell. */
static int gmd_retry(struct gmd_walk *w, size_t size)
{
	for (size_t i = 0; i < w->visits; i++) {
		if (!gmd_visit(w, w->visited[i], size))
			return 0;
		if (gmd_answered(w))
			return 1;
	}
	return 1;
}

/* Set w->size to the largest size at which the server keeps up with its requests and meets the latency
 * limit in the highest mode, or to the smallest size if there is none. If no further mode may be
 * measured, w->size stays unchecked. Return: 1; 0 if the cell w->next must be measured first. */
static int gmd_largest_size(struct gmd_walk *w)
{
	size_t last = w->k->works - 1;
	const struct jetwatt_workload_data *t = &w->k->work[last];
	int top[DIMS];
	size_t mode;

	for (int d = 0; d < DIMS; d++)
		top[d] = w->steps[d] - 1;
	mode = gmd_mode_at(w, top);
	for (w->size = t->sizes - 1; w->size; w->size--) {
		double window = 1e3 * t->size[w->size] / w->q->arrival_hz, busy = 0;
		int got;

		if (window > w->q->latency_ms)
			continue;
		got = gmd_visit(w, mode, w->size);
		if (got != 1)
			return got == -ENOSPC;
		for (size_t i = 0; i < w->k->works; i++)
			if (i == last || !jetwatt_slice_trains(w->k->kind))
				busy += gmd_value(w, w->k->work[i].time_ms, i, mode);
		if (window + busy <= w->q->latency_ms && busy <= window)
			break;
	}
	return 1;
}

static int gmd_next(void *state, const struct jetwatt_observed *k,
		    const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *cell)
{
	int trains = k->kind >= JETWATT_SLICE_TRAIN_AND_INFER, done;
	struct gmd_walk *w = calloc(1, sizeof(*w));

	(void)state;
	if (!w || !most) {
		free(w);
		return w ? 1 : -ENOMEM;
	}
	*w = (struct gmd_walk){ .k = k, .q = q, .max_modes = most, .next = cell,
			    .visited = malloc(most * sizeof(*w->visited)) };
	if (!w->visited) {
		free(w);
		return -ENOMEM;
	}
	gmd_axes(w);
	done = !trains || gmd_largest_size(w);
	if (done)
		done = gmd_descend(w);
	/* Without an answer, try larger minibatch sizes if inference runs alone (the search started
	 * with the smallest size), else smaller minibatch sizes. */
	while (done && !gmd_answered(w) &&
	       (trains ? w->size > 0 : w->size + 1 < k->work[k->works - 1].sizes)) {
		w->size += trains ? -1 : 1;
		done = gmd_retry(w, w->size);
	}
	free(w->visited);
	free(w);
	return done;
}

const struct jetwatt_strategy jetwatt_strategy_gmd = {
	.name = "gmd", .does = "Gradient descent over the knobs (Fulcrum)", .modes = 15,
	.next = gmd_next,
};
