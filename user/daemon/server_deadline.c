// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server's deadline: find modes that are too slow for a server that shares the GPU with
 * training. In a mode that is too slow, and in all lower modes, the server's latency limit cannot
 * be met. A mode is too slow if BEYOND consecutive plans for it exceed the latency limit, or
 * if its windows overrun the limit by more than the tolerances below, which is detected sooner. A
 * request that arrives at the start of a window is answered at its end.
 */
#include "daemon/loop.h"
#include "util/clock.h"

#include <math.h>
#include <string.h>

/* Number of consecutive plans of time slices beyond the latency limit after which the mode counts as
 * too slow. */
#define BEYOND		3
/* Total allowed overrun of the windows since a switch, in units of the latency limit: an overrun
 * is allowed because the present window has not ended, and the first window may have begun in
 * the middle of a minibatch. */
#define GRACE		2
/* Allowed length of the window during which the mode was switched, in units of the latency limit:
 * in this window the server also answers requests that a slower mode has left over. */
#define LEFT		6
/* Outside learning, a window may last LEFT latency limits, but at least this time, in ms: a burst of
 * requests may need it. */
#define BURST_MS	5000
/* When the request rate falls below this fraction of the rate at which the latency limit was
 * last missed, all modes are allowed again. */
#define FEWER		0.8
/* Assumed relative errors of the estimated time and power of a mode that was left before it was
 * measured. */
#define TIME_SD		0.3
#define POWER_SD	0.1
/* Time limit for the server to answer the requests that a slow mode has left over, and interval
 * at which that is polled. */
#define CATCH_UP_NS	2000000000ull
#define POLL_S		0.02

/* Return: 1 if the windows since the last switch have been longer than the latency limit allows.
 * Caller holds the lock. */
static int windows_overrun(const struct jetwattd *d)
{
	const struct jetwattd_timeshare_status *t = &d->timeshare;
	double ms = 1e-6 * jetwatt_clock_ns(), open_ms, limit_ms = t->limit_ms;

	if (!t->on || !d->act.applied)
		return 0;
	open_ms = ms - 1e-6 * (t->ended_ns > d->act.switched_ns ? t->ended_ns : d->act.switched_ns);
	if (d->doing != JETWATTD_LEARNING)
		return open_ms > fmax(BURST_MS, LEFT * limit_ms);
	if (t->ended_ns < d->act.switched_ns || !t->first_ns)
		return open_ms > LEFT * limit_ms;
	return ms - 1e-6 * t->first_ns > (t->windows + GRACE) * limit_ms;
}

/* End the reading in progress if the windows overrun. Caller holds the lock. */
static void end_late_reading(struct jetwattd *d)
{
	if (d->doing != JETWATTD_LEARNING || !windows_overrun(d))
		return;
	d->timeshare.over = 1;
	atomic_store(&d->invalidate, 1);
}

void jetwattd_deadline_window(struct jetwattd *d, int switched)
{
	struct jetwattd_timeshare_status *t = &d->timeshare;

	t->ended_ns = jetwatt_clock_ns();
	if (switched) {
		t->first_ns = t->ended_ns;
		t->windows = t->over = 0;
	} else {
		t->windows++;
	}
	end_late_reading(d);
}

int jetwattd_deadline_miss(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	struct jetwatt_mode mode;
	const struct jetwattd_timeshare_status *t = &d->timeshare;
	double hz;
	int late;

	pthread_mutex_lock(&d->lock);
	late = d->act.applied && t->on && ((t->planned && t->beyond >= BEYOND) || t->over || windows_overrun(d));
	mode = d->act.mode;
	hz = t->arrival_hz;
	pthread_mutex_unlock(&d->lock);
	if (!late || !jetwattd_learner_deadline_miss(&r->learner, &mode, hz))
		return 0;
	jetwattd_log(d, "mode excluded, too slow for the server: %.3g requests/s", hz);
	return 1;
}

int jetwattd_deadline_estimate(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	const struct jetwattd_timeshare_status *t = &d->timeshare;
	struct jetwatt_row row = { .time_sd = TIME_SD, .power_sd = POWER_SD };
	uint64_t since;

	pthread_mutex_lock(&d->lock);
	since = t->first_ns > d->act.switched_ns ? t->first_ns : d->act.switched_ns;
	row.mode = d->act.mode;
	/* The estimate assumes one training minibatch, the minimum, in each window. */
	row.time_ms = 1e-6 * (jetwatt_clock_ns() - since) /
		      (t->first_ns > d->act.switched_ns ? fmax(t->windows, 1) : 1);
	row.power_w = d->cap.mean_w;
	pthread_mutex_unlock(&d->lock);
	return jetwattd_learner_estimate(&r->learner, &row);
}

void jetwattd_deadline_catch_up(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	uint64_t until = jetwatt_clock_ns() + CATCH_UP_NS;
	int behind;

	do {
		pthread_mutex_lock(&d->lock);
		behind = d->timeshare.on && d->timeshare.ended_ns < d->act.switched_ns;
		pthread_mutex_unlock(&d->lock);
	} while (behind && jetwatt_clock_ns() < until && !jetwattd_sleep(r, POLL_S));
}

/* Allow all modes again if the request rate has dropped since the latency limit was last missed. */
static void allow_all_if_eased(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	double hz;

	pthread_mutex_lock(&d->lock);
	hz = d->timeshare.planned ? d->timeshare.arrival_hz : 0;
	pthread_mutex_unlock(&d->lock);
	if (!(r->learner.deadline_hz > 0) || !(hz > 0) || hz > FEWER * r->learner.deadline_hz)
		return;
	jetwattd_learner_forget_misses(&r->learner);
	atomic_store(&d->invalidate, 1);
}

void jetwattd_deadline_check(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int holding;

	allow_all_if_eased(r);
	pthread_mutex_lock(&d->lock);
	holding = d->doing == JETWATTD_HOLDING;
	end_late_reading(d);
	pthread_mutex_unlock(&d->lock);
	if (holding && jetwattd_deadline_miss(r))
		atomic_store(&d->invalidate, 1);
}
