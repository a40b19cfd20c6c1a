// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows a step down of the cap. jetwattd(8), "Recovery", says the same.
 *
 * With a job: wait until the overshoot is repaid, then up again to the fastest other mode within
 * the budget. While the job is learned a mode that may draw too much is not tried before the
 * overshoot has left the window. From a mode that was held jetwattd backs off, each time
 * for longer.
 *
 * Without one, where work is not known yet or its minibatches cannot be told apart, all that is
 * known is power: from the lowest mode up, with all knobs alike, as far as the budget has room.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>

#include "util/clock.h"

/* Interval of looks whether the overshoot is repaid. */
#define REPAID_S	0.02
/* Backing off, doubled each time up to JETWATTD_CALM_S, until that is CALM_NS ago. */
#define BACK_OFF_S	2.0
#define TURN_S		0.2
#define CALM_NS		600000000000ull
/* One step down from a mode that was held may have been another process's doing; this number is
 * not. */
#define TRIPS		2
/* From the lowest mode to the highest; one more is the board as it was found. */
#define RUNGS		8
#define FOUND		(RUNGS + 1)
/* So long on a rung shows what it draws. */
#define RUNG_NS		400000000ull
/* Most jobs are seen before that. */
#define LASTS_NS	3000000000ull
/* With so much of the budget drawn the next one may be tried, whatever the last step added. */
#define ROOM		0.7

int jetwattd_climb(struct jetwattd_run *r)
{
	const struct jetwatt_row *best;
	struct jetwattd *d = r->d;
	int owing, busy;

	do {
		busy = jetwattd_nap(r, REPAID_S);
		pthread_mutex_lock(&d->lock);
		owing = d->cap.owing &&
			jetwatt_clock_ns() - d->cap.stepped_ns < d->policy->window_s * 1e9;
		best = busy || owing ? NULL :
		       jetwattd_learner_within(&r->learner, jetwattd_cap_limit(&d->cap),
					       &d->cap.left);
		if (best)
			jetwattd_put(&d->act, &best->mode);
		pthread_mutex_unlock(&d->lock);
	} while (!busy && owing);
	return busy;
}

int jetwattd_let_out(struct jetwattd_run *r)
{
	uint64_t until, now = jetwatt_clock_ns();

	pthread_mutex_lock(&r->d->lock);
	until = r->d->cap.stepped_ns + r->d->policy->window_s * 1e9;
	pthread_mutex_unlock(&r->d->lock);
	return until > now && jetwattd_nap(r, (until - now) * 1e-9);
}

/* In another mode, for so long; or in one more, if the cap leaves that too. Return: 1: there is
 * something else to do. */
static int wait_out(struct jetwattd_run *r, double seconds)
{
	uint64_t until = jetwatt_clock_ns() + seconds * 1e9;
	int tripped = 1;

	do {
		if (tripped && jetwattd_climb(r))
			return 1;
		pthread_mutex_lock(&r->d->lock);
		tripped = r->d->cap.tripped;
		r->d->cap.tripped = 0;
		pthread_mutex_unlock(&r->d->lock);
		if (jetwattd_nap(r, TURN_S))
			return 1;
	} while (jetwatt_clock_ns() < until);
	return 0;
}

/* The cap has left a mode that was measured to be within. Once may have been somebody
 * else's doing. Return: 1: there is something else to do. */
int jetwattd_back_off(struct jetwattd_run *r, struct jetwattd_backing *b,
		      const struct jetwattd_reading *got)
{
	uint64_t now = jetwatt_clock_ns();

	if (!b->last_ns || now - b->last_ns > CALM_NS)
		*b = (struct jetwattd_backing){ .seconds = BACK_OFF_S };
	b->last_ns = now;
	jetwattd_say(r->d, "over %g W: stepped down for %.0f s", r->budget_w, b->seconds);
	if (++b->trips >= TRIPS && got->over_w > 0)
		jetwattd_forbid(r, got);
	jetwattd_doing(r, JETWATTD_BACKING_OFF);
	if (wait_out(r, b->seconds))
		return 1;
	b->seconds = fmin(2 * b->seconds, JETWATTD_CALM_S);
	return 0;
}

static const struct jetwatt_mode *on_rung(const struct jetwattd_run *r, int rung)
{
	const struct jetwatt_mode *nearest = &r->d->act.floor;
	const struct jetwatt_learn *k = &r->learner.known;
	double p[JETWATT_KNOBS], far, least = INFINITY;

	for (size_t i = 0; i < k->nr_modes; i++) {
		int n = jetwattd_span_parts(&r->learner.span, &k->mode[i], p);

		far = 0;
		for (int q = 0; q < n; q++)
			far += (p[q] - (double)rung / RUNGS) * (p[q] - (double)rung / RUNGS);
		if (far < least) {
			least = far;
			nearest = &k->mode[i];
		}
	}
	return nearest;
}

/* The cap has left the rung that we were on. */
static void fallen(struct jetwattd_ladder *l, struct jetwattd *d)
{
	l->most = l->rung ? l->rung - 1 : 0;
	l->rung = jetwatt_mode_same(&d->act.mode, &d->act.floor) ? 0 : l->most;
	l->below_w = 0;
	l->fell_ns = d->act.switched_ns;
	l->since_ns = l->on ? l->since_ns : l->fell_ns;
	l->on = 1;
	d->cap.tripped = 0;
}

static int has_room(const struct jetwattd_ladder *l, struct jetwattd *d)
{
	double limit = jetwattd_cap_limit(&d->cap), w = d->cap.here_w;

	return w > 0 && (w < ROOM * limit || (l->below_w > 0 && w * w / l->below_w < limit));
}

int jetwattd_ladder(struct jetwattd_run *r)
{
	struct jetwattd_ladder *l = &r->ladder;
	struct jetwattd *d = r->d;
	uint64_t now = jetwatt_clock_ns();
	int found, lasts;

	pthread_mutex_lock(&d->lock);
	if (d->cap.tripped && d->act.applied)
		fallen(l, d);
	if (now - l->fell_ns > JETWATTD_CALM_S * 1e9)
		l->most = FOUND;
	/* Nothing is to be held any more. */
	found = l->on && !(d->cap.budget_w > 0);
	if (l->on && !found && !d->cap.owing && l->rung < l->most && now - d->act.switched_ns > RUNG_NS &&
	    has_room(l, d)) {
		d->cap.safe = d->act.mode;
		d->cap.safe_w = l->below_w = d->cap.here_w;
		d->cap.have_safe = 1;
		found = ++l->rung == FOUND;
		/* A rung that a knob refuses is left out. */
		if (!found && jetwattd_put(&d->act, on_rung(r, l->rung)) == -EBUSY)
			l->on = 0;
	}
	pthread_mutex_unlock(&d->lock);
	lasts = l->on && !found && now - l->since_ns > LASTS_NS;
	if (lasts && !l->said)
		jetwattd_say(d, "over the budget, by no job that is seen: as high as there is room");
	l->said |= lasts;
	return found;
}

void jetwattd_ladder_leave(struct jetwattd_run *r)
{
	r->ladder.on = r->ladder.said = 0;
	r->ladder.rung = FOUND;
}
