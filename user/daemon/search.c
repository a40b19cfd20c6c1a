// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search: pass messages between learner, cap and actuator while a job is learned. The learner
 * (learner.c) chooses a mode within the limit of the cap (cap_limit.c), the actuator (actuator.c)
 * applies it, the learner gets the reading, and the cap gets the mode that it may step down to.
 */
#include "daemon/loop.h"

#include <time.h>

#include "daemon/terms.h"
#include "util/clock.h"

/* Limits of a quick reading, the usual one. The constants READING_S and READING of learner_allowance.c
 * are the expected duration of a quick reading. */
static const struct jetwatt_measure_limits quick = {
	.batches = 4, .seconds = 0.6, .target = 0.02, .max_s = 2.5, .idle_s = 30,
	.min_on_timeout = 1,
	.warmup_drop = 1, .settle_s = 3,
};

/* Limits of a longer reading, for modes near the power limit. */
static const struct jetwatt_measure_limits exact = {
	.batches = 10, .seconds = 2, .target = 0.004, .max_s = 6, .idle_s = 30, .min_on_timeout = 3,
};

/* Limits of a reading of a server: a time in which some requests end. */
static const struct jetwatt_measure_limits steps = {
	.batches = 40, .seconds = 4, .target = 0.01, .max_s = 20, .idle_s = 30, .poll_s = 1,
};
/* Expected duration of a reading of a server. */
#define STEPS_S		16

void jetwattd_terms(struct jetwattd_run *r, struct jetwattd_terms *terms)
{
	*terms = jetwattd_policy_terms(r->d->policy, r->serves);
	terms->now_ns = jetwatt_clock_ns();
	terms->choose_s = r->choose_s;
	terms->reading_s = r->serves ? STEPS_S : 0;
	pthread_mutex_lock(&r->d->lock);
	terms->limit_w = jetwattd_cap_limit(&r->d->cap);
	terms->safe_w = JETWATTD_SAFE * terms->limit_w;
	terms->uneven = r->d->timeshare.on;
	pthread_mutex_unlock(&r->d->lock);
}

/* Measure a mode that has no row yet, or whose row is too uncertain. */
static void measure_new(struct jetwattd_run *r, const struct jetwattd_step *step,
			struct jetwattd_result *result)
{
	result->outcome = jetwattd_try_mode(r, &step->mode, r->serves ? &steps :
				       step->kind == JETWATTD_TRY ? &quick : &exact, &result->tried_s);
	/* A prefill takes longer than the decode steps before it. */
	result->jumped_ms = r->serves ? 0 : jetwattd_minibatch_last_deviates(r->minibatch);
	pthread_mutex_lock(&r->d->lock);
	result->here = jetwattd_is_applied(&r->d->act, &step->mode);
	pthread_mutex_unlock(&r->d->lock);
}

/* Measure a mode again that has a row. */
static void measure_known(struct jetwattd_run *r, const struct jetwattd_step *step,
			  struct jetwattd_result *result)
{
	const struct jetwatt_measure_limits *limits = r->serves ? &steps : &quick;

	if (step->kind == JETWATTD_CHECK_HERE) {
		result->outcome = jetwattd_measure(r, &step->mode, limits, &result->reading);
		return;
	}
	result->outcome = jetwattd_remeasure(r, &step->mode, limits, &result->reading);
	if (result->outcome == JETWATTD_MEASURED && jetwattd_throttled(r, &step->mode))
		result->outcome = JETWATTD_HOT;
}

/* Return the CPU time of this thread, in s. */
static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Choose the next step. Return: as jetwattd_learner_next(). */
static int choose_step(struct jetwattd_run *r, struct jetwattd_step *step)
{
	struct jetwattd_terms terms;
	double begun_s = cpu_s();
	int found;

	jetwattd_terms(r, &terms);
	found = jetwattd_learner_next(&r->learner, &terms, step);
	r->choose_s += cpu_s() - begun_s;
	return found;
}

enum jetwattd_outcome jetwattd_search(struct jetwattd_run *r)
{
	enum jetwattd_follow follow = JETWATTD_FOLLOW_PLAN;
	struct jetwattd_learner *l = &r->learner;
	struct jetwattd_result result;
	struct jetwattd_terms terms;
	struct jetwattd_step step;

	jetwattd_terms(r, &terms);
	jetwattd_learner_resume(l, &terms);
	while (follow != JETWATTD_FOLLOW_STOP) {
		if (follow == JETWATTD_FOLLOW_PLAN)
			jetwattd_best_mode(r);
		if (!choose_step(r, &step))
			return JETWATTD_MEASURED;
		result = (struct jetwattd_result){ .outcome = JETWATTD_INTERRUPTED };
		/* Handle requests and budget changes that arrived while the learner was
		 * planning. */
		if (follow == JETWATTD_FOLLOW_PLAN && jetwattd_changed(r))
			return JETWATTD_INTERRUPTED;
		if (step.kind == JETWATTD_CHECK || step.kind == JETWATTD_CHECK_HERE)
			measure_known(r, &step, &result);
		else
			measure_new(r, &step, &result);
		jetwattd_terms(r, &terms);
		follow = jetwattd_learner_done(l, &terms, &result);
		jetwattd_handle_news(r);
		pthread_mutex_lock(&r->d->lock);
		r->d->count.learning = l->cost;
		pthread_mutex_unlock(&r->d->lock);
	}
	return result.outcome;
}
