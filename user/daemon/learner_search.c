// SPDX-License-Identifier: GPL-2.0-only
/* Chooses which mode to measure next, within the allowance of the policy; used if no share is
 * set. */
#include "daemon/learner_inside.h"

#include <errno.h>
#include <math.h>

#include "plan/plan.h"

/* If the best mode draws more than this fraction of the limit, the known modes were chosen for
 * this limit and no further modes are measured once enough modes are known. Otherwise, MORE
 * further modes are measured, or the full number if few modes are known or this run has already
 * learned for another limit, because in that case the known modes lie near the other limit. */
#define NEAR		0.93
#define MORE		6
/* Fraction of the allowance, at its end, that is reserved for longer readings of modes near the
 * limit. */
#define LAST		0.25
/* Number of modes that are measured to confirm the readings of other devices. */
#define CONFIRM		4
/* Used while there are no predictions: maximum level of the modes that are tried; factor by
 * which this maximum is multiplied after each mode that was over the budget; minimum position of
 * each knob in its range, because a job may be many times slower with one knob near its lower
 * end. */
#define LEVEL		0.6
#define LOWER		0.7
#define EDGE		0.2
/* Minimum expected improvement that is worth a reading, as a fraction of the best time of a
 * minibatch. */
#define GAIN		0.005
/* A mode is not tried if its predicted time exceeds the best time by the factor SLOWER, because
 * such a reading costs the job more than it gains; nor if it is over the budget with a probability
 * above OVER, because a step down of the cap is likely. */
#define SLOWER		2.0
#define OVER		0.5

void jetwattd_level_first(struct jetwattd_learner *l)
{
	l->level = LEVEL;
}

void jetwattd_level_lower(struct jetwattd_learner *l, size_t i)
{
	double least;

	l->level = LOWER * fmin(l->level, jetwattd_level(l, i, &least));
}

/* Return: 1 if the mode's level is at most @most, and no knob is near its lower end. */
static int is_cautious(const struct jetwattd_learner *l, size_t i, double most)
{
	double least;

	return jetwattd_level(l, i, &least) <= most && least >= EDGE * most / LEVEL;
}

/* Modes that were chosen for another budget say less about the modes near the present budget. */
size_t jetwattd_search_size(const struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	size_t known = jetwatt_tuner_known(&l->known), most = l->terms.most;

	if (jetwattd_cross_device_agrees(l) && most > CONFIRM)
		most = CONFIRM;
	if (!known)
		return most;
	if (best && best->power_w > NEAR * l->known.budget_w)
		return known < most ? most : 0;
	return known + (known < most || l->learned_j > 0 ? most : MORE);
}

int jetwattd_others_agree(struct jetwattd_learner *l)
{
	struct jetwatt_tuner *k = &l->known;

	if (!k->by.prior || jetwattd_cross_device_agrees(l))
		return 0;
	if (!k->nr_rows)
		return jetwatt_estimator_references_cover(&k->by, k->mode, k->nr_modes);
	return !jetwatt_tuner_fit(k) && jetwatt_fitted_reference_weight(k->model) >= JETWATT_PLAN_REFERENCE_WEIGHT;
}

/* Return: 1 if the mode is worth a switch according to its prediction, else 0. */
static int is_worth_reading(const struct jetwatt_prediction *p, double best_ms, double limit_w)
{
	double over = log(p->power_w / limit_w) / fmax(p->power_sd, 1e-3);

	return p->time_ms < SLOWER * best_ms && 0.5 * erfc(over * M_SQRT1_2) > 1 - OVER;
}

/* Conditions under which a mode without a prediction is tried, from the strictest to the
 * weakest: is_cautious(); only a low level; the lowest level among the modes that are neither
 * known nor excluded. */
enum { CAUTIOUS, LOW, LOWEST, GIVEN_UP };

/* Return: 1 if candidate @i satisfies condition @how. */
static int satisfies(const struct jetwattd_learner *l, size_t i, int how)
{
	double least, most = how == LOWEST ? l->lowest : l->level;

	return how == CAUTIOUS ? is_cautious(l, i, most) : jetwattd_level(l, i, &least) <= most;
}

/* Return the lowest level of the candidates that are neither known nor excluded. */
static double lowest_unknown_level(const struct jetwattd_learner *l)
{
	double least, low = INFINITY;

	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (!jetwattd_is_excluded(l, i) && !jetwattd_is_known(l, i))
			low = fmin(low, jetwattd_level(l, i, &least));
	return low;
}

/* Collect the modes among which the plan may choose: the known modes, and those worth a reading.
 * While there are no predictions, the strictest condition is used that leaves a mode that is not
 * known. Return: 0, -ENODATA: none. */
static int collect_choices(struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	struct jetwatt_tuner *k = &l->known;
	/* With readings of other devices or workloads, the plan weighs all modes itself. */
	int twin = jetwattd_cross_device_agrees(l), weighed = twin || jetwattd_others_agree(l);
	int modelled = !twin && best && jetwattd_complete_rows(l) >= JETWATTD_ROWS;
	int err = modelled ? jetwatt_tuner_predict(k) : -ENODATA;
	size_t fresh = 0;

	/* If there are readings of other workloads, one row of the job is enough for
	 * predictions. */
	l->foretold = !err || (!twin && weighed && k->nr_rows && !jetwatt_tuner_predict(k));
	l->lowest = err ? lowest_unknown_level(l) : 0;
	for (int how = CAUTIOUS; !fresh && how < GIVEN_UP; how++) {
		l->choices = 0;
		for (size_t i = 0; i < k->nr_modes; i++) {
			int known = jetwattd_is_known(l, i);

			if (jetwattd_is_excluded(l, i))
				continue;
			if (!known && (err ? !weighed && !(satisfies(l, i, how) && jetwattd_is_affordable(l, i, best)) :
					     !is_worth_reading(&k->prediction[i], best->time_ms, k->budget_w)))
				continue;
			l->choice[l->choices] = k->mode[i];
			l->choice_at[l->choices++] = i;
			fresh += !known;
		}
		if (!err)
			break;
	}
	return l->choices ? 0 : -ENODATA;
}

/* Find a further mode although the plan asks for none. With few readings the model
 * underestimates its error: find the mode with the highest expected improvement after
 * JETWATTD_DOUBT / sqrt(readings) is added to the error. Return: index of the mode, -1: no mode
 * is worth a reading. */
static long pick_uncertain(struct jetwattd_learner *l, size_t most)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	struct jetwatt_tuner *k = &l->known;
	double least = JETWATTD_DOUBT / sqrt(k->nr_rows + 1.0), top = GAIN;
	long at = -1;

	if (!best || jetwattd_cross_device_agrees(l) || jetwatt_tuner_known(k) >= most ||
	    jetwattd_complete_rows(l) < JETWATTD_ROWS || jetwatt_tuner_predict(k))
		return -1;
	for (size_t i = 0; i < k->nr_modes; i++) {
		const struct jetwatt_prediction *p = &k->prediction[i];
		double gain = jetwattd_gain(p, best->time_ms, k->budget_w, least);

		if (!jetwattd_is_excluded(l, i) && gain > top && !jetwattd_is_known(l, i)) {
			top = gain;
			at = (long)i;
		}
	}
	return at;
}

long jetwattd_planned(struct jetwattd_learner *l, size_t most)
{
	struct jetwatt_plan_next n;
	int err;

	l->known.budget_w = l->terms.limit_w;
	err = collect_choices(l);
	if (!err)
		err = jetwatt_plan_next(l->choice, l->choices, l->known.row, l->known.nr_rows,
					&l->known.by, l->known.budget_w, most,
					JETWATT_TUNER_SEED, &n);
	return err ? -1 : (long)l->choice_at[n.index];
}

/* Ask the plan, then pick_uncertain(). Return: index, -1: none. */
static long plan_or_uncertain(struct jetwattd_learner *l, size_t most)
{
	long i = jetwattd_planned(l, most);

	return i < 0 ? pick_uncertain(l, most) : i;
}

/* Take the next one of the modes that are to be tried first. Return: index of the mode, -1: no
 * such mode is left. */
static long next_first(struct jetwattd_learner *l)
{
	while (l->firsts) {
		size_t i = l->first[0];

		l->firsts--;
		for (size_t k = 0; k < l->firsts; k++)
			l->first[k] = l->first[k + 1];
		if (!jetwattd_is_excluded(l, i) && !jetwattd_is_known(l, i))
			return (long)i;
	}
	return -1;
}

long jetwattd_pick(struct jetwattd_learner *l, int *exact)
{
	double left = jetwattd_allowance_left(l, l->spent);
	long i, again;

	*exact = 0;
	if (!(left > 0))
		return -1;
	i = next_first(l);
	if (i >= 0) {
		l->foretold = 0;
		return i;
	}
	again = left < LAST && !jetwattd_cross_device_agrees(l) ? jetwattd_uncertain_best(l) : -1;
	i = again < 0 ? plan_or_uncertain(l, l->spent->most) : again;
	if (i < 0 && !jetwattd_cross_device_agrees(l))
		i = again = jetwattd_uncertain_best(l);
	*exact = again >= 0;
	return i;
}
