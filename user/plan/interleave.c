// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrival statistics, durations of time slices, and the queueing model of the plan.
 */
#include "plan/interleave.h"

#include <math.h>
#include <string.h>

/* Number of standard deviations above the mean that 99 % of a skewed distribution stay below. */
#define TAIL	2.6
#define LATE	0.01 /* share of the requests that may exceed the latency limit */
/* Weight of the prior that arrivals are a Poisson process, in requests. */
#define PRIOR	10
#define FULL	0.95 /* utilisation of the server above which it counts as overloaded */
/* Threshold of twice the log likelihood ratio: at most 1 in 100,000 splits of a constant rate. */
#define CHANGED	20.0
/* Largest share of the best training throughput that is given up for a lower latency. */
#define GIVE	0.1
/* Number of candidates for the number of training minibatches in a window. */
#define STEPS	48

static double interleave_log_likelihood(double requests, double ms)
{
	return requests > 0 ? requests * log(requests / ms) : 0;
}

/* Return: index of dispersion, the variance of the requests in a window over their mean: 1 for a
 * Poisson process. Indices of dispersion below 1 are not used, because a window with more requests
 * is longer, so that arrivals seem more even than they are. Each window is compared with the one
 * before it, so that a slow change of the rate does not count. */
static double interleave_dispersion(const struct jetwatt_interleave *i)
{
	double squares = PRIOR, expected = PRIOR;

	for (size_t j = i->since + 1; j < i->n; j++) {
		const struct jetwatt_interleave_window *a = &i->w[j - 1], *b = &i->w[j];
		double ratio = b->window_ms / a->window_ms, before = a->requests * ratio;

		squares += (b->requests - before) * (b->requests - before) / (1 + ratio);
		expected += (b->requests + before) / 2;
	}
	return fmax(squares / expected, 1);
}

/* Test for a change of the rate: the last 1, 2, 3, 4, 6, 8, 12 ... windows against the earlier
 * windows since the last change. */
static void interleave_detect_change(struct jetwatt_interleave *i)
{
	double k = 0, ms = 0, late = 0, late_ms = 0, top = CHANGED;
	size_t next = 1, since = i->since;

	for (size_t j = i->since; j < i->n; j++) {
		k += i->w[j].requests;
		ms += i->w[j].window_ms;
	}
	top *= interleave_dispersion(i);
	for (size_t last = 1; last < i->n - i->since; last++) {
		const struct jetwatt_interleave_window *w = &i->w[i->n - last];
		double twice;

		late += w->requests;
		late_ms += w->window_ms;
		if (last < next)
			continue;
		next += next < 3 ? 1 : 1u << ((31 - __builtin_clz((unsigned int)next)) - 1);
		twice = 2 * (interleave_log_likelihood(late, late_ms) +
			     interleave_log_likelihood(k - late, ms - late_ms) -
			     interleave_log_likelihood(k, ms));
		if (twice > top) {
			top = twice;
			since = i->n - last;
		}
	}
	i->since = since;
}

void jetwatt_interleave_add(struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_window *w)
{
	const size_t half = JETWATT_INTERLEAVE_WINDOWS / 2;

	if (!(w->window_ms > 0))
		return;
	if (i->n == JETWATT_INTERLEAVE_WINDOWS) {
		memmove(i->w, i->w + half, half * sizeof(*i->w));
		i->n = half;
		i->since = i->since > half ? i->since - half : 0;
	}
	i->w[i->n++] = *w;
	interleave_detect_change(i);
}

void jetwatt_interleave_forget(struct jetwatt_interleave *i)
{
	struct jetwatt_interleave_window all = { 0 };

	for (size_t j = i->since; j < i->n; j++) {
		all.requests += i->w[j].requests;
		all.window_ms += i->w[j].window_ms;
	}
	i->n = i->since = 0;
	if (all.window_ms > 0)
		i->w[i->n++] = all;
}

double jetwatt_interleave_requests(const struct jetwatt_interleave *i)
{
	double k = 0;

	for (size_t j = i->since; j < i->n; j++)
		k += i->w[j].requests;
	return k;
}

double jetwatt_interleave_rate(const struct jetwatt_interleave *i)
{
	double ms = 0;

	for (size_t j = i->since; j < i->n; j++)
		ms += i->w[j].window_ms;
	return ms > 0 ? 1e3 * jetwatt_interleave_requests(i) / ms : NAN;
}

double jetwatt_interleave_requests_99(const struct jetwatt_interleave *i, double expected)
{
	return expected + TAIL * sqrt(interleave_dispersion(i) * expected);
}

/**
 * struct interleave_line - duration of a time slice: @base + @each * content, in ms, where content
 * is the number of requests or minibatches
 * @n: number of time slices that the line is fitted to
 * @base: constant part
 * @each: milliseconds for each request or minibatch
 * @sd: standard deviation of the durations around the line, in ms
 */
struct interleave_line {
	double n, base, each, sd;
};

/* Sums over time slices, of content (k: number of requests or minibatches) and duration (t, in
 * ms). */
struct interleave_sums {
	double n, k, kk, t, tt, kt;
};

static void interleave_sums_add(struct interleave_sums *s, double k, double t)
{
	s->n++;
	s->k += k;
	s->kk += k * k;
	s->t += t;
	s->tt += t * t;
	s->kt += k * t;
}

/* Fit the line of duration over content by least squares. If all time slices have about the same
 * content, the slope is undetermined; the share @share of the duration is then taken to be
 * proportional to the content. */
static struct interleave_line interleave_fit_line(const struct interleave_sums *s, double share)
{
	double k, t, var, cov, weak, each;

	if (!(s->k > 0))
		return (struct interleave_line){ 0 };
	k = s->k / s->n;
	t = s->t / s->n;
	var = s->kk / s->n - k * k;
	cov = s->kt / s->n - k * t;
	weak = 0.01 * k * k + 1e-9;
	each = (cov + weak * share * t / k) / (var + weak);
	each = fmax(0, fmin(each, t / k));
	return (struct interleave_line){ s->n, t - each * k, each,
			      sqrt(fmax(s->tt / s->n - t * t - 2 * each * cov + each * each * var, 0)) };
}

static struct interleave_line interleave_infer_line(const struct jetwatt_interleave *i)
{
	struct interleave_sums s = { 0 };

	for (size_t j = 0; j < i->n; j++)
		if (i->w[j].infer_ms > 0)
			interleave_sums_add(&s, i->w[j].requests, i->w[j].infer_ms);
	return interleave_fit_line(&s, 0.5);
}

static struct interleave_line interleave_train_line(const struct jetwatt_interleave *i,
						    const struct jetwatt_interleave_query *q)
{
	struct interleave_sums s = { 0 };
	struct interleave_line l;

	for (size_t j = 0; j < i->n; j++)
		if (i->w[j].minibatches > 0)
			interleave_sums_add(&s, i->w[j].minibatches, i->w[j].train_ms);
	l = interleave_fit_line(&s, 1);
	return l.n ? l : (struct interleave_line){ 0, 0, q->train_ms, 0 };
}

double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests)
{
	struct interleave_line s = interleave_infer_line(i);

	return s.n ? s.base + s.each * requests : NAN;
}

/**
 * struct interleave_model - what a plan is computed from
 * @infer: duration of a server time slice, as a function of the number of requests
 * @train: duration of a training time slice, as a function of the number of minibatches
 * @rate: requests per millisecond
 * @high: @rate plus one standard error, which follows from the number of requests counted
 * @scatter: index of dispersion
 * @change: duration of the switches to the other program and back together, in milliseconds
 * @even: see struct jetwatt_interleave_query
 */
struct interleave_model {
	struct interleave_line infer, train;
	double rate, high, scatter, change, even;
};

static struct interleave_model interleave_model_of(const struct jetwatt_interleave *i,
						   const struct jetwatt_interleave_query *q)
{
	struct interleave_model t = { interleave_infer_line(i), interleave_train_line(i, q),
				      1e-3 * q->arrival_hz, 0, interleave_dispersion(i),
				      q->switch_ms, q->even };

	t.high = t.rate * (1 + sqrt(t.scatter / (jetwatt_interleave_requests(i) + 1)));
	return t;
}

static double interleave_train_ms(const struct interleave_model *t, double minibatches)
{
	return t->train.base + t->train.each * minibatches;
}

/* Return: latency that 99 % of the requests stay below, in ms; INFINITY if the utilisation of the
 * server is too high. The latency is the larger one of two cases. First case, a server that handles
 * requests one by one: the queue of a server without vacations, with an exponential tail, plus the
 * rest of a vacation (Fuhrmann and Cooper 1985); a vacation is the time in which the server does
 * not run. Second case, a server that handles all waiting requests in one minibatch: the first
 * request waits for a whole vacation and for the work of all requests that arrive during the
 * vacation. */
static double interleave_latency(const struct interleave_model *t, double tau)
{
	double away = interleave_train_ms(t, tau) + t->change + t->infer.base,
	       come = t->high * away;
	double busy = t->infer.each * t->high, tail, one, all;

	if (busy > FULL)
		return INFINITY;
	tail = fmax(t->infer.each * t->scatter / (2 * (1 - busy)), 1e-6);
	one = log(fmax(busy * tail / (LATE * away) * (1 - exp(-away / tail)), 1)) * tail + t->infer.each;
	all = t->infer.each * come +
	      TAIL * sqrt(t->infer.each * t->infer.each * t->scatter * come +
			  t->infer.sd * t->infer.sd + t->train.sd * t->train.sd);
	return away + fmax(one, all);
}

/* Return: mean number of training minibatches in a window: training does not yield at minibatch
 * boundaries at which no request waits. */
static double interleave_minibatches(const struct interleave_model *t, uint32_t tau, uint32_t most)
{
	double none = exp(-t->rate * (interleave_train_ms(t, tau) + t->change));
	double more = none / fmax(1 - exp(-t->rate * t->train.each), 1e-9);

	return t->even ? tau : fmin(tau + more, most);
}

/* Return: mean length of a window, in ms. Requests that arrive while the server works lengthen its
 * time slice; at utilisation r, the window is longer by the factor 1 / (1 - r), at most 20. */
static double interleave_window_ms(const struct interleave_model *t, double n, double rate)
{
	double left = 1 - t->infer.each * rate;

	return (interleave_train_ms(t, n) + t->change + t->infer.base) / fmax(left, 1 - FULL);
}

/* Set @plan to the prediction for @tau to @most training minibatches in a window. Return: 1 if the
 * plan meets the latency limit, else 0. */
static int interleave_fill(const struct interleave_model *t, const struct jetwatt_interleave *i,
			   const struct jetwatt_interleave_query *q, uint32_t tau, uint32_t most,
			   struct jetwatt_interleave_plan *plan)
{
	double n = interleave_minibatches(t, tau, most), ms = interleave_window_ms(t, n, t->rate),
	       late = interleave_latency(t, tau);

	*plan = (struct jetwatt_interleave_plan){
		.tau = tau,
		.max_minibatches = t->even ? tau : most,
		.minibatches = n,
		.window_ms = ms,
		.infer_ms = ms - interleave_train_ms(t, n),
		.requests = ms * t->rate,
		.requests_99 = jetwatt_interleave_requests_99(i, ms * t->rate),
		.latency_ms = fmin(late, 100 * q->latency_ms),
		/* The planned throughput is that at the arrival rate plus one standard error. */
		.throughput_hz = 1e3 * n / interleave_window_ms(t, n, t->high),
	};
	return late <= q->latency_ms;
}

int jetwatt_interleave_fixed(const struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_query *q, uint32_t tau,
			     struct jetwatt_interleave_plan *plan)
{
	struct interleave_model t = interleave_model_of(i, q);

	t.even = 1;
	return interleave_fill(&t, i, q, tau, tau, plan);
}

int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan)
{
	struct interleave_model t = interleave_model_of(i, q);
	double ratio = fmax(q->latency_ms / fmax(t.train.each, 1e-3), 1), best;
	uint32_t most = 1, tau = 1;

	/* The candidates go from one minibatch to the number that takes as long as the latency
	 * limit, in equal ratios. */
	for (int j = 0; j < STEPS; j++) {
		uint32_t n = lround(pow(ratio, j / (STEPS - 1.0)));

		if (n > most && interleave_latency(&t, n) <= q->latency_ms)
			most = n;
	}
	best = interleave_minibatches(&t, most, most) / interleave_window_ms(&t, most, t.rate);
	for (int j = 0; j < STEPS && tau < most; j++) {
		double n = interleave_minibatches(&t, tau, most);

		if (n / interleave_window_ms(&t, n, t.rate) >= (1 - GIVE) * best)
			break;
		tau = fmin(fmax(tau + 1, lround(pow(ratio, j / (STEPS - 1.0)))), most);
	}
	return interleave_fill(&t, i, q, tau, most, plan);
}
