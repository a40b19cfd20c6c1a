// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes what jetwatt top shows: mean powers, the chart, and the share and minibatches of each
 * process.
 */
#include "cmd/top/top.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "minibatch/minibatch.h"

/* Minimum number of latest waits that are kept, also from before the window, so that the period of
 * the waits in the window can be found. */
#define WAITS_MAX	4096

static void drop_old(struct jetwatt_session *w, uint64_t from_ns)
{
	size_t old = 0;

	jetwatt_session_discard(w, from_ns);
	while (old < w->nr_sync && w->sync[old].exit_ns < from_ns && w->nr_sync - old > WAITS_MAX)
		old++;
	memmove(w->sync, w->sync + old, (w->nr_sync - old) * sizeof(*w->sync));
	w->nr_sync -= old;
}

static void top_power(struct jetwatt_top *t, const struct jetwatt_session *w, uint64_t from_ns)
{
	const struct jetwatt_power *last = &w->power[w->nr_power - 1];
	uint64_t begin = w->power[0].time_ns > from_ns ? w->power[0].time_ns : from_ns;
	double span = (t->now_ns - begin) * 1e-9, uj;
	int n[JETWATT_TOP_COLUMNS] = { 0 };

	for (int r = 0; r < w->nr_rails; r++)
		if (span > 0 && !jetwatt_batch_energy(w->power, w->nr_power, &r, 1, begin, t->now_ns, &uj, NULL))
			t->rail_w[r] = uj * 1e-6 / span;
	for (int i = 0; i < w->nr_total; i++)
		t->total_w += span > 0 ? t->rail_w[w->total[i]] : last->uw[w->total[i]] * 1e-6;
	for (size_t i = 0; i < w->nr_power; i++) {
		double v = jetwatt_session_total(w, &w->power[i]);
		int k = ((double)w->power[i].time_ns - from_ns) / (t->window_s * 1e9) * t->nr_columns;

		if (w->power[i].time_ns < from_ns)
			continue;
		k = k < t->nr_columns ? k : t->nr_columns - 1;
		t->column[k] = (t->column[k] * n[k] + v) / (n[k] + 1);
		n[k]++;
		t->peak_w = fmax(t->peak_w, v);
	}
	for (int k = 0; k < t->nr_columns; k++)
		if (!n[k])
			t->column[k] = -1;
	t->hz = span > 0 ? w->nr_power / span : 0;
	t->clock = last->clock;
	t->telemetry = last->telemetry;
}

static struct jetwatt_top_job *find_job(struct jetwatt_top *t, uint32_t pid)
{
	for (int i = 0; i < t->nr_jobs; i++)
		if (t->job[i].pid == pid)
			return &t->job[i];
	return NULL;
}

/* Compute the means of one phase from the bounds that ended in the window. */
static void fill_phase(const struct jetwatt_top *t, const struct jetwatt_session *w,
		       struct jetwatt_top_job *job, uint64_t from_ns, const struct jetwatt_batch_bound *bound,
		       int bounds, uint32_t number)
{
	struct jetwatt_top_phase p = { 0 };
	double ns = 0, uj;
	size_t known = 0, seen = 0;

	for (int i = 0; i < bounds; i++) {
		const struct jetwatt_batch_bound *b = &bound[i];

		if (b->phase != number || b->end_ns < from_ns)
			continue;
		ns += b->end_ns - b->start_ns;
		seen++;
		if (jetwatt_batch_energy(w->power, w->nr_power, w->total, w->nr_total, b->start_ns,
					 b->end_ns, &uj, NULL))
			continue;
		p.joule += uj * 1e-6;
		known++;
	}
	if (!seen)
		return;
	p.ms = ns * 1e-6 / seen;
	p.joule = known ? p.joule / known : 0;
	p.per_s = seen / t->window_s;
	job->phase[job->phases++] = p;
}

/* Find the minibatches of one process that ended in the window. Return: 0, -ENOMEM. */
static int job_minibatches(struct jetwatt_top *t, const struct jetwatt_session *w,
			   struct jetwatt_top_job *job, uint64_t from_ns, struct jetwatt_sync *sync,
			   struct jetwatt_batch_bound *bound)
{
	struct jetwatt_batch_info info;
	int bounds, phases;
	size_t n = 0;

	for (size_t i = 0; i < w->nr_sync; i++)
		if (w->sync[i].tgid == job->pid)
			sync[n++] = w->sync[i];
	bounds = jetwatt_batch_segment(sync, n, bound, &info);
	phases = jetwatt_batch_phases(bound, bounds > 0 ? bounds : 0);
	for (int i = 0; i < bounds; i++) {
		int k = ((double)bound[i].end_ns - from_ns) / (t->window_s * 1e9) * t->nr_columns;

		if (bound[i].phase && bound[i].end_ns >= from_ns)
			t->tick[k < t->nr_columns ? k : t->nr_columns - 1]++;
	}
	for (int k = 1; k <= phases; k++)
		fill_phase(t, w, job, from_ns, bound, bounds, (uint32_t)k);
	/* With one phase, the rate follows from the time per minibatch. A count is less accurate,
	 * because the window begins and ends within minibatches. */
	if (job->phases == 1)
		job->phase[0].per_s = 1e3 / job->phase[0].ms;
	return bounds == -ENOMEM || phases == -ENOMEM ? -ENOMEM : 0;
}

/* Return: the value by which a job is sorted, descending. */
static double sort_value(const struct jetwatt_top_job *j, enum jetwatt_top_order order)
{
	switch (order) {
	case JETWATT_TOP_BY_ENERGY:
		return j->phases ? j->phase[0].joule : 0;
	case JETWATT_TOP_BY_TIME:
		return j->phases ? j->phase[0].ms : 0;
	case JETWATT_TOP_BY_PID:
		return -(double)j->pid;
	default:
		return j->watt;
	}
}

void jetwatt_top_sort(struct jetwatt_top *t, enum jetwatt_top_order order)
{
	for (int i = 1; i < t->nr_jobs; i++) {
		struct jetwatt_top_job job = t->job[i];
		int to = i;

		for (; to && sort_value(&t->job[to - 1], order) < sort_value(&job, order); to--)
			t->job[to] = t->job[to - 1];
		t->job[to] = job;
	}
}

/* Split the total power among the processes by their GPU time. */
static void split_power(struct jetwatt_top *t, const struct jetwatt_session *w, uint64_t from_ns)
{
	struct jetwatt_batch_share share[JETWATT_TOP_JOBS];
	size_t first = 0;
	double rest = 0, span = (t->now_ns - w->power[0].time_ns) * 1e-9;
	int n;

	while (first < w->nr_sync && (w->sync[first].enter_ns < from_ns ||
				      w->sync[first].enter_ns < w->power[0].time_ns))
		first++;
	n = jetwatt_batch_split(w->sync + first, w->nr_sync - first, JETWATT_BATCH_BY_TGID, w->power,
				w->nr_power, w->total, w->nr_total, 0, share, JETWATT_TOP_JOBS, &rest);
	for (int i = 0; i < n && span > 0; i++) {
		struct jetwatt_top_job *job = find_job(t, share[i].key);

		if (!job)
			continue;
		job->watt = (share[i].dynamic_uj + share[i].idle_uj) * 1e-6 / span;
		job->shared = share[i].shared > 0;
	}
	t->rest_w = t->total_w;
	for (int i = 0; i < t->nr_jobs; i++)
		t->rest_w -= t->job[i].watt;
	jetwatt_top_sort(t, JETWATT_TOP_BY_POWER);
}

int jetwatt_top_gather(struct jetwatt_top *t, struct jetwatt_session *w, double window_s, int columns,
		       void (*name)(uint32_t pid, char *buf, size_t len, void *arg), void *arg)
{
	struct jetwatt_batch_bound *bound;
	struct jetwatt_sync *sync;
	uint64_t from_ns, span = window_s * 1e9;
	int err = 0;

	memset(t, 0, sizeof(*t));
	if (!w->nr_power)
		return -ENODATA;
	t->now_ns = w->power[w->nr_power - 1].time_ns;
	t->window_s = window_s;
	t->nr_columns = columns < 1 ? 1 : columns > JETWATT_TOP_COLUMNS ? JETWATT_TOP_COLUMNS : columns;
	from_ns = t->now_ns > span ? t->now_ns - span : 0;
	drop_old(w, from_ns);
	sync = calloc(w->nr_sync + 1, sizeof(*sync));
	bound = calloc(2 * w->nr_sync + 1, sizeof(*bound));
	if (!sync || !bound) {
		err = -ENOMEM;
		goto out;
	}
	top_power(t, w, from_ns);
	for (size_t i = 0; i < w->nr_sync; i++) {
		struct jetwatt_top_job *job;

		if (w->sync[i].exit_ns < from_ns || find_job(t, w->sync[i].tgid) ||
		    t->nr_jobs == JETWATT_TOP_JOBS)
			continue;
		job = &t->job[t->nr_jobs++];
		job->pid = w->sync[i].tgid;
		snprintf(job->name, sizeof(job->name), "?");
		if (name)
			name(job->pid, job->name, sizeof(job->name), arg);
	}
	for (int i = 0; i < t->nr_jobs && !err; i++)
		err = job_minibatches(t, w, &t->job[i], from_ns, sync, bound);
	split_power(t, w, from_ns);
out:
	free(sync);
	free(bound);
	return err;
}
