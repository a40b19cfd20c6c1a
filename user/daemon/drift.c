// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the job still do what was read before? It may get other data or another minibatch
 * size at any time, also while it is learned: readings of before and of after are of two
 * jobs then, and a search that takes them for one finds nothing.
 */
#include "daemon/loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond so many standard errors, and so much in itself, a reading is another one. */
#define DRIFT_SIGMA	4.0
#define DRIFT_LEAST	0.04
/* A time so far from what the model says, and from what it is sure of, may be another job's, and so
 * may one that is so much longer in a higher mode than in a lower one: worth another look. */
#define FAR		0.2
#define FAR_SIGMA	2.5
/* By so much two readings of a mode are not apart but for a change. */
#define APART		0.1
/* From so many modes a job's other self can be told. */
#define LIKE		10

static int differs(double is, double is_sd, double was, double was_sd)
{
	double sd = sqrt(is_sd * is_sd + was_sd * was_sd);

	return fabs(log(is / was)) > fmax(DRIFT_SIGMA * sd, DRIFT_LEAST);
}

int jetwattd_differs(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	return differs(is->time_ms, is->time_sd, was->time_ms, was->time_sd) ||
	       differs(is->power_w, is->power_sd, was->power_w, was->power_sd);
}

int jetwattd_drifted(struct jetwattd_run *r, const struct jetwatt_row *is,
		     const struct jetwatt_row *was)
{
	return jetwattd_differs(is, was) && !jetwattd_throttled(r, &was->mode);
}

static int whole(const struct jetwatt_row *row)
{
	return row->time_sd < JETWATTD_NO_TIME;
}

/* Is a mode read again later, among the first @rows? */
static int again(const struct jetwatt_row *row, size_t i, size_t rows)
{
	for (size_t k = i + 1; k < rows; k++)
		if (whole(&row[k]) && jetwatt_mode_same(&row[k].mode, &row[i].mode))
			return 1;
	return 0;
}

/* Another minibatch size or other data change all modes alike, or nearly: the first @rows of what
 * was known, by the factors of the one mode that is known of both, are what others know of a
 * workload. If that is wrong, readings will contradict it. */
static void remember(struct jetwattd_run *r, size_t rows, const struct jetwatt_row *is,
		     const struct jetwatt_row *was)
{
	struct jetwatt_learn *l = &r->learn;
	struct jetwatt_row *row = malloc((rows + 1) * sizeof(*row));
	size_t n = 0;

	for (size_t i = 0; row && i < rows; i++) {
		if (!whole(&l->row[i]) || again(l->row, i, rows))
			continue;
		row[n] = l->row[i];
		row[n].time_ms *= is->time_ms / was->time_ms;
		row[n++].power_w *= is->power_w / was->power_w;
	}
	/* Of none it is learned as any other job is. */
	jetwatt_estimator_forget(&l->by);
	if (n >= LIKE)
		jetwatt_estimator_twin(&l->by, row, n, JETWATT_LEARN_SEED);
	free(row);
}

/* The first @rows are of another job: @is was read where @was is one of them. */
static void forget(struct jetwattd_run *r, size_t rows, const struct jetwatt_row *is,
		   const struct jetwatt_row *was)
{
	struct jetwatt_learn *l = &r->learn;

	pthread_mutex_lock(&r->d->lock);
	r->d->count.drifts++;
	pthread_mutex_unlock(&r->d->lock);
	jetwattd_say(r->d, "%.2f ms and %.2f W where %.2f and %.2f were expected: learning anew",
		     is->time_ms, is->power_w, was->time_ms, was->power_w);
	remember(r, rows, is, was);
	jetwattd_allowance_again(r);
	l->nr_rows -= rows;
	memmove(l->row, l->row + rows, l->nr_rows * sizeof(*l->row));
	memset(r->out, 0, l->nr_modes);
}

void jetwattd_anew(struct jetwattd_run *r, const struct jetwatt_row *is,
		   const struct jetwatt_row *was)
{
	forget(r, r->learn.nr_rows, is, was);
	jetwatt_learn_add(&r->learn, is);
}

/* A minibatch takes longer in a higher mode than in a lower one, or shorter in a lower. */
static int absurd(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	double by = log(is->time_ms / was->time_ms);

	if (!whole(was) || fabs(by) < fmax(FAR, FAR_SIGMA * hypot(is->time_sd, was->time_sd)))
		return 0;
	return by > 0 ? jetwattd_reaches(&is->mode, &was->mode) : jetwattd_reaches(&was->mode, &is->mode);
}

static int suspect(const struct jetwattd_run *r, const struct jetwatt_row *is,
		   const struct jetwatt_prediction *foretold)
{
	if (foretold && fabs(log(is->time_ms / foretold->time_ms)) >
			fmax(FAR, FAR_SIGMA * hypot(is->time_sd, foretold->time_sd)))
		return 1;
	for (size_t i = 0; i < r->learn.nr_rows; i++)
		if (absurd(is, &r->learn.row[i]))
			return 1;
	return 0;
}

static int apart(const struct jetwatt_row *is, double was_ms)
{
	return fabs(log(is->time_ms / was_ms)) > APART;
}

/* Was row @i read of another job? @got: it is read again. Return: 1: yes; 0: no; -1: that cannot
 * be told. */
static int other(struct jetwattd_run *r, size_t i, struct jetwattd_reading *got)
{
	struct jetwatt_row was = r->learn.row[i];

	if (jetwattd_look_again(r, &was.mode, &jetwattd_quick, got) != JETWATTD_MEASURED ||
	    jetwattd_throttled(r, &was.mode))
		return -1;
	return apart(&got->m.row, was.time_ms);
}

/* Row @old was, as @first has shown, and from @now on they are of the job as it is: which of those
 * between? By halves; what is read again on the way is of it, too. Return: 1: they are told apart. */
static int part(struct jetwattd_run *r, size_t old, size_t now, const struct jetwattd_reading *first)
{
	struct jetwatt_learn *l = &r->learn;
	struct jetwatt_row was = l->row[old];
	struct jetwattd_reading got;
	size_t mid;
	int is_other;

	while (now - old > 1) {
		for (mid = old + (now - old) / 2; mid < now && !whole(&l->row[mid]); mid++)
			;
		if (mid == now) {
			now = old + (now - old) / 2;
			continue;
		}
		is_other = other(r, mid, &got);
		if (is_other < 0)
			break;
		if (jetwattd_keep(r, &got))
			return 0;
		if (is_other)
			old = mid;
		else
			now = mid;
	}
	forget(r, old + 1, &first->m.row, &was);
	return !jetwattd_keep(r, first);
}

/* In the mode that was just read the last minibatch was another one than those before: a pause
 * of the job's, or have they become others? */
static int jumped(struct jetwattd_run *r, const struct jetwatt_row *is, double before_ms)
{
	struct jetwatt_row was = *is;
	struct jetwattd_reading got;

	/* Or it was only one of those before that was odd: then the reading is as it is now. */
	if (jetwattd_look(r, &was.mode, &jetwattd_quick, &got) != JETWATTD_MEASURED ||
	    !apart(&got.m.row, before_ms) ||
	    !differs(got.m.row.time_ms, got.m.row.time_sd, was.time_ms, got.m.row.time_sd))
		return 0;
	/* It is of both, and so is its power. */
	r->learn.nr_rows--;
	was.time_ms = before_ms;
	was.power_w = got.m.row.power_w;
	forget(r, r->learn.nr_rows, &got.m.row, &was);
	return !jetwattd_keep(r, &got);
}

int jetwattd_another(struct jetwattd_run *r, size_t i, const struct jetwatt_prediction *foretold)
{
	const struct jetwatt_row *is = jetwatt_learn_row(&r->learn, &r->learn.mode[i]), *best;
	double before_ms = jetwattd_minibatch_jumped(r->minibatch);
	struct jetwattd_reading got;
	size_t at;
	int here;

	if (!is)
		return 0;
	/* What draws too much has been left by now. */
	pthread_mutex_lock(&r->d->lock);
	here = jetwattd_in(&r->d->act, &is->mode);
	pthread_mutex_unlock(&r->d->lock);
	if (before_ms > 0 && here)
		return jumped(r, is, before_ms);
	if (!(before_ms > 0) && !suspect(r, is, foretold))
		return 0;
	pthread_mutex_lock(&r->d->lock);
	best = jetwattd_within(r, jetwattd_limit(r->d), &is->mode);
	pthread_mutex_unlock(&r->d->lock);
	if (!best)
		return 0;
	at = (size_t)(best - r->learn.row);
	if (other(r, at, &got) <= 0)
		return 0;
	/* The last one may be of both. */
	return part(r, at, --r->learn.nr_rows, &got);
}

int jetwattd_was_another(struct jetwattd_run *r)
{
	struct jetwattd_reading got;
	size_t at = 0, n = r->learn.nr_rows;

	while (at < n && !whole(&r->learn.row[at]))
		at++;
	/* With a server's turns in them, times are uneven. */
	return at < n && !r->d->turns.on && other(r, at, &got) > 0 && part(r, at, n, &got);
}
