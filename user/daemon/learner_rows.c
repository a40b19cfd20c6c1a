// SPDX-License-Identifier: GPL-2.0-only
/* What follows from what was measured and refused for the choice of a mode. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <string.h>

/* Time of a minibatch where nothing at all is known. */
#define TIME_MS		100
/* A reading has to stay below the limit with this number of its standard errors: of many near the
 * limit the one that is chosen reads too low. */
#define READ		2
/* Of a mode that may be within but for its reading's error, this is worth another reading. */
#define FASTER		0.99
/* For some this number of readings is not enough. */
#define READINGS	2

size_t jetwattd_whole_rows(const struct jetwattd_learner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->known.nr_rows; i++)
		n += jetwattd_whole(&l->known.row[i]);
	return n;
}

/* Index of a candidate, -1: it is none. */
static long place(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwatt_mode_same(&l->known.mode[i], mode))
			return (long)i;
	return -1;
}

/* The same of one that can be had. */
static long offered(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	long at = place(l, mode);

	return at >= 0 && l->barred[at] < JETWATTD_BARRED ? at : -1;
}

/* There are a thousand times as many modes as rows: those are looked up last. */
const struct jetwatt_row *jetwattd_learner_within(const struct jetwattd_learner *l, double watts,
						  const struct jetwatt_mode *but)
{
	const struct jetwatt_learn *k = &l->known;
	const struct jetwatt_row *best = NULL;
	int late = 0;
	long at;

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];

		if (row->power_w * (1 + READ * row->power_sd) > watts ||
		    (best && !late && row->time_ms >= best->time_ms) ||
		    (but && jetwatt_mode_same(but, &row->mode)) ||
		    jetwatt_learn_row(k, &row->mode) != row)
			continue;
		at = offered(l, &row->mode);
		/* One in which the server is too late only where it is so in all. */
		if (at < 0 || (best && l->late[at] > late) ||
		    (best && l->late[at] == late && row->time_ms >= best->time_ms))
			continue;
		best = row;
		late = l->late[at];
	}
	return best;
}

const struct jetwatt_row *jetwattd_fastest(const struct jetwattd_learner *l)
{
	return jetwattd_learner_within(l, l->terms.limit_w, NULL);
}

/* Is it known as well as it can be, or for what that takes? */
static int well_known(const struct jetwatt_learn *k, const struct jetwatt_row *row)
{
	int n = 0;

	for (size_t i = 0; i < k->nr_rows; i++)
		n += jetwatt_mode_same(&k->row[i].mode, &row->mode);
	return n > READINGS || (n > 1 && row->power_sd <= JETWATT_STEP_GOOD);
}

long jetwattd_unsure(const struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	double top = best ? FASTER * best->time_ms : INFINITY, watts = l->terms.limit_w;
	const struct jetwatt_learn *k = &l->known;
	long at, found = -1;

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];

		if (row->power_w > watts || row->power_w * (1 + READ * row->power_sd) <= watts ||
		    row->time_ms >= top || !jetwattd_whole(row) || well_known(k, row))
			continue;
		at = offered(l, &row->mode);
		if (at < 0 || l->late[at])
			continue;
		found = at;
		top = row->time_ms;
	}
	return found;
}

/* A guess at the time of a mode that was left before it had made a minibatch. */
static double time_of(struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	struct jetwatt_learn *k = &l->known;
	struct jetwatt_prediction p;
	double sum = 0;

	if (k->nr_rows >= 3 && !jetwatt_learn_fit(k) &&
	    !jetwatt_fitted_predict(k->model, mode, NULL, 1, &p))
		return p.time_ms;
	for (size_t i = 0; i < k->nr_rows; i++)
		sum += k->row[i].time_ms;
	return k->nr_rows ? sum / k->nr_rows : TIME_MS;
}

void jetwattd_learner_over(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			   double over_w, double over_sd)
{
	struct jetwatt_row row = { .mode = *mode, .time_sd = JETWATTD_NO_TIME, .power_w = over_w,
				   .power_sd = over_sd };
	long at = place(l, mode);

	l->again_s = 0;
	if (!(over_w > 0)) {
		if (at >= 0)
			l->barred[at]++;
		return;
	}
	row.time_ms = time_of(l, mode);
	jetwatt_learn_add(&l->known, &row);
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwattd_reaches(&l->known.mode[i], mode))
			l->barred[i] = JETWATTD_BARRED;
}

void jetwattd_learner_refused(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      enum jetwattd_outcome why)
{
	long at = place(l, mode);

	if (at < 0)
		return;
	if (why == JETWATTD_HOT)
		l->barred[at]++;
	else
		l->barred[at] = JETWATTD_BARRED;
}

int jetwattd_learner_too_slow(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      double hz)
{
	int fresh = 0;

	l->late_hz = hz;
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwattd_reaches(mode, &l->known.mode[i])) {
			fresh |= !l->late[i];
			l->late[i] = 1;
		}
	return fresh;
}

void jetwattd_learner_in_time(struct jetwattd_learner *l)
{
	memset(l->late, 0, l->known.nr_modes);
	l->late_hz = 0;
}
