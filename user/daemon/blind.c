// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blind: power samples are missing, so power cannot be compared with the budget. The lowest mode is
 * applied and held while any process that uses the GPU lives or the ramp (cap_recovery.c) is
 * active, because restoring the board would lift the cap for a running job.
 */
#include "daemon/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/pidfd.h"
#include "daemon/state.h"
#include "util/clock.h"
#include "util/error.h"

/* Poll interval while blind. */
#define POLL_NS		250000000
/* Interval at which the knobs are verified while blind. */
#define CHECK_NS	1000000000ull
/* Interval between attempts to reach the module while blind, and the maximum of this interval. The
 * interval doubles if, less than a minute after the module has answered, the samples stop again or
 * have not come back. */
#define RETRY_NS	1000000000ull
#define RETRY_MAX_NS	60000000000ull

void jetwattd_blind(struct jetwattd *d)
{
	int capped;

	pthread_mutex_lock(&d->lock);
	capped = d->cap.budget_w > 0 && !d->pause && d->doing != JETWATTD_YIELDING;
	if (!atomic_load(&d->blind) && !atomic_load(&d->stop)) {
		d->count.blind++;
		if (capped && !d->policy->blind_restore) {
			atomic_store(&d->blind, 1);
			d->act.floor_only = 1;
		} else {
			atomic_store(&d->stop, JETWATT_EXIT_FAILED);
		}
		if (capped)
			jetwattd_apply_low(&d->act, &d->act.floor);
	}
	atomic_store(&d->seeing, 0);
	atomic_store(&d->invalidate, 1);
	pthread_mutex_unlock(&d->lock);
}

static void held_add(struct jetwattd_held *h, pid_t pid, int fd)
{
	if (fd < 0 || h->nr == JETWATTD_HELD) {
		if (fd >= 0)
			close(fd);
		return;
	}
	h->pid[h->nr] = pid;
	h->fd[h->nr++] = fd;
}

/* Add the processes that have waited for the GPU recently to @h. */
static void held_add_seen(struct jetwattd_held *h, const struct jetwattd_run *r)
{
	uint64_t now = jetwatt_clock_ns();

	for (int i = 0; i < JETWATTD_PROCESSES_MAX; i++) {
		const struct jetwattd_seen *seen = &r->seen[i];
		int k = 0;

		while (k < h->nr && h->pid[k] != seen->pid)
			k++;
		if (k == h->nr && seen->waits && seen->pid != getpid() && now - seen->last_ns < JETWATTD_JOB_NS)
			held_add(h, seen->pid, jetwattd_pidfd(seen->pid));
	}
}

/* Drop processes that have ended. Return: number of processes that are left. */
static int held_drop_ended(struct jetwattd_held *h)
{
	for (int i = 0; i < h->nr;) {
		if (!jetwattd_pidfd_ended(h->fd[i])) {
			i++;
			continue;
		}
		close(h->fd[i]);
		h->fd[i] = h->fd[--h->nr];
		h->pid[i] = h->pid[h->nr];
	}
	return h->nr;
}

/* Apply the lowest mode again if another mode is applied. Return: 1 if the lowest mode is to be
 * held further; 0 if budget, policy, pause, end of jetwattd, or another process that controls
 * the knobs ends the hold. */
static int keep_lowest(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int keeps;

	pthread_mutex_lock(&d->lock);
	jetwattd_budget_now(d, r->cgroup);
	if (!jetwatt_board_guarded(d->act.board))
		jetwattd_unguarded(d);
	keeps = d->cap.budget_w > 0 && !d->pause && !d->policy->blind_restore && !atomic_load(&d->stop);
	/* A mode that a knob refused is retried every JETWATTD_LOW_NS. */
	if (keeps && !jetwattd_check_knobs(&d->act) && !jetwattd_is_applied(&d->act, &d->act.floor) &&
	    (!d->act.low_ns || jetwatt_clock_ns() - d->act.low_ns > JETWATTD_LOW_NS))
		jetwattd_apply_low(&d->act, &d->act.floor);
	/* In state "yielding" or "paused" jetwattd_enter() refuses, which ends the hold. */
	keeps = keeps && !jetwattd_enter(d, JETWATTD_BLIND);
	pthread_mutex_unlock(&d->lock);
	return keeps;
}

/* Return: 1 if the module answers a request, else 0. */
static int module_responds(void)
{
	struct jetwatt_info info;
	struct jetwatt *jw;
	int err;

	if (jetwatt_open(&jw))
		return 0;
	err = jetwatt_info(jw, &info);
	jetwatt_close(jw);
	return !err;
}

/* Sleep for POLL_NS or until a signal arrives that ends jetwattd. Return: its number; 0: none. */
static int blind_sleep(void)
{
	const struct timespec interval = { 0, POLL_NS };
	sigset_t ends;
	int sig;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	sig = sigtimedwait(&ends, NULL, &interval);
	return sig > 0 ? sig : 0;
}

/* Set the interval between attempts to reach the module to its minimum, or double it if the module
 * has answered less than a minute ago. */
static void set_retry_interval(struct jetwattd_run *r)
{
	uint64_t since = jetwatt_clock_ns() - r->retried_ns;

	r->retry_ns = since > RETRY_MAX_NS || !r->retry_ns ? RETRY_NS : 2 * r->retry_ns;
	if (r->retry_ns > RETRY_MAX_NS)
		r->retry_ns = RETRY_MAX_NS;
}

int jetwattd_blind_hold(struct jetwattd_run *r)
{
	uint64_t now = jetwatt_clock_ns(), asked = now, checked = 0;
	struct jetwattd_held *h = &r->held;

	set_retry_interval(r);
	jetwattd_timeshare_end(r);
	if (r->session.pid)
		held_add(h, r->session.pid, fcntl(r->session.pidfd, F_DUPFD_CLOEXEC, 0));
	jetwattd_log(r->d, "no power samples: holding the lowest mode while a process uses the GPU");
	for (;;) {
		/* Polling the probe detects new jobs too, if the probe works without the module. */
		if (r->session.probe)
			jetwatt_probe_dispatch(r->session.probe);
		jetwattd_forget_waits(r);
		held_add_seen(h, r);
		if (now - checked >= CHECK_NS) {
			checked = now;
			jetwattd_notify("WATCHDOG=1");
			jetwattd_reload(r);
			if (!keep_lowest(r))
				return 0;
		}
		if (!held_drop_ended(h) && !r->ramp.on) {
			jetwattd_log(r->d, "no power samples and no process uses the GPU: restoring the board");
			return 0;
		}
		if (now - asked >= r->retry_ns) {
			asked = now;
			if (module_responds()) {
				r->retried_ns = now;
				return 1;
			}
		}
		r->session.stop = blind_sleep();
		if (r->session.stop)
			return 0;
		now = jetwatt_clock_ns();
	}
}

void jetwattd_blind_end(struct jetwattd_run *r)
{
	while (r->held.nr)
		close(r->held.fd[--r->held.nr]);
}
