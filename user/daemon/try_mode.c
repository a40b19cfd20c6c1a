// SPDX-License-Identifier: GPL-2.0-only
/* One mode: switched to, measured, and what follows from that for the others. */
#include "daemon/loop.h"

#include <errno.h>
#include <math.h>

#include "measure/power_settle.h"
#include "util/clock.h"
#include "util/error.h"

/* A minibatch, where nothing at all is known. */
#define TIME_MS		100
/* So many standard deviations of a window's mean stay below the budget; and so many of its
 * own error a reading, for of many at the limit the one that is chosen reads too low. */
#define SWINGS		3
#define READ		2
/* Beyond so many times the best one's time nobody needs to know exactly how slow it is; where
 * a server's turns are in some minibatches, so many more. */
#define SLOW		1.2
#define UNEVEN		2
/* So often we look whether a step down has done its work. */
#define TURN_S		0.02

/* Of a mode that may be within but for its reading's error, this is worth another reading. */
#define FASTER		0.99
/* So many readings are not enough for some. */
#define READINGS	2

int jetwattd_keep(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	char name[96] = "";

	pthread_mutex_lock(&r->d->lock);
	r->d->count.measured++;
	pthread_mutex_unlock(&r->d->lock);
	if (r->d->verbose && !jetwatt_board_mode_format(&got->m.row.mode, name, sizeof(name)))
		jetwatt_error_note("%s: %.2f ms +- %.1f %%, %.2f W +- %.1f %%, %.1f s", name,
				   got->m.row.time_ms, 100 * got->m.row.time_sd, got->m.row.power_w,
				   100 * got->m.row.power_sd, got->m.dwell_s);
	jetwatt_keep_add(&r->keep, &got->m, got->lost);
	return jetwatt_learn_add(&r->learn, &got->m.row);
}

int jetwattd_climb(struct jetwattd_run *r)
{
	const struct jetwatt_row *best;
	struct jetwattd *d = r->d;
	int owing, busy;

	do {
		busy = jetwattd_nap(r, TURN_S);
		pthread_mutex_lock(&d->lock);
		owing = d->cap.owing && jetwatt_clock_ns() - d->cap.stepped_ns < d->policy->window_s * 1e9;
		best = busy || owing ? NULL : jetwattd_within(r, jetwattd_limit(d), &d->cap.left);
		if (best)
			jetwattd_put(&d->act, &best->mode);
		pthread_mutex_unlock(&d->lock);
	} while (!busy && owing);
	return busy;
}

/* What was too much is in the mean for a window: nothing that may be too much comes before it
 * has left. Return: 1: there is something else to do. */
static int let_out(struct jetwattd_run *r)
{
	uint64_t until, now = jetwatt_clock_ns();

	pthread_mutex_lock(&r->d->lock);
	until = r->d->cap.stepped_ns + r->d->policy->window_s * 1e9;
	pthread_mutex_unlock(&r->d->lock);
	return until > now && jetwattd_nap(r, (until - now) * 1e-9);
}

/* In mode @i no minibatch was seen. Is there any where they were seen before? Then they are too
 * slow in this one, else the job does something else. */
static enum jetwattd_outcome nothing(struct jetwattd_run *r, size_t i,
				     const struct jetwatt_measure_limits *limits)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	struct jetwattd_reading got;

	if (!best || jetwattd_look_again(r, &best->mode, limits, &got) != JETWATTD_MEASURED)
		return JETWATTD_NOTHING;
	r->out[i] = JETWATTD_OUT;
	return JETWATTD_REFUSED;
}

enum jetwattd_outcome jetwattd_try(struct jetwattd_run *r, size_t i,
				   const struct jetwatt_measure_limits *limits)
{
	const struct jetwatt_mode *mode = &r->learn.mode[i];
	struct jetwatt_measure_limits until = *limits;
	const struct jetwatt_row *best;
	struct jetwattd_reading got;
	struct jetwattd *d = r->d;
	enum jetwattd_outcome out;
	double slow;
	int err, late;

	if (let_out(r))
		return JETWATTD_CUT;
	pthread_mutex_lock(&d->lock);
	atomic_store(&d->cut, 0);
	d->cap.tripped = 0;
	if (d->act.applied && jetwatt_clock_ns() - d->act.switched_ns > JETWATTD_SETTLED_NS)
		until.before_w = d->cap.mean_w;
	err = jetwattd_put(&d->act, mode);
	until.limit_w = jetwattd_limit(d);
	slow = d->turns.on ? UNEVEN * SLOW : SLOW;
	pthread_mutex_unlock(&d->lock);
	if (err == -EBUSY)
		return JETWATTD_CUT;
	if (err) {
		r->out[i] = JETWATTD_OUT;
		return JETWATTD_REFUSED;
	}
	best = jetwattd_best(r);
	until.good_ms = best ? best->time_ms : INFINITY;
	until.decay = &r->decay;
	until.slow_ms = best ? slow * best->time_ms : 0;
	out = jetwattd_look(r, mode, &until, &got);
	r->learned_j += got.m.row.power_w > 0 ? got.m.dwell_s * got.m.row.power_w : 0;
	if (out == JETWATTD_OVER && got.over_w > 0) {
		jetwattd_forbid(r, &got);
	} else if (out == JETWATTD_OVER) {
		r->out[i]++;
	} else if (out == JETWATTD_MEASURED && jetwattd_throttled(r, mode)) {
		r->out[i]++;
		out = JETWATTD_HOT;
	} else if (out == JETWATTD_MEASURED && jetwattd_keep(r, &got)) {
		return JETWATTD_ENDED;
	}
	if (out == JETWATTD_NOTHING)
		out = nothing(r, i, limits);
	late = jetwattd_late(r);
	if (late && out == JETWATTD_CUT && !jetwattd_changed(r))
		out = jetwattd_late_row(r) ? JETWATTD_ENDED : JETWATTD_LATE;
	best = jetwattd_best(r);
	/* Over by so little that the cap has let it pass, or too slow for others: not while we think. */
	pthread_mutex_lock(&d->lock);
	if (out == JETWATTD_MEASURED && got.m.row.power_w > d->cap.budget_w)
		jetwattd_put_low(&d->act, best ? &best->mode : &d->act.floor);
	else if (late && best && (out == JETWATTD_MEASURED || out == JETWATTD_LATE))
		jetwattd_put(&d->act, &best->mode);
	pthread_mutex_unlock(&d->lock);
	if (late)
		jetwattd_late_catch_up(r);
	if (out == JETWATTD_OVER)
		jetwattd_climb(r);
	return out;
}

/* Means over a window swing about the mean of all: the budget is for each of them. */
double jetwattd_limit(struct jetwattd *d)
{
	return d->cap.budget_w / (1 + SWINGS * d->cap.swing);
}

/* Where it is among those that can be had, -1: nowhere. */
static long offered(const struct jetwattd_run *r, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < r->learn.nr_modes; i++)
		if (jetwatt_mode_same(&r->learn.mode[i], mode))
			return r->out[i] < JETWATTD_OUT ? (long)i : -1;
	return -1;
}

/* There are a thousand times as many modes as rows: those are looked up last. */
const struct jetwatt_row *jetwattd_within(struct jetwattd_run *r, double watts,
					  const struct jetwatt_mode *but)
{
	const struct jetwatt_learn *l = &r->learn;
	const struct jetwatt_row *best = NULL;
	int late = 0;
	long at;

	for (size_t i = 0; i < l->nr_rows; i++) {
		const struct jetwatt_row *row = &l->row[i];

		if (row->power_w * (1 + READ * row->power_sd) > watts ||
		    (best && !late && row->time_ms >= best->time_ms) ||
		    (but && jetwatt_mode_same(but, &row->mode)) || jetwatt_learn_row(l, &row->mode) != row)
			continue;
		at = offered(r, &row->mode);
		/* One in which the server is too late only where it is so in all. */
		if (at < 0 || (best && r->late[at] > late) ||
		    (best && r->late[at] == late && row->time_ms >= best->time_ms))
			continue;
		best = row;
		late = r->late[at];
	}
	return best;
}

/* Is it known as well as it can be, or for what that takes? */
static int well_known(const struct jetwatt_learn *l, const struct jetwatt_row *row)
{
	int n = 0;

	for (size_t i = 0; i < l->nr_rows; i++)
		n += jetwatt_mode_same(&l->row[i].mode, &row->mode);
	return n > READINGS || (n > 1 && row->power_sd <= JETWATT_STEP_GOOD);
}

long jetwattd_unsure(struct jetwattd_run *r)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	double top = best ? FASTER * best->time_ms : INFINITY, watts;
	const struct jetwatt_learn *l = &r->learn;
	long at, found = -1;

	pthread_mutex_lock(&r->d->lock);
	watts = jetwattd_limit(r->d);
	pthread_mutex_unlock(&r->d->lock);
	for (size_t i = 0; i < l->nr_rows; i++) {
		const struct jetwatt_row *row = &l->row[i];

		if (row->power_w > watts || row->power_w * (1 + READ * row->power_sd) <= watts ||
		    row->time_ms >= top || row->time_sd >= JETWATTD_NO_TIME || well_known(l, row))
			continue;
		at = offered(r, &row->mode);
		if (at < 0 || r->late[at])
			continue;
		found = at;
		top = row->time_ms;
	}
	return found;
}

const struct jetwatt_row *jetwattd_best(struct jetwattd_run *r)
{
	const struct jetwatt_row *best, *safe;
	struct jetwattd *d = r->d;

	pthread_mutex_lock(&d->lock);
	best = jetwattd_within(r, jetwattd_limit(d), NULL);
	safe = jetwattd_within(r, JETWATTD_SAFE * jetwattd_limit(d), NULL);
	d->cap.have_safe = safe != NULL;
	if (safe) {
		d->cap.safe = safe->mode;
		d->cap.safe_w = safe->power_w;
	}
	pthread_mutex_unlock(&d->lock);
	return best;
}

/* A guess at the time of a mode that was left before it had made a minibatch. */
static double time_of(struct jetwattd_run *r, const struct jetwatt_mode *mode)
{
	struct jetwatt_learn *l = &r->learn;
	struct jetwatt_prediction p;
	double sum = 0;

	if (l->nr_rows >= 3 && !jetwatt_learn_fit(l) &&
	    !jetwatt_fitted_predict(l->model, mode, NULL, 1, &p))
		return p.time_ms;
	for (size_t i = 0; i < l->nr_rows; i++)
		sum += l->row[i].time_ms;
	return l->nr_rows ? sum / l->nr_rows : TIME_MS;
}

void jetwattd_forbid(struct jetwattd_run *r, const struct jetwattd_reading *got)
{
	struct jetwatt_row row = got->m.row;
	struct jetwatt_learn *l = &r->learn;
	char name[96] = "";

	if (r->d->verbose && !jetwatt_board_mode_format(&row.mode, name, sizeof(name)))
		jetwatt_error_note("%s: over, %.2f W +- %.1f %%", name, got->over_w, 100 * got->over_sd);
	row.time_ms = time_of(r, &row.mode);
	row.time_sd = JETWATTD_NO_TIME;
	row.power_w = got->over_w;
	row.power_sd = got->over_sd;
	jetwatt_learn_add(l, &row);
	for (size_t i = 0; i < l->nr_modes; i++)
		if (jetwattd_reaches(&l->mode[i], &row.mode))
			r->out[i] = JETWATTD_OUT;
}
