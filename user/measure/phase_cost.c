// SPDX-License-Identifier: GPL-2.0-only
/* Computes time and power of prefill and decode steps from the waits and samples of a session. */
#include "measure/phase_cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "measure/block_mean.h"
#include "minibatch/phases.h"
#include "model/order.h"

/* Number of waits before the change of mode from which the period of the waits is known. */
#define WAITS_BEFORE	1024
static const double percentile[JETWATT_STEP_KINDS] = { [JETWATT_PREFILL] = 0.9, [JETWATT_DECODE] = 0.5 };
/* A step is prefill if it takes more than this many times the median of the decode steps: in a
 * phase other than decode, and in the phase of decode. */
#define LONGER_PHASE	1.5
#define LONGER_STEP	3
/* Relative standard error of a time that is computed from fewer than four steps. */
#define ONE_SD		0.3
#define BLOCK_NS	50e6	/* minimum duration of a block of steps, ns */
#define PROCESSES_MAX	16	/* maximum number of processes whose prompts are counted one by one */

/**
 * struct steps - the steps of one kind whose energy is known
 * @ns, @uj: time and energy of each step
 * @n: number of steps
 */
struct steps {
	double *ns, *uj;
	size_t n;
};

static uint64_t launch_ns(const struct jetwatt_batch_bound *b)
{
	return b->start_ns + (b->launches ? b->fetch_ns : 0);
}

/* Compute the energy between two times. The steps of several processes overlap, so the times of successive
 * calls need not ascend. Return: uJ; NAN: there are no samples. */
static double energy_between(const struct jetwatt_session *w, uint64_t from, uint64_t to)
{
	size_t lo = jetwatt_batch_sample_at(w->power, w->nr_power, from), hi;
	double uj;

	lo -= lo && (lo == w->nr_power || w->power[lo].time_ns > from);
	hi = lo + jetwatt_batch_sample_at(w->power + lo, w->nr_power - lo, to);
	hi += hi < w->nr_power;
	return jetwatt_batch_energy(w->power + lo, hi - lo, w->total, w->nr_total, from, to, &uj, NULL) ?
	       NAN : uj;
}

/* Return: number of the phase with most steps. */
static uint32_t main_phase(const struct jetwatt_batch_bound *b, int n)
{
	size_t count[JETWATT_PHASES_MAX + 1] = { 0 };
	uint32_t most = 1;

	for (int i = 0; i < n; i++)
		count[b[i].phase]++;
	for (uint32_t p = 2; p <= JETWATT_PHASES_MAX; p++)
		most = count[p] > count[most] ? p : most;
	return most;
}

/* Return: median time of the steps of a phase from their first launch to their end, ns. @ns: room for
 * @n numbers. */
static double median_ns(const struct jetwatt_batch_bound *b, int n, uint32_t phase, double *ns)
{
	size_t m = 0;

	for (int i = 0; i < n; i++)
		if (b[i].phase == phase)
			ns[m++] = b[i].end_ns - launch_ns(&b[i]);
	qsort(ns, m, sizeof(*ns), jetwatt_order_doubles);
	return m ? ns[m / 2] : 0;
}

/* The kind of the last step of a process. */
struct last_step {
	uint32_t tgid;
	int kind;
};

/* Replace the kind of the last step of a process. Return: that kind; -1: it is the first step of the process,
 * or there are too many processes. */
static int replace_kind(struct last_step *last, uint32_t tgid, int kind)
{
	for (int i = 0; i < PROCESSES_MAX; i++) {
		int was = last[i].kind;

		if (was >= 0 && last[i].tgid != tgid)
			continue;
		last[i] = (struct last_step){ tgid, kind };
		return was;
	}
	return -1;
}

static void count_step(const struct jetwatt_batch_bound *b, int kind, int after, struct jetwatt_step_costs *c)
{
	double gap = (launch_ns(b) - b->start_ns) * 1e-6, ms = (b->end_ns - launch_ns(b)) * 1e-6;

	c->kind[kind].steps++;
	c->kind[kind].total_ms += ms;
	c->kind[kind].gap_ms += gap;
	if (kind != JETWATT_PREFILL)
		return;
	c->prompts += after != JETWATT_PREFILL;
	c->prompts_ms += ms + (after == JETWATT_PREFILL ? gap : 0);
}

/* Compute the typical time, the percentile @part, and the power of the steps of a kind. */
static void find_cost(struct steps *s, double part, struct jetwatt_phase_cost *k)
{
	double half = sqrt(part * (1 - part) * s->n), at = part * (s->n - 1.0);
	struct jetwatt_row mean = { .time_ms = 0 };

	k->used = s->n;
	if (!s->n)
		return;
	jetwatt_block_mean(s->ns, s->uj, s->n, BLOCK_NS, &mean);
	k->power_w = mean.power_w;
	k->power_sd = mean.power_sd;
	qsort(s->ns, s->n, sizeof(*s->ns), jetwatt_order_doubles);
	k->ms = s->ns[(size_t)(at + 0.5)] * 1e-6;
	/* The standard error of the rank of a percentile is @half. */
	k->ms_sd = s->n < 4 ? ONE_SD :
		   (s->ns[(size_t)fmin(s->n - 1, at + half + 0.5)] - s->ns[(size_t)fmax(0, at - half + 0.5)]) *
		   1e-6 / 2 / k->ms;
}

static void find_costs(const struct jetwatt_session *w, const struct jetwatt_batch_bound *b, int n,
		       uint64_t since_ns, uint64_t from_ns, struct steps *s, struct jetwatt_step_costs *c)
{
	uint32_t decode = main_phase(b, n);
	double median = median_ns(b, n, decode, s[JETWATT_DECODE].ns), gap_uj = 0, gap_ns = 0;
	struct last_step last[PROCESSES_MAX];

	for (int i = 0; i < PROCESSES_MAX; i++)
		last[i].kind = -1;
	for (int i = 0; i < n; i++) {
		uint64_t launch = launch_ns(&b[i]);
		int kind = b[i].end_ns - launch > median * (b[i].phase == decode ? LONGER_STEP : LONGER_PHASE) ?
			   JETWATT_PREFILL : JETWATT_DECODE;
		double gap, uj;
		int before;

		if (!b[i].phase || b[i].flags & JETWATT_BATCH_INFERRED)
			continue;
		before = replace_kind(last, b[i].tgid, kind);
		if (b[i].end_ns > since_ns)
			count_step(&b[i], kind, before, c);
		if (b[i].start_ns < from_ns || b[i].end_ns > w->power_ns)
			continue;
		gap = launch > b[i].start_ns ? energy_between(w, b[i].start_ns, launch) : 0;
		uj = energy_between(w, launch, b[i].end_ns);
		if (isnan(gap) || isnan(uj))
			continue;
		gap_uj += gap;
		gap_ns += launch - b[i].start_ns;
		s[kind].ns[s[kind].n] = b[i].end_ns - launch;
		s[kind].uj[s[kind].n++] = uj;
	}
	c->gap_w = gap_ns > 0 ? gap_uj / gap_ns * 1e3 : 0;
	for (int k = 0; k < JETWATT_STEP_KINDS; k++)
		find_cost(&s[k], percentile[k], &c->kind[k]);
}

/* Find the bounds that end after the change of mode, and their phases. @since: set to the first of these
 * bounds, in @b. Return: number of these bounds; negative errno: there are none, or no memory. */
static int find_bounds(const struct jetwatt_session *w, uint64_t since_ns, struct jetwatt_batch_bound *b,
		       size_t first, struct jetwatt_batch_bound **since)
{
	struct jetwatt_batch_info info;
	int n = jetwatt_batch_segment(w->sync + first, w->nr_sync - first, b, &info), i = 0, err;

	if (n <= 0)
		return n ? n : -EAGAIN;
	while (i < n && b[i].end_ns <= since_ns)
		i++;
	*since = b + i;
	err = i < n ? jetwatt_batch_phases(b + i, n - i) : -EAGAIN;
	return err < 0 ? err : n - i;
}

int jetwatt_phase_costs(const struct jetwatt_session *w, uint64_t since_ns, uint64_t from_ns,
			struct jetwatt_step_costs *c)
{
	size_t first = w->nr_sync, max;
	struct jetwatt_batch_bound *b, *since;
	double *number;
	int n = -ENOMEM;

	memset(c, 0, sizeof(*c));
	while (first && w->sync[first - 1].exit_ns > since_ns)
		first--;
	first = first > WAITS_BEFORE ? first - WAITS_BEFORE : 0;
	max = 2 * (w->nr_sync - first) + 1;
	b = malloc(max * sizeof(*b));
	number = malloc(2 * JETWATT_STEP_KINDS * max * sizeof(*number));
	if (b && number)
		n = find_bounds(w, since_ns, b, first, &since);
	if (n > 0) {
		struct steps s[JETWATT_STEP_KINDS];

		for (int k = 0; k < JETWATT_STEP_KINDS; k++)
			s[k] = (struct steps){ number + 2 * k * max, number + (2 * k + 1) * max, 0 };
		find_costs(w, since, n, since_ns, from_ns, s, c);
		c->span_ns = since[n - 1].end_ns > since_ns ? since[n - 1].end_ns - since_ns : 0;
	}
	free(b);
	free(number);
	return n > 0 ? 0 : n == -ENOMEM ? n : -EAGAIN;
}
