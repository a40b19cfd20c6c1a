// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery after a cap event; jetwattd(8), "Recovery", describes this behaviour too. The policy's
 * "back-off" sets three times: the longest back-off after a cap event in a held mode; the time
 * until the ramp retries a level that the cap has left; and the sleep of job_hold.c while no mode
 * is within the budget.
 *
 * If a job is known: wait until the energy overshoot is repaid, at most one averaging window, then
 * apply the best other mode within the limit. While the job is learned, no further mode is
 * tried until the overshoot has left the averaging window. After a cap event in a held mode, this mode
 * is not applied for a back-off time; each further one takes twice as long, at most the policy's "back-off".
 *
 * If no job is known, because no job was detected yet or its minibatches cannot be recognised, only
 * power is known: the ramp raises the mode level by level from the lowest mode, raising all knobs
 * together, as far as the budget allows.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>

#include "util/clock.h"

/* Poll interval while the overshoot is being repaid, in s. */
#define REPAY_POLL_S	0.02
/* Poll interval while backing off, in s. */
#define POLL_S		0.2
/* Time since the start of the last back-off after which the next one takes JETWATTD_BACK_OFF_S again.
 * loop.h (@cap_events) and jetwattd(8) ("within ten minutes") state this time, too. */
#define BACKOFF_RESET_NS	600000000000ull
/* Number of back-offs (loop.h, @cap_events) at which the held mode is excluded, if its power is
 * known: a single cap event may have been caused by another process. jetwattd(8) states it: "steps
 * down again". */
#define CAP_EVENTS	2
/* Highest ramp level, where all knobs are at their maximum; level 0 is the lowest mode. Level
 * RAMP_END is the board's own state. jetwattd(8) states the number of levels: "nine levels". */
#define RAMP_LEVELS	8
#define RAMP_END	(RAMP_LEVELS + 1)
/* Minimum time on a ramp level before the mean power on this level is used, ns. */
#define RAMP_LEVEL_NS	400000000ull
/* The ramp is logged only after this time, ns, because most jobs are detected earlier. */
#define RAMP_LOG_NS	3000000000ull
/* If power is below this fraction of the limit, the ramp tries the next level regardless of how
 * much power increased at the last level. */
#define HEADROOM	0.7

int jetwattd_recover(struct jetwattd_run *r, const struct jetwatt_mode *held)
{
	const struct jetwatt_row *best;
	struct jetwattd *d = r->d;
	int in_debt, busy;

	do {
		busy = jetwattd_sleep(r, REPAY_POLL_S);
		pthread_mutex_lock(&d->lock);
		in_debt = d->cap.energy_debt &&
			jetwatt_clock_ns() - d->cap.stepped_ns < d->policy->window_s * 1e9;
		best = busy || in_debt ? NULL :
		       jetwattd_learner_best_under(&r->learner, jetwattd_cap_limit(&d->cap),
					       &d->cap.left);
		if (best && !(held && jetwatt_mode_same(&best->mode, held)))
			jetwattd_apply(&d->act, &best->mode);
		pthread_mutex_unlock(&d->lock);
	} while (!busy && in_debt);
	return busy;
}

int jetwattd_wait_window(struct jetwattd_run *r)
{
	uint64_t until, now = jetwatt_clock_ns();

	pthread_mutex_lock(&r->d->lock);
	until = r->d->cap.stepped_ns + r->d->policy->window_s * 1e9;
	pthread_mutex_unlock(&r->d->lock);
	return until > now && jetwattd_sleep(r, (until - now) * 1e-9);
}

/* For @seconds, apply the best mode within the limit other than the one that the cap left, and choose
 * again after each further cap event. If the best other mode is then the held mode, the mode to which
 * the cap has stepped down stays applied. Return: 1: jetwattd_changed(). */
static int wait_backoff(struct jetwattd_run *r, const struct jetwatt_mode *held, double seconds)
{
	uint64_t until = jetwatt_clock_ns() + seconds * 1e9;
	int cap_hit = 1;

	do {
		if (cap_hit && jetwattd_recover(r, held))
			return 1;
		pthread_mutex_lock(&r->d->lock);
		cap_hit = r->d->cap.cap_hit;
		r->d->cap.cap_hit = 0;
		pthread_mutex_unlock(&r->d->lock);
		if (jetwattd_sleep(r, POLL_S))
			return 1;
	} while (jetwatt_clock_ns() < until);
	return 0;
}

int jetwattd_back_off(struct jetwattd_run *r, struct jetwattd_backoff *b,
		      const struct jetwattd_reading *got)
{
	uint64_t now = jetwatt_clock_ns();

	if (!b->last_ns || now - b->last_ns > BACKOFF_RESET_NS)
		*b = (struct jetwattd_backoff){ .seconds = JETWATTD_BACK_OFF_S };
	b->last_ns = now;
	jetwattd_log(r->d, "budget exceeded in the held mode: backing off for %.0f s, budget %g W", b->seconds,
		     r->budget_w);
	if (++b->cap_events >= CAP_EVENTS && got->over_w > 0)
		jetwattd_exclude_mode(r, got);
	jetwattd_doing(r, JETWATTD_BACKING_OFF);
	if (wait_backoff(r, &got->m.row.mode, b->seconds))
		return 1;
	b->seconds = fmin(2 * b->seconds, r->d->policy->backoff_s);
	return 0;
}

/* Return the candidate whose knobs are closest to the ramp level: all at @level / RAMP_LEVELS of
 * their ranges. */
static const struct jetwatt_mode *ramp_mode(const struct jetwattd_run *r, int level)
{
	const struct jetwatt_mode *nearest = &r->d->act.floor;
	const struct jetwatt_tuner *k = &r->learner.known;
	double p[JETWATT_KNOBS], far, least = INFINITY;

	for (size_t i = 0; i < k->nr_modes; i++) {
		int n = jetwattd_span_parts(&r->learner.span, &k->mode[i], p);

		far = 0;
		for (int q = 0; q < n; q++)
			far += (p[q] - (double)level / RAMP_LEVELS) * (p[q] - (double)level / RAMP_LEVELS);
		if (far < least) {
			least = far;
			nearest = &k->mode[i];
		}
	}
	return nearest;
}

/* Handle a cap event on the ramp, or the cap event that starts the ramp: go down one level, or
 * to the lowest mode if the cap has applied the lowest mode, or in its place the lowest mode that
 * the knobs accepted. */
static void ramp_cap_event(struct jetwattd_ramp *l, struct jetwattd *d)
{
	const struct jetwattd_actuator *a = &d->act;
	int lowest = jetwatt_mode_same(&a->mode, &a->floor) || (a->low_ns && jetwatt_mode_same(&a->mode, &a->low));

	l->max_level = l->level ? l->level - 1 : 0;
	l->level = lowest ? 0 : l->max_level;
	l->below_w = 0;
	l->fell_ns = d->act.switched_ns;
	l->since_ns = l->on ? l->since_ns : l->fell_ns;
	l->on = 1;
	d->cap.cap_hit = 0;
}

/* Return: 1 if power is below HEADROOM, or if the power of the next ramp level is expected to be
 * within the limit. Power is assumed to grow by the same factor as from the level below. From the
 * highest level to the board's own state it is assumed not to grow, because the clocks are at most
 * as high, unless the policy's modes lack the highest mode of the board. If the modes lack it, the
 * cap may step down, and the ramp then tries the board's own state again after "back-off".
 *
 * After a cap event, the growth is unknown. If "back-off" has passed (@again is 1), the level that the
 * cap has left is tried again, but only from a level that can be the safe mode: from another one, the
 * cap would step down to the lowest mode. */
static int ramp_may_rise(const struct jetwattd_ramp *l, struct jetwattd *d, int again)
{
	double limit = jetwattd_cap_limit(&d->cap), w = d->cap.here_w;
	double growth = l->level == RAMP_LEVELS ? 1 : l->below_w > 0 ? w / l->below_w : INFINITY;

	if (again && !l->below_w && w <= JETWATTD_SAFE * d->cap.budget_w)
		growth = 1;
	return w > 0 && (w < HEADROOM * limit || w * growth < limit);
}

int jetwattd_ramp(struct jetwattd_run *r)
{
	struct jetwattd_ramp *l = &r->ramp;
	struct jetwattd *d = r->d;
	uint64_t now = jetwatt_clock_ns();
	int found, lasts, again;

	pthread_mutex_lock(&d->lock);
	if (d->cap.cap_hit && d->act.applied)
		ramp_cap_event(l, d);
	again = now - l->fell_ns > d->policy->backoff_s * 1e9;
	if (again)
		l->max_level = RAMP_END;
	/* Without a budget the ramp ends. */
	found = l->on && !(d->cap.budget_w > 0);
	if (l->on && !found && !d->cap.energy_debt && l->level < l->max_level &&
	    now - d->act.switched_ns > RAMP_LEVEL_NS && ramp_may_rise(l, d, again)) {
		d->cap.safe = d->act.mode;
		d->cap.safe_w = l->below_w = d->cap.here_w;
		d->cap.have_safe = 1;
		found = ++l->level == RAMP_END;
		/* -EBUSY ends the ramp; after other errors the level is skipped. */
		if (!found && jetwattd_apply(&d->act, ramp_mode(r, l->level)) == -EBUSY)
			l->on = 0;
	}
	pthread_mutex_unlock(&d->lock);
	lasts = l->on && !found && now - l->since_ns > RAMP_LOG_NS;
	if (lasts && !l->logged)
		jetwattd_log(d, "budget exceeded without a known job: raising the mode step by step within the budget");
	l->logged |= lasts;
	return found;
}

void jetwattd_ramp_end(struct jetwattd_run *r)
{
	r->ramp.on = r->ramp.logged = 0;
	r->ramp.level = RAMP_END;
}
