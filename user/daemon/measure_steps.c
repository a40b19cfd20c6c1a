// SPDX-License-Identifier: GPL-2.0-only
/* Measures the prefill and decode steps of a language model's server in the applied mode. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>

#include "measure/phase_cost.h"
#include "util/clock.h"

/* Time after the start of a measurement until power has settled, ns. */
#define SETTLE_NS	1000000000ull
#define POLL_MS		50
/* An evaluation takes CPU time in proportion to the time of the measurement, so the interval to the next one is at
 * least this fraction of it. */
#define INTERVAL	0.25
/* Minimum number of prefill steps in a measurement of less than limits->max_s, and in a longer one. After
 * twice limits->max_s, prefill steps are not required, because a slow mode may have few of them. */
#define PREFILLS	10
#define FEWEST_PREFILLS	3
/* If a prefill step takes less than this share of the least time that it took in a row, both as multiples of a
 * decode step, a measurement lasts for limits->max_s: during a long output, delayed decode steps may have been
 * taken for prefill steps. */
#define ODD_PREFILL	0.5

/* Return: 1 if the prefill steps are suspiciously short: ODD_PREFILL. */
static int is_prefill_odd(const struct jetwattd_learner *l, const struct jetwatt_step_costs *is)
{
	double least = 0;

	for (size_t i = 0; i < l->known.nr_rows; i++) {
		const struct jetwatt_phase_cost *was = l->steps.cost[i].kind;
		double times = was[JETWATT_PREFILL].used ? was[JETWATT_PREFILL].ms / was[JETWATT_DECODE].ms : 0;

		if (times > 0 && (!(least > 0) || times < least))
			least = times;
	}
	return is->kind[JETWATT_PREFILL].ms < ODD_PREFILL * least * is->kind[JETWATT_DECODE].ms;
}

/* Return: 1 if the measurement suffices. @expected: 1: the server has prefill steps; @odd: result of
 * is_prefill_odd(). */
static int is_complete(const struct jetwattd_reading *got, const struct jetwatt_measure_limits *limits,
		       int expected, int odd)
{
	const struct jetwatt_phase_cost *prefill = &got->steps.kind[JETWATT_PREFILL];
	const struct jetwatt_phase_cost *decode = &got->steps.kind[JETWATT_DECODE];
	double s = got->m.dwell_s;

	if (!decode->used || s < limits->seconds)
		return 0;
	if (s >= limits->max_s)
		return !expected || prefill->used >= FEWEST_PREFILLS || s >= 2 * limits->max_s;
	return decode->used >= limits->batches && (!expected || (prefill->used >= PREFILLS && !odd)) &&
	       got->m.row.time_sd <= limits->target && got->m.row.power_sd <= limits->target;
}

/* Compute the steps since @since_ns. Return: 1: they suffice; 0: not yet; -ENOMEM. */
static int evaluate(struct jetwattd_run *r, uint64_t since_ns, const struct jetwatt_measure_limits *limits,
		    struct jetwattd_reading *got)
{
	const struct jetwattd_steps *known = &r->learner.steps;
	int err = jetwatt_phase_costs(&r->session, since_ns, since_ns + SETTLE_NS, &got->steps);

	if (err)
		return err == -EAGAIN ? 0 : err;
	jetwattd_learner_figures(&r->learner, &got->steps, &got->m.row);
	got->m.batches = got->steps.kind[JETWATT_PREFILL].used + got->steps.kind[JETWATT_DECODE].used;
	got->m.settled = 1;
	return is_complete(got, limits, got->steps.kind[JETWATT_PREFILL].steps ||
					!known->windows || known->mix.work[JETWATT_PREFILL] > 0,
			   is_prefill_odd(&r->learner, &got->steps));
}

/* Return the time of the next evaluation, in ns. There is one after limits->max_s. */
static uint64_t next_ns(uint64_t since_ns, uint64_t evaluated_ns, const struct jetwatt_measure_limits *limits)
{
	uint64_t most_ns = since_ns + limits->max_s * 1e9;
	uint64_t next = evaluated_ns + fmax(limits->poll_s * 1e9, INTERVAL * (evaluated_ns - since_ns));

	return evaluated_ns < most_ns && next > most_ns ? most_ns : next;
}

int jetwattd_measure_steps(struct jetwattd_run *r, const struct jetwatt_measure_limits *limits,
			   struct jetwattd_reading *got)
{
	uint64_t since = jetwatt_clock_ns(), evaluated = since, now, last;
	struct jetwatt_session *w = &r->session;
	int done;

	jetwatt_session_discard(w, since);
	for (;;) {
		if (jetwatt_session_run(w, POLL_MS))
			return 1;
		if (atomic_load(limits->cancel))
			return -ECANCELED;
		jetwattd_housekeeping(r);
		now = jetwatt_clock_ns();
		if (now < next_ns(since, evaluated, limits))
			continue;
		evaluated = now;
		got->m.dwell_s = (now - since) * 1e-9;
		done = evaluate(r, since, limits, got);
		if (done)
			return done < 0 ? done : 0;
		last = w->last_wait_ns > since ? w->last_wait_ns : since;
		if (now > last && (now - last) * 1e-9 > limits->idle_s)
			return -ENODATA;
		if (got->m.dwell_s > 4 * limits->max_s)
			return -ETIMEDOUT;
	}
}
