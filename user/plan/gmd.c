// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fulcrum's gradient descent over the knobs (GMD; arXiv 2509.20205, section 5):
 * the middle of all knobs, then each knob alone at an end, then halving the knob
 * that changes time most per watt, up under the budget and down over it; what is
 * passed on the way is dropped for good.
 *
 * Has no state: each call walks the whole path again through what is known and
 * stops at the first cell that is not.
 *
 * How steep a knob is says its first probe, once; one that changes power by less than
 * 1 W there is not moved. So read, the method does on measured modes what was published
 * of it; measured anew after each step it does better.
 *
 * What the paper leaves open: the middle of an even number of steps is the upper
 * one; of a grid with holes the mode nearest in steps is taken.
 */
#include "plan/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define DIMS	JETWATT_KNOBS
#define STEPS	64
/* Less than this is no change of power. */
#define STILL_W	1.0

/**
 * struct gmd_walk - one walk along the path
 * @value: steps of each knob, ascending, @steps of them
 * @size: index of the minibatch size that inference has
 * @visited: modes so far, @visits of them, at most @most
 * @next: the cell that stopped it
 */
struct gmd_walk {
	const struct jetwatt_known *k;
	const struct jetwatt_slice_query *q;
	uint64_t value[DIMS][STEPS];
	int steps[DIMS];
	size_t size, *visited, visits, most;
	struct jetwatt_cell *next;
};

static void axes(struct gmd_walk *w)
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

/* The mode at these steps, or the nearest one. */
static size_t mode_at(const struct gmd_walk *w, const int *step)
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

static size_t size_of(const struct gmd_walk *w, size_t work, size_t size)
{
	size_t most = w->k->work[work].sizes - 1;

	return size < most ? size : most;
}

/* Return: 1: all of the mode is known at this size; 0: stopped, w->next is not;
 * -ENOSPC: that would be one mode too many. */
static int visit(struct gmd_walk *w, size_t mode, size_t size)
{
	size_t i = 0;

	while (i < w->visits && w->visited[i] != mode)
		i++;
	if (i == w->visits) {
		if (w->visits == w->most)
			return -ENOSPC;
		w->visited[w->visits++] = mode;
	}
	for (size_t work = 0; work < w->k->works; work++) {
		struct jetwatt_cell c = { work, size_of(w, work, size), mode };

		if (!jetwatt_known_has(w->k, &c)) {
			*w->next = c;
			return 0;
		}
	}
	return 1;
}

/* Time or power of a workload in a mode that was visited. */
static double seen(const struct gmd_walk *w, const double *of, size_t work, size_t mode)
{
	return of[size_of(w, work, w->size) * w->k->n + mode];
}

/* The workload that draws more there. */
static size_t hungry(const struct gmd_walk *w, size_t mode, double *power)
{
	size_t best = 0;

	*power = 0;
	for (size_t i = 0; i < w->k->works; i++) {
		double p = seen(w, w->k->work[i].power_w, i, mode);

		if (p > *power) {
			*power = p;
			best = i;
		}
	}
	return best;
}

static double slope(const struct gmd_walk *w, size_t a, size_t b)
{
	double power, dt, dp;
	size_t work = hungry(w, a, &power);
	const struct jetwatt_tenant *t = &w->k->work[work];

	dt = seen(w, t->time_ms, work, a) - seen(w, t->time_ms, work, b);
	dp = seen(w, t->power_w, work, a) - seen(w, t->power_w, work, b);
	return fabs(dp) < STILL_W ? 0 : fabs(dt / dp);
}

/* Return: 1: to its end; 0: stopped at w->next. */
static int descend(struct gmd_walk *w)
{
	int at[DIMS], lo[DIMS], hi[DIMS], got;
	double power, steep[DIMS];
	size_t now, other;

	for (int d = 0; d < DIMS; d++) {
		lo[d] = 0;
		hi[d] = w->steps[d] - 1;
		at[d] = w->steps[d] / 2;
	}
	now = mode_at(w, at);
	got = visit(w, now, w->size);
	if (got != 1)
		return got == -ENOSPC;
	hungry(w, now, &power);
	for (int d = 0; d < DIMS; d++) {
		int was = at[d];

		at[d] = power > w->q->power_w ? lo[d] : hi[d];
		other = mode_at(w, at);
		at[d] = was;
		steep[d] = 0;
		if (other == now)
			continue;
		got = visit(w, other, w->size);
		if (got != 1)
			return got == -ENOSPC;
		steep[d] = slope(w, now, other);
	}
	for (;;) {
		int go = -1, up;

		hungry(w, now, &power);
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
		now = mode_at(w, at);
		got = visit(w, now, w->size);
		if (got != 1)
			return got == -ENOSPC;
	}
}

static int answered(const struct gmd_walk *w)
{
	struct jetwatt_slice_plan plan;

	return jetwatt_known_answer(w->k, w->q, &plan);
}

/* The modes visited, at another size. Return: 1: an answer, or nothing; 0: stopped. */
static int retry(struct gmd_walk *w, size_t size)
{
	for (size_t i = 0; i < w->visits; i++) {
		if (!visit(w, w->visited[i], size))
			return 0;
		if (answered(w))
			return 1;
	}
	return 1;
}

/* The largest size that keeps the latency at the fastest mode. Return: 1, 0: stopped. */
static int largest(struct gmd_walk *w)
{
	size_t last = w->k->works - 1;
	const struct jetwatt_tenant *t = &w->k->work[last];
	int top[DIMS];
	size_t mode;

	for (int d = 0; d < DIMS; d++)
		top[d] = w->steps[d] - 1;
	mode = mode_at(w, top);
	for (w->size = t->sizes - 1; w->size; w->size--) {
		double window = 1e3 * t->size[w->size] / w->q->arrival_hz, busy = 0;
		int got;

		if (window > w->q->latency_ms)
			continue;
		got = visit(w, mode, w->size);
		if (got != 1)
			return got == -ENOSPC;
		for (size_t i = 0; i < w->k->works; i++)
			if (i == last || !jetwatt_slice_trains(w->k->kind))
				busy += seen(w, w->k->work[i].time_ms, i, mode);
		if (window + busy <= w->q->latency_ms && busy <= window)
			break;
	}
	return 1;
}

static int next(void *state, const struct jetwatt_known *k, const struct jetwatt_slice_query *q,
		size_t most, struct jetwatt_cell *cell)
{
	int beside = k->kind >= JETWATT_SLICE_BESIDE, done;
	struct gmd_walk *w = calloc(1, sizeof(*w));

	(void)state;
	if (!w || !most) {
		free(w);
		return w ? 1 : -ENOMEM;
	}
	*w = (struct gmd_walk){ .k = k, .q = q, .most = most, .next = cell,
			    .visited = malloc(most * sizeof(*w->visited)) };
	if (!w->visited) {
		free(w);
		return -ENOMEM;
	}
	axes(w);
	done = !beside || largest(w);
	if (done)
		done = descend(w);
	/* Larger ones where inference is alone, which began with one; else smaller ones. */
	while (done && !answered(w) &&
	       (beside ? w->size > 0 : w->size + 1 < k->work[k->works - 1].sizes)) {
		w->size += beside ? -1 : 1;
		done = retry(w, w->size);
	}
	free(w->visited);
	free(w);
	return done;
}

const struct jetwatt_strategy jetwatt_strategy_gmd = {
	.name = "gmd", .does = "Gradient descent over the knobs, as of Fulcrum", .modes = 15,
	.next = next,
};
