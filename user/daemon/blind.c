// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of power have broken off, so nothing can be compared with the budget. The lowest
 * mode is applied. It stays as long as a process that works on the GPU lives: to restore the
 * board would lift the cap from a job that runs.
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

#define TURN_NS		250000000
/* Interval of checks of the knobs. */
#define CHECK_NS	1000000000ull
/* Interval of attempts to reach the module. It doubles while the samples break off again. */
#define RETRY_NS	1000000000ull
#define RETRY_MOST_NS	60000000000ull

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
			jetwattd_put_low(&d->act, &d->act.floor);
	}
	atomic_store(&d->seeing, 0);
	atomic_store(&d->cut, 1);
	pthread_mutex_unlock(&d->lock);
}

static void add(struct jetwattd_held *h, pid_t pid, int fd)
{
	if (fd < 0 || h->nr == JETWATTD_HELD) {
		if (fd >= 0)
			close(fd);
		return;
	}
	h->pid[h->nr] = pid;
	h->fd[h->nr++] = fd;
}

/* Those that have waited for the GPU lately and are not known yet. */
static void add_seen(struct jetwattd_held *h, const struct jetwattd_run *r)
{
	uint64_t now = jetwatt_clock_ns();

	for (int i = 0; i < JETWATTD_SEEN; i++) {
		const struct jetwattd_seen *seen = &r->seen[i];
		int k = 0;

		while (k < h->nr && h->pid[k] != seen->pid)
			k++;
		if (k == h->nr && seen->waits && seen->pid != getpid() && now - seen->last_ns < JETWATTD_JOB_NS)
			add(h, seen->pid, jetwattd_pidfd(seen->pid));
	}
}

/* Drop those that have ended. Return: how many are left. */
static int alive(struct jetwattd_held *h)
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

/* Is the lowest mode in force, and is it still to be? */
static int keeps(struct jetwattd *d)
{
	int keeps;

	pthread_mutex_lock(&d->lock);
	if (!jetwatt_board_guarded(d->act.board))
		jetwattd_unguarded(d);
	keeps = d->cap.budget_w > 0 && !d->pause && !d->policy->blind_restore && !atomic_load(&d->stop);
	/* A mode that was refused is tried again, but not all the time. */
	if (keeps && !jetwattd_mind(&d->act) && !jetwattd_in(&d->act, &d->act.floor) &&
	    (!d->act.low_ns || jetwatt_clock_ns() - d->act.low_ns > JETWATTD_LOW_NS))
		jetwattd_put_low(&d->act, &d->act.floor);
	/* Another process owns the knobs now. */
	keeps = keeps && !jetwattd_enter(d, JETWATTD_BLIND);
	pthread_mutex_unlock(&d->lock);
	return keeps;
}

static int answers(void)
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

/* Sleep for a turn. Return: the signal that ends jetwattd, 0: none came. */
static int doze(void)
{
	const struct timespec turn = { 0, TURN_NS };
	sigset_t ends;
	int sig;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	sig = sigtimedwait(&ends, NULL, &turn);
	return sig > 0 ? sig : 0;
}

/* More seldom where the samples break off again as soon as they are back. */
static void set_pace(struct jetwattd_run *r)
{
	uint64_t since = jetwatt_clock_ns() - r->retried_ns;

	r->retry_ns = since > RETRY_MOST_NS || !r->retry_ns ? RETRY_NS : 2 * r->retry_ns;
	if (r->retry_ns > RETRY_MOST_NS)
		r->retry_ns = RETRY_MOST_NS;
}

int jetwattd_blind_hold(struct jetwattd_run *r)
{
	uint64_t now = jetwatt_clock_ns(), asked = now, checked = 0;
	struct jetwattd_held *h = &r->held;

	set_pace(r);
	jetwattd_turns_end(r);
	if (r->watch.pid)
		add(h, r->watch.pid, fcntl(r->watch.pidfd, F_DUPFD_CLOEXEC, 0));
	jetwattd_say(r->d, "no samples of power: the lowest mode is held while a process works on the GPU");
	for (;;) {
		/* New jobs are seen as long as the probe does not need the module. */
		if (r->watch.probe)
			jetwatt_probe_dispatch(r->watch.probe);
		jetwattd_forget_waits(r);
		add_seen(h, r);
		if (now - checked >= CHECK_NS) {
			checked = now;
			jetwattd_notify("WATCHDOG=1");
			jetwattd_reload(r);
			if (!keeps(r->d))
				return 0;
		}
		if (!alive(h) && !r->ladder.on) {
			jetwattd_say(r->d, "no samples of power, and no process works on the GPU: the board is restored");
			return 0;
		}
		if (now - asked >= r->retry_ns) {
			asked = now;
			if (answers()) {
				r->retried_ns = now;
				return 1;
			}
		}
		r->watch.stop = doze();
		if (r->watch.stop)
			return 0;
		now = jetwatt_clock_ns();
	}
}

void jetwattd_blind_end(struct jetwattd_run *r)
{
	while (r->held.nr)
		close(r->held.fd[--r->held.nr]);
}
