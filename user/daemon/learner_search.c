// SPDX-License-Identifier: GPL-2.0-only
/* Chooses which mode to measure next while the model cannot predict the modes. */
#include "daemon/learner_inside.h"

#include <math.h>

#include "plan/plan.h"

/* Used while there are no predictions: maximum level of the modes that are tried; factor by
 * which this maximum is multiplied after each mode that was over the budget; minimum position of
 * each knob in its range, because a job may be many times slower with one knob near its lower
 * end. */
#define LEVEL		0.6
#define LOWER		0.7
#define EDGE		0.2
/* Exponent by which a preset's real power grows with the power that its name states: with twice
 * the stated power a preset draws at least 2^0.3 times as much, 23 % more. */
#define NAMED		0.3
/* A preset may draw as little as this fraction of the power that its name states. */
#define NAMED_SHARE_MIN	0.5
/* Assumed maximum increase of power from modes of level 0 to modes of level 1, as a multiple of
 * the power at the starting level. */
#define STEEP		4

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

int jetwattd_others_agree(struct jetwattd_learner *l)
{
	struct jetwatt_tuner *k = &l->known;

	if (!k->by.prior || jetwattd_cross_device_agrees(l))
		return 0;
	if (!k->nr_rows)
		return jetwatt_estimator_references_cover(&k->by, k->mode, k->nr_modes);
	return !jetwatt_tuner_fit(k) && jetwatt_fitted_reference_weight(k->model) >= JETWATT_PLAN_REFERENCE_WEIGHT;
}

/* Conditions under which a mode without a prediction is tried, from the strictest to the
 * weakest: is_cautious(); only a low level; the lowest level among the modes for which is_open()
 * returns 1. */
enum { CAUTIOUS, LOW, LOWEST, GIVEN_UP };

/* Return: 1 if candidate @i may be tried without a prediction: it is not known, not excluded, and not
 * at least as high in all knobs as a mode that was over the budget. */
static int is_open(const struct jetwattd_learner *l, size_t i)
{
	return !l->above[i] && !jetwattd_is_excluded(l, i) && !jetwattd_is_known(l, i);
}

/* Return: 1 if candidate @i satisfies condition @how. */
static int satisfies(const struct jetwattd_learner *l, size_t i, int how)
{
	double least, most = how == LOWEST ? l->lowest : l->level;

	return how == CAUTIOUS ? is_cautious(l, i, most) : jetwattd_level(l, i, &least) <= most;
}

/* Set @l->lowest to the lowest level of the modes that may be tried without a prediction. Return: index
 * of a mode of this level, -1: there is none. */
static long lowest_open(struct jetwattd_learner *l)
{
	double least, level;
	long at = -1;

	l->lowest = INFINITY;
	for (size_t i = 0; i < l->known.nr_modes; i++) {
		level = is_open(l, i) ? jetwattd_level(l, i, &least) : INFINITY;
		if (level < l->lowest) {
			l->lowest = level;
			at = (long)i;
		}
	}
	return at;
}

/* Return: 1 if a known mode has at most this level. */
static int knows_lower(const struct jetwattd_learner *l, double level)
{
	double least;

	for (size_t i = 0; i < l->known.nr_rows; i++)
		if (jetwattd_span_level(&l->span, &l->known.row[i].mode, &least) <= level)
			return 1;
	return 0;
}

/* Collect the modes among which the plan may choose: of those that are not excluded, the known ones, and
 * the affordable ones that satisfy condition @how and are not marked in @above; @weighed: 1: all.
 * Return: number of modes that are not known. */
static size_t collect_choices(struct jetwattd_learner *l, int how, int weighed)
{
	const struct jetwatt_row *best = jetwattd_best(l);
	const struct jetwatt_tuner *k = &l->known;
	size_t fresh = 0;

	l->choices = 0;
	for (size_t i = 0; i < k->nr_modes; i++) {
		int known = jetwattd_is_known(l, i);

		if (jetwattd_is_excluded(l, i))
			continue;
		if (!known && !weighed && !(!l->above[i] && satisfies(l, i, how) && jetwattd_is_affordable(l, i, best)))
			continue;
		l->choice[l->choices] = k->mode[i];
		l->choice_at[l->choices++] = i;
		fresh += !known;
	}
	return fresh;
}

/* Let jetwatt_plan_next() choose one of the modes in @choice. Return: index of the mode, -1: no
 * mode. */
static long plan_among_choices(const struct jetwattd_learner *l)
{
	const struct jetwatt_tuner *k = &l->known;
	struct jetwatt_plan_next n;

	return jetwatt_plan_next(l->choice, l->choices, k->row, k->nr_rows, &k->by, l->terms.limit_w, k->nr_modes,
				 JETWATT_TUNER_SEED, &n) ? -1 : (long)l->choice_at[n.index];
}

/* With readings of other devices or workloads, or with enough of the job's own, every mode that is
 * not excluded may be chosen: jetwatt_plan_next() judges its time and power. This includes a
 * workload whose readings were all taken under a higher budget. Otherwise, if the plan finds no
 * mode that satisfies one of the conditions above (the first is CAUTIOUS), for example because all draw
 * too much, the next condition applies. */
long jetwattd_pick_unpredicted(struct jetwattd_learner *l)
{
	int others = jetwattd_cross_device_agrees(l) || jetwattd_others_agree(l);
	int weighed = others || jetwattd_complete_rows(l) >= JETWATTD_SURE;
	long i = -1, lowest = lowest_open(l);

	/* If there are readings of other workloads, one row of the job is enough for
	 * predictions. */
	l->predicted = others && l->known.nr_rows && !jetwatt_tuner_predict(&l->known);
	for (int how = CAUTIOUS; i < 0 && how < GIVEN_UP; how++) {
		if (collect_choices(l, how, weighed))
			i = plan_among_choices(l);
		if (weighed)
			break;
	}
	/* While no mode within the limit is known, the cap steps down to the lowest mode anyway, so try
	 * the lowest open mode, unless a mode as low is known: it draws too much. */
	return i < 0 && lowest >= 0 && !jetwattd_best(l) && !knows_lower(l, l->lowest) ? lowest : i;
}

/* Return the power, in W, that is assumed for preset @k before it is measured: extrapolated from the
 * highest measured preset that is lower; without such a preset, the power that its name states. */
static double preset_power(const struct jetwattd_learner *l, size_t k)
{
	double named = 0, w = l->first_w[k];

	for (size_t i = 0; i < l->firsts; i++) {
		const struct jetwatt_row *row = jetwatt_tuner_row(&l->known, &l->known.mode[l->first[i]]);

		if (!row || l->first_w[i] <= named || l->first_w[i] >= l->first_w[k])
			continue;
		named = l->first_w[i];
		w = row->power_w * pow(l->first_w[k] / named, NAMED);
	}
	return w;
}

long jetwattd_next_preset(const struct jetwattd_learner *l, const struct jetwatt_row *best, int doubtful)
{
	double most = 0;
	long found = -1;

	for (size_t k = 0; k < l->firsts; k++) {
		size_t i = l->first[k];
		double w = doubtful ? NAMED_SHARE_MIN * l->first_w[k] : preset_power(l, k);

		if (w > l->terms.limit_w || w <= most || jetwattd_is_excluded(l, i) || jetwattd_is_known(l, i) ||
		    (l->above[i] && !doubtful))
			continue;
		/* A mode that is at most as high in every knob is not faster. */
		if (best && jetwattd_dominates(&best->mode, &l->known.mode[i]))
			continue;
		most = w;
		found = (long)i;
	}
	return found;
}

long jetwattd_raise_one_knob(const struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	double least, from = jetwattd_span_level(&l->span, &best->mode, &least);
	size_t round = l->known.nr_rows;
	long found = -1;

	for (int n = 0; n < JETWATT_KNOBS && found < 0; n++, round++) {
		double most = from;

		for (size_t i = 0; i < l->known.nr_modes; i++) {
			const struct jetwatt_mode *m = &l->known.mode[i];
			double level = jetwattd_level(l, i, &least);
			int only = 1;

			jetwatt_each_knob(k)
				only &= (size_t)k == round % JETWATT_KNOBS ||
					jetwatt_mode_get(m, k) == jetwatt_mode_get(&best->mode, k);
			if (only && level > most && is_open(l, i) &&
			    best->power_w * (1 + STEEP * (level - from)) <= l->terms.limit_w) {
				most = level;
				found = (long)i;
			}
		}
	}
	return found;
}
