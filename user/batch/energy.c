// SPDX-License-Identifier: GPL-2.0-only
/* Energy between two times: trapezoids clipped to them. */
#include "batch/batch.h"

#include <errno.h>
#include <math.h>

/* First sample at or after @t. */
static size_t at_or_after(const struct jetwatt_power *p, size_t n, uint64_t t)
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

static double watts(const struct jetwatt_power *p, const int *rail, int nr)
{
	double uw = 0;

	for (int i = 0; i < nr; i++)
		uw += (double)p->uw[rail[i]];
	return uw * 1e-6;
}

int jetwatt_batch_energy(const struct jetwatt_power *p, size_t n, const int *rail, int nr,
			 uint64_t start_ns, uint64_t end_ns, double *uj, uint64_t *covered_ns)
{
	uint64_t covered = 0;
	double joule = 0;
	size_t i;

	if (end_ns < start_ns || !n || p[0].time_ns > start_ns || p[n - 1].time_ns < end_ns)
		return -ENODATA;
	/* The pair of samples that holds the start, and on to the one that holds the end. */
	i = at_or_after(p, n, start_ns);
	for (i = i ? i : 1; i < n && p[i - 1].time_ns < end_ns; i++) {
		uint64_t t0 = p[i - 1].time_ns, t1 = p[i].time_ns;
		uint64_t from = t0 > start_ns ? t0 : start_ns, to = t1 < end_ns ? t1 : end_ns;
		double w0, slope;

		if (t1 <= t0 || to <= from)
			continue;
		w0 = watts(&p[i - 1], rail, nr);
		slope = (watts(&p[i], rail, nr) - w0) / (double)(t1 - t0);
		joule += 1e-9 * (double)(to - from) *
			 (w0 + slope * 0.5 * ((double)(from - t0) + (double)(to - t0)));
		if (!p[i].gap)
			covered += to - from;
	}
	*uj = joule * 1e6;
	if (covered_ns)
		*covered_ns = covered;
	return 0;
}
