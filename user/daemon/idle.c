// SPDX-License-Identifier: GPL-2.0-only
/* Controls the board while jetwattd has no job: idle, paused, or yielding to another process. */
#include "daemon/loop.h"

#include <fcntl.h>
#include <math.h>

#include "daemon/pidfd.h"
#include "daemon/state.h"
#include "util/clock.h"

/* Time after which jetwattd may apply modes again after JETWATTD_LEASED: another process held the
 * lease of the board, or thermal throttling kept jetwattd from saving the knobs. */
#define BUSY_NS		2000000000ull

int jetwattd_must_yield(struct jetwattd_run *r, int *paused)
{
	int yields;

	pthread_mutex_lock(&r->d->lock);
	yields = r->d->doing == JETWATTD_YIELDING;
	*paused = r->d->pause;
	pthread_mutex_unlock(&r->d->lock);
	return yields || *paused;
}

void jetwattd_idle(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	struct jetwatt_mode mode;

	pthread_mutex_lock(&d->lock);
	/* jetwattd_blind_hold() keeps the lowest mode. jetwattd_blind() sets @blind under the lock. */
	if (atomic_load(&d->blind)) {
		pthread_mutex_unlock(&d->lock);
		return;
	}
	jetwattd_ramp_end(r);
	jetwattd_enter(d, JETWATTD_IDLE);
	d->cap.have_safe = d->cap.cap_hit = 0;
	/* Do not apply the idle mode if @ceded is set: it must not overwrite another process's
	 * settings. */
	if (d->act.ceded || !*d->policy->idle ||
	    jetwatt_board_mode_parse(d->act.board, d->policy->idle, &mode) || jetwattd_apply(&d->act, &mode))
		jetwattd_restore(&d->act);
	pthread_mutex_unlock(&d->lock);
}

void jetwattd_wait_for_board(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	uint64_t since = jetwatt_clock_ns();
	int paused, busy, job = -1;

	jetwattd_must_yield(r, &paused);
	pthread_mutex_lock(&d->lock);
	busy = d->act.busy;
	if (paused) {
		/* If a knob refuses the restore, jetwattd_housekeeping() retries it. */
		jetwattd_enter(d, JETWATTD_PAUSED);
		jetwattd_restore(&d->act);
		/* When the user resumes jetwattd, jetwattd controls the board again, even if
		 * another process had changed a knob. */
		d->act.ceded = 0;
	} else if (r->session.pid) {
		/* Refer to the job by a process descriptor, because its pid may be reused. */
		job = fcntl(r->session.pidfd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&d->lock);
	jetwattd_detach_job(r);
	while (!jetwattd_stopped(r)) {
		jetwattd_poll(r, INFINITY);
		pthread_mutex_lock(&d->lock);
		paused = d->pause;
		if (paused && d->doing == JETWATTD_YIELDING) {
			jetwattd_enter(d, JETWATTD_PAUSED);
			d->act.ceded = busy = 0;
			if (job >= 0)
				close(job);
			job = -1;
		}
		pthread_mutex_unlock(&d->lock);
		if (!paused && (busy ? jetwatt_clock_ns() - since > BUSY_NS : jetwattd_pidfd_ended(job)))
			break;
	}
	if (job >= 0)
		close(job);
	jetwattd_idle(r);
}
