// SPDX-License-Identifier: GPL-2.0-only
/* Rows and refusals: finds which mode is best, which modes are excluded, and which are near the
 * limit. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <string.h>

/* Time of a minibatch that is assumed while there is no row, in ms. */
#define TIME_MS		100
/* Margin between a reading's power and the limit, in standard errors: the best of many noisy
 * readings near the limit tends to be one that reads too low. */
#define READ		2
/* A mode near the power limit is read again if its time is below this fraction of the best time. */
#define FASTER		0.99
/* Maximum number of further readings of a mode near the power limit. */
#define READINGS	2

size_t jetwattd_complete_rows(const struct jetwattd_learner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->known.nr_rows; i++)
		n += jetwattd_is_complete(&l->known.row[i]);
	return n;
}

/* Return the index of a mode among the candidates, -1 if the mode is not a candidate. */
static long mode_index(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwatt_mode_same(&l->known.mode[i], mode))
			return (long)i;
	return -1;
}

/* Return the index of a mode that is a candidate and not excluded, else -1. */
static long usable_index(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	long at = mode_index(l, mode);

	return at >= 0 && l->exclusions[at] < JETWATTD_EXCLUDED ? at : -1;
}

/* Check the cheap conditions first: usable_index() searches all candidates, about a thousand times
 * as many as there are rows. */
const struct jetwatt_row *jetwattd_learner_best_under(const struct jetwattd_learner *l, double watts,
						  const struct jetwatt_mode *but)
{
	const struct jetwatt_tuner *k = &l->known;
	const struct jetwatt_row *best = NULL;
	int late = 0;
	long at;

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];

		if (row->power_w * (1 + READ * row->power_sd) > watts ||
		    (best && !late && row->time_ms >= best->time_ms) ||
		    (but && jetwatt_mode_same(but, &row->mode)) ||
		    jetwatt_tuner_row(k, &row->mode) != row)
			continue;
		at = usable_index(l, &row->mode);
		/* A mode in which the server misses its deadline is chosen only if there is no
		 * other mode. */
		if (at < 0 || (best && l->misses_deadline[at] > late) ||
		    (best && l->misses_deadline[at] == late && row->time_ms >= best->time_ms))
			continue;
		best = row;
		late = l->misses_deadline[at];
	}
	return best;
}

const struct jetwatt_row *jetwattd_fastest(const struct jetwattd_learner *l)
{
	return jetwattd_learner_best_under(l, l->terms.limit_w, NULL);
}

/* Return: 1 if a further reading of the mode is not needed: its power is known well, or it has been
 * read more than READINGS times. */
static int well_known(const struct jetwatt_tuner *k, const struct jetwatt_row *row)
{
	int n = 0;

	for (size_t i = 0; i < k->nr_rows; i++)
		n += jetwatt_mode_same(&k->row[i].mode, &row->mode);
	return n > READINGS || (n > 1 && row->power_sd <= JETWATT_POWER_ERROR_DECISIVE);
}

long jetwattd_uncertain_best(const struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	double top = best ? FASTER * best->time_ms : INFINITY, watts = l->terms.limit_w;
	const struct jetwatt_tuner *k = &l->known;
	long at, found = -1;

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];

		if (row->power_w > watts || row->power_w * (1 + READ * row->power_sd) <= watts ||
		    row->time_ms >= top || !jetwattd_is_complete(row) || well_known(k, row))
			continue;
		at = usable_index(l, &row->mode);
		if (at < 0 || l->misses_deadline[at])
			continue;
		found = at;
		top = row->time_ms;
	}
	return found;
}

/* Estimate the time of a minibatch in a mode that the cap left before a minibatch ended, in ms. */
static double estimate_time(struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	struct jetwatt_tuner *k = &l->known;
	struct jetwatt_prediction p;
	double sum = 0;

	if (k->nr_rows >= 3 && !jetwatt_tuner_fit(k) &&
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
	long at = mode_index(l, mode);

	l->again_s = 0;
	if (!(over_w > 0)) {
		if (at >= 0)
			l->exclusions[at]++;
		return;
	}
	row.time_ms = estimate_time(l, mode);
	jetwatt_tuner_add(&l->known, &row);
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwattd_dominates(&l->known.mode[i], mode))
			l->exclusions[i] = JETWATTD_EXCLUDED;
}

void jetwattd_learner_refused(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      enum jetwattd_outcome why)
{
	long at = mode_index(l, mode);

	if (at < 0)
		return;
	if (why == JETWATTD_HOT)
		l->exclusions[at]++;
	else
		l->exclusions[at] = JETWATTD_EXCLUDED;
}

int jetwattd_learner_deadline_miss(struct jetwattd_learner *l, const struct jetwatt_mode *mode,
			      double hz)
{
	int fresh = 0;

	l->deadline_hz = hz;
	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (jetwattd_dominates(mode, &l->known.mode[i])) {
			fresh |= !l->misses_deadline[i];
			l->misses_deadline[i] = 1;
		}
	return fresh;
}

void jetwattd_learner_forget_misses(struct jetwattd_learner *l)
{
	memset(l->misses_deadline, 0, l->known.nr_modes);
	l->deadline_hz = 0;
}
