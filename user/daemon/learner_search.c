// SPDX-License-Identifier: GPL-2.0-only
/* Which mode is worth a measurement, within what the policy allows for the job. */
#include "daemon/learner_inside.h"

#include <errno.h>
#include <math.h>

#include "plan/plan.h"

/* A best mode so near the limit was looked for at this limit; else a few more, or where we
 * have just learned it for another limit, as many again: what is known lies elsewhere. */
#define NEAR		0.93
#define MORE		6
/* The last of the allowance is for those that only their reading's error keeps from being
 * chosen. */
#define LAST		0.25
/* So many confirm what others know of a workload. */
#define CONFIRM		4
/* Before, modes up to this level, and after each that was too much, this share of it; none
 * with a knob near its lower end, which may be many times slower. */
#define LEVEL		0.6
#define LOWER		0.7
#define EDGE		0.2
/* A mean gain that is worth a try. */
#define GAIN		0.005
/* What is far slower than a mode that we have costs the job more than it can teach;
 * what is probably over the budget costs a switch there and back. */
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

static int cautious(const struct jetwattd_learner *l, size_t i, double most)
{
	double least;

	return jetwattd_level(l, i, &least) <= most && least >= EDGE * most / LEVEL;
}

/* Those of another budget say less of this one. */
size_t jetwattd_enough(const struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	size_t known = jetwatt_learn_known(&l->known), most = l->terms.most;

	if (jetwattd_foretold(l) && most > CONFIRM)
		most = CONFIRM;
	if (!known)
		return most;
	if (best && best->power_w > NEAR * l->known.budget_w)
		return known < most ? most : 0;
	return known + (known < most || l->learned_j > 0 ? most : MORE);
}

int jetwattd_foreseen(struct jetwattd_learner *l)
{
	struct jetwatt_learn *k = &l->known;

	if (!k->by.prior || jetwattd_foretold(l))
		return 0;
	if (!k->nr_rows)
		return jetwatt_estimator_foresees(&k->by, k->mode, k->nr_modes);
	return !jetwatt_learn_fit(k) && jetwatt_fitted_foreseen(k->model) >= JETWATT_PLAN_FORESEEN;
}

/* Is it worth a switch, by the model? */
static int worth(const struct jetwatt_prediction *p, double best_ms, double limit_w)
{
	double over = log(p->power_w / limit_w) / fmax(p->power_sd, 1e-3);

	return p->time_ms < SLOWER * best_ms && 0.5 * erfc(over * M_SQRT1_2) > 1 - OVER;
}

/* What is asked of a mode that no model speaks for: that it is cautious; only that it is low; or it
 * is the lowest that there is. */
enum { CAUTIOUS, LOW, LOWEST, GIVEN_UP };

static int asked(const struct jetwattd_learner *l, size_t i, int how)
{
	double least, most = how == LOWEST ? l->lowest : l->level;

	return how == CAUTIOUS ? cautious(l, i, most) : jetwattd_level(l, i, &least) <= most;
}

/* Of those that can be had and are not known. */
static double lowest(const struct jetwattd_learner *l)
{
	double least, low = INFINITY;

	for (size_t i = 0; i < l->known.nr_modes; i++)
		if (!jetwattd_barred(l, i) && !jetwattd_is_known(l, i))
			low = fmin(low, jetwattd_level(l, i, &least));
	return low;
}

/* All that can be had and is worth it; cautious ones first. Return: 0, negative errno. */
static int narrow(struct jetwattd_learner *l)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	struct jetwatt_learn *k = &l->known;
	/* A prior that knows the workload, or others like it, weighs all of them itself. */
	int twin = jetwattd_foretold(l), weighed = twin || jetwattd_foreseen(l);
	int modelled = !twin && best && jetwattd_whole_rows(l) >= JETWATTD_ROWS;
	int err = modelled ? jetwatt_learn_predict(k) : -ENODATA;
	size_t fresh = 0;

	/* Others say after one reading what to expect of the next. */
	l->foretold = !err || (!twin && weighed && k->nr_rows && !jetwatt_learn_predict(k));
	l->lowest = err ? lowest(l) : 0;
	for (int how = CAUTIOUS; !fresh && how < GIVEN_UP; how++) {
		l->choices = 0;
		for (size_t i = 0; i < k->nr_modes; i++) {
			int known = jetwattd_is_known(l, i);

			if (jetwattd_barred(l, i))
				continue;
			if (!known && (err ? !weighed && !(asked(l, i, how) && jetwattd_near(l, i, best)) :
					     !worth(&k->prediction[i], best->time_ms, k->budget_w)))
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

/* The plan has no more to ask for, by what the model is sure of. With few readings it is too
 * sure: a mode that would be worth it if the model knew JETWATTD_DOUBT / sqrt(readings) less is tried
 * all the same. Return: its index, -1: none. */
static long doubt(struct jetwattd_learner *l, size_t most)
{
	const struct jetwatt_row *best = jetwattd_fastest(l);
	struct jetwatt_learn *k = &l->known;
	double least = JETWATTD_DOUBT / sqrt(k->nr_rows + 1.0), top = GAIN;
	long at = -1;

	if (!best || jetwattd_foretold(l) || jetwatt_learn_known(k) >= most ||
	    jetwattd_whole_rows(l) < JETWATTD_ROWS || jetwatt_learn_predict(k))
		return -1;
	for (size_t i = 0; i < k->nr_modes; i++) {
		const struct jetwatt_prediction *p = &k->prediction[i];
		double gain = jetwattd_gain(p, best->time_ms, k->budget_w, least);

		if (!jetwattd_barred(l, i) && gain > top && !jetwattd_is_known(l, i)) {
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
	err = narrow(l);
	if (!err)
		err = jetwatt_plan_next(l->choice, l->choices, l->known.row, l->known.nr_rows,
					&l->known.by, l->known.budget_w, most,
					JETWATT_LEARN_SEED, &n);
	return err ? -1 : (long)l->choice_at[n.index];
}

static long planned(struct jetwattd_learner *l, size_t most)
{
	long i = jetwattd_planned(l, most);

	return i < 0 ? doubt(l, most) : i;
}

/* The next one of the prior's first candidates. Return: its index, -1: none. */
static long first(struct jetwattd_learner *l)
{
	while (l->firsts) {
		size_t i = l->first[0];

		l->firsts--;
		for (size_t k = 0; k < l->firsts; k++)
			l->first[k] = l->first[k + 1];
		if (!jetwattd_barred(l, i) && !jetwattd_is_known(l, i))
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
	i = first(l);
	if (i >= 0) {
		l->foretold = 0;
		return i;
	}
	again = left < LAST && !jetwattd_foretold(l) ? jetwattd_unsure(l) : -1;
	i = again < 0 ? planned(l, l->spent->most) : again;
	if (i < 0 && !jetwattd_foretold(l))
		i = again = jetwattd_unsure(l);
	*exact = again >= 0;
	return i;
}
