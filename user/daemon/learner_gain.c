// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which reading pays, for a job that is learned by a share of its time. Each has a gain: that its
 * mode turns out to be within the limit and faster than the best one (expected improvement: Jones et
 * al., Journal of Global Optimization 13, 1998), for as long as the job is expected to run. And it
 * has a cost: its time in a slower mode, and a step down of the cap where the mode draws too much.
 * A job is expected to run for as long again as it has run (Gott, Nature 363, 1993: the median of
 * what is left of something that is met at a random moment).
 */
#include "daemon/learner_inside.h"

#include <math.h>

#include "plan/plan.h"

/* Time of a quick reading, or that number of minibatches if it is longer; of a switch; of a step
 * down and back. */
#define READING_S	1.6
#define READING		2.5
#define SWITCH_S	0.05
#define OVER_S		2
/* What is more likely over the budget than not is not tried. */
#define OVER		0.5
/* Least gain of a longer reading of a mode near the limit, and of any, as a part of the time. */
#define EXACT_S		0.5
#define GAIN		1e-5
/* Least time for which a job is expected to go on. */
#define LEAST_S		30
/* Before the model has seen SURE readings, or other workloads, a reading may cost at most PART of what
 * is granted, and take LONG_S or LONGER times a reading of the best mode, whatever the model says. */
#define SURE		9
#define PART		0.5
#define LONG_S		4
#define LONGER		2
/* Of the vendor's presets one of twice the watts by its name draws at least a fifth more. */
#define NAMED		0.3
/* Slope of power over the level of a mode, at most: from level 0 to 1 it rises by STEEP times itself. */
#define STEEP		4
/* A look takes CPU time: the next one is due when the job has run LATER times as long, and LATER_S. */
#define LATER		1.1
#define LATER_S		5

static double expected_s(const struct jetwattd_learner *l)
{
	double run_s = (l->terms.now_ns - l->run_ns) * 1e-9;

	return fmax(LEAST_S, fmax(run_s, l->spent->ran_s));
}

static double cost_s(double t_ms, double best_ms)
{
	double s = fmax(READING_S, READING * 1e-3 * t_ms);

	return SWITCH_S + s * fmax(0, 1 - best_ms / t_ms);
}

int jetwattd_near(const struct jetwattd_learner *l, size_t i, const struct jetwatt_row *best)
{
	double part = 1, worst_ms;

	if (!best || !(l->terms.share > 0))
		return 1;
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(&best->mode, k))
			part = fmin(part, (double)jetwatt_mode_get(&l->known.mode[i], k) / jetwatt_mode_get(&best->mode, k));
	worst_ms = best->time_ms / part;
	return READING * 1e-3 * worst_ms <= fmax(LONG_S, READING * 1e-3 * LONGER * best->time_ms) &&
	       cost_s(worst_ms, best->time_ms) <= PART * jetwattd_share_left(l);
}

/* A preset: the highest that by its name is within; then, as long as none is, the next lower one, and
 * else the next higher one that may be by what the best one draws. Return: its index, -1: none. */
static long preset(const struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	double named = 0, most = 0;
	long found = -1;

	for (size_t k = 0; k < l->firsts && best; k++)
		if (jetwatt_mode_same(&l->known.mode[l->first[k]], &best->mode))
			named = l->first_w[k];
	for (size_t k = 0; k < l->firsts; k++) {
		size_t i = l->first[k];
		double w = l->first_w[k];

		if (best)
			w = named > 0 && w > named ? best->power_w * pow(w / named, NAMED) : INFINITY;
		if (w > l->terms.limit_w || w <= most || jetwattd_barred(l, i) || jetwattd_is_known(l, i))
			continue;
		most = w;
		found = (long)i;
	}
	return found;
}

/* Before there is a model, from the best mode up: one knob at a time, as far as power allows. None of
 * these is slower. Return: its index, -1: none. */
static long upward(const struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	double least, from = jetwattd_span_level(&l->span, &best->mode, &least);
	size_t turn = l->known.nr_rows;
	long found = -1;

	for (int n = 0; n < JETWATT_KNOBS && found < 0; n++, turn++) {
		double most = from;

		for (size_t i = 0; i < l->known.nr_modes; i++) {
			const struct jetwatt_mode *m = &l->known.mode[i];
			double level = jetwattd_level(l, i, &least);
			int only = 1;

			jetwatt_each_knob(k)
				only &= (size_t)k == turn % JETWATT_KNOBS ||
					jetwatt_mode_get(m, k) == jetwatt_mode_get(&best->mode, k);
			if (only && level > most && !jetwattd_barred(l, i) && !jetwattd_is_known(l, i) &&
			    best->power_w * (1 + STEEP * (level - from)) <= l->terms.limit_w) {
				most = level;
				found = (long)i;
			}
		}
	}
	return found;
}

/* Of those that only their reading's error keeps from being chosen, one that is worth another. */
static long unsure(const struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	long i = jetwattd_unsure(l);
	const struct jetwatt_row *row = i < 0 ? NULL : jetwatt_learn_row(&l->known, &l->known.mode[i]);

	return row && log(best->time_ms / row->time_ms) / 2 * expected_s(l) > EXACT_S ? i : -1;
}

static double above(double z)
{
	return 0.5 * erfc(z * M_SQRT1_2);
}

double jetwattd_gain(const struct jetwatt_prediction *p, double best_ms, double limit_w, double least)
{
	double t = hypot(p->time_sd, least), w = hypot(p->power_sd, least);
	double z = log(best_ms / p->time_ms) / t;

	return above(log(p->power_w / limit_w) / w) * t *
	       (z * above(-z) + exp(-z * z / 2) / sqrt(2 * M_PI));
}

static void choose(struct jetwattd_learner *l, size_t i)
{
	l->choice[l->choices] = l->known.mode[i];
	l->choice_at[l->choices++] = i;
}

/* The plan's choice among those that pay and those that are known. Return: its index, -1: none. */
static long planned(const struct jetwattd_learner *l)
{
	const struct jetwatt_learn *k = &l->known;
	struct jetwatt_plan_next n;

	return jetwatt_plan_next(l->choice, l->choices, k->row, k->nr_rows, &k->by, l->terms.limit_w, k->nr_modes,
				 JETWATT_LEARN_SEED, &n) ? -1 : (long)l->choice_at[n.index];
}

/* By the model. @sure: it counts also for modes that may be far slower. Return: index, -1: none pays
 * now. */
static long modelled(struct jetwattd_learner *l, const struct jetwatt_row *best, double least, int sure)
{
	const struct jetwatt_row *safe = jetwattd_learner_within(l, l->terms.safe_w, NULL);
	double over_s = OVER_S * (safe ? fmax(0, 1 - best->time_ms / safe->time_ms) : 1), top = 0;
	double left = jetwattd_share_left(l), expected = expected_s(l);
	long at = -1, asked;

	l->choices = 0;
	for (size_t i = 0; i < l->known.nr_modes; i++) {
		const struct jetwatt_prediction *p = &l->known.prediction[i];
		double over, by, cost, when;

		if (jetwattd_barred(l, i))
			continue;
		if (jetwattd_is_known(l, i)) {
			choose(l, i);
			continue;
		}
		by = jetwattd_gain(p, best->time_ms, l->terms.limit_w, least);
		over = above(log(l->budget_w / p->power_w) / hypot(p->power_sd, least));
		if (by < GAIN || over > OVER || (!sure && !jetwattd_near(l, i, best)))
			continue;
		cost = cost_s(p->time_ms, best->time_ms) + over * over_s;
		if (cost > left || by * expected <= cost) {
			when = cost > left ? jetwattd_share_when(l, cost) : 0;
			l->again_s = fmin(l->again_s, fmax(cost / by, when));
			continue;
		}
		choose(l, i);
		if (by * expected - cost > top) {
			top = by * expected - cost;
			at = (long)i;
		}
	}
	asked = at < 0 ? -1 : planned(l);
	return asked < 0 ? at : asked;
}

/* Beside the best mode that is known. Return: index, -1: none pays now. */
static long beside(struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	int foretold = jetwattd_foretold(l), known = foretold || jetwattd_foreseen(l);
	size_t rows = jetwattd_whole_rows(l);
	long i;

	if ((known || rows >= JETWATTD_ROWS) && !jetwatt_learn_predict(&l->known)) {
		l->foretold = 1;
		return modelled(l, best, foretold ? 0 : JETWATTD_DOUBT / sqrt(l->known.nr_rows + 1.0), known || rows >= SURE);
	}
	i = upward(l, best);
	if (i < 0)
		i = jetwattd_planned(l, l->terms.most);
	if (i < 0)
		l->again_s = jetwattd_share_when(l, cost_s(LONGER * best->time_ms, best->time_ms));
	return i;
}

/* Is what the policy grants in time and energy, in all, used up? */
static int used_up(const struct jetwattd_learner *l)
{
	const struct jetwattd_terms *t = &l->terms;

	return (t->learn_s > 0 && l->spent->seconds >= t->learn_s) || l->spent->joules >= t->learn_j;
}

static long pick(struct jetwattd_learner *l, int *exact)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	long i;

	if (used_up(l))
		return -1;
	i = preset(l, best);
	if (i >= 0)
		return i;
	if (!best)
		return jetwattd_planned(l, l->terms.most);
	i = unsure(l, best);
	*exact = i >= 0;
	return *exact ? i : beside(l, best);
}

long jetwattd_pays(struct jetwattd_learner *l, int *exact)
{
	double later_s = LATER * l->spent->ran_s + LATER_S;
	long i;

	*exact = 0;
	l->foretold = 0;
	l->again_s = INFINITY;
	i = pick(l, exact);
	/* After a step that was cut it is asked for again. */
	l->again_s = i < 0 ? fmax(l->again_s, later_s) : later_s;
	return i;
}
