// SPDX-License-Identifier: GPL-2.0-only
#include "interleave.h"

#include <math.h>
#include <string.h>

/* The last five seconds count, and twenty windows at least. */
#define KEEP_MS	5e3
#define KEEP	20
#define TAIL	2.6	/* standard deviations that 99 of 100 stay below; of what is skewed */
/* So many requests are taken to have come as evenly as in a Poisson process. */
#define PRIOR	10
#define FULL	0.95	/* a server that is busier than that is overloaded */

double jetwatt_interleave_rate(const struct jetwatt_interleave *i)
{
	return i->w > 0 ? 1e3 * i->k / i->w : NAN;
}

void jetwatt_interleave_note(struct jetwatt_interleave *i, double requests, double window_ms,
			     double ms)
{
	double *sum[] = { &i->n, &i->k, &i->kk, &i->t, &i->tt, &i->kt, &i->w, &i->odd, &i->due };
	/* Against the window before, so that a rate that changes is not taken for scatter. */
	double ratio = i->last_ms > 0 ? window_ms / i->last_ms : 1, before = i->last * ratio;
	double odd = i->last_ms > 0 ? (requests - before) * (requests - before) / (1 + ratio) : 0;
	double due = i->last_ms > 0 ? (requests + before) / 2 : 0;
	double now[] = { 1, requests, requests * requests, ms, ms * ms, requests * ms, window_ms,
			 odd, due };
	double keep = exp(-fmin(window_ms / KEEP_MS, 1.0 / KEEP));

	for (size_t j = 0; j < sizeof(now) / sizeof(now[0]); j++)
		*sum[j] = *sum[j] * keep + now[j];
	i->last = requests;
	i->last_ms = window_ms;
}

/*
 * Variance of requests in a window over their mean: 1 in a Poisson process. Less is not
 * believed: a window in which more come is longer for that, and looks as even.
 */
static double scatter(const struct jetwatt_interleave *i)
{
	return fmax((i->odd + PRIOR) / (i->due + PRIOR), 1);
}

double jetwatt_interleave_most(const struct jetwatt_interleave *i, double expected)
{
	return expected + TAIL * sqrt(scatter(i) * expected);
}

/**
 * struct turn - of the server: @base + @each x requests, in ms, @sd around it
 */
struct turn {
	double base, each, sd;
};

/*
 * A line through the turns. Where all had about as many requests it is not known
 * how steep it is: then half of a turn is taken to be the requests' doing.
 */
static struct turn learn(const struct jetwatt_interleave *i)
{
	double k = i->k / i->n, t = i->t / i->n, var = i->kk / i->n - k * k;
	double cov = i->kt / i->n - k * t, weak = 0.01 * k * k + 1e-9;
	double each = (cov + weak * 0.5 * t / k) / (var + weak);

	each = fmax(0, fmin(each, t / k));
	return (struct turn){ t - each * k, each,
			      sqrt(fmax(i->tt / i->n - t * t - each * each * var, 0)) };
}

double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests)
{
	struct turn s = learn(i);

	return i->n > 0 && i->k > 0 ? s.base + s.each * requests : NAN;
}

/**
 * struct window - with some number of minibatches
 * @ms: its mean length, INFINITY: there is none; @most: 99 of 100 are shorter
 */
struct window {
	double ms, most;
};

/*
 * What comes while the server works makes its turn longer still: with a share r of
 * the time for each, a window is 1 / (1 - r) times what it would be, and so is what
 * it scatters by. Who comes just when training has begun waits for all of it.
 */
static struct window window(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q, double tau)
{
	struct turn s = learn(i);
	double rate = 1e-3 * q->arrival_hz, room = tau * q->train_ms + q->switch_ms + s.base;
	/* As many more may come as the counted ones tell no better. */
	double high = rate * (1 + sqrt(scatter(i) / (i->k + 1))), left = 1 - s.each * high, ms, sd;

	if (left < 1 - FULL)
		return (struct window){ INFINITY, INFINITY };
	ms = room / left;
	sd = sqrt(s.each * s.each * scatter(i) * high * ms + s.sd * s.sd) / left;
	return (struct window){ room / (1 - s.each * rate), ms + TAIL * sd };
}

/*
 * The inner search asks for minibatch sizes: of requests that come at a million a
 * second a size is a window in microseconds; windows that are too long for the
 * latency are not offered to it.
 */
int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan)
{
	uint32_t size[JETWATT_SLICE_SIZES] = { 0 };
	double time[JETWATT_SLICE_SIZES], power[JETWATT_SLICE_SIZES] = { 0 };
	struct jetwatt_slice_work work[] = {
		{ .size = size, .sizes = 1, .time_ms = &q->train_ms, .power_w = power },
		{ .size = size, .time_ms = time, .power_w = power },
	};
	/* The board is in its mode: power is no limit here. */
	struct jetwatt_slice_query limit = { 1, INFINITY, 1e6 };
	double most = fmax(q->latency_ms / q->train_ms, 1);
	struct jetwatt_slice_plan best = { .tau = 1 };
	struct window w;
	uint32_t before = 0;
	size_t n = 0;

	/* From one minibatch to as many as the latency holds, in equal ratios. */
	for (int j = 0; j < JETWATT_SLICE_SIZES; j++) {
		uint32_t tau = lround(pow(most, j / (JETWATT_SLICE_SIZES - 1.0)));

		w = window(i, q, tau);
		if (tau > before && w.most <= q->latency_ms) {
			/* Rounded up, so that they fit. */
			size[n] = ceil(1e3 * w.ms) + 1;
			time[n] = 1e-3 * (size[n] - 1) - tau * q->train_ms;
			n++;
		}
		before = tau;
	}
	work[1].sizes = n;
	if (n)
		jetwatt_slice_find(JETWATT_SLICE_BESIDE, work, 1, &limit, &best);
	memset(plan, 0, sizeof(*plan));
	plan->tau = best.tau > 1 ? best.tau : 1;
	w = window(i, q, plan->tau);
	/* Overloaded: for ever is no figure to go by. */
	plan->window_ms = fmin(w.ms, plan->tau * q->train_ms + 10 * q->latency_ms);
	plan->infer_ms = plan->window_ms - plan->tau * q->train_ms;
	plan->requests = 1e-3 * plan->window_ms * q->arrival_hz;
	plan->most = jetwatt_interleave_most(i, plan->requests);
	plan->latency_ms = fmin(w.most, 100 * q->latency_ms);
	plan->throughput_hz = 1e3 * plan->tau / plan->window_ms;
	return w.most <= q->latency_ms;
}
