// SPDX-License-Identifier: GPL-2.0-only
/* Handles one job: load its stored readings, apply its best mode, and hold that mode while time
 * and power agree with its reading. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan/drift.h"
#include "util/clock.h"
#include "util/error.h"

/* This many consecutive readings or quick checks that deviate from the earlier reading count as a
 * drift of the job. jetwattd(8) states the number: "two consecutive". */
#define DRIFTS		2
/* If the error of a server's time is above this, a longer reading that deviates corrects the row. */
#define ROUGH		0.05
/* Limits of a full reading while a mode is held. If the duration of the minibatches changes during a
 * reading, the reading does not reach its target error and takes @max_s. */
static const struct jetwatt_measure_limits watching = {
	.batches = 20, .seconds = 3, .target = 0.01, .max_s = 20, .idle_s = 30, .min_on_timeout = 3,
	.poll_s = 3,
};
/* Limits of a quick check. Full readings dominate jetwattd's CPU use, so once a full reading agrees,
 * the next one is taken only if a quick check fails, or finds a deviation or a power near the budget. */
static const struct jetwatt_measure_limits glancing = {
	.batches = 20, .seconds = 8, .max_s = 30, .min_on_timeout = 3,
};

/* Limits of a reading of a held server. */
static const struct jetwatt_measure_limits serving = {
	.batches = 40, .seconds = 30, .target = 0.02, .max_s = 40, .idle_s = 30, .poll_s = 10,
};

/* Maximum number of other workloads whose readings are used as training data; more workloads
 * only cost time. */
#define OTHERS		4

/* Load the readings of the job's workload on this and other devices from the database; if there are
 * few, and none of other devices, also those of other workloads. @found: 1 if the database is open
 * and the workload is identified. */
static void load_prior(struct jetwattd_run *r, int found)
{
	struct jetwattd_prior prior = { .key = r->store.key, .first = r->preset,
					.first_w = r->preset_w, .firsts = r->presets };
	struct jetwatt_corpus other[OTHERS];
	struct jetwatt_row *row = NULL, *cross_device = NULL;
	/* Do not use stored rows of a server: they have times per minibatch, for the mix of that time. */
	int n = found && !r->serves ? jetwatt_profile_store_rows(&r->store, &row, NULL) : 0;
	int nr = found && !r->serves ? jetwatt_profile_store_prior(&r->store, &cross_device) : 0;
	int others = found && n < JETWATTD_KNOWN && nr <= 0 ?
		     jetwatt_profile_store_others(&r->store, other, OTHERS) : 0;

	prior.row = row;
	prior.rows = n > 0 ? (size_t)n : 0;
	prior.cross_device = cross_device;
	prior.nr_cross_device = nr > 0 ? (size_t)nr : 0;
	prior.other = other;
	prior.others = others > 0 ? (size_t)others : 0;
	if (!r->serves || !found || !jetwattd_learner_continue(&r->learner, prior.key))
		jetwattd_learner_begin(&r->learner, &prior);
	for (int i = 0; i < others; i++)
		free((void *)other[i].row);
	free(row);
	free(cross_device);
}

/* Return: the part of a log message that names the prior; "" without a prior. */
static const char *prior_text(const struct jetwatt_estimator *by)
{
	return !by->prior ? "" : jetwatt_estimator_cross_device_agrees(by, NULL, 0) ?
	       ", and readings of other devices" : ", and readings of other workloads";
}

/* Look up the job's workload with the present co-running jobs, and load the stored readings of
 * the workload. */
static void load_workload(struct jetwattd_run *r)
{
	const struct jetwatt_tuner *known = &r->learner.known;
	struct jetwatt_session *w = &r->session;
	struct jetwattd *d = r->d;
	struct jetwatt_profile_store_args args = { .path = *d->policy->db ? d->policy->db : NULL,
					  .corunners = r->corunners };
	struct jetwatt_args_job job = { .pid = w->pid };

	jetwattd_corunners(r, r->corunners, sizeof(r->corunners));
	r->apart = 0;
	jetwattd_minibatch_forget(r->minibatch);
	if (!r->store.db)
		jetwatt_profile_store_open(&r->store, &args);
	load_prior(r, r->store.db &&
		      !jetwatt_profile_store_workload(&r->store, &args, d->act.board, w, &job) &&
		      r->store.db);
	if (d->verbose)
		jetwatt_notice("job attached: process %d%s%s, %zu stored readings of its workload%s", w->pid,
				   *r->corunners ? " co-running with " : "", r->corunners,
				   known->nr_rows, prior_text(&known->by));
	pthread_mutex_lock(&d->lock);
	d->cap.have_safe = 0;
	d->cap.crests = 0;
	d->expect_ms = d->expect_w = 0;
	snprintf(d->key, sizeof(d->key), "%.16s", r->store.key);
	pthread_mutex_unlock(&d->lock);
}

int jetwattd_attach_job(struct jetwattd_run *r, pid_t pid)
{
	struct jetwatt_session *w = &r->session;
	struct jetwattd *d = r->d;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	w->pid = pid;
	w->pidfd = fd;
	w->ended = 0;
	w->nr_sync = w->nr_mark = 0;
	w->begun_ns = jetwatt_clock_ns();
	r->choose_s = 0;
	jetwatt_session_add(w, fd);
	jetwattd_ramp_end(r);
	jetwatt_cgroup_of(pid, r->cgroup, sizeof(r->cgroup));
	r->serves = *d->policy->server && jetwatt_cgroup_below(r->cgroup, d->policy->server);
	load_workload(r);
	pthread_mutex_lock(&d->lock);
	d->pid = pid;
	jetwatt_profile_store_command(pid, d->command, sizeof(d->command));
	d->count.jobs++;
	d->count.known += r->learner.known.nr_rows >= JETWATTD_KNOWN;
	pthread_mutex_unlock(&d->lock);
	/* The job's cgroup may have a budget of its own, so do the housekeeping at once. */
	r->housekeeping_ns = 0;
	jetwattd_housekeeping(r);
	return 0;
}

void jetwattd_detach_job(struct jetwattd_run *r)
{
	struct jetwatt_session *w = &r->session;

	if (w->pidfd >= 0) {
		/* A duplicate of the descriptor, as jetwattd_wait_for_board() keeps one, would keep
		 * the event after close(): it comes when the job ends, in every turn of the loop,
		 * and under a number that the next job's descriptor may have. */
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->pidfd, NULL);
		close(w->pidfd);
	}
	w->pidfd = -1;
	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++)
		if (jetwattd_in_job(r, r->seen[i].pid) || r->seen[i].pid == w->pid)
			r->seen[i].waits = r->seen[i].waited_ns = 0;
	w->pid = 0;
	w->ended = 0;
	w->nr_sync = w->nr_mark = 0;
	*r->cgroup = '\0';
	r->housekeeping_ns = 0;
	pthread_mutex_lock(&r->d->lock);
	r->d->pid = 0;
	r->d->cap.have_safe = 0;
	pthread_mutex_unlock(&r->d->lock);
}

/* Apply the best known mode; if a knob refuses it, apply the next best mode. Return: the row of the
 * applied mode; NULL: no mode within the limit is known, or none may be applied now. */
static const struct jetwatt_row *apply_best(struct jetwattd_run *r)
{
	const struct jetwatt_row *best = jetwattd_best_mode(r);
	struct jetwattd *d = r->d;

	if (!best)
		return NULL;
	pthread_mutex_lock(&d->lock);
	d->expect_ms = best->time_ms;
	d->expect_w = best->power_w;
	/* @invalidate may be cleared: the event that set it is handled here, or jetwattd_changed()
	 * still reports it. */
	atomic_store(&d->invalidate, 0);
	if (!jetwattd_is_applied(&d->act, &best->mode)) {
		int err;

		d->cap.cap_hit = 0;
		err = jetwattd_apply(&d->act, &best->mode);
		if (err) {
			pthread_mutex_unlock(&d->lock);
			if (err == -EBUSY)
				return NULL;
			jetwattd_learner_refused(&r->learner, &best->mode, JETWATTD_REFUSED);
			return apply_best(r);
		}
	}
	pthread_mutex_unlock(&d->lock);
	return best;
}

/* Return: 1 if the learner wants the power of the reading @is of a held mode: jetwattd_wants_power(). */
static int wants_power(struct jetwattd_run *r, const struct jetwatt_row *is)
{
	double swing;

	pthread_mutex_lock(&r->d->lock);
	swing = r->d->cap.swing;
	pthread_mutex_unlock(&r->d->lock);
	return jetwattd_wants_power(&r->learner, is, swing);
}

/* Return: 1 if a further reading may be worth its cost. */
static int may_search_further(struct jetwattd_run *r)
{
	struct jetwattd_terms terms;

	jetwattd_terms(r, &terms);
	return jetwattd_learner_is_due(&r->learner, &terms);
}

/* Return: 1 if the new reading of a mode deviates from the earlier one, and neither throttling nor, for a
 * server, the requests of the moment are the cause. */
static int hold_drifted(struct jetwattd_run *r, const struct jetwatt_row *is,
			const struct jetwatt_row *was)
{
	int differs = r->serves ? jetwatt_rows_differ_by(is, was, log(JETWATTD_CONTEXTS)) : jetwatt_rows_differ(is, was);

	return differs && !jetwattd_throttled(r, &was->mode);
}

/* Hold the best mode while time and power agree with the reading of this mode. @agreed: mode whose
 * last full reading agreed with the earlier one. Return: JETWATTD_MEASURED if modes are to be searched
 * again, else the reason why holding ended. */
static enum jetwattd_outcome hold_mode(struct jetwattd_run *r, struct jetwattd_backoff *backing,
				       struct jetwatt_mode *agreed)
{
	struct jetwatt_row was;
	int drifts = 0, drifted, agrees;

	while (!jetwattd_changed(r)) {
		const struct jetwatt_row *best = apply_best(r);
		struct jetwattd_reading got;
		enum jetwattd_outcome out;

		if (!best && jetwattd_changed(r))
			return JETWATTD_INTERRUPTED;
		jetwattd_doing(r, JETWATTD_HOLDING);
		if (!best) {
			jetwattd_log(r->d, "no measured mode is within the budget: %g W", r->budget_w);
			return jetwattd_sleep(r, r->d->policy->backoff_s) ?
				       JETWATTD_INTERRUPTED : JETWATTD_MEASURED;
		}
		/* First confirm a deviation: a search would forget it. */
		if (!drifts && may_search_further(r))
			return JETWATTD_MEASURED;
		was = *best;
		if (jetwatt_mode_same(agreed, &was.mode) && !r->serves) {
			struct jetwatt_row is;
			size_t n = jetwattd_quick_check(r, &glancing, &is);

			drifts = n ? jetwatt_rows_differ(&is, &was) : jetwattd_minibatch_deviates(r->minibatch);
			if (jetwattd_changed(r) || (n && !drifts && !wants_power(r, &is)))
				continue;
		}
		out = jetwattd_measure(r, &was.mode, r->serves ? &serving : &watching, &got);
		if (out == JETWATTD_ENDED || out == JETWATTD_NOTHING)
			return out;
		if (out == JETWATTD_OVER && jetwattd_back_off(r, backing, &got))
			return JETWATTD_INTERRUPTED;
		drifted = out == JETWATTD_MEASURED && hold_drifted(r, &got.m.row, &was);
		/* A rough reading of a server differs from a longer one because its requests did. */
		if (out == JETWATTD_MEASURED && r->serves && (!drifted || was.time_sd > ROUGH) &&
		    jetwattd_learner_refine(&r->learner, &got)) {
			jetwattd_handle_news(r);
			drifts = 0;
			continue;
		}
		drifts = drifted ? drifts + 1 : 0;
		agrees = out == JETWATTD_MEASURED && !drifts;
		*agreed = agrees ? was.mode : (struct jetwatt_mode){ 0 };
		if (agrees && (wants_power(r, &got.m.row) || jetwattd_wants_time(&r->learner, &got.m.row))) {
			if (jetwattd_store_reading(r, &got))
				return JETWATTD_ENDED;
		} else if (agrees && r->serves) {
			jetwattd_learner_window(&r->learner, &got.steps);
			jetwattd_handle_news(r);
		}
		if (drifts < DRIFTS)
			continue;
		/* The earlier back-offs belong to the job before the drift. */
		*backing = (struct jetwattd_backoff){ 0 };
		jetwattd_learner_relearn(&r->learner, &got, &was);
		jetwattd_handle_news(r);
		return JETWATTD_MEASURED;
	}
	return JETWATTD_INTERRUPTED;
}

enum jetwattd_outcome jetwattd_learn_and_hold(struct jetwattd_run *r)
{
	struct jetwattd_backoff backing = { 0 };
	struct jetwatt_mode agreed = { 0 };
	enum jetwattd_outcome out;
	double limit_w;

	if (r->apart >= JETWATTD_CORUNNERS_CHECKS)
		load_workload(r);
	pthread_mutex_lock(&r->d->lock);
	r->budget_w = r->d->cap.budget_w;
	r->cap_w = r->d->cap.cap_w;
	limit_w = jetwattd_cap_limit(&r->d->cap);
	/* Modes that are applied for the job replace a restore that is still pending. */
	r->d->act.restoring = 0;
	pthread_mutex_unlock(&r->d->lock);
	jetwattd_learner_budget(&r->learner, r->budget_w, limit_w);
	/* The objective may be another one than that of the job before. */
	jetwattd_terms(r, &r->learner.terms);
	do {
		jetwattd_doing(r, JETWATTD_LEARNING);
		apply_best(r);
		out = jetwattd_search(r);
		if (out == JETWATTD_MEASURED || out == JETWATTD_SHARED)
			out = hold_mode(r, &backing, &agreed);
	} while (out == JETWATTD_MEASURED && !jetwattd_changed(r));
	return out;
}
