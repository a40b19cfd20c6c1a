// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drift detection. A job may get other data or another minibatch size at any time, also while it is
 * being learned. Rows from before and after such a change describe two different jobs, and a search
 * over all of them may choose a wrong mode. Detection takes further readings, which the learner
 * requests from the loop one by one; struct jetwattd_drift_check holds the progress.
 */
#include "daemon/learner_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A time is suspicious if the logarithm of its ratio to the predicted time exceeds both this value and
 * this number of standard errors, or if a mode that is at least as high in all knobs is slower by as
 * much. */
#define FAR		0.2
#define FAR_SIGMA	2.5
/* Two minibatch times in one mode show a drift only if the logarithm of their ratio exceeds this
 * value (of a server log(JETWATTD_CONTEXTS)), which scatter alone does not reach, and JETWATT_DRIFT_SIGMA
 * standard errors. */
#define APART		0.1
/* Maximum cost of the first reading of a regular check, as a fraction of jetwattd_share_left(). */
#define PART		0.5
/* Minimum number of modes from before a drift that serve as a prior for the job after it. */
#define LIKE		6

/* Return: 1 if a later complete one of the first @rows rows has the same mode as row @i. */
static int is_read_again(const struct jetwatt_row *row, size_t i, size_t rows)
{
	for (size_t k = i + 1; k < rows; k++)
		if (jetwatt_row_has_time(&row[k]) && jetwatt_mode_same(&row[k].mode, &row[i].mode))
			return 1;
	return 0;
}

/* Make the first @rows rows a prior, as if they came from another device. Time and power of these
 * rows are scaled by the change of time and power in the mode that was read before and after the
 * drift, because other data or another minibatch size change all modes by about the same factors.
 * If the factors differ from mode to mode, new readings contradict the prior, and the prior is not
 * used. */
static void keep_as_prior(struct jetwattd_learner *l, size_t rows, const struct jetwatt_row *is,
			  const struct jetwatt_row *was)
{
	struct jetwatt_tuner *k = &l->known;
	struct jetwatt_row *row = malloc((rows + 1) * sizeof(*row));
	size_t n = 0;

	for (size_t i = 0; row && i < rows; i++) {
		if (!jetwatt_row_has_time(&k->row[i]) || is_read_again(k->row, i, rows))
			continue;
		row[n] = k->row[i];
		row[n].time_ms *= is->time_ms / was->time_ms;
		row[n++].power_w *= is->power_w / was->power_w;
	}
	/* With too few rows the job is learned without a prior. */
	jetwatt_tuner_forget_prior(k);
	if (n >= LIKE)
		jetwatt_estimator_add_cross_device(&k->by, row, n, JETWATT_TUNER_SEED);
	free(row);
}

/* Drop the first @rows rows, which precede the drift, and make them a prior. @is: new reading of
 * the mode of row @was. */
static void drop_rows(struct jetwattd_learner *l, size_t rows, const struct jetwatt_row *is,
		      const struct jetwatt_row *was)
{
	struct jetwatt_tuner *k = &l->known;

	jetwattd_learner_drifted(l, is, was);
	keep_as_prior(l, rows, is, was);
	jetwattd_rows_drop(l, rows);
	memset(l->exclusions, 0, k->nr_modes);
	memset(l->above, 0, k->nr_modes);
	l->spent->nr_untimed = 0;
}

void jetwattd_learner_relearn(struct jetwattd_learner *l, const struct jetwattd_reading *is,
			     const struct jetwatt_row *was)
{
	drop_rows(l, l->known.nr_rows, &is->m.row, was);
	/* Stored, the reading shows later jobs of the workload which of their rows precede the drift. */
	if (!jetwattd_row_add(l, &is->m.row, &is->steps))
		jetwattd_news_add(l, &(struct jetwattd_news){ .what = JETWATTD_STORE, .reading = *is });
}

void jetwattd_drift_drop_stored(struct jetwattd_learner *l)
{
	size_t earlier, at = jetwatt_rows_find_drift(l->known.row, l->known.nr_rows, &earlier);
	const struct jetwatt_row *row;

	if (!at)
		return;
	jetwattd_rows_drop(l, earlier);
	at -= earlier;
	row = l->known.row;
	keep_as_prior(l, at, &row[at], &row[jetwatt_rows_last_like(row, 0, at, &row[at])]);
	jetwattd_rows_drop(l, at);
}

/* Return: 1 if the times of two rows contradict their modes: the higher mode is clearly slower. */
static int contradicts(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	double by = log(is->time_ms / was->time_ms);

	if (!jetwatt_row_has_time(was) ||
	    fabs(by) < fmax(FAR, FAR_SIGMA * hypot(is->time_sd, was->time_sd)))
		return 0;
	return by > 0 ? jetwattd_dominates(&is->mode, &was->mode) :
			jetwattd_dominates(&was->mode, &is->mode);
}

/* Return: 1 if the time of a new reading deviates from its prediction (@predicted, may be NULL)
 * or contradicts another row. */
static int is_suspicious(const struct jetwattd_learner *l, const struct jetwatt_row *is,
			 const struct jetwatt_prediction *predicted)
{
	if (predicted && fabs(log(is->time_ms / predicted->time_ms)) >
			fmax(FAR, FAR_SIGMA * hypot(is->time_sd, predicted->time_sd)))
		return 1;
	for (size_t i = 0; i < l->known.nr_rows; i++)
		if (contradicts(is, &l->known.row[i]))
			return 1;
	return 0;
}

/* Return: 1 if the two times of a mode differ by more than scatter and their errors explain. @was_sd:
 * relative standard error of @was_ms. */
static int times_differ(const struct jetwattd_learner *l, const struct jetwatt_row *is, double was_ms, double was_sd)
{
	double apart = l->terms.reading_s > 0 ? log(JETWATTD_CONTEXTS) : APART;

	return fabs(log(is->time_ms / was_ms)) > fmax(apart, JETWATT_DRIFT_SIGMA * hypot(is->time_sd, was_sd));
}

/* Request from the loop a new reading of the mode of row @at. Return: 1. */
static int request_check(struct jetwattd_learner *l, int state, size_t at)
{
	l->check.state = state;
	l->check.mid = at;
	l->check.mode = l->known.row[at].mode;
	return 1;
}

/* Start a drift check. @at: the row that is measured again first. @tried: as in struct
 * jetwattd_drift_check. Return: 1. */
static int start_check(struct jetwattd_learner *l, size_t at, int tried)
{
	l->check = (struct jetwattd_drift_check){ .tried = tried, .old = at,
						  .was = l->known.row[at] };
	return request_check(l, JETWATTD_CHECK_OLD, at);
}

int jetwattd_drift_suspected(struct jetwattd_learner *l, const struct jetwattd_result *result)
{
	const struct jetwatt_tuner *k = &l->known;
	const struct jetwatt_row *is = jetwatt_tuner_row(k, &k->mode[l->trying]), *best;
	const struct jetwatt_prediction *predicted =
		l->predicted ? &k->prediction[l->trying] : NULL;

	if (!is)
		return 0;
	/* The mode can be measured again only while it is applied; if it drew too much power,
	 * the cap has left it. */
	if (result->jumped_ms > 0 && result->here) {
		l->check = (struct jetwattd_drift_check){ .tried = 1, .was = *is,
							  .before_ms = result->jumped_ms };
		return request_check(l, JETWATTD_CHECK_JUMP, (size_t)(is - l->known.row));
	}
	if (!(result->jumped_ms > 0) && !is_suspicious(l, is, predicted))
		return 0;
	best = jetwattd_learner_best_under(l, l->terms.limit_w, &is->mode);
	return best && start_check(l, (size_t)(best - l->known.row), 1);
}

/* Return: 1 if the row has a time, its mode is within the limit, and a further reading of the mode costs at
 * most PART of jetwattd_share_left() and lets the job lag behind a preset by no more than is permitted. */
static int can_check(const struct jetwattd_learner *l, const struct jetwatt_row *row)
{
	const struct jetwatt_row *best = jetwattd_best(l);
	double by = best ? best->time_ms / row->time_ms : 1;

	return jetwatt_row_has_time(row) && jetwattd_is_within(l, row) &&
	       jetwattd_reading_cost(l, row->time_ms, by) <= PART * jetwattd_share_left(l) &&
	       !jetwattd_lag_when(l, jetwattd_best_preset(l), jetwattd_reading_cost(l, row->time_ms, 0),
				  jetwattd_row_objective(l, row));
}

int jetwattd_drift_check_first(struct jetwattd_learner *l)
{
	size_t at = 0, n = l->known.nr_rows;

	while (at < n && !can_check(l, &l->known.row[at]))
		at++;
	/* Do not check times that include time slices of a server: they vary too much. */
	return at < n && !l->terms.uneven && start_check(l, at, 0);
}

/* The last minibatch of a reading deviated from the minibatches before it, and the mode was
 * measured again. Decide whether the cause was a pause of the job or a drift. Return: 1: a
 * drift. */
static int check_jump(struct jetwattd_learner *l, const struct jetwattd_result *result)
{
	const struct jetwatt_row *is = &result->reading.m.row;
	struct jetwattd_drift_check *c = &l->check;
	struct jetwatt_row suspect = *is;

	suspect.time_ms = c->was.time_ms;
	/* Assume no drift if there is no new reading, or if it agrees with the earlier minibatches
	 * or with the earlier reading. */
	if (result->outcome != JETWATTD_MEASURED || !times_differ(l, is, c->before_ms, 0) ||
	    !jetwatt_rows_differ(is, &suspect))
		return 0;
	/* The newest row mixes minibatches from before and after the drift: replace it by the
	 * new reading. */
	l->known.nr_rows--;
	c->was.time_ms = c->before_ms;
	c->was.power_w = is->power_w;
	drop_rows(l, l->known.nr_rows, is, &c->was);
	return !jetwattd_learner_reading(l, &result->reading);
}

/* Bisect the rows between @c->old, which precedes the drift, and @c->now, which follows it.
 * Return: 1 if a further reading was requested; 0 if no row is left between these two rows. */
static int bisect(struct jetwattd_learner *l)
{
	struct jetwattd_drift_check *c = &l->check;

	while (c->now - c->old > 1) {
		size_t half = c->old + (c->now - c->old) / 2, mid = half;

		while (mid < c->now &&
		       !(jetwatt_row_has_time(&l->known.row[mid]) && jetwattd_is_within(l, &l->known.row[mid])))
			mid++;
		if (mid < c->now)
			return request_check(l, JETWATTD_CHECK_PART, mid);
		c->now = half;
	}
	return 0;
}

/* Bisection has ended: drop the rows up to @c->old and add @c->first, the first reading of the
 * check. Return: 1 on success; 0: an error, which has been reported. */
static int finish_bisection(struct jetwattd_learner *l)
{
	struct jetwattd_drift_check *c = &l->check;

	drop_rows(l, c->old + 1, &c->first.m.row, &c->was);
	return !jetwattd_learner_reading(l, &c->first);
}

/* Compare the reading that a check requested with the time in the row. Return: 1 if the row
 * precedes a drift; 0 if it does not; -1 if that is unknown, because the mode was not measured. */
static int precedes_drift(const struct jetwattd_learner *l, const struct jetwattd_result *result,
			  const struct jetwatt_row *was)
{
	return result->outcome == JETWATTD_MEASURED ?
		       times_differ(l, &result->reading.m.row, was->time_ms, was->time_sd) : -1;
}

/* Continue a check after the mode of its first row was measured again. Return: 1 if a further
 * reading was requested, else 0. */
static int checked_old(struct jetwattd_learner *l, const struct jetwattd_result *result,
		       int *turned)
{
	struct jetwattd_drift_check *c = &l->check;

	if (precedes_drift(l, result, &c->was) <= 0)
		return 0;
	c->first = result->reading;
	/* A suspicious row may mix minibatches from before and after the drift: drop it. */
	c->now = c->tried ? --l->known.nr_rows : l->known.nr_rows;
	if (bisect(l))
		return 1;
	*turned = finish_bisection(l);
	return 0;
}

/* Continue a check after the mode of a row of the bisection was measured again. The new reading
 * describes the job after the drift, so it becomes a row too. Return: 1 if a further reading was
 * requested, else 0. */
static int checked_part(struct jetwattd_learner *l, const struct jetwattd_result *result,
			int *turned)
{
	struct jetwattd_drift_check *c = &l->check;
	int is_other = precedes_drift(l, result, &l->known.row[c->mid]);

	if (is_other >= 0) {
		if (jetwattd_learner_reading(l, &result->reading))
			return 0;
		if (is_other)
			c->old = c->mid;
		else
			c->now = c->mid;
		if (bisect(l))
			return 1;
	}
	*turned = finish_bisection(l);
	return 0;
}

int jetwattd_drift_evaluate(struct jetwattd_learner *l, const struct jetwattd_result *result, int *turned)
{
	int more = 0;

	*turned = 0;
	if (l->check.state == JETWATTD_CHECK_JUMP)
		*turned = check_jump(l, result);
	else if (l->check.state == JETWATTD_CHECK_OLD)
		more = checked_old(l, result, turned);
	else
		more = checked_part(l, result, turned);
	if (!more)
		l->check.state = JETWATTD_NO_CHECK;
	return more;
}
