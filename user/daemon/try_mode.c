// SPDX-License-Identifier: GPL-2.0-only
/* Try one mode: apply it and measure it; news.c passes the reading on. search.c has the
 * limits of the measurement: minimum duration, number of minibatches, error. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>

#include "util/clock.h"
#include "util/error.h"

/* A mode whose time exceeds the best time by this factor is too slow to be chosen, and needs
 * only a short reading. UNEVEN: further factor that applies if some minibatches include time
 * slices of a server. */
#define SLOW		1.2
#define UNEVEN		2

const struct jetwatt_row *jetwattd_best_mode(struct jetwattd_run *r)
{
	const struct jetwatt_row *best, *safe;
	struct jetwattd *d = r->d;

	pthread_mutex_lock(&d->lock);
	best = jetwattd_learner_best_under(&r->learner, jetwattd_cap_limit(&d->cap), NULL);
	safe = jetwattd_learner_best_under(&r->learner, JETWATTD_SAFE * jetwattd_cap_limit(&d->cap),
				       NULL);
	d->cap.have_safe = safe != NULL;
	if (safe) {
		d->cap.safe = safe->mode;
		d->cap.safe_w = safe->power_w;
	}
	pthread_mutex_unlock(&d->lock);
	return best;
}

/* No minibatch was recognised in @mode. If minibatches are still recognised in the best mode,
 * @mode is too slow and is excluded; otherwise nothing is concluded about @mode.
 * Return: JETWATTD_REFUSED or JETWATTD_NOTHING. */
static enum jetwattd_outcome no_minibatches(struct jetwattd_run *r, const struct jetwatt_mode *mode,
					    const struct jetwatt_measure_limits *limits)
{
	const struct jetwatt_row *best = jetwattd_best_mode(r);
	struct jetwattd_reading got;

	if (!best || jetwattd_remeasure(r, &best->mode, limits, &got) != JETWATTD_MEASURED)
		return JETWATTD_NOTHING;
	jetwattd_learner_refused(&r->learner, mode, JETWATTD_REFUSED);
	return JETWATTD_REFUSED;
}

enum jetwattd_outcome jetwattd_try_mode(struct jetwattd_run *r, const struct jetwatt_mode *mode,
				   const struct jetwatt_measure_limits *limits, double *tried_s)
{
	struct jetwatt_measure_limits until = *limits;
	const struct jetwatt_row *best;
	struct jetwattd_reading got;
	struct jetwattd *d = r->d;
	enum jetwattd_outcome out;
	double slow;
	int err, late;

	if (jetwattd_wait_window(r))
		return JETWATTD_INTERRUPTED;
	pthread_mutex_lock(&d->lock);
	atomic_store(&d->invalidate, 0);
	d->cap.cap_hit = 0;
	if (d->act.applied && jetwatt_clock_ns() - d->act.switched_ns > JETWATTD_SETTLED_NS)
		until.before_w = d->cap.mean_w;
	jetwattd_mode_before(r, &until);
	err = jetwattd_apply(&d->act, mode);
	until.limit_w = jetwattd_cap_limit(&d->cap);
	slow = d->timeshare.on ? UNEVEN * SLOW : SLOW;
	pthread_mutex_unlock(&d->lock);
	if (err == -EBUSY)
		return JETWATTD_INTERRUPTED;
	if (err) {
		jetwattd_learner_refused(&r->learner, mode, JETWATTD_REFUSED);
		return JETWATTD_REFUSED;
	}
	best = jetwattd_best_mode(r);
	until.good_ms = best ? best->time_ms : INFINITY;
	until.decay = &r->decay;
	until.slow_ms = best ? slow * best->time_ms : 0;
	out = jetwattd_measure(r, mode, &until, &got);
	jetwattd_learner_add_energy(&r->learner,
			       got.m.row.power_w > 0 ? got.m.dwell_s * got.m.row.power_w : 0);
	*tried_s = got.m.dwell_s;
	if (out == JETWATTD_OVER && got.over_w > 0) {
		jetwattd_exclude_mode(r, &got);
	} else if (out == JETWATTD_OVER) {
		jetwattd_learner_over(&r->learner, &(struct jetwatt_row){ .mode = *mode }, 0);
	} else if (out == JETWATTD_MEASURED && jetwattd_throttled(r, mode)) {
		jetwattd_learner_refused(&r->learner, mode, JETWATTD_HOT);
		out = JETWATTD_HOT;
	} else if (out == JETWATTD_MEASURED && jetwattd_store_reading(r, &got)) {
		return JETWATTD_ENDED;
	}
	if (out == JETWATTD_NOTHING)
		out = no_minibatches(r, mode, limits);
	late = jetwattd_deadline_miss(r);
	if (late && out == JETWATTD_INTERRUPTED && !jetwattd_changed(r))
		out = jetwattd_deadline_estimate(r) ? JETWATTD_ENDED : JETWATTD_DEADLINE_MISS;
	best = jetwattd_best_mode(r);
	/* Planning the next step takes time. Leave the mode before planning if its power exceeds
	 * the budget by too little for the cap to react, or if it is too slow for the server. */
	pthread_mutex_lock(&d->lock);
	if (out == JETWATTD_MEASURED && got.m.row.power_w > d->cap.budget_w)
		jetwattd_apply_low(&d->act, best ? &best->mode : &d->act.floor);
	else if (late && best && (out == JETWATTD_MEASURED || out == JETWATTD_DEADLINE_MISS))
		jetwattd_apply(&d->act, &best->mode);
	pthread_mutex_unlock(&d->lock);
	if (late)
		jetwattd_deadline_catch_up(r);
	if (out == JETWATTD_OVER)
		jetwattd_recover(r, NULL);
	return out;
}
