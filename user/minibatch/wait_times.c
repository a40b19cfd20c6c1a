// SPDX-License-Identifier: GPL-2.0-only
/* Converts waits to gaps and lengths, as times and as logarithms. */
#include <math.h>

#include "minibatch/bounds.h"

/* Floor of the logarithms in jetwatt_wait_logs(): a fixed time, in ns, plus a fraction of the duration
 * of a few waits around the wait. */
#define FLOOR_NS	2e4
#define FLOOR		1e-4

static uint32_t caller_id(const struct jetwatt_sync *s)
{
	return s->tid * 2654435761u ^ s->call;
}

/* Return the duration of the waits around @i, with the longest replaced by the second longest. */
static double span(const struct jetwatt_batch_wait *b, size_t n, size_t i)
{
	size_t lo = i > 3 ? i - 2 : 1, hi = i + 4 < n ? i + 4 : n;
	double sum = 0, most = 0, next = 0;

	for (size_t j = lo; j < hi; j++) {
		double c = b[j].cycle_ns;

		sum += c;
		if (c > most) {
			next = most;
			most = c;
		} else if (c > next) {
			next = c;
		}
	}
	return sum - most + next;
}

void jetwatt_wait_times(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_wait *b)
{
	uint64_t free_from = it[0].sync->exit_ns;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		uint64_t launch = s->launch_ns && s->launch_ns < s->enter_ns ? s->launch_ns : s->enter_ns;

		b[i].gap_ns = i && s->enter_ns > free_from ? (double)(s->enter_ns - free_from) : 0;
		b[i].idle_ns = i && launch > free_from ? (double)(launch - free_from) : 0;
		b[i].cycle_ns = s->exit_ns > free_from ? (double)(s->exit_ns - free_from) : 0;
		b[i].caller = caller_id(s);
		b[i].launches = s->launches;
		b[i].waits = it[i].waits;
		b[i].lost = s->lost;
		if (s->exit_ns > free_from)
			free_from = s->exit_ns;
	}
	for (size_t i = 0; i < n; i++)
		b[i].around_ns = span(b, n, i);
}

/*
 * Before the logarithm of a time is taken, a floor is added to the time: a fixed time plus a
 * fraction of the duration of the waits around the wait. Both parts of the floor are larger than in
 * jetwatt_wait_logs(), so that jitter of a very short time makes no peak.
 */
void jetwatt_wait_rough_logs(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_wait *b)
{
	jetwatt_wait_times(it, n, b);
	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		double floor_ns = 3e4 + 2e-3 * b[i].around_ns;

		b[i].gap = log(b[i].gap_ns + floor_ns);
		b[i].idle = log(b[i].idle_ns + floor_ns);
		b[i].wait = log((double)(s->exit_ns - s->enter_ns) + floor_ns);
	}
}

/*
 * The floor is smaller than in jetwatt_wait_rough_logs(), for two reasons. The model distinguishes
 * phase indices by smaller differences than those that make a peak. And the duration of the waits
 * depends on the GPU's speed; a larger fraction of it would distort the gaps, which are times of
 * the CPU.
 */
void jetwatt_wait_logs(struct jetwatt_batch_wait *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double floor_ns = FLOOR_NS + FLOOR * b[i].around_ns;

		b[i].gap = log(b[i].gap_ns + floor_ns);
		b[i].wait = log(fmax(b[i].cycle_ns - b[i].gap_ns, 0) + floor_ns);
	}
}
