// SPDX-License-Identifier: GPL-2.0-only
/*
 * The most probable walk through the places of a job's minibatches.
 *
 * A hidden Markov model: each wait is at one place of the training cycle, or
 * one too many after its end (a value that is fetched, an optimizer's), or at
 * a place of an evaluation's cycle, or at none (a checkpoint). From one wait to
 * the next the place moves on by one, or by more if waits were lost; then the
 * gap is as long as what is missing. A wait is compared with its place's usual
 * gap and length, relative to the speed at which the job runs now, which every
 * walk follows for itself: two outliers alike in a row are a new speed. There are
 * three: of the loader, of other gaps, of the GPU.
 *
 * As long as the best walk foresees what comes, it alone goes on; when it does
 * not, all explanations do, until one is ahead of the others by BEAM. So the
 * cost is that of a comparison for each wait, and of all walks for few.
 */
#include "minibatch/viterbi.h"

#include <math.h>
#include <string.h>

#include "minibatch/walk.h"

static double norm_of(double sd)
{
	return log(sd) + 0.92;
}

static void norms(struct jetwatt_place *p)
{
	p->gap_norm = norm_of(p->gap_sd);
	p->wait_norm = norm_of(p->wait_sd);
}

/* Logarithm of a normal density. */
static double fit(double off, double sd, double norm)
{
	return -0.5 * off * off / (sd * sd) - norm;
}

/* What a value should be like. */
struct expected {
	double mean, sd, norm;
};

/* Does @value fit at this speed, or is it odd, or a new speed? */
static double compare(double value, struct expected e, double odd, double *speed, double *last,
		      double *old, uint8_t *which, uint8_t flag)
{
	double off = value - e.mean - *speed, as = fit(off, e.sd, e.norm), other = odd + ANYWHERE;
	double was = value - e.mean - *old;

	if (as >= other && fabs(off) < SURE * e.sd) {
		*speed += GAIN * off;
		*last = NAN;
		return as;
	}
	other = fmax(other, as);
	*which |= flag;
	if (fabs(was) < SURE * e.sd) {
		/* Two outliers were alike by chance. */
		*speed = *old;
		*last = NAN;
		return fmax(other, SAME_AGAIN + fit(was, e.sd, e.norm));
	}
	if (fabs(off - *last) < 2 * e.sd + 0.2) {
		*old = *speed;
		*speed += off;
		*last = NAN;
		return fmax(other, SAME_AGAIN + ANYWHERE);
	}
	*last = off;
	return other;
}

/* Score of the event at hand at place @p of @c; the gap is not that of the place
 * if @gap is given (a logarithm, with its deviation). */
static double emit(const struct decoder *d, const struct jetwatt_place *p, int inner, struct walk *w,
		   const double *gap, double gap_sd)
{
	const struct jetwatt_beat *b = d->b;
	double s = 0, speed, last, old = NAN, apart;

	w->odd = 0;
	if (gap) {
		/* The speed is in it already. */
		speed = 0;
		last = NAN;
		s += compare(b->gap, (struct expected){ *gap, gap_sd, norm_of(gap_sd) }, ODD, &speed,
			     &last, &old, &w->odd, JETWATT_ODD_GAP);
	} else if (d->at) {
		bool stall = !inner && b->gap > p->gap + w->speed_gap[0];

		s += compare(b->gap, (struct expected){ p->gap, p->gap_sd, p->gap_norm },
			     stall ? d->stall : ODD, &w->speed_gap[inner], &w->odd_gap[inner],
			     &w->old_gap[inner], &w->odd, JETWATT_ODD_GAP);
		/* One stall is no sign of another. */
		if (stall)
			w->odd_gap[0] = NAN;
	}
	/* A loader's speed is not that of launches, but not far from it. */
	apart = (w->speed_gap[0] - w->speed_gap[1]) / APART;
	s -= 0.5 * apart * apart;
	s += compare(b->wait, (struct expected){ p->wait, p->wait_sd, p->wait_norm }, ODD,
		     &w->speed_wait, &w->odd_wait, &w->old_wait, &w->odd, JETWATT_ODD_WAIT);
	if (p->who && p->who != b->who) {
		s += WRONG_CALLER;
		w->odd |= JETWATT_ODD_WAIT;
	}
	return s;
}

static void offer(struct decoder *d, int to, int from, int missing, const struct walk *w)
{
	if (w->score <= d->next[to].score)
		return;
	d->next[to] = *w;
	if (d->gain)
		d->gain[to] = (float)(w->score - d->now[from].score);
	d->step[to] = (struct step){ (uint8_t)from, (uint8_t)missing, w->odd };
}

/* On to a place of a cycle. */
static void go(struct decoder *d, const struct jetwatt_cycle *c, int base, int p, int from, double cost)
{
	struct walk w = d->now[from];

	w.score += cost + emit(d, &c->place[p], p > 0, &w, NULL, 0);
	offer(d, base + p, from, 0, &w);
}

/* After a loss: from place @p over one or more. */
static void leap(struct decoder *d, int from, int p)
{
	const struct jetwatt_cycle *c = &d->m.train;
	const struct jetwatt_beat *b = d->b;
	const struct walk *was = &d->now[from];
	double first = exp(was->speed_gap[0]), others = exp(was->speed_gap[1]);
	double gpu = exp(was->speed_wait), ns = 0, sd = LEAP_SD;
	int to = (p + 1) % c->k;

	/* What is missing takes time. */
	if ((d->m.told && !b->lost) ||
	    b->gap < c->place[to].gap + was->speed_gap[to > 0] + c->place[to].gap_sd)
		return;
	for (int missing = 1; missing <= LOST_MAX; missing++) {
		struct walk w = *was;
		double gap, cost;

		ns += d->gap[to] * (to ? others : first) + d->wait[to] * gpu;
		sd = fmax(sd, c->place[to].wait_sd);
		to = (to + 1) % c->k;
		if (missing % c->k == 0 && !d->m.whole)
			continue;
		gap = log(ns + d->gap[to] * (to ? others : first));
		/* Those that are told may be of another process, in part. */
		cost = d->m.told ? TOLD * (1 + fabs((double)b->lost - missing))
				  : d->lost + MORE_LOST * (missing - 1);
		w.score += cost + emit(d, &c->place[to], to > 0, &w, &gap, sd);
		offer(d, to, from, missing, &w);
	}
}

static void extra(struct decoder *d, int from, int p)
{
	const struct jetwatt_motif *m = &d->m;
	struct jetwatt_place x = m->extra;
	struct walk w = d->now[from];

	/* Not known yet: as short a gap as any, any length. */
	if (!m->extras) {
		x = (struct jetwatt_place){ .gap_sd = EXTRA_GAP_SD, .wait_sd = EXTRA_WAIT_SD };
		for (int i = 0; i < m->train.k; i++)
			x.gap = fmin(x.gap, m->train.place[i].gap);
		x.gap -= m->train.k > 1 ? 0 : EXTRA_GAP;
		norms(&x);
	}
	/* What makes up for a wait that was too long is no extra one. */
	if (!isnan(w.odd_wait) && w.odd_wait > 0)
		return;
	w.score += d->extra + emit(d, &x, m->train.k > 1, &w, NULL, 0);
	if (!m->extras) {
		memcpy(w.speed_gap, d->now[from].speed_gap, sizeof(w.speed_gap));
		w.speed_wait = d->now[from].speed_wait;
	}
	w.odd = 0;
	offer(d, JETWATT_RHYTHM_MAX + p, from, 0, &w);
}

static void nowhere(struct decoder *d, int from, double cost)
{
	struct walk w = d->now[from];

	w.score += cost + 2 * ANYWHERE;
	w.odd = JETWATT_ODD_GAP | JETWATT_ODD_WAIT;
	offer(d, NONE_AT, from, 0, &w);
}

/* ... at another speed than so far: that of the event. */
static void go_anew(struct decoder *d, const struct jetwatt_cycle *c, int base, int p, int from,
		    double cost)
{
	const struct jetwatt_place *at = &c->place[p];
	const struct jetwatt_beat *b = d->b;
	struct walk w = d->now[from];

	if (at->who && at->who != b->who)
		return;
	w.score += cost + NEW_SPEED + 2 * ANYWHERE;
	w.speed_gap[0] = w.speed_gap[1] = b->gap - at->gap;
	w.speed_wait = b->wait - at->wait;
	w.odd_gap[0] = w.odd_gap[1] = w.odd_wait = NAN;
	w.old_gap[0] = w.old_gap[1] = w.old_wait = NAN;
	w.odd = JETWATT_ODD_GAP | JETWATT_ODD_WAIT | JETWATT_ODD_SPEED;
	offer(d, base + p, from, 0, &w);
}

/* All explanations of the event at hand that begin at one state. */
static void branch(struct decoder *d, int from)
{
	const struct jetwatt_cycle *train = &d->m.train, *eval = &d->m.eval;
	int k = train->k, p = from % JETWATT_RHYTHM_MAX;
	bool end;

	if (from == NONE_AT) {
		nowhere(d, from, STAY);
		for (int i = 0; i < k; i++) {
			go(d, train, 0, i, from, i ? ODDLY : RETURN);
			go_anew(d, train, 0, i, from, i ? ODDLY : RETURN - NEW_SPEED + SAME_AGAIN);
		}
		if (eval->k)
			go(d, eval, EVAL_AT, 0, from, TO_EVAL);
		return;
	}
	if (from >= EVAL_AT) {
		p = from - EVAL_AT;
		end = p == eval->k - 1;
		go(d, eval, EVAL_AT, (p + 1) % eval->k, from, 0);
		go_anew(d, eval, EVAL_AT, (p + 1) % eval->k, from, 0);
		go(d, train, 0, 0, from, end ? FROM_EVAL : ODDLY);
		nowhere(d, from, end ? LEAVE : ODDLY);
		if (!end)
			go(d, eval, EVAL_AT, 0, from, ODDLY);
		return;
	}
	end = p == k - 1;
	go(d, train, 0, (p + 1) % k, from, 0);
	go_anew(d, train, 0, (p + 1) % k, from, 0);
	leap(d, from, p);
	if (!end)
		go(d, train, 0, 0, from, d->m.abort);
	if (end && from < JETWATT_RHYTHM_MAX && d->m.extra_rate > 0)
		extra(d, from, p);
	nowhere(d, from, end ? LEAVE : ODDLY);
	if (eval->k)
		go(d, eval, EVAL_AT, 0, from, end ? TO_EVAL : ODDLY);
}

/* Does the one walk that is left go on as foreseen? Return: to where; -1: no. */
static int foreseen(struct decoder *d, int from)
{
	bool eval = from >= EVAL_AT;
	const struct jetwatt_cycle *c = eval ? &d->m.eval : &d->m.train;
	struct walk w = d->now[from];
	int p, to;

	if (from == NONE_AT || (d->m.told && d->b->lost) || d->at < 2)
		return -1;
	p = ((eval ? from - EVAL_AT : from % JETWATT_RHYTHM_MAX) + 1) % c->k;
	to = (eval ? EVAL_AT : 0) + p;
	w.score += emit(d, &c->place[p], p > 0, &w, NULL, 0);
	if (w.odd)
		return -1;
	if (d->gain)
		d->gain[to] = (float)(w.score - d->now[from].score);
	d->now[from].score = -INFINITY;
	d->now[to] = w;
	d->step[to] = (struct step){ .from = (uint8_t)from };
	return to;
}

static void clear(struct walk *w)
{
	for (int s = 0; s < STATES; s++)
		w[s].score = -INFINITY;
}

/* Any place may be the first that is seen; its speed is what it says. */
static void begin(struct decoder *d)
{
	const struct jetwatt_beat *b = d->b;

	clear(d->next);
	for (int i = 0; i < d->m.train.k; i++) {
		const struct jetwatt_place *p = &d->m.train.place[i];
		struct walk w = { .score = p->who && p->who != b->who ? WRONG_CALLER : 0,
				  .speed_wait = b->wait - p->wait, .odd_wait = NAN,
				  .odd_gap = { INFINITY, NAN }, .old_gap = { NAN, NAN },
				  .old_wait = NAN };

		/* The first gap is not known, the next one tells. */
		offer(d, i, i, 0, &w);
	}
	for (int i = 0; i < d->m.eval.k; i++) {
		struct walk w = { .score = TO_EVAL, .speed_wait = b->wait - d->m.eval.place[i].wait,
				  .odd_gap = { INFINITY, NAN }, .odd_wait = NAN,
				  .old_gap = { NAN, NAN }, .old_wait = NAN };

		offer(d, EVAL_AT + i, EVAL_AT + i, 0, &w);
	}
}

/* The second gap sets its speed. */
static void set_speed(struct decoder *d)
{
	for (int s = 0; s < STATES; s++) {
		struct walk *w = &d->now[s];
		const struct jetwatt_cycle *c = s >= EVAL_AT ? &d->m.eval : &d->m.train;
		int p = s >= EVAL_AT ? s - EVAL_AT : s % JETWATT_RHYTHM_MAX;

		if (!isinf(w->odd_gap[0]) || isinf(w->score))
			continue;
		w->speed_gap[0] = w->speed_gap[1] = d->b->gap - c->place[(p + 1) % c->k].gap;
		w->odd_gap[0] = NAN;
	}
}

void jetwatt_walk_on(struct decoder *d, const struct jetwatt_beat *b, struct step *step, float *gain)
{
	double top = -INFINITY;
	int alive = 0, to;

	d->at++;
	d->b = b;
	d->step = step;
	d->gain = gain;
	to = d->alone < 0 ? -1 : foreseen(d, d->alone);
	if (to >= 0) {
		d->alone = to;
		return;
	}
	clear(d->next);
	if (d->at == 1)
		set_speed(d);
	for (int s = 0; s < STATES; s++)
		if (!isinf(d->now[s].score))
			branch(d, s);
	for (int s = 0; s < STATES; s++)
		top = fmax(top, d->next[s].score);
	d->alone = -1;
	for (int s = 0; s < STATES; s++) {
		d->now[s] = d->next[s];
		if (d->now[s].score < top - BEAM)
			d->now[s].score = -INFINITY;
		if (isinf(d->now[s].score))
			continue;
		d->alone = s;
		alive++;
	}
	if (alive > 1)
		d->alone = -1;
}

void jetwatt_walk_begin(struct decoder *d, const struct jetwatt_motif *m, const struct jetwatt_beat *b,
			struct step *step, float *gain)
{
	*d = (struct decoder){ .m = *m, .b = b, .stall = log(m->stall), .lost = log(m->lost),
			       .extra = log(m->extra_rate), .step = step, .gain = gain, .alone = -1 };
	norms(&d->m.extra);
	for (int p = 0; p < m->eval.k; p++)
		norms(&d->m.eval.place[p]);
	for (int p = 0; p < m->train.k; p++) {
		norms(&d->m.train.place[p]);
		d->gap[p] = exp(m->train.place[p].gap);
		d->wait[p] = exp(m->train.place[p].wait);
	}
	begin(d);
	memcpy(d->now, d->next, sizeof(d->now));
}
