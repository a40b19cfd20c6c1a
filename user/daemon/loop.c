// SPDX-License-Identifier: GPL-2.0-only
/*
 * Main loop: wait for a job, learn it, hold it in its best mode. Readings of a workload, except of a
 * server, are stored in the database, so that its next run can start in its best mode. This file also opens and closes
 * everything that the loop and the other threads work with.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/state.h"
#include "tune/mode_filter.h"
#include "util/clock.h"
#include "util/error.h"

/* Time limit for all rails of the total to deliver values after the module answers again. The
 * module retries a failed chip after 1 s at the earliest. */
#define SEES_NS		3000000000ull
/* Poll interval while jetwattd waits for these values, in ms. */
#define SEES_MS		100

static int has_budget(struct jetwattd_run *r)
{
	int has;

	pthread_mutex_lock(&r->d->lock);
	has = r->d->cap.budget_w > 0;
	pthread_mutex_unlock(&r->d->lock);
	return has;
}

/* Work on a job until it ends. Return: 1 if jetwattd yields or pauses; 0 if the job has ended,
 * if its minibatches cannot be recognised, if there is no budget any more, or if jetwattd is to end
 * or is blind. */
static int loop_job(struct jetwattd_run *r, pid_t pid)
{
	enum jetwattd_outcome out = JETWATTD_INTERRUPTED;
	int paused = 0;

	while (out == JETWATTD_INTERRUPTED && !jetwattd_stopped(r) && !r->session.ended &&
	       !jetwattd_must_yield(r, &paused) && has_budget(r))
		out = jetwattd_learn_and_hold(r);
	if (jetwattd_must_yield(r, &paused))
		return 1;
	if (atomic_load(&r->d->blind))
		return 0;
	if (out == JETWATTD_NOTHING &&
	    r->session.last_wait_ns + JETWATTD_JOB_NS > jetwatt_clock_ns()) {
		jetwattd_seen_find(r, pid)->opaque = 1;
		jetwattd_log(r->d, "no minibatches recognised, only the budget is enforced: process %d", pid);
	}
	jetwattd_detach_job(r);
	jetwattd_idle(r);
	return 0;
}

/* Work on one job after the other until jetwattd is to end or is blind. */
static void loop_jobs(struct jetwattd_run *r)
{
	int paused;
	pid_t pid;

	while (!jetwattd_stopped(r)) {
		jetwattd_poll(r, INFINITY);
		if (jetwattd_stopped(r))
			break;
		if (jetwattd_ramp(r) || (r->reloaded && !r->ramp.on))
			jetwattd_idle(r);
		r->reloaded = 0;
		pid = jetwattd_find_job(r);
		if (jetwattd_must_yield(r, &paused) ||
		    (pid && has_budget(r) && !jetwattd_attach_job(r, pid) && loop_job(r, pid)))
			jetwattd_wait_for_board(r);
	}
}

/* Prepare the metrics and the recorder of minibatches. The rails do not change while the session is
 * open. Return: 0 or an exit code; the error has been reported. */
static int open_recorder(struct jetwattd_run *r)
{
	struct jetwattd_telemetry *m = &r->d->telemetry;

	m->rails = r->session.nr_rails;
	memcpy(m->rail, r->session.rail, (size_t)m->rails * sizeof(*m->rail));
	m->scope = r->session.scope;
	r->minibatch = jetwattd_minibatch_new(r);
	return r->minibatch ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
						    "cannot start");
}

static int open_probe(struct jetwattd_run *r)
{
	struct jetwatt_probe_opts opts = { .tgid = 0 };
	int err = jetwatt_probe_open(&r->session.probe, &opts, jetwattd_on_wait, r);

	if (err)
		return jetwatt_error_report(jetwatt_error_code(err), jetwatt_probe_error(),
					 err == -EPERM ? "run as root (needs CAP_BPF and CAP_PERFMON)" :
					 "jetwatt doctor says what this kernel lacks",
					 "cannot trace waits for the GPU");
	jetwattd_unseen(r->d, r->session.probe);
	err = jetwatt_session_add(&r->session, jetwatt_probe_fd(r->session.probe));
	return err ? JETWATT_EXIT_FAILED : 0;
}

/* Load the candidates, check the policy, and open the learner. The function also finds the
 * lowest mode: the one with the lowest GPU clock; among these, the lowest CPU clock, then cores,
 * then memory clock. Return: 0 or an exit code; the error has been reported. */
static int load_candidates(struct jetwattd_run *r)
{
	const char *path = *r->d->policy->modes ? r->d->policy->modes : NULL;
	struct jetwatt_tuner *l = &r->learner.known;
	int err = jetwatt_tuner_modes(l, r->d->act.board, path);

	if (!err && path)
		err = jetwatt_mode_filter(r->d->act.board, l->mode, &l->nr_modes, path);
	if (!err)
		err = jetwattd_usable(r->d, r->d->policy);
	if (!err)
		err = jetwattd_method(r->d->policy, &l->by.by);
	if (!err)
		err = jetwattd_learner_open(&r->learner);
	if (err)
		return err;
	jetwattd_presets(r);
	r->d->act.floor = l->mode[0];
	for (size_t i = 1; i < l->nr_modes; i++) {
		const struct jetwatt_mode *a = &l->mode[i], *f = &r->d->act.floor;

		if (a->gpu_hz != f->gpu_hz ? a->gpu_hz < f->gpu_hz :
		    a->cpu_khz != f->cpu_khz ? a->cpu_khz < f->cpu_khz :
		    a->cores != f->cores ? a->cores < f->cores : a->emc_hz < f->emc_hz)
			r->d->act.floor = *a;
	}
	return 0;
}

/* Open the session and the probe, and start the threads. Return: 0 or an exit code; the error has
 * been reported. */
static int loop_attach(struct jetwattd_run *r, struct jetwattd_cap_thread **cap, struct jetwattd_control **control)
{
	struct jetwattd *d = r->d;
	/* Opening the session blocks the signals; this happens before any thread is created, so
	 * that the threads inherit the blocked signals. */
	int err = jetwatt_session_open(&r->session, d->act.board, (unsigned int)d->policy->rate_hz);

	if (!err)
		err = open_recorder(r);
	if (!err)
		err = open_probe(r);
	if (!err)
		err = jetwattd_cap_start(d, cap);
	return err ? err : jetwattd_control_start(d, control);
}

static void loop_detach(struct jetwattd_run *r, struct jetwattd_cap_thread **cap, struct jetwattd_control **control)
{
	jetwattd_timeshare_end(r);
	jetwattd_control_stop(*control);
	jetwattd_cap_stop(*cap);
	*control = NULL;
	*cap = NULL;
	jetwatt_session_close(&r->session);
	jetwatt_session_init(&r->session);
	jetwattd_minibatch_free(r->minibatch);
	r->minibatch = NULL;
}

/* While still blind, wait at most SEES_NS until all rails of the total deliver values. Return: 1:
 * they do; 0: not yet. */
static int wait_for_rails(struct jetwattd_run *r)
{
	uint64_t begun = jetwatt_clock_ns();

	jetwattd_notify("WATCHDOG=1");
	while (!atomic_load(&r->d->seeing) && !r->session.stop && !r->session.failed &&
	       jetwatt_clock_ns() - begun < SEES_NS) {
		jetwatt_session_sleep(&r->session, SEES_MS);
		jetwatt_session_discard(&r->session, r->session.power_ns);
		jetwattd_forget_waits(r);
	}
	if (!atomic_load(&r->d->seeing) && !r->session.stop && !r->session.failed)
		jetwattd_log(r->d, "still blind: the module answers, but some rails of the total deliver no samples");
	return atomic_load(&r->d->seeing);
}

/* Leave the state "blind". Set @cap_hit, which starts the ramp, which raises the mode from the
 * lowest one until a job is detected. Return: 1 if the state "blind" was left; 0 if the samples
 * have stopped again. */
static int leave_blind(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int seeing;

	pthread_mutex_lock(&d->lock);
	seeing = atomic_load(&d->seeing);
	if (seeing) {
		atomic_store(&d->blind, 0);
		d->act.floor_only = 0;
		jetwattd_enter(d, JETWATTD_IDLE);
		d->cap.cap_hit = 1;
	}
	pthread_mutex_unlock(&d->lock);
	if (!seeing)
		return 0;
	jetwattd_blind_end(r);
	jetwattd_log(d, "power samples are back");
	return 1;
}

/* Work on jobs until jetwattd is to end or the samples stop. Return: exit code. */
static int jobs_until_blind(struct jetwattd_run *r)
{
	int code = 0;

	loop_jobs(r);
	if (r->session.failed && !r->session.stop) {
		code = jetwatt_session_error(&r->session);
		jetwattd_blind(r->d);
	}
	return code;
}

/* Run until jetwattd is to end, with reconnections after blind times. Return: exit code. */
static int loop_serve(struct jetwattd_run *r)
{
	struct jetwattd_control *control = NULL;
	struct jetwattd_cap_thread *cap = NULL;
	struct jetwattd *d = r->d;
	int err = loop_attach(r, &cap, &control);

	if (!err) {
		jetwattd_log(d, "ready");
		jetwattd_notify("READY=1");
		jetwattd_idle(r);
		err = jobs_until_blind(r);
	}
	while (atomic_load(&d->blind) && !r->session.stop) {
		err = JETWATT_EXIT_FAILED;
		if (!jetwattd_blind_hold(r))
			break;
		jetwattd_detach_job(r);
		loop_detach(r, &cap, &control);
		if (loop_attach(r, &cap, &control)) {
			/* loop_attach() opens the control socket last; open it here, so that it
			 * works while blind too. */
			if (!control)
				jetwattd_control_start(d, &control);
			continue;
		}
		if (!wait_for_rails(r) || !leave_blind(r))
			continue;
		err = jobs_until_blind(r);
	}
	if (r->session.stop)
		err = 0;
	jetwattd_blind_end(r);
	jetwattd_notify("STOPPING=1");
	loop_detach(r, &cap, &control);
	return err ? err : atomic_load(&d->stop);
}

int jetwattd_loop(struct jetwattd *d)
{
	struct jetwatt_profile_store_args args = { .path = *d->policy->db ? d->policy->db : NULL };
	struct jetwattd_run r = { .d = d, .hangup = -1 };
	int err;

	jetwatt_session_init(&r.session);
	err = jetwattd_reload_open(&r);
	if (!err)
		err = load_candidates(&r);
	if (!err)
		err = jetwatt_profile_store_open(&r.store, &args);
	if (!err)
		err = loop_serve(&r);
	pthread_mutex_lock(&d->lock);
	if (jetwattd_restore_at_end(&d->act) && !err)
		err = JETWATT_EXIT_FAILED;
	pthread_mutex_unlock(&d->lock);
	jetwatt_profile_store_close(&r.store);
	jetwattd_learner_close(&r.learner);
	if (r.hangup >= 0)
		close(r.hangup);
	return err;
}
