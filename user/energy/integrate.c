// SPDX-License-Identifier: GPL-2.0-only
/* Energy between two times by the trapezoidal rule. */
#include "energy/energy.h"

#include <errno.h>
#include <math.h>

/*
 * A rail has a gap if it has no reading for longer than GAP_TIMES mean intervals of samples and
 * longer than GAP_MIN_NS, or if a sample since its last reading is marked (jetwatt_power::gap).
 * During the gap of one rail, the other rails may have readings.
 */
#define GAP_TIMES	8
#define GAP_MIN_NS	20e6

size_t jetwatt_batch_sample_at(const struct jetwatt_power *p, size_t n, uint64_t t)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[mid].time_ns < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return whether sample @i contains a reading of the rail. The first and the last sample count as
 * readings of every rail. */
static int has_reading(const struct jetwatt_power *p, size_t n, size_t i, int rail)
{
	return !i || i == n - 1 || p[i].valid & 1u << rail;
}

/* Return: integral from @from to @to of a value that is @v0 at @t0 and changes linearly to @v1 at @t1, which
 * is after @t0; in units of the value times seconds. */
static double trapezoid(double v0, double v1, uint64_t t0, uint64_t t1, uint64_t from, uint64_t to)
{
	double slope = (v1 - v0) / (double)(t1 - t0);

	return 1e-9 * (double)(to - from) *
	       (v0 + slope * 0.5 * ((double)(from - t0) + (double)(to - t0)));
}

double jetwatt_batch_energy_between(const struct jetwatt_power *a, const struct jetwatt_power *b,
				    const int *rail, int nr, uint64_t start_ns, uint64_t end_ns)
{
	double uw[2] = { 0 };

	if (b->time_ns <= a->time_ns || end_ns <= start_ns)
		return 0;
	for (int r = 0; r < nr; r++) {
		uw[0] += (double)a->uw[rail[r]];
		uw[1] += (double)b->uw[rail[r]];
	}
	return trapezoid(uw[0], uw[1], a->time_ns, b->time_ns, start_ns, end_ns);
}

static double rail_energy(const struct jetwatt_power *p, size_t n, int rail, uint64_t start_ns,
			  uint64_t end_ns, double long_ns, uint64_t *covered)
{
	size_t last = jetwatt_batch_sample_at(p, n, start_ns), i;
	double joule = 0;
	int gap = 0;

	last -= last > 0;
	while (!has_reading(p, n, last, rail))
		last--;
	*covered = 0;
	for (i = last + 1; i < n && p[last].time_ns < end_ns; i++) {
		uint64_t t0 = p[last].time_ns, t1 = p[i].time_ns;
		uint64_t from = t0 > start_ns ? t0 : start_ns, to = t1 < end_ns ? t1 : end_ns;

		gap |= p[i].gap;
		if (!has_reading(p, n, i, rail))
			continue;
		if (t1 > t0 && to > from) {
			joule += trapezoid((double)p[last].uw[rail] * 1e-6,
					   (double)p[i].uw[rail] * 1e-6, t0, t1, from, to);
			if (!gap && (double)(t1 - t0) <= long_ns)
				*covered += to - from;
		}
		last = i;
		gap = 0;
	}
	return joule;
}

int jetwatt_batch_energy(const struct jetwatt_power *p, size_t n, const int *rail, int nr,
			 uint64_t start_ns, uint64_t end_ns, double *uj, uint64_t *covered_ns)
{
	uint64_t least = end_ns - start_ns, covered;
	double joule = 0, long_ns;

	if (end_ns < start_ns || !n || p[0].time_ns > start_ns || p[n - 1].time_ns < end_ns)
		return -ENODATA;
	long_ns = n > 1 ? GAP_TIMES * (double)(p[n - 1].time_ns - p[0].time_ns) / (double)(n - 1) : 0;
	for (int r = 0; r < nr; r++) {
		joule += rail_energy(p, n, rail[r], start_ns, end_ns, fmax(long_ns, GAP_MIN_NS),
				     &covered);
		least = covered < least ? covered : least;
	}
	*uj = joule * 1e6;
	if (covered_ns)
		*covered_ns = least;
	return 0;
}
