// SPDX-License-Identifier: GPL-2.0-only
/* The rest of the world: who turns knobs, what time it is. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/state.h"
#include "util/clock.h"
#include "util/error.h"

/* Who only watches looks so often: the cap has a thread of its own. */
#define TURN_MS		250
#define TEND_NS		1000000000ull
/* What takes its time, every other time: the module's counts, and all knobs. */
#define SELDOM_NS	1500000000ull
/* The last sample is older than batches and the join ever are. */
#define STALE_NS	5000000000ull
/* Waits of the job that are kept between two readings. */
#define WAITS_KEPT	1024

void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing)
{
	pthread_mutex_lock(&r->d->lock);
	jetwattd_enter(r->d, doing);
	pthread_mutex_unlock(&r->d->lock);
}

int jetwattd_stopped(const struct jetwattd_run *r)
{
	return r->watch.stop || r->watch.failed || atomic_load(&r->d->stop) || atomic_load(&r->d->blind);
}

/* For some seconds now those who work beside the job have been others than when it was taken. */
static int parted(struct jetwattd_run *r)
{
	char now[JETWATTD_BESIDE];

	jetwattd_company(r, now, sizeof(now));
	r->apart = r->watch.pid && strcmp(now, r->beside) ? r->apart + 1 : 0;
	return r->apart >= JETWATTD_APART;
}

static unsigned int minute(void)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	return 60 * tm.tm_hour + tm.tm_min;
}

/* Without samples nothing is known of now. */
static void note_telemetry(struct jetwattd_run *r, uint64_t now_ns)
{
	struct jetwattd_meter *m = &r->d->meter;

	pthread_mutex_lock(&r->d->lock);
	m->telemetry = r->watch.telemetry;
	if (now_ns > r->watch.power_ns && now_ns - r->watch.power_ns > STALE_NS)
		jetwatt_telemetry_clear(&m->telemetry);
	pthread_mutex_unlock(&r->d->lock);
}

/* What the module counts. */
static void read_meter(struct jetwattd_run *r)
{
	struct jetwatt_energy energy[JETWATT_RAILS_MAX + 1];
	struct jetwattd_meter *m = &r->d->meter;
	struct jetwatt_config config;
	struct jetwatt_stats stats;
	int n;

	if (jetwatt_stats(r->watch.jw, &stats) || jetwatt_config_get(r->watch.jw, &config))
		return;
	n = jetwatt_energies(r->watch.jw, energy, JETWATT_RAILS_MAX + 1);
	pthread_mutex_lock(&r->d->lock);
	m->stats = stats;
	m->rate_hz = config.active_hz;
	m->waits_lost = jetwatt_watch_waits_lost(&r->watch);
	m->energies = n > 0 ? n : 0;
	memcpy(m->energy, energy, (size_t)m->energies * sizeof(*energy));
	pthread_mutex_unlock(&r->d->lock);
}

void jetwattd_tend(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	uint64_t now = jetwatt_clock_ns();
	double budget;
	int seldom;

	if (now - r->tended_ns < TEND_NS)
		return;
	r->tended_ns = now;
	seldom = now - r->seldom_ns >= SELDOM_NS;
	if (seldom)
		r->seldom_ns = now;
	jetwattd_notify("WATCHDOG=1");
	note_telemetry(r, now);
	if (seldom)
		read_meter(r);
	jetwattd_minibatch_learn(r->minibatch);
	jetwattd_reload(r);
	jetwattd_turns(r);
	if (parted(r))
		atomic_store(&d->cut, 1);
	budget = jetwattd_policy_budget(d->policy, minute(), r->cgroup);
	pthread_mutex_lock(&d->lock);
	jetwattd_budget(d, d->told_w > 0 ? d->told_w : budget);
	if (!jetwatt_board_guarded(d->act.board))
		jetwattd_unguarded(d);
	if (seldom)
		jetwattd_mind(&d->act);
	pthread_mutex_unlock(&d->lock);
}

int jetwattd_changed(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int changed;

	pthread_mutex_lock(&d->lock);
	changed = d->cap.budget_w != r->budget_w || d->pause || d->doing == JETWATTD_YIELDING;
	pthread_mutex_unlock(&d->lock);
	return changed || r->apart >= JETWATTD_APART || jetwattd_stopped(r) || r->watch.ended;
}

void jetwattd_forget_waits(struct jetwattd_run *r)
{
	struct jetwatt_watch *w = &r->watch;

	if (w->nr_sync <= WAITS_KEPT)
		return;
	memmove(w->sync, w->sync + w->nr_sync - WAITS_KEPT, WAITS_KEPT * sizeof(*w->sync));
	w->nr_sync = WAITS_KEPT;
}

void jetwattd_turn(struct jetwattd_run *r, double most_s)
{
	jetwatt_watch_rest(&r->watch, (int)fmin(TURN_MS, ceil(most_s * 1e3)));
	jetwattd_tend(r);
	jetwatt_watch_drop(&r->watch, r->watch.power_ns);
	jetwattd_forget_waits(r);
}

/* Wait, and look after things. Return: 1: there is something else to do. */
int jetwattd_nap(struct jetwattd_run *r, double seconds)
{
	uint64_t now, until = jetwatt_clock_ns() + seconds * 1e9;

	while (!jetwattd_changed(r) && (now = jetwatt_clock_ns()) < until)
		jetwattd_turn(r, (until - now) * 1e-9);
	return jetwattd_changed(r);
}
