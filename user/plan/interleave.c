// SPDX-License-Identifier: GPL-2.0-only
#include "interleave.h"

#include <math.h>
#include <string.h>

#define KEEP	0.98	/* of each turn's weight at the next: some fifty count */
#define TAIL	2.33	/* standard deviations that 99 of 100 stay below */
/* As many turns with as many requests as expected are taken to have been seen. */
#define PRIOR	4

void jetwatt_interleave_note(struct jetwatt_interleave *i, double requests, double expected,
			     double ms)
{
	double *sum[] = { &i->n, &i->k, &i->kk, &i->t, &i->tt, &i->kt, &i->odd, &i->due };
	double now[] = { 1, requests, requests * requests, ms, ms * ms, requests * ms,
			 (requests - expected) * (requests - expected), expected };

	for (size_t j = 0; j < sizeof(now) / sizeof(now[0]); j++)
		*sum[j] = *sum[j] * KEEP + now[j];
}

double jetwatt_interleave_most(const struct jetwatt_interleave *i, double expected)
{
	/* 1: as in a Poisson process. */
	double scatter = (i->odd + PRIOR) / (i->due + PRIOR);

	return expected + TAIL * sqrt(scatter * expected);
}

/*
 * A line through the turns. Where all had about as many requests it is not known
 * how steep it is: then half of a turn is taken to be the requests' doing.
 */
double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests)
{
	double k = i->k / i->n, t = i->t / i->n, var = i->kk / i->n - k * k;
	double cov = i->kt / i->n - k * t, weak = 0.01 * k * k + 1e-9, slope, rest;

	if (!(i->n > 0) || !(k > 0))
		return NAN;
	slope = (cov + weak * 0.5 * t / k) / (var + weak);
	slope = fmax(0, fmin(slope, t / k));
	rest = i->tt / i->n - t * t - slope * slope * var;
	return t + slope * (requests - k) + TAIL * sqrt(fmax(rest, 0));
}

int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan)
{
	uint32_t size[JETWATT_SLICE_SIZES];
	double time[JETWATT_SLICE_SIZES], power[JETWATT_SLICE_SIZES] = { 0 };
	struct jetwatt_slice_work work[] = {
		{ .size = size, .sizes = 1, .time_ms = &q->train_ms, .power_w = power },
		{ .size = size, .time_ms = time, .power_w = power },
	};
	/* The board is in its mode: power is no limit here. */
	struct jetwatt_slice_query limit = { 1, q->latency_ms, q->arrival_hz };
	double most = fmax(q->latency_ms * 1e-3 * q->arrival_hz, 1);
	struct jetwatt_slice_plan best = { .size = { 0, 0 } };
	size_t n = 0;
	int ok;

	/* From one request to as many as may wait at all, in equal ratios. */
	for (int j = 0; j < JETWATT_SLICE_SIZES; j++) {
		uint32_t b = lround(pow(most, j / (JETWATT_SLICE_SIZES - 1.0)));

		if (n && b <= size[n - 1])
			continue;
		size[n] = b;
		time[n] = jetwatt_interleave_ms(i, jetwatt_interleave_most(i, b)) + q->switch_ms;
		n++;
	}
	work[1].sizes = n;
	ok = jetwatt_slice_find(JETWATT_SLICE_BESIDE, work, 1, &limit, &best);
	memset(plan, 0, sizeof(*plan));
	plan->batch = size[best.size[1]];
	plan->tau = ok ? best.tau : 1;
	plan->window_ms = 1e3 * plan->batch / q->arrival_hz;
	plan->infer_ms = time[best.size[1]];
	if (!ok)
		plan->window_ms = fmax(plan->window_ms, plan->infer_ms + q->train_ms);
	plan->latency_ms = plan->window_ms + plan->infer_ms;
	plan->throughput_hz = 1e3 * plan->tau / plan->window_ms;
	return ok;
}
