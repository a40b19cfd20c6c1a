// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact search over modes and minibatch sizes, in blocks of modes.
 */
#include "plan/slice.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Modes per block: the scores of a block stay in the first-level cache. */
#define CHUNK	256

/**
 * struct slice_score - scores of a block of modes
 * @good: objective of each mode, more is better; -INFINITY: a limit is exceeded
 * @late: latency of each mode, in ms; less is better if @good is equal
 * @power: power of each mode, in watts; less is better if @good and @late are equal
 */
struct slice_score {
	double good[CHUNK], late[CHUNK], power[CHUNK];
};

/**
 * struct slice_column - times and powers of a workload at one minibatch size, from the first mode
 * of a block on
 * @time: time of a minibatch, in milliseconds
 * @power: power, in watts
 * @window: time until a minibatch is full, in milliseconds
 */
struct slice_column {
	const double *time, *power;
	double window;
};

static struct slice_column slice_column_of(const struct jetwatt_slice_work *w, size_t size,
					   size_t n, size_t from,
					   const struct jetwatt_slice_query *q)
{
	return (struct slice_column){ w->time_ms + size * n + from, w->power_w + size * n + from,
				1e3 * w->size[size] / q->arrival_hz };
}

/* Comparisons with NAN are false, so unknown cells exceed all limits. */

static void slice_score_train(struct slice_score *s, struct slice_column t, size_t n,
			      const struct jetwatt_slice_query *q)
{
	for (size_t i = 0; i < n; i++) {
		s->good[i] = t.power[i] <= q->power_w && t.time[i] < INFINITY ? -t.time[i] :
										-INFINITY;
		s->late[i] = 0;
		s->power[i] = t.power[i];
	}
}

static void slice_score_infer(struct slice_score *s, struct slice_column f, size_t n,
			      const struct jetwatt_slice_query *q)
{
	double most = fmin(q->latency_ms - f.window, f.window);

	for (size_t i = 0; i < n; i++) {
		s->late[i] = f.window + f.time[i];
		s->power[i] = f.power[i];
		s->good[i] = (f.power[i] <= q->power_w) & (f.time[i] <= most) ? -s->late[i] :
										-INFINITY;
	}
}

static void slice_score_train_infer(struct slice_score *s, struct slice_column t,
				    struct slice_column f, size_t n,
				    const struct jetwatt_slice_query *q)
{
	double most = fmin(q->latency_ms - f.window, f.window), per_s = 1e3 / f.window;

	for (size_t i = 0; i < n; i++) {
		double tau = jetwatt_slice_tau(f.window, f.time[i], t.time[i]);
		int ok = (f.power[i] <= q->power_w) & (t.power[i] <= q->power_w) &
			 (f.time[i] <= most) & (t.time[i] > 0);

		s->late[i] = f.window + f.time[i];
		s->power[i] = t.power[i] > f.power[i] ? t.power[i] : f.power[i];
		s->good[i] = ok ? tau * per_s : -INFINITY;
	}
}

static void slice_score_pair(struct slice_score *s, struct slice_column a, struct slice_column b,
			     size_t n, const struct jetwatt_slice_query *q)
{
	double slow = fmax(a.window, b.window);
	double most = fmin(q->latency_ms - slow, fmin(a.window, b.window));

	for (size_t i = 0; i < n; i++) {
		double both = a.time[i] + b.time[i];
		int ok = (a.power[i] <= q->power_w) & (b.power[i] <= q->power_w) & (both <= most);

		s->late[i] = slow + both;
		s->power[i] = a.power[i] > b.power[i] ? a.power[i] : b.power[i];
		s->good[i] = ok ? -s->late[i] : -INFINITY;
	}
}

/* The best plan found so far, with its scores. */
struct slice_best {
	double good, late, power;
	size_t mode, size[2];
};

/* Update the best plan found so far with the scores of a block of modes. */
static void slice_update_best(struct slice_best *b, const struct slice_score *s, size_t n,
			      size_t from, size_t size0, size_t size1)
{
	double top = -INFINITY;

	for (size_t i = 0; i < n; i++)
		top = s->good[i] > top ? s->good[i] : top;
	if (top == -INFINITY || top < b->good)
		return;
	for (size_t i = 0; i < n; i++) {
		if (s->good[i] < top ||
		    (top == b->good && (s->late[i] > b->late ||
					(s->late[i] == b->late && s->power[i] >= b->power))))
			continue;
		*b = (struct slice_best){
			top, s->late[i], s->power[i], from + i, { size0, size1 }
		};
	}
}

int jetwatt_slice_find(enum jetwatt_slice_kind kind, const struct jetwatt_slice_work *work,
		       size_t n, const struct jetwatt_slice_query *q,
		       struct jetwatt_slice_plan *plan)
{
	const struct jetwatt_slice_work *last = &work[jetwatt_slice_works(kind) - 1];
	struct slice_best best = { .good = -INFINITY };
	struct slice_score s;

	for (size_t from = 0; from < n; from += CHUNK)
		for (size_t i = 0; i < work->sizes; i++)
			for (size_t j = 0; j < (last > work ? last->sizes : 1); j++) {
				size_t k = n - from < CHUNK ? n - from : CHUNK;
				struct slice_column a = slice_column_of(work, i, n, from, q);

				if (kind == JETWATT_SLICE_TRAIN)
					slice_score_train(&s, a, k, q);
				else if (kind == JETWATT_SLICE_INFER)
					slice_score_infer(&s, a, k, q);
				else if (kind == JETWATT_SLICE_TRAIN_AND_INFER)
					slice_score_train_infer(
						&s, a, slice_column_of(last, j, n, from, q), k, q);
				else
					slice_score_pair(
						&s, a, slice_column_of(last, j, n, from, q), k, q);
				slice_update_best(&best, &s, k, from, i, j);
			}
	if (best.good == -INFINITY)
		return 0;
	*plan = (struct jetwatt_slice_plan){
		.mode = best.mode, .size = { best.size[0], best.size[1] }, .power_w = best.power,
	};
	if (jetwatt_slice_trains(kind))
		plan->time_ms = work->time_ms[best.mode];
	if (kind != JETWATT_SLICE_TRAIN)
		plan->latency_ms = best.late;
	if (kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		double window = 1e3 * last->size[best.size[1]] / q->arrival_hz;

		plan->throughput_hz = best.good;
		plan->tau = best.good * window / 1e3 + 0.5;
	}
	return 1;
}

int jetwatt_slice_size(uint32_t *sizes, size_t *n, uint32_t size)
{
	size_t at = 0;

	while (at < *n && sizes[at] < size)
		at++;
	if (at < *n && sizes[at] == size)
		return 0;
	if (*n == JETWATT_SLICE_SIZES)
		return -ENOSPC;
	memmove(sizes + at + 1, sizes + at, ((*n)++ - at) * sizeof(*sizes));
	sizes[at] = size;
	return 0;
}
