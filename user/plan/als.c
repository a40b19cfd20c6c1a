// SPDX-License-Identifier: GPL-2.0-only
/*
 * The strategy "als": active-learning sampling of Fulcrum (arXiv 2509.20205, section 6). The
 * strategy measures random modes first; then rounds follow in which networks of time and power
 * predict all modes, and modes that are spread over the predicted Pareto front of time and power are
 * measured. The choice of modes does not depend on a query, so the measurements serve all queries.
 */
#include "plan/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/powertrain.h"
#include "model/random.h"
#include "plan/plan.h"

/* Largest number of rounds of measurements; the first round measures random modes. */
#define ROUNDS	5

/**
 * struct als - state of the sampling
 * @mode: modes to be measured at all minibatch sizes
 * @modes: number of entries of @mode
 * @done: number of entries of @mode, from the first on, whose cells were all returned for measuring
 * @want: number of modes to be measured in all; 0: not set yet
 * @cell: index of the next cell of mode @mode[@done], counted over workloads and sizes
 * @seed: state of the random numbers
 * @taken: for each mode of the board, 1: the mode is an entry of @mode
 */
struct als {
	size_t *mode, modes, done, want, cell;
	uint64_t seed;
	unsigned char *taken;
};

static void als_free(void *state)
{
	struct als *a = state;

	if (a) {
		free(a->mode);
		free(a->taken);
	}
	free(a);
}

static int als_new(void **state, const struct jetwatt_observed *k, uint64_t seed)
{
	struct als *a = calloc(1, sizeof(*a));

	*state = a;
	if (!a)
		return -ENOMEM;
	a->seed = seed;
	a->mode = malloc(k->n * sizeof(*a->mode));
	a->taken = calloc(k->n, 1);
	if (a->mode && a->taken)
		return 0;
	als_free(a);
	*state = NULL;
	return -ENOMEM;
}

static void als_add_mode(struct als *a, size_t mode)
{
	a->taken[mode] = 1;
	a->mode[a->modes++] = mode;
}

/* Add @most random modes. Return: 0, -ENOMEM. */
static int als_add_random(struct als *a, size_t n, size_t most)
{
	size_t *at = malloc(n * sizeof(*at)), left = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!a->taken[i])
			at[left++] = i;
	jetwatt_random_draw(&a->seed, at, left, most);
	for (size_t i = 0; i < left && i < most; i++)
		als_add_mode(a, at[i]);
	free(at);
	return 0;
}

/* Train networks on the rows of a workload and predict its modes at one size. */
static int als_predict(struct als *a, const struct jetwatt_observed *k, size_t work, size_t size,
		       double *time, double *power)
{
	const struct jetwatt_workload_data *t = &k->work[work];
	struct jetwatt_prediction *p = malloc(k->n * sizeof(*p));
	uint32_t *batch = malloc((k->n + t->rows) * sizeof(*batch));
	struct jetwatt_powertrain net;
	int err = p && batch ? 0 : -ENOMEM;

	for (size_t i = 0; i < k->n && !err; i++)
		batch[i] = t->size[size];
	for (size_t i = 0; i < t->rows && !err; i++)
		batch[k->n + i] = t->row[i].batch;
	if (!err) {
		struct jetwatt_corpus c = { t->row, t->sizes > 1 ? batch + k->n : NULL, t->rows };

		err = jetwatt_powertrain_plain(&net, &c, jetwatt_random(&a->seed));
	}
	if (!err) {
		err = jetwatt_powertrain_predict(&net, k->mode, t->sizes > 1 ? batch : NULL, k->n, p);
		jetwatt_powertrain_free(&net);
	}
	for (size_t i = 0; i < k->n && !err; i++) {
		time[i] = p[i].time_ms;
		power[i] = p[i].power_w;
	}
	free(p);
	free(batch);
	return err;
}

/* Divide the front into at most @most sections of equal length, and add from each section the first
 * mode that is not an entry of @mode yet. */
static void als_add_along_front(struct als *a, const size_t *front, size_t n, size_t most)
{
	for (size_t stride = n / (most ? most : 1) + 1, at = 0; at < n && most; at += stride) {
		size_t i = at;

		while (i < n && i < at + stride && a->taken[front[i]])
			i++;
		if (i < n && i < at + stride) {
			als_add_mode(a, front[i]);
			most--;
		}
	}
}

/* Add @most modes from the predicted fronts of the workloads in turn. */
static int als_round(struct als *a, const struct jetwatt_observed *k, size_t most)
{
	double *time = malloc(2 * k->n * sizeof(*time));
	size_t *front = malloc(k->n * sizeof(*front)), begun = a->modes;
	int err = time && front ? 0 : -ENOMEM;

	for (size_t w = 0; w < k->works && !err; w++) {
		/* A medium minibatch size, because the front hardly depends on the minibatch
		 * size. */
		size_t size = k->work[w].sizes / 2, n;

		err = als_predict(a, k, w, size, time, time + k->n);
		if (err)
			break;
		n = jetwatt_plan_front(time, time + k->n, k->n, front);
		als_add_along_front(a, front, n, (most + w) / k->works);
	}
	/* If the fronts have too few modes, add random modes. */
	if (!err && a->modes < begun + most)
		err = als_add_random(a, k->n, begun + most - a->modes);
	free(time);
	free(front);
	return err;
}

static int als_next(void *state, const struct jetwatt_observed *k,
		    const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *next)
{
	struct als *a = state;
	size_t each, cells = 0;
	int err = 0;

	(void)q;
	if (!a->want)
		a->want = most < k->n ? most : k->n;
	each = (a->want + ROUNDS - 1) / ROUNDS;
	for (size_t w = 0; w < k->works; w++)
		cells += k->work[w].sizes;
	if (a->done == a->modes) {
		size_t more = a->want - a->modes < each ? a->want - a->modes : each;

		if (!more)
			return 1;
		err = a->modes ? als_round(a, k, more) : als_add_random(a, k->n, more);
		if (err)
			return err;
	}
	*next = (struct jetwatt_cell){ .size = a->cell, .mode = a->mode[a->done] };
	while (next->size >= k->work[next->work].sizes)
		next->size -= k->work[next->work++].sizes;
	if (++a->cell == cells) {
		a->cell = 0;
		a->done++;
	}
	return 0;
}

const struct jetwatt_strategy jetwatt_strategy_als = {
	.name = "als", .does = "Sampling along the front predicted by networks (Fulcrum)",
	.modes = 50, .shared = 1, .new = als_new, .next = als_next, .free = als_free,
};
