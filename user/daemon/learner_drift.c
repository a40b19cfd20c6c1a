// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the job still do what was read before? It may get other data or another minibatch
 * size at any time, also while it is learned: readings of before and of after are of two
 * jobs then, and a search that takes them for one finds nothing. To tell takes further readings,
 * which the loop is asked for one by one: struct jetwattd_drift_check is where that stands.
 */
#include "daemon/learner_inside.h"

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
/* Fewer modes from before a change do not predict the job after it. */
#define LIKE		6

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

/* Is a mode read again later, among the first @rows? */
static int again(const struct jetwatt_row *row, size_t i, size_t rows)
{
	for (size_t k = i + 1; k < rows; k++)
		if (jetwattd_whole(&row[k]) && jetwatt_mode_same(&row[k].mode, &row[i].mode))
			return 1;
	return 0;
}

/* Another minibatch size or other data change all modes alike, or nearly: the first @rows of what
 * was known, by the factors of the one mode that is known of both, are what others know of a
 * workload. If that is wrong, readings will contradict it. */
static void remember(struct jetwattd_learner *l, size_t rows, const struct jetwatt_row *is,
		     const struct jetwatt_row *was)
{
	struct jetwatt_learn *k = &l->known;
	struct jetwatt_row *row = malloc((rows + 1) * sizeof(*row));
	size_t n = 0;

	for (size_t i = 0; row && i < rows; i++) {
		if (!jetwattd_whole(&k->row[i]) || again(k->row, i, rows))
			continue;
		row[n] = k->row[i];
		row[n].time_ms *= is->time_ms / was->time_ms;
		row[n++].power_w *= is->power_w / was->power_w;
	}
	/* Of none it is learned as any other job is. */
	jetwatt_estimator_forget(&k->by);
	if (n >= LIKE)
		jetwatt_estimator_twin(&k->by, row, n, JETWATT_LEARN_SEED);
	free(row);
}

/* The first @rows are of another job: @is was read where @was is one of them. */
static void forget(struct jetwattd_learner *l, size_t rows, const struct jetwatt_row *is,
		   const struct jetwatt_row *was)
{
	struct jetwatt_learn *k = &l->known;

	jetwattd_learner_drifted(l, is, was);
	remember(l, rows, is, was);
	jetwattd_allowance_forget(l);
	k->nr_rows -= rows;
	memmove(k->row, k->row + rows, k->nr_rows * sizeof(*k->row));
	memset(l->barred, 0, k->nr_modes);
}

void jetwattd_learner_forget(struct jetwattd_learner *l, const struct jetwatt_row *is,
			     const struct jetwatt_row *was)
{
	forget(l, l->known.nr_rows, is, was);
	jetwatt_learn_add(&l->known, is);
}

/* A minibatch takes longer in a higher mode than in a lower one, or shorter in a lower. */
static int absurd(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	double by = log(is->time_ms / was->time_ms);

	if (!jetwattd_whole(was) ||
	    fabs(by) < fmax(FAR, FAR_SIGMA * hypot(is->time_sd, was->time_sd)))
		return 0;
	return by > 0 ? jetwattd_reaches(&is->mode, &was->mode) :
			jetwattd_reaches(&was->mode, &is->mode);
}

static int suspect(const struct jetwattd_learner *l, const struct jetwatt_row *is,
		   const struct jetwatt_prediction *foretold)
{
	if (foretold && fabs(log(is->time_ms / foretold->time_ms)) >
			fmax(FAR, FAR_SIGMA * hypot(is->time_sd, foretold->time_sd)))
		return 1;
	for (size_t i = 0; i < l->known.nr_rows; i++)
		if (absurd(is, &l->known.row[i]))
			return 1;
	return 0;
}

static int apart(const struct jetwatt_row *is, double was_ms)
{
	return fabs(log(is->time_ms / was_ms)) > APART;
}

/* Ask for a reading of row @at: was it read of another job? */
static int ask(struct jetwattd_learner *l, int state, size_t at)
{
	l->check.state = state;
	l->check.mid = at;
	l->check.mode = l->known.row[at].mode;
	return 1;
}

/* Row @at, which is to be the first of those that are of the other job. */
static int ask_old(struct jetwattd_learner *l, size_t at, int tried)
{
	l->check = (struct jetwattd_drift_check){ .tried = tried, .old = at,
						  .was = l->known.row[at] };
	return ask(l, JETWATTD_CHECK_OLD, at);
}

int jetwattd_suspect(struct jetwattd_learner *l, const struct jetwattd_result *result)
{
	const struct jetwatt_learn *k = &l->known;
	const struct jetwatt_row *is = jetwatt_learn_row(k, &k->mode[l->trying]), *best;
	const struct jetwatt_prediction *foretold = l->foretold ? &k->prediction[l->trying] : NULL;

	if (!is)
		return 0;
	/* What draws too much has been left by now. */
	if (result->jumped_ms > 0 && result->here) {
		l->check = (struct jetwattd_drift_check){ .tried = 1, .was = *is,
							  .before_ms = result->jumped_ms };
		return ask(l, JETWATTD_CHECK_JUMP, (size_t)(is - l->known.row));
	}
	if (!(result->jumped_ms > 0) && !suspect(l, is, foretold))
		return 0;
	best = jetwattd_learner_within(l, l->terms.limit_w, &is->mode);
	return best && ask_old(l, (size_t)(best - l->known.row), 1);
}

int jetwattd_suspect_first(struct jetwattd_learner *l)
{
	size_t at = 0, n = l->known.nr_rows;

	while (at < n && !jetwattd_whole(&l->known.row[at]))
		at++;
	/* With a server's turns in them, times are uneven. */
	return at < n && !l->terms.uneven && ask_old(l, at, 0);
}

/* In the mode that was just read the last minibatch was another one than those before: a pause
 * of the job's, or have they become others? */
static int jumped(struct jetwattd_learner *l, const struct jetwattd_result *result)
{
	const struct jetwatt_row *is = &result->reading.m.row;
	struct jetwattd_drift_check *c = &l->check;

	/* Or it was only one of those before that was odd: then the reading is as it is now. */
	if (result->outcome != JETWATTD_MEASURED || !apart(is, c->before_ms) ||
	    !differs(is->time_ms, is->time_sd, c->was.time_ms, is->time_sd))
		return 0;
	/* It is of both, and so is its power. */
	l->known.nr_rows--;
	c->was.time_ms = c->before_ms;
	c->was.power_w = is->power_w;
	forget(l, l->known.nr_rows, is, &c->was);
	return !jetwattd_learner_reading(l, &result->reading);
}

/* Row @c->old is of another job, and from @c->now on they are of the job as it is: which of those
 * between? By halves. Return: 1: that takes another reading. */
static int halve(struct jetwattd_learner *l)
{
	struct jetwattd_drift_check *c = &l->check;

	while (c->now - c->old > 1) {
		size_t half = c->old + (c->now - c->old) / 2, mid = half;

		while (mid < c->now && !jetwattd_whole(&l->known.row[mid]))
			mid++;
		if (mid < c->now)
			return ask(l, JETWATTD_CHECK_PART, mid);
		c->now = half;
	}
	return 0;
}

/* They are told apart, as far as they can be. Return: 1: the job is another one. */
static int part(struct jetwattd_learner *l)
{
	struct jetwattd_drift_check *c = &l->check;

	forget(l, c->old + 1, &c->first.m.row, &c->was);
	return !jetwattd_learner_reading(l, &c->first);
}

/* Is the row that was asked for of another job? Return: 1: yes; 0: no; -1: that cannot be told. */
static int other(const struct jetwattd_result *result, double was_ms)
{
	return result->outcome == JETWATTD_MEASURED ? apart(&result->reading.m.row, was_ms) : -1;
}

/* The first row of a check was read again. Return: 1: which others are like it takes more
 * readings. */
static int checked_old(struct jetwattd_learner *l, const struct jetwattd_result *result,
		       int *turned)
{
	struct jetwattd_drift_check *c = &l->check;

	if (other(result, c->was.time_ms) <= 0)
		return 0;
	c->first = result->reading;
	/* The last one may be of both. */
	c->now = c->tried ? --l->known.nr_rows : l->known.nr_rows;
	if (halve(l))
		return 1;
	*turned = part(l);
	return 0;
}

/* One of those between was. What is read again on the way is of the job as it is, too. */
static int checked_part(struct jetwattd_learner *l, const struct jetwattd_result *result,
			int *turned)
{
	struct jetwattd_drift_check *c = &l->check;
	int is_other = other(result, l->known.row[c->mid].time_ms);

	if (is_other >= 0) {
		if (jetwattd_learner_reading(l, &result->reading))
			return 0;
		if (is_other)
			c->old = c->mid;
		else
			c->now = c->mid;
		if (halve(l))
			return 1;
	}
	*turned = part(l);
	return 0;
}

int jetwattd_checked(struct jetwattd_learner *l, const struct jetwattd_result *result, int *turned)
{
	int more = 0;

	*turned = 0;
	if (l->check.state == JETWATTD_CHECK_JUMP)
		*turned = jumped(l, result);
	else if (l->check.state == JETWATTD_CHECK_OLD)
		more = checked_old(l, result, turned);
	else
		more = checked_part(l, result, turned);
	if (!more)
		l->check.state = JETWATTD_NO_CHECK;
	return more;
}
