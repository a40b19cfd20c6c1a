// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the Viterbi path: the most probable sequence of states of a hidden Markov model.
 *
 * Each wait is in one of these states: at a phase index of the training cycle; additional after the
 * end of the training cycle (the program fetches a value, or an optimizer waits); at a phase index
 * of the evaluation cycle; in no cycle (a checkpoint). From one wait to the next, the phase index
 * increases by one, or by more if waits were lost, in which case the gap includes the lost waits.
 * The emission is the log-likelihood of a wait's gap and length in a state, given the state's
 * usual gap and length and the job's present speed. Each path estimates three speeds: that of the
 * data loader, that of the other gaps, and that of the GPU. Two successive outliers of the same size
 * are a new speed.
 *
 * As long as only one path is left and it predicts the next wait, only that path is continued. If it
 * does not, all transitions are evaluated until one path is ahead of the others by BEAM. Therefore most
 * waits need one comparison, and few need the evaluation of all paths.
 */
#include "minibatch/viterbi.h"

#include <math.h>
#include <string.h>

#include "minibatch/viterbi_path.h"

static double log_norm(double sd)
{
	return log(sd) + 0.92;
}

static void set_norms(struct jetwatt_emission *p)
{
	p->gap_norm = log_norm(p->gap_sd);
	p->wait_norm = log_norm(p->wait_sd);
}

/* Return the logarithm of a normal density at the distance @off from the mean. */
static double log_normal(double off, double sd, double norm)
{
	return -0.5 * off * off / (sd * sd) - norm;
}

/* Distribution of a value. */
struct expected {
	double mean, sd, norm;
};

/* Log-likelihood of @value. Update the estimated speed @speed with a new deviation; if that is
 * an outlier, set the bit @flag in @which. */
static double log_value(double value, struct expected e, double outlier, double *speed,
			double *last, double *old, uint8_t *which, uint8_t flag)
{
	double off = value - e.mean - *speed, as = log_normal(off, e.sd, e.norm),
	       other = outlier + ANYWHERE;
	double was = value - e.mean - *old;

	if (as >= other && fabs(off) < SURE * e.sd) {
		*speed += GAIN * off;
		*last = NAN;
		return as;
	}
	other = fmax(other, as);
	*which |= flag;
	if (fabs(was) < SURE * e.sd) {
		/* The two outliers from which the new speed was estimated were equal by chance:
		 * return to the speed before them. */
		*speed = *old;
		*last = NAN;
		return fmax(other, SAME_AGAIN + log_normal(was, e.sd, e.norm));
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

/*
 * If the speed of the gaps is known from one gap only, which may have been an outlier, take the
 * speed @speed of the present gap if that differs. Exception: a long first gap is a stall if a stall
 * is more probable than this difference between the speeds of the first gap and of the other gaps.
 */
static void correct_speed(const struct decoder *d, double speed, int inner, bool stall,
			  struct viterbi_path *w)
{
	double apart = (speed - w->speed_gap[1]) / APART;

	if (!w->provisional_gap[inner] || d->at < 2)
		return;
	w->provisional_gap[inner] = false;
	w->unproven_gap[inner] = PROVED_BY;
	if (!stall || SAME_AGAIN - 0.5 * apart * apart > d->stall)
		w->outlier_gap[inner] = speed - w->speed_gap[inner];
}

/*
 * Return the log-likelihood of the present wait under the emission @p. @inner: 1: the wait is not
 * the first of its minibatch. @gap: expected logarithm of a gap that includes missing waits, with
 * the standard deviation @gap_sd; NULL: use the gap of the emission @p.
 */
static double log_emission(const struct decoder *d, const struct jetwatt_emission *p, int inner,
			   struct viterbi_path *w, const double *gap, double gap_sd)
{
	const struct jetwatt_batch_wait *b = d->b;
	double s = 0, speed, last, old = NAN, apart;

	w->outlier = 0;
	if (gap) {
		/* over_missing() has scaled @gap by the speeds of the path. */
		speed = 0;
		last = NAN;
		s += log_value(b->gap, (struct expected){ *gap, gap_sd, log_norm(gap_sd) }, OUTLIER,
			       &speed, &last, &old, &w->outlier, JETWATT_OUTLIER_GAP);
	} else if (d->at) {
		bool stall = !inner && b->gap > p->gap + w->speed_gap[0];

		correct_speed(d, b->gap - p->gap, inner, stall, w);
		s += log_value(b->gap, (struct expected){ p->gap, p->gap_sd, p->gap_norm },
			       stall ? d->stall : OUTLIER, &w->speed_gap[inner],
			       &w->outlier_gap[inner], &w->old_gap[inner], &w->outlier,
			       JETWATT_OUTLIER_GAP);
		if (w->unproven_gap[inner] && !w->outlier && !--w->unproven_gap[inner])
			w->old_gap[inner] = NAN;
		/* A stall does not make another stall of the same size more probable. */
		if (stall)
			w->outlier_gap[0] = NAN;
	}
	/* The speeds of the loader and of launches differ, but not by much. */
	apart = (w->speed_gap[0] - w->speed_gap[1]) / APART;
	s -= 0.5 * apart * apart;
	/* A speed that is known from one wait only may be wrong, as in correct_speed(). */
	if (w->provisional_wait && d->at) {
		w->outlier_wait = b->wait - p->wait - w->speed_wait;
		w->provisional_wait = false;
	}
	s += log_value(b->wait, (struct expected){ p->wait, p->wait_sd, p->wait_norm }, OUTLIER,
		       &w->speed_wait, &w->outlier_wait, &w->old_wait, &w->outlier,
		       JETWATT_OUTLIER_WAIT);
	if (p->caller && p->caller != b->caller) {
		s += WRONG_CALLER;
		w->outlier |= JETWATT_OUTLIER_WAIT;
	}
	return s;
}

/* Use the path @w to the state @to if it has a higher score than the best path to @to so far. */
static void offer_path(struct decoder *d, int to, int from, int missing,
		       const struct viterbi_path *w)
{
	if (w->score <= d->next[to].score)
		return;
	d->next[to] = *w;
	if (d->gain)
		d->gain[to] = (float)(w->score - d->now[from].score);
	d->step[to] = (struct viterbi_step){ (uint8_t)from, (uint8_t)missing, w->outlier };
}

/* Evaluate the transition to phase index @p of a cycle, whose states begin at @base. */
static void to_index(struct decoder *d, const struct jetwatt_cycle *c, int base, int p, int from,
		     double cost)
{
	struct viterbi_path w = d->now[from];

	w.score += cost + log_emission(d, &c->emission[p], p > 0, &w, NULL, 0);
	offer_path(d, base + p, from, 0, &w);
}

/* Evaluate the transitions from phase index @p over one or more missing waits. */
static void over_missing(struct decoder *d, int from, int p)
{
	const struct jetwatt_cycle *c = &d->m.train;
	const struct jetwatt_batch_wait *b = d->b;
	const struct viterbi_path *was = &d->now[from];
	double first, others, gpu, ns = 0, sd = LEAP_SD;
	int to = (p + 1) % c->k;

	/* Missing waits take time, so the gap must be longer than usual. */
	if ((d->m.losses_reported && !b->lost) ||
	    b->gap < c->emission[to].gap + was->speed_gap[to > 0] + c->emission[to].gap_sd)
		return;
	first = exp(was->speed_gap[0]);
	others = exp(was->speed_gap[1]);
	gpu = exp(was->speed_wait);
	for (int missing = 1; missing <= LOST_MAX; missing++) {
		struct viterbi_path w = *was;
		double gap, cost;

		ns += d->gap[to] * (to ? others : first) + d->wait[to] * gpu;
		sd = fmax(sd, c->emission[to].wait_sd);
		to = (to + 1) % c->k;
		if (missing % c->k == 0 && !d->m.whole_lost)
			continue;
		gap = log(ns + d->gap[to] * (to ? others : first));
		/* Some of the lost waits that are reported may belong to other processes. */
		cost = d->m.losses_reported ? REPORTED * (1 + fabs((double)b->lost - missing))
				  : d->lost + MORE_LOST * (missing - 1);
		w.score += cost + log_emission(d, &c->emission[to], to > 0, &w, &gap, sd);
		offer_path(d, to, from, missing, &w);
	}
}

/* Evaluate the transition to an additional wait after phase index @p. */
static void to_extra(struct decoder *d, int from, int p)
{
	const struct jetwatt_wait_hmm *m = &d->m;
	struct jetwatt_emission x = m->extra;
	struct viterbi_path w = d->now[from];

	/* The emission of additional waits is not known yet: assume a gap as short as the
	 * shortest one, and any length. */
	if (!m->extras) {
		x = (struct jetwatt_emission){ .gap_sd = EXTRA_GAP_SD, .wait_sd = EXTRA_WAIT_SD };
		for (int i = 0; i < m->train.k; i++)
			x.gap = fmin(x.gap, m->train.emission[i].gap);
		x.gap -= m->train.k > 1 ? 0 : EXTRA_GAP;
		set_norms(&x);
	}
	/* The wait after one that was too long makes up for it, so it is not an additional wait. */
	if (!isnan(w.outlier_wait) && w.outlier_wait > 0)
		return;
	w.score += d->extra + log_emission(d, &x, m->train.k > 1, &w, NULL, 0);
	if (!m->extras) {
		memcpy(w.speed_gap, d->now[from].speed_gap, sizeof(w.speed_gap));
		w.speed_wait = d->now[from].speed_wait;
	}
	w.outlier = 0;
	offer_path(d, JETWATT_PERIOD_MAX + p, from, 0, &w);
}

/* Transition to no cycle. */
static void to_none(struct decoder *d, int from, double cost)
{
	struct viterbi_path w = d->now[from];

	w.score += cost + 2 * ANYWHERE;
	w.outlier = JETWATT_OUTLIER_GAP | JETWATT_OUTLIER_WAIT;
	offer_path(d, NONE_AT, from, 0, &w);
}

/* Evaluate the transition to phase index @p of a cycle at a new speed, estimated from the
 * present wait. */
static void to_index_new_speed(struct decoder *d, const struct jetwatt_cycle *c, int base, int p,
			       int from, double cost)
{
	const struct jetwatt_emission *at = &c->emission[p];
	const struct jetwatt_batch_wait *b = d->b;
	struct viterbi_path w = d->now[from];

	if (at->caller && at->caller != b->caller)
		return;
	w.score += cost + NEW_SPEED + 2 * ANYWHERE;
	w.speed_gap[0] = w.speed_gap[1] = b->gap - at->gap;
	w.speed_wait = b->wait - at->wait;
	w.outlier_gap[0] = w.outlier_gap[1] = w.outlier_wait = NAN;
	w.old_gap[0] = w.old_gap[1] = w.old_wait = NAN;
	w.outlier = JETWATT_OUTLIER_GAP | JETWATT_OUTLIER_WAIT | JETWATT_OUTLIER_SPEED;
	offer_path(d, base + p, from, 0, &w);
}

/* Evaluate all transitions from the state @from. */
static void expand_state(struct decoder *d, int from)
{
	const struct jetwatt_cycle *train = &d->m.train, *eval = &d->m.eval;
	int k = train->k, p = from % JETWATT_PERIOD_MAX;
	bool end;

	if (from == NONE_AT) {
		to_none(d, from, STAY);
		for (int i = 0; i < k; i++) {
			to_index(d, train, 0, i, from, i ? MID_BATCH : RETURN);
			to_index_new_speed(d, train, 0, i, from,
					   i ? MID_BATCH : RETURN - NEW_SPEED + SAME_AGAIN);
		}
		if (eval->k)
			to_index(d, eval, EVAL_AT, 0, from, TO_EVAL);
		return;
	}
	if (from >= EVAL_AT) {
		p = from - EVAL_AT;
		end = p == eval->k - 1;
		to_index(d, eval, EVAL_AT, (p + 1) % eval->k, from, 0);
		to_index_new_speed(d, eval, EVAL_AT, (p + 1) % eval->k, from, 0);
		to_index(d, train, 0, 0, from, end ? FROM_EVAL : MID_BATCH);
		to_none(d, from, end ? LEAVE : MID_BATCH);
		if (!end)
			to_index(d, eval, EVAL_AT, 0, from, MID_BATCH);
		return;
	}
	end = p == k - 1;
	to_index(d, train, 0, (p + 1) % k, from, 0);
	to_index_new_speed(d, train, 0, (p + 1) % k, from, 0);
	over_missing(d, from, p);
	if (!end)
		to_index(d, train, 0, 0, from, d->m.abort);
	if (end && from < JETWATT_PERIOD_MAX && d->m.extra_rate > 0)
		to_extra(d, from, p);
	to_none(d, from, end ? LEAVE : MID_BATCH);
	if (eval->k)
		to_index(d, eval, EVAL_AT, 0, from, end ? TO_EVAL : MID_BATCH);
}

/* If only one path is left and it predicts the present wait, extend that path by the wait.
 * Return: the state of the wait; -1 if all transitions have to be evaluated. */
static int follow_alone(struct decoder *d, int from)
{
	bool eval = from >= EVAL_AT;
	const struct jetwatt_cycle *c = eval ? &d->m.eval : &d->m.train;
	struct viterbi_path w = d->now[from];
	int p = ((eval ? from - EVAL_AT : from % JETWATT_PERIOD_MAX) + 1) % c->k, to = (eval ? EVAL_AT : 0) + p;

	if (from == NONE_AT || (d->m.losses_reported && d->b->lost) || d->at < 2)
		return -1;
	w.score += log_emission(d, &c->emission[p], p > 0, &w, NULL, 0);
	if (w.outlier)
		return -1;
	if (d->gain)
		d->gain[to] = (float)(w.score - d->now[from].score);
	d->now[from].score = -INFINITY;
	d->now[to] = w;
	d->step[to] = (struct viterbi_step){ .from = (uint8_t)from };
	return to;
}

static void reset_paths(struct viterbi_path *w)
{
	for (int s = 0; s < STATES; s++)
		w[s].score = -INFINITY;
}

/* List the states that the model has; NONE_AT, which precedes EVAL_AT, is always one. */
static void list_states(struct decoder *d)
{
	for (int s = 0; s < STATES; s++)
		if (s < NONE_AT ? s % JETWATT_PERIOD_MAX < d->m.train.k : s - EVAL_AT < d->m.eval.k)
			d->state[d->states++] = (uint8_t)s;
}

/* The first wait may have any phase index; its length determines the speed of the GPU. */
static void begin_paths(struct decoder *d)
{
	const struct jetwatt_batch_wait *b = d->b;

	reset_paths(d->next);
	for (int i = 0; i < d->m.train.k; i++) {
		const struct jetwatt_emission *p = &d->m.train.emission[i];
		struct viterbi_path w = { .score = p->caller && p->caller != b->caller
							   ? WRONG_CALLER
							   : 0,
					  .speed_wait = b->wait - p->wait,
					  .outlier_wait = NAN,
					  .outlier_gap = { INFINITY, NAN },
					  .old_gap = { NAN, NAN },
					  .old_wait = NAN,
					  .provisional_wait = true };

		/* The gap before the first wait is unknown, so the second gap determines the
		 * speed of the gaps. */
		offer_path(d, i, i, 0, &w);
	}
	for (int i = 0; i < d->m.eval.k; i++) {
		struct viterbi_path w = { .score = TO_EVAL,
					  .speed_wait = b->wait - d->m.eval.emission[i].wait,
					  .outlier_gap = { INFINITY, NAN },
					  .outlier_wait = NAN,
					  .old_gap = { NAN, NAN },
					  .old_wait = NAN,
					  .provisional_wait = true };

		offer_path(d, EVAL_AT + i, EVAL_AT + i, 0, &w);
	}
}

/* Set the speed of the gaps from the second gap. */
static void set_speed(struct decoder *d)
{
	for (int i = 0; i < d->states; i++) {
		int s = d->state[i];
		struct viterbi_path *w = &d->now[s];
		const struct jetwatt_cycle *c = s >= EVAL_AT ? &d->m.eval : &d->m.train;
		int p = s >= EVAL_AT ? s - EVAL_AT : s % JETWATT_PERIOD_MAX;

		if (!isinf(w->outlier_gap[0]) || isinf(w->score))
			continue;
		w->speed_gap[0] = w->speed_gap[1] = d->b->gap - c->emission[(p + 1) % c->k].gap;
		w->outlier_gap[0] = NAN;
		w->provisional_gap[0] = w->provisional_gap[1] = true;
	}
}

void jetwatt_viterbi_next(struct decoder *d, const struct jetwatt_batch_wait *b,
			  struct viterbi_step *step, float *gain)
{
	double top = -INFINITY;
	int alive = 0, to;

	d->at++;
	d->b = b;
	d->step = step;
	d->gain = gain;
	to = d->alone < 0 ? -1 : follow_alone(d, d->alone);
	if (to >= 0) {
		d->alone = to;
		return;
	}
	for (int i = 0; i < d->states; i++)
		d->next[d->state[i]].score = -INFINITY;
	if (d->at == 1)
		set_speed(d);
	for (int i = 0; i < d->states; i++)
		if (!isinf(d->now[d->state[i]].score))
			expand_state(d, d->state[i]);
	for (int i = 0; i < d->states; i++)
		top = fmax(top, d->next[d->state[i]].score);
	d->alone = -1;
	for (int i = 0; i < d->states; i++) {
		int s = d->state[i];

		/* Of a state without a path, only the score is used. */
		if (isinf(d->next[s].score) || d->next[s].score < top - BEAM) {
			d->now[s].score = -INFINITY;
			continue;
		}
		d->now[s] = d->next[s];
		d->alone = s;
		alive++;
	}
	if (alive > 1)
		d->alone = -1;
}

void jetwatt_viterbi_begin(struct decoder *d, const struct jetwatt_wait_hmm *m,
			   const struct jetwatt_batch_wait *b, struct viterbi_step *step,
			   float *gain)
{
	*d = (struct decoder){ .m = *m, .b = b, .stall = log(m->stall), .lost = log(m->lost),
			       .extra = log(m->extra_rate), .step = step, .gain = gain, .alone = -1 };
	list_states(d);
	set_norms(&d->m.extra);
	for (int p = 0; p < m->eval.k; p++)
		set_norms(&d->m.eval.emission[p]);
	for (int p = 0; p < m->train.k; p++) {
		set_norms(&d->m.train.emission[p]);
		d->gap[p] = exp(m->train.emission[p].gap);
		d->wait[p] = exp(m->train.emission[p].wait);
	}
	begin_paths(d);
	memcpy(d->now, d->next, sizeof(d->now));
}
