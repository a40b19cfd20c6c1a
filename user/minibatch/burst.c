// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts of very short waits in a job whose launches are not traced.
 *
 * A checkpoint copies each parameter to the host, with a wait for each: hundreds of waits of a few
 * microseconds to a millisecond. If launches are traced, no_launch.c tells these waits from minibatches.
 * Without launches, they would outnumber the waits of the minibatches around them, so that they were taken
 * for the usual minibatches. A burst is merged with the wait before it: the time of a checkpoint then belongs
 * to the minibatch that precedes it, as does the time of a log.
 *
 * The limits are strict, because short waits may be minibatches: of another power mode, or decode steps
 * after a long prompt. Those are longer, or alike; the parameters of a model differ in size by orders of
 * magnitude.
 */
#include "minibatch/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "minibatch/order.h"

#define WINDOW		4096	/* number of waits from which the usual length of a wait is computed */
/* A wait is short if the time since the end of the previous wait is below the fraction SHORT of the usual length
 * of a wait, and long if its length is at least LONG times the usual one. */
#define SHORT		(1.0 / 20)
#define LONG		0.5
#define LENGTHS_MIN	16	/* minimum number of long waits in a window; else none is usual */
/* A burst is a sequence of at least this many short waits. On average, these take less than
 * MEAN_NS each; their times have at least this standard deviation (logarithm); and in all they take
 * at most ALL times the usual length of a wait. */
#define WAITS_MIN	16
#define MEAN_NS		1e6
#define SD_MIN		0.3
#define ALL		50

static double wait_ns(const struct jetwatt_item *it)
{
	return (double)(it->sync->exit_ns - it->sync->enter_ns);
}

/* Return the time from the end of wait @i - 1 to the end of wait @i, ns. */
static double cycle_ns(const struct jetwatt_item *it, size_t i)
{
	return (double)(it[i].sync->exit_ns - it[i - 1].sync->exit_ns);
}

/* Return the length for which half of the time of waiting is spent in longer waits, ns; 0: few waits are about as
 * long. @v: memory for @n lengths. */
static double usual_length(const struct jetwatt_item *it, size_t n, double *v)
{
	double all = 0, sum = 0;
	size_t at = n, from = n;

	for (size_t i = 0; i < n; i++) {
		v[i] = wait_ns(&it[i]);
		all += v[i];
	}
	qsort(v, n, sizeof(*v), jetwatt_minibatch_order_doubles);
	do
		sum += v[--at];
	while (at && sum < all / 2);
	while (from && v[from - 1] >= LONG * v[at])
		from--;
	return n - from >= LENGTHS_MIN ? v[at] : 0;
}

/* Return the index after the last of the short waits from @from on, at most @n. */
static size_t short_end(const struct jetwatt_item *it, size_t from, size_t n, double usual)
{
	while (from < n && cycle_ns(it, from) < SHORT * usual)
		from++;
	return from;
}

/* Return: false if no burst can begin in the @n waits from @from on, of @all: for most jobs, this saves the sorting of
 * usual_length(), which is at most the length of the longest wait. */
static bool may_have_burst(const struct jetwatt_item *it, size_t from, size_t n, size_t all)
{
	double longest = 0;
	size_t end = from + n, run = 0;

	for (size_t i = from; i < end; i++)
		longest = fmax(longest, wait_ns(&it[i]));
	for (size_t i = from ? from : 1; i < all && (i < end || run); i++) {
		run = cycle_ns(it, i) < SHORT * longest ? run + 1 : 0;
		if (run == WAITS_MIN)
			return true;
	}
	return false;
}

static bool is_burst(const struct jetwatt_item *it, size_t from, size_t to, double usual)
{
	double n = (double)(to - from), all = 0, sum = 0, squares = 0;

	if (to - from < WAITS_MIN)
		return false;
	for (size_t i = from; i < to; i++) {
		double ns = cycle_ns(it, i), x = log(ns + 1);

		all += ns;
		sum += x;
		squares += x * x;
	}
	return all < MEAN_NS * n && all <= ALL * usual && squares / n - sum / n * (sum / n) >= SD_MIN * SD_MIN;
}

size_t jetwatt_bursts_merge(struct jetwatt_item *it, size_t n, struct jetwatt_sync *merged,
			    struct jetwatt_batch_why *why)
{
	double *v = malloc((n < WINDOW ? n : WINDOW) * sizeof(*v));
	size_t kept = 0, left = 0;
	double usual = 0;

	for (size_t i = 0, end; i < n && v; i = end) {
		if (!left) {
			left = n - i < WINDOW ? n - i : WINDOW;
			usual = may_have_burst(it, i, left, n) ? usual_length(it + i, left, v) : 0;
		}
		end = i && usual > 0 ? short_end(it, i, n, usual) : i;
		if (kept && is_burst(it, i, end, usual)) {
			jetwatt_items_join(it, kept - 1, i, end, merged, JETWATT_RULE_BURST, why);
		} else {
			end = end > i ? end : i + 1;
			for (size_t j = i; j < end; j++)
				jetwatt_item_move(it, j, kept++, merged);
		}
		left -= end - i < left ? end - i : left;
	}
	free(v);
	return v ? kept : n;
}
