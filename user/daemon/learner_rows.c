// SPDX-License-Identifier: GPL-2.0-only
/* Rows and refusals: finds which mode is best, which modes are excluded, and which are near the
 * limit. */
#include "daemon/learner_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/improvement.h"

/* Time of a minibatch that is assumed while there is no row, in ms. */
#define TIME_MS		100
/* Margin between a mode's power and the limit, in standard errors, after one reading: the best of
 * many noisy readings near the limit tends to be one that reads too low. READ_AGAIN: after further
 * readings, which have no such tendency, because the mode was chosen before they were taken. */
#define READ		2
#define READ_AGAIN	1
/* Relative error of a reading's power that its samples do not show, because power varies slowly. */
#define SLOW_SD		0.002
/* A held mode's time is measured more exactly if its relative error is above EXACT_SD, and a reading lowers it to
 * less than this part. */
#define EXACT_SD	0.004
#define MORE_EXACT	0.7
/* Until a held mode has HELD_READINGS rows, its readings become rows if its power times NEAR is above the limit;
 * then, if the mean of its readings is closer to the budget than TIGHT standard deviations of the mean power over
 * one averaging window. If single readings decided, only those above the mean would count. */
#define HELD_READINGS	3
#define NEAR		1.02
#define TIGHT		1.5
/* Maximum number of readings of a mode near the power limit. */
#define READINGS	12
/* A mode near the power limit is not read again if it is within the limit with a lower probability. */
#define WITHIN		0.02

int jetwattd_row_add(struct jetwattd_learner *l, const struct jetwatt_row *row,
		     const struct jetwatt_step_costs *steps)
{
	struct jetwattd_steps *s = &l->steps;
	size_t n = l->known.nr_rows;
	int err;

	if (n >= s->max_costs) {
		struct jetwatt_step_costs *cost = reallocarray(s->cost, 2 * n + 1, sizeof(*cost));

		if (!cost)
			return jetwatt_tuner_no_memory();
		s->cost = cost;
		s->max_costs = 2 * n + 1;
	}
	err = jetwatt_tuner_add(&l->known, row);
	if (!err)
		s->cost[n] = steps ? *steps : (struct jetwatt_step_costs){ .span_ns = 0 };
	return err;
}

void jetwattd_rows_drop(struct jetwattd_learner *l, size_t rows)
{
	struct jetwatt_tuner *k = &l->known;

	k->nr_rows -= rows;
	memmove(k->row, k->row + rows, k->nr_rows * sizeof(*k->row));
	memmove(l->steps.cost, l->steps.cost + rows, k->nr_rows * sizeof(*l->steps.cost));
}

size_t jetwattd_complete_rows(const struct jetwattd_learner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->known.nr_rows; i++)
		n += jetwatt_row_has_time(&l->known.row[i]);
	return n;
}

/* Return the index of a mode among the candidates, -1 if the mode is not a candidate. */
static long mode_index(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	return jetwatt_mode_index_find(&l->index, l->known.mode, mode);
}

/* Return the index of a mode that is a candidate and not excluded, else -1. */
static long usable_index(const struct jetwattd_learner *l, const struct jetwatt_mode *mode)
{
	long at = mode_index(l, mode);

	return at >= 0 && l->exclusions[at] < JETWATTD_EXCLUDED ? at : -1;
}

/**
 * struct mode_power - power of a mode, from all its readings
 * @w: weighted mean of the readings' power, in W
 * @sd: relative standard error of @w
 * @n: number of readings
 */
struct mode_power {
	double w, sd;
	int n;
};

/* Combine the readings of a mode, which has at least one. If the readings differ by more than their
 * errors explain, the error of the mean grows accordingly (Birge, Physical Review 40, 1932). */
static struct mode_power mode_power(const struct jetwatt_tuner *k, const struct jetwatt_mode *mode)
{
	double weights = 0, sum = 0, squares = 0, scatter;
	struct mode_power p = { 0 };

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];
		double sd, weight;

		if (!jetwatt_mode_same(&row->mode, mode))
			continue;
		sd = row->power_w * hypot(row->power_sd, SLOW_SD);
		weight = 1 / (sd * sd);
		weights += weight;
		sum += weight * row->power_w;
		squares += weight * row->power_w * row->power_w;
		p.n++;
	}
	p.w = sum / weights;
	scatter = p.n > 1 ? (squares - sum * p.w) / (p.n - 1) : 1;
	p.sd = sqrt(fmax(scatter, 1) / weights) / p.w;
	return p;
}

/* Return: 1 if the mode's power is below @watts by a sufficient margin for its error. */
static int is_within(const struct jetwatt_tuner *k, const struct jetwatt_mode *mode, double watts)
{
	struct mode_power p = mode_power(k, mode);

	return p.w * (1 + (p.n > 1 ? READ_AGAIN : READ) * p.sd) <= watts;
}

int jetwattd_is_within(const struct jetwattd_learner *l, const struct jetwatt_row *row)
{
	return is_within(&l->known, &row->mode, l->terms.limit_w);
}

/* Check the cheap conditions first: jetwatt_tuner_row() and is_within() compare the mode with all
 * rows. */
const struct jetwatt_row *jetwattd_learner_best_under(const struct jetwattd_learner *l, double watts,
						  const struct jetwatt_mode *but)
{
	const struct jetwatt_tuner *k = &l->known;
	const struct jetwatt_row *best = NULL;
	double least = INFINITY;
	int late = 1;
	long at;

	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];
		double objective = row->time_ms * (l->terms.least_energy ? row->power_w : 1);

		if ((!late && objective >= least) || (but && jetwatt_mode_same(but, &row->mode)))
			continue;
		at = usable_index(l, &row->mode);
		/* A mode in which the server misses its deadline is chosen only if there is no
		 * other mode; the fastest one is nearest to the deadline. */
		if (at >= 0 && l->misses_deadline[at])
			objective = row->time_ms;
		if (at < 0 || l->misses_deadline[at] > late ||
		    (l->misses_deadline[at] == late && objective >= least))
			continue;
		if (jetwatt_tuner_row(k, &row->mode) != row || !is_within(k, &row->mode, watts))
			continue;
		best = row;
		least = objective;
		late = l->misses_deadline[at];
	}
	return best;
}

const struct jetwatt_row *jetwattd_best(const struct jetwattd_learner *l)
{
	return jetwattd_learner_best_under(l, l->terms.limit_w, NULL);
}

int jetwattd_misses_deadline(const struct jetwattd_learner *l, const struct jetwatt_row *row)
{
	long at = mode_index(l, &row->mode);

	return at >= 0 && l->misses_deadline[at];
}

long jetwattd_uncertain_best(const struct jetwattd_learner *l, double *gain, int *readings)
{
	const struct jetwatt_row *best = jetwattd_best(l);
	const struct jetwatt_tuner *k = &l->known;
	double watts = l->terms.limit_w;
	long found = -1;

	*gain = 0;
	*readings = 0;
	for (size_t i = 0; i < k->nr_rows; i++) {
		const struct jetwatt_row *row = &k->row[i];
		double within, by = best ? l->best_objective / jetwattd_row_objective(l, row) : M_E;
		struct mode_power p;
		long at;

		if (!jetwatt_row_has_time(row) || by <= 1 ||
		    jetwatt_tuner_row(k, &row->mode) != row || is_within(k, &row->mode, watts))
			continue;
		p = mode_power(k, &row->mode);
		within = jetwatt_normal_cdf((1 - p.w / watts) / p.sd);
		if (p.n >= READINGS || within < WITHIN || (best && within * log(by) <= *gain))
			continue;
		at = usable_index(l, &row->mode);
		if (at < 0 || l->misses_deadline[at])
			continue;
		found = at;
		*gain = within * log(by);
		*readings = p.n;
	}
	return found;
}

/* Estimate the time of a minibatch, in ms, in a mode that the cap left during its reading. */
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

/* Store a row without a measured time for later jobs of the workload, in place of an older row of its mode. */
static void keep_untimed(struct jetwattd_allowance *a, const struct jetwatt_row *row)
{
	for (unsigned int i = 0; i < a->nr_untimed && i < JETWATTD_UNTIMED; i++)
		if (jetwatt_mode_same(&a->untimed[i].mode, &row->mode)) {
			a->untimed[i] = *row;
			return;
		}
	a->untimed[a->nr_untimed++ % JETWATTD_UNTIMED] = *row;
}

void jetwattd_rows_choose_untimed(struct jetwattd_learner *l)
{
	const struct jetwattd_allowance *a = l->spent;
	struct jetwatt_tuner *k = &l->known;
	size_t n = 0;

	for (size_t i = 0; i < k->nr_rows; i++) {
		if (!jetwatt_row_has_time(&k->row[i]) && k->row[i].power_w <= l->terms.limit_w)
			continue;
		k->row[n] = k->row[i];
		l->steps.cost[n++] = l->steps.cost[i];
	}
	k->nr_rows = n;
	for (unsigned int i = 0; i < a->nr_untimed && i < JETWATTD_UNTIMED; i++)
		if (a->untimed[i].power_w > l->terms.limit_w && !jetwatt_tuner_row(k, &a->untimed[i].mode))
			jetwattd_row_add(l, &a->untimed[i], NULL);
}

void jetwattd_learner_over(struct jetwattd_learner *l, const struct jetwatt_row *over, int keep)
{
	long at = mode_index(l, &over->mode);
	struct jetwatt_row row = *over;

	l->again_s = 0;
	if (!(row.power_w > 0)) {
		if (at >= 0)
			l->exclusions[at]++;
		return;
	}
	if (!(row.time_ms > 0)) {
		row.time_ms = estimate_time(l, &row.mode);
		row.time_sd = JETWATT_ROW_NO_TIME;
		if (keep)
			keep_untimed(l->spent, &row);
	}
	jetwattd_row_add(l, &row, NULL);
	if (at >= 0)
		l->exclusions[at] = JETWATTD_EXCLUDED;
	for (size_t i = 0; i < l->known.nr_modes; i++)
		l->above[i] |= jetwattd_dominates(&l->known.mode[i], &row.mode);
}

int jetwattd_wants_power(const struct jetwattd_learner *l, const struct jetwatt_row *is, double swing)
{
	struct mode_power p = mode_power(&l->known, &is->mode);
	double weight = 1 / pow(hypot(is->power_sd, SLOW_SD), 2), before, mean;

	if (p.n < HELD_READINGS)
		return NEAR * fmax(is->power_w, p.n ? p.w : 0) > l->terms.limit_w;
	before = 1 / (p.sd * p.sd);
	mean = (before * p.w + weight * is->power_w) / (before + weight);
	return p.n < READINGS && mean * (1 + TIGHT * swing) > l->budget_w;
}

int jetwattd_wants_time(const struct jetwattd_learner *l, const struct jetwatt_row *is)
{
	const struct jetwatt_row *was = jetwatt_tuner_row(&l->known, &is->mode);

	return was && !l->steps.windows && was->time_sd > EXACT_SD && is->time_sd < MORE_EXACT * was->time_sd;
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
