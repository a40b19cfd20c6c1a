// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divides energy among jobs that share the GPU, by the time in which the GPU had work of them.
 *
 * If two jobs have work on the GPU at the same time, it cannot be observed for which one the GPU
 * works. Therefore the dynamic power of that time is divided in equal parts, and the result contains
 * the share of each job's busy time in which other jobs were busy too.
 */
#include "energy/energy.h"

#include <errno.h>
#include <stdlib.h>

/* At @time_ns the number of busy intervals that contain this time changes by @by (1 or -1) for the
 * job with the index @job. */
struct change {
	uint64_t time_ns;
	int job, by;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return y->by - x->by;
}

static uint64_t job_key(const struct jetwatt_sync *s, int by)
{
	return by == JETWATT_BATCH_BY_CGROUP ? s->cgroup : s->tgid;
}

static int job_of(uint64_t k, struct jetwatt_batch_share *out, int *jobs, int max)
{
	for (int i = 0; i < *jobs; i++)
		if (out[i].key == k)
			return i;
	if (*jobs == max)
		return -ENOSPC;
	out[*jobs] = (struct jetwatt_batch_share){ .key = k };
	return (*jobs)++;
}

/* Divide the dynamic part of the energy @uj of an interval of @ns nanoseconds among the @busy jobs
 * that are busy in it (those with @depth > 0). If no job is busy, add @uj to @rest. */
static void add_interval(double ns, double uj, double idle_uw, const int *depth, int jobs, int busy,
			 struct jetwatt_batch_share *out, double *rest)
{
	double dynamic = uj - idle_uw * ns * 1e-9;

	if (!busy) {
		*rest += uj;
		return;
	}
	for (int i = 0; i < jobs; i++) {
		if (!depth[i])
			continue;
		out[i].dynamic_uj += dynamic / busy;
		out[i].busy_ns += (uint64_t)ns;
		if (busy > 1)
			out[i].shared += ns;
	}
}

/* Divide the idle energy of the whole time, @span_ns, among the jobs in proportion to their busy
 * times, and subtract that of the time without a busy job, @idle_ns, from @rest. Convert the member
 * @shared from ns to a share of the busy time. */
static void divide_idle(struct jetwatt_batch_share *out, int jobs, double span_ns, double idle_uw,
			double idle_ns, double *rest)
{
	double all = 0;

	for (int i = 0; i < jobs; i++)
		all += (double)out[i].busy_ns;
	for (int i = 0; i < jobs; i++) {
		double part = all > 0 ? (double)out[i].busy_ns / all : 0;

		out[i].idle_uj = idle_uw * span_ns * 1e-9 * part;
		out[i].shared = out[i].busy_ns ? out[i].shared / (double)out[i].busy_ns : 0;
	}
	if (all > 0)
		*rest -= idle_uw * idle_ns * 1e-9;
}

int jetwatt_batch_split(const struct jetwatt_sync *sync, size_t n, int by,
			const struct jetwatt_power *p, size_t np, const int *rail, int nr,
			double idle_uw, struct jetwatt_batch_share *out, int max, double *rest_uj)
{
	struct change *c = malloc((2 * n + 1) * sizeof(*c));
	int *depth = calloc((size_t)max + 1, sizeof(*depth));
	int jobs = 0, busy = 0, rc = 0;
	double idle_ns = 0, uj;

	*rest_uj = 0;
	if (!c || !depth) {
		rc = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_sync *s = &sync[i];
		uint64_t from = s->launch_ns && s->launch_ns < s->enter_ns ? s->launch_ns : s->enter_ns;
		int job = job_of(job_key(s, by), out, &jobs, max);

		if (job < 0) {
			rc = job;
			goto out;
		}
		c[2 * i] = (struct change){ from, job, 1 };
		c[2 * i + 1] = (struct change){ s->exit_ns, job, -1 };
	}
	qsort(c, 2 * n, sizeof(*c), by_time);
	for (size_t i = 0; i < 2 * n && !rc; i++) {
		int *d = &depth[c[i].job], was = *d > 0;

		if (i && c[i].time_ns > c[i - 1].time_ns) {
			double ns = (double)(c[i].time_ns - c[i - 1].time_ns);

			rc = jetwatt_batch_energy(p, np, rail, nr, c[i - 1].time_ns, c[i].time_ns,
						  &uj, NULL);
			if (!rc)
				add_interval(ns, uj, idle_uw, depth, jobs, busy, out, rest_uj);
			idle_ns += busy ? 0 : ns;
		}
		*d += c[i].by;
		busy += (*d > 0) - was;
	}
	if (n && !rc)
		divide_idle(out, jobs, (double)(c[2 * n - 1].time_ns - c[0].time_ns), idle_uw,
			    idle_ns, rest_uj);
out:
	free(c);
	free(depth);
	return rc ? rc : jobs;
}
