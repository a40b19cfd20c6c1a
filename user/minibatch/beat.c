// SPDX-License-Identifier: GPL-2.0-only
/* From waits to gaps and lengths, as times and as logarithms. */
#include <math.h>

#include "minibatch/bounds.h"

#define FLOOR_NS	2e4	/* times are known to so much, ... */
#define FLOOR		1e-4	/* ... and to this much of the time that a few waits take */

static uint32_t who(const struct jetwatt_sync *s)
{
	return s->tid * 2654435761u ^ s->call;
}

/* Time that a few waits around @i take, were none of them an outlier. */
static double span(const struct jetwatt_beat *b, size_t n, size_t i)
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

void jetwatt_beats_times(const struct jetwatt_item *it, size_t n, struct jetwatt_beat *b)
{
	uint64_t free_from = it[0].sync->exit_ns;

	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;

		b[i].gap_ns = i && s->enter_ns > free_from ? (double)(s->enter_ns - free_from) : 0;
		b[i].cycle_ns = s->exit_ns > free_from ? (double)(s->exit_ns - free_from) : 0;
		b[i].who = who(s);
		b[i].lost = s->lost;
		if (s->exit_ns > free_from)
			free_from = s->exit_ns;
	}
	for (size_t i = 0; i < n; i++)
		b[i].around_ns = span(b, n, i);
}

/* The floor follows the job's speed: jitter of a time that is next to nothing is next to
 * nothing too. */
void jetwatt_beats_rough(const struct jetwatt_item *it, size_t n, struct jetwatt_beat *b)
{
	jetwatt_beats_times(it, n, b);
	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = it[i].sync;
		double floor_ns = 3e4 + 2e-3 * b[i].around_ns;

		b[i].gap = log(b[i].gap_ns + floor_ns);
		b[i].wait = log((double)(s->exit_ns - s->enter_ns) + floor_ns);
	}
}

/* Places are told apart by less than what a peak must stand out
 * by, and a floor that follows the GPU's speed would bend the CPU's. */
void jetwatt_beats_sharpen(struct jetwatt_beat *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double floor_ns = FLOOR_NS + FLOOR * b[i].around_ns;

		b[i].gap = log(b[i].gap_ns + floor_ns);
		b[i].wait = log(fmax(b[i].cycle_ns - b[i].gap_ns, 0) + floor_ns);
	}
}
