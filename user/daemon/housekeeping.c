// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of the loop, and its housekeeping: periodic work such as watchdog, policy reload and
 * budget of the hour. The loop calls the housekeeping in every wait, except while blind.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/state.h"
#include "util/clock.h"
#include "util/error.h"

/* Poll interval of the loop; it may be long, because the cap reacts in its own thread. */
#define POLL_MS		250
/* Minimum interval between two runs of the housekeeping. */
#define HOUSEKEEPING_NS		1000000000ull
/* Minimum interval between two runs of the slow parts of the housekeeping: counters of the
 * module, verification of all knobs. */
#define SLOW_PARTS_NS	1500000000ull
/* Age of the last sample beyond which the telemetry is stale; batching and joining delay a sample
 * by less. */
#define STALE_NS	5000000000ull
/* Maximum number of the job's waits for the GPU that stay in memory between two readings. */
#define WAITS_MAX	1024

void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing)
{
	pthread_mutex_lock(&r->d->lock);
	jetwattd_enter(r->d, doing);
	pthread_mutex_unlock(&r->d->lock);
}

int jetwattd_stopped(const struct jetwattd_run *r)
{
	return r->session.stop || r->session.failed || atomic_load(&r->d->stop) ||
	       atomic_load(&r->d->blind);
}

/* Return: 1 if, in the last JETWATTD_CORUNNERS_CHECKS checks, the co-running commands differed from
 * those with which the workload was looked up. */
static int corunners_changed(struct jetwattd_run *r)
{
	char now[JETWATTD_CORUNNERS_LEN];

	jetwattd_corunners(r, now, sizeof(now));
	r->apart = r->session.pid && strcmp(now, r->corunners) ? r->apart + 1 : 0;
	return r->apart >= JETWATTD_CORUNNERS_CHECKS;
}

/* Copy the telemetry for the metrics; clear the copy if the telemetry is stale. */
static void copy_telemetry(struct jetwattd_run *r, uint64_t now_ns)
{
	struct jetwattd_telemetry *m = &r->d->telemetry;

	pthread_mutex_lock(&r->d->lock);
	m->telemetry = r->session.telemetry;
	if (now_ns > r->session.power_ns && now_ns - r->session.power_ns > STALE_NS)
		jetwatt_telemetry_clear(&m->telemetry);
	pthread_mutex_unlock(&r->d->lock);
}

/* Read the counters of the module for the metrics. */
static void read_module_counters(struct jetwattd_run *r)
{
	struct jetwatt_energy energy[JETWATT_RAILS_MAX + 1];
	struct jetwattd_telemetry *m = &r->d->telemetry;
	struct jetwatt_config config;
	struct jetwatt_stats stats;
	int n;

	if (jetwatt_stats(r->session.jw, &stats) || jetwatt_config_get(r->session.jw, &config))
		return;
	n = jetwatt_energies(r->session.jw, energy, JETWATT_RAILS_MAX + 1);
	pthread_mutex_lock(&r->d->lock);
	m->stats = stats;
	m->rate_hz = config.active_hz;
	m->waits_lost = jetwatt_session_waits_lost(&r->session);
	m->energies = n > 0 ? n : 0;
	memcpy(m->energy, energy, (size_t)m->energies * sizeof(*energy));
	pthread_mutex_unlock(&r->d->lock);
}

void jetwattd_housekeeping(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	uint64_t now = jetwatt_clock_ns();
	int seldom;

	if (now - r->housekeeping_ns < HOUSEKEEPING_NS)
		return;
	r->housekeeping_ns = now;
	seldom = now - r->slow_housekeeping_ns >= SLOW_PARTS_NS;
	if (seldom)
		r->slow_housekeeping_ns = now;
	jetwattd_notify("WATCHDOG=1");
	copy_telemetry(r, now);
	if (seldom) {
		read_module_counters(r);
		jetwattd_unseen(d, r->session.probe);
	}
	jetwattd_minibatch_learn(r->minibatch);
	jetwattd_reload(r);
	jetwattd_timeshare(r);
	if (corunners_changed(r))
		atomic_store(&d->invalidate, 1);
	pthread_mutex_lock(&d->lock);
	jetwattd_budget_now(d, r->cgroup);
	if (!jetwatt_board_guarded(d->act.board))
		jetwattd_unguarded(d);
	if (seldom)
		jetwattd_check_knobs(&d->act);
	pthread_mutex_unlock(&d->lock);
}

int jetwattd_changed(struct jetwattd_run *r)
{
	struct jetwattd *d = r->d;
	int changed;

	pthread_mutex_lock(&d->lock);
	changed = d->cap.budget_w != r->budget_w || d->cap.cap_w != r->cap_w || d->pause || d->doing == JETWATTD_YIELDING;
	pthread_mutex_unlock(&d->lock);
	return changed || r->apart >= JETWATTD_CORUNNERS_CHECKS || jetwattd_stopped(r) ||
	       r->session.ended;
}

void jetwattd_forget_waits(struct jetwattd_run *r)
{
	struct jetwatt_session *w = &r->session;

	if (w->nr_sync <= WAITS_MAX)
		return;
	memmove(w->sync, w->sync + w->nr_sync - WAITS_MAX, WAITS_MAX * sizeof(*w->sync));
	w->nr_sync = WAITS_MAX;
}

void jetwattd_poll(struct jetwattd_run *r, double max_s)
{
	jetwatt_session_sleep(&r->session, (int)fmin(POLL_MS, ceil(max_s * 1e3)));
	jetwattd_housekeeping(r);
	jetwatt_session_discard(&r->session, r->session.power_ns);
	jetwattd_forget_waits(r);
}

int jetwattd_sleep(struct jetwattd_run *r, double seconds)
{
	uint64_t now, until = jetwatt_clock_ns() + seconds * 1e9;

	while (!jetwattd_changed(r) && (now = jetwatt_clock_ns()) < until)
		jetwattd_poll(r, (until - now) * 1e-9);
	return jetwattd_changed(r);
}
