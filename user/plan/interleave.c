// SPDX-License-Identifier: GPL-2.0-only
#include "plan/interleave.h"

#include <math.h>
#include <string.h>

#define TAIL	2.6	/* standard deviations that 99 of 100 stay below; of what is skewed */
#define LATE	0.01	/* of requests may be */
/* So many requests are taken to have come as evenly as in a Poisson process. */
#define PRIOR	10
#define FULL	0.95	/* a server that is busier than that is overloaded */
/* Twice a log likelihood ratio: 1 in 100,000 splits of one rate, at most. */
#define CHANGED	20.0
/* Of the throughput, for answers that come sooner. */
#define GIVE	0.1
#define STEPS	48

static double log_likelihood(double requests, double ms)
{
	return requests > 0 ? requests * log(requests / ms) : 0;
}

/*
 * Variance of requests in a window over their mean: 1 in a Poisson process. Less is not
 * believed: a window in which more come is longer for that, and looks as even. Each
 * against the one before, so that a rate that changes is not taken for scatter.
 */
static double scatter(const struct jetwatt_interleave *i)
{
	double odd = PRIOR, due = PRIOR;

	for (size_t j = i->since + 1; j < i->n; j++) {
		const struct jetwatt_interleave_window *a = &i->w[j - 1], *b = &i->w[j];
		double ratio = b->window_ms / a->window_ms, before = a->requests * ratio;

		odd += (b->requests - before) * (b->requests - before) / (1 + ratio);
		due += (b->requests + before) / 2;
	}
	return fmax(odd / due, 1);
}

/*
 * Two rates, or one? The last 1, 2, 3, 4, 6, 8, 12 ... windows against the others
 * since the change before.
 */
static void look_for_change(struct jetwatt_interleave *i)
{
	double k = 0, ms = 0, late = 0, late_ms = 0, top = CHANGED;
	size_t next = 1, since = i->since;

	for (size_t j = i->since; j < i->n; j++) {
		k += i->w[j].requests;
		ms += i->w[j].window_ms;
	}
	top *= scatter(i);
	for (size_t last = 1; last < i->n - i->since; last++) {
		const struct jetwatt_interleave_window *w = &i->w[i->n - last];
		double twice;

		late += w->requests;
		late_ms += w->window_ms;
		if (last < next)
			continue;
		next += next < 3 ? 1 : 1u << ((31 - __builtin_clz((unsigned int)next)) - 1);
		twice = 2 * (log_likelihood(late, late_ms) + log_likelihood(k - late, ms - late_ms) -
			     log_likelihood(k, ms));
		if (twice > top) {
			top = twice;
			since = i->n - last;
		}
	}
	i->since = since;
}

void jetwatt_interleave_note(struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_window *w)
{
	const size_t half = JETWATT_INTERLEAVE_KEEP / 2;

	if (!(w->window_ms > 0))
		return;
	if (i->n == JETWATT_INTERLEAVE_KEEP) {
		memmove(i->w, i->w + half, half * sizeof(*i->w));
		i->n = half;
		i->since = i->since > half ? i->since - half : 0;
	}
	i->w[i->n++] = *w;
	look_for_change(i);
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

double jetwatt_interleave_most(const struct jetwatt_interleave *i, double expected)
{
	return expected + TAIL * sqrt(scatter(i) * expected);
}

/**
 * struct interleave_line - of turns: @base + @each x what is in them, in ms, @sd around it
 * @n: turns that it is drawn through
 */
struct interleave_line {
	double n, base, each, sd;
};

/* As sums: of what is in a turn (k), and of its length (t). */
struct interleave_sums {
	double n, k, kk, t, tt, kt;
};

static void add(struct interleave_sums *s, double k, double t)
{
	s->n++;
	s->k += k;
	s->kk += k * k;
	s->t += t;
	s->tt += t * t;
	s->kt += k * t;
}

/*
 * Where all turns had about as much in them it is not known how steep the line is:
 * then @share of a turn is taken to depend on it.
 */
static struct interleave_line draw(const struct interleave_sums *s, double share)
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

static struct interleave_line of_infer(const struct jetwatt_interleave *i)
{
	struct interleave_sums s = { 0 };

	for (size_t j = 0; j < i->n; j++)
		if (i->w[j].infer_ms > 0)
			add(&s, i->w[j].requests, i->w[j].infer_ms);
	return draw(&s, 0.5);
}

static struct interleave_line of_train(const struct jetwatt_interleave *i,
				       const struct jetwatt_interleave_query *q)
{
	struct interleave_sums s = { 0 };
	struct interleave_line l;

	for (size_t j = 0; j < i->n; j++)
		if (i->w[j].minibatches > 0)
			add(&s, i->w[j].minibatches, i->w[j].train_ms);
	l = draw(&s, 1);
	return l.n ? l : (struct interleave_line){ 0, 0, q->train_ms, 0 };
}

double jetwatt_interleave_ms(const struct jetwatt_interleave *i, double requests)
{
	struct interleave_line s = of_infer(i);

	return s.n ? s.base + s.each * requests : NAN;
}

/**
 * struct turns - what a plan is made of
 * @rate: requests per ms; @high: as many as the counted ones do not rule out
 */
struct turns {
	struct interleave_line infer, train;
	double rate, high, scatter, change, even;
};

static struct turns learn(const struct jetwatt_interleave *i,
			  const struct jetwatt_interleave_query *q)
{
	struct turns t = { of_infer(i), of_train(i, q), 1e-3 * q->arrival_hz, 0, scatter(i),
			   q->switch_ms, q->even };

	t.high = t.rate * (1 + sqrt(t.scatter / (jetwatt_interleave_requests(i) + 1)));
	return t;
}

static double training(const struct turns *t, double minibatches)
{
	return t->train.base + t->train.each * minibatches;
}

/*
 * Of 99 in 100 requests; INFINITY: there is none, the server is overloaded. Either the
 * server answers one by one: then its queue is that of a server without holidays (whose
 * tail is exponential), and whoever comes waits for what is left of a holiday besides
 * (Fuhrmann and Cooper, 1985). Or it answers at once all that has come: then who comes
 * first waits for a whole holiday, and for the work of all who come in it.
 */
static double latency(const struct turns *t, double tau)
{
	double away = training(t, tau) + t->change + t->infer.base, come = t->high * away;
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

/* A bound at which nobody waits is passed over. */
static double minibatches(const struct turns *t, uint32_t tau, uint32_t most)
{
	double none = exp(-t->rate * (training(t, tau) + t->change));
	double more = none / fmax(1 - exp(-t->rate * t->train.each), 1e-9);

	return t->even ? tau : fmin(tau + more, most);
}

/* What comes while the server works makes its turn longer still: with a share r of the
 * time for each, a window is 1 / (1 - r) times what it would be. */
static double window(const struct turns *t, double n, double rate)
{
	double left = 1 - t->infer.each * rate;

	return (training(t, n) + t->change + t->infer.base) / fmax(left, 1 - FULL);
}

static int fill(const struct turns *t, const struct jetwatt_interleave *i,
		const struct jetwatt_interleave_query *q, uint32_t tau, uint32_t most,
		struct jetwatt_interleave_plan *plan)
{
	double n = minibatches(t, tau, most), ms = window(t, n, t->rate), late = latency(t, tau);

	*plan = (struct jetwatt_interleave_plan){
		.tau = tau, .most = t->even ? tau : most, .minibatches = n, .window_ms = ms,
		.infer_ms = ms - training(t, n), .requests = ms * t->rate,
		.requests_most = jetwatt_interleave_most(i, ms * t->rate),
		.latency_ms = fmin(late, 100 * q->latency_ms), 
		/* Promised with as many requests as there may be. */
		.throughput_hz = 1e3 * n / window(t, n, t->high),
	};
	return late <= q->latency_ms;
}

int jetwatt_interleave_fixed(const struct jetwatt_interleave *i,
			     const struct jetwatt_interleave_query *q, uint32_t tau,
			     struct jetwatt_interleave_plan *plan)
{
	struct turns t = learn(i, q);

	t.even = 1;
	return fill(&t, i, q, tau, tau, plan);
}

int jetwatt_interleave_plan(const struct jetwatt_interleave *i,
			    const struct jetwatt_interleave_query *q,
			    struct jetwatt_interleave_plan *plan)
{
	struct turns t = learn(i, q);
	double ratio = fmax(q->latency_ms / fmax(t.train.each, 1e-3), 1), best;
	uint32_t most = 1, tau = 1;

	/* From one minibatch to as many as the latency holds, in equal ratios. */
	for (int j = 0; j < STEPS; j++) {
		uint32_t n = lround(pow(ratio, j / (STEPS - 1.0)));

		if (n > most && latency(&t, n) <= q->latency_ms)
			most = n;
	}
	best = minibatches(&t, most, most) / window(&t, most, t.rate);
	for (int j = 0; j < STEPS && tau < most; j++) {
		double n = minibatches(&t, tau, most);

		if (n / window(&t, n, t.rate) >= (1 - GIVE) * best)
			break;
		tau = fmin(fmax(tau + 1, lround(pow(ratio, j / (STEPS - 1.0)))), most);
	}
	return fill(&t, i, q, tau, most, plan);
}
