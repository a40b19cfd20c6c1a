// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modes that are too slow for the server to which training gives way: in them and in all below
 * them its latency cannot be kept. A plan says so, made of what was seen in the mode; or sooner,
 * windows that are longer than the latency, for who asks at the beginning of one is answered at
 * its end.
 */
#include "daemon/loop.h"
#include "util/clock.h"

#include <math.h>
#include <string.h>

/* So many plans in a row that do not keep the latency are no chance. */
#define BEYOND		3
/* Windows may be so many latencies longer than one each, in all: one is in the middle, and
 * training may have been in the middle of something; and more, in the one in which the board
 * was switched, for what a slower mode had left to be answered. */
#define GRACE		2
#define LEFT		6
/* In a mode that was good so far a burst may take so long to be answered. */
#define BURST_MS	5000
/* Fewer requests by this part, and a mode that was too slow may no longer be. */
#define FEWER		0.8
/* What is known of a mode's time and power that was left before it was read. */
#define TIME_SD		0.3
#define POWER_SD	0.1
/* So long the server is given to answer what a mode has left, and so often it is looked. */
#define CATCH_UP_NS	2000000000ull
#define TURN_S		0.02

/* Have windows been too long for that since the switch? */
static int overrun(const struct jetwattd *d)
{
	const struct jetwattd_taking_turns *t = &d->turns;
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

/* While a mode is read: no longer than it takes to see that. Under the lock. */
static void look(struct jetwattd *d)
{
	if (d->doing != JETWATTD_LEARNING || !overrun(d))
		return;
	d->turns.over = 1;
	atomic_store(&d->cut, 1);
}

void jetwattd_late_window(struct jetwattd *d, int switched)
{
	struct jetwattd_taking_turns *t = &d->turns;

	t->ended_ns = jetwatt_clock_ns();
	if (switched) {
		t->first_ns = t->ended_ns;
		t->windows = t->over = 0;
	} else {
		t->windows++;
	}
	look(d);
}

int jetwattd_late(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	struct jetwatt_mode mode;
	const struct jetwattd_taking_turns *t = &d->turns;
	double hz;
	int late;

	pthread_mutex_lock(&d->lock);
	late = d->act.applied && t->on && ((t->planned && t->beyond >= BEYOND) || t->over || overrun(d));
	mode = d->act.mode;
	hz = t->arrival_hz;
	pthread_mutex_unlock(&d->lock);
	if (!late || !jetwattd_learner_too_slow(&r->learner, &mode, hz))
		return 0;
	jetwattd_say(d, "too slow for the server here: %.3g requests a second", hz);
	return 1;
}

int jetwattd_late_row(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	const struct jetwattd_taking_turns *t = &d->turns;
	struct jetwatt_row row = { .time_sd = TIME_SD, .power_sd = POWER_SD };
	uint64_t since;

	pthread_mutex_lock(&d->lock);
	since = t->first_ns > d->act.switched_ns ? t->first_ns : d->act.switched_ns;
	row.mode = d->act.mode;
	/* A minibatch in each window, as few as can be. */
	row.time_ms = 1e-6 * (jetwatt_clock_ns() - since) /
		      (t->first_ns > d->act.switched_ns ? fmax(t->windows, 1) : 1);
	row.power_w = d->cap.mean_w;
	pthread_mutex_unlock(&d->lock);
	return jetwattd_learner_estimate(&r->learner, &row);
}

void jetwattd_late_catch_up(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	uint64_t until = jetwatt_clock_ns() + CATCH_UP_NS;
	int behind;

	do {
		pthread_mutex_lock(&d->lock);
		behind = d->turns.on && d->turns.ended_ns < d->act.switched_ns;
		pthread_mutex_unlock(&d->lock);
	} while (behind && jetwatt_clock_ns() < until && !jetwattd_nap(r, TURN_S));
}

/* Fewer requests than when modes were found too slow for them? */
static void eased(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	double hz;

	pthread_mutex_lock(&d->lock);
	hz = d->turns.planned ? d->turns.arrival_hz : 0;
	pthread_mutex_unlock(&d->lock);
	if (!(r->learner.late_hz > 0) || !(hz > 0) || hz > FEWER * r->learner.late_hz)
		return;
	jetwattd_learner_in_time(&r->learner);
	atomic_store(&d->cut, 1);
}

void jetwattd_late_tend(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int holding;

	eased(r);
	pthread_mutex_lock(&d->lock);
	holding = d->doing == JETWATTD_HOLDING;
	look(d);
	pthread_mutex_unlock(&d->lock);
	if (holding && jetwattd_late(r))
		atomic_store(&d->cut, 1);
}
