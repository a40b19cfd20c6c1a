// SPDX-License-Identifier: GPL-2.0-only
/* What to learn of a job, within what the policy allows for it. */
#include "daemon/loop.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/error.h"

const struct jetwatt_measure_limits jetwattd_quick = {
	.batches = 4, .seconds = 0.6, .target = 0.02, .most_s = 2.5, .idle_s = 30, .few = 1,
	.drop = 1, .settle_s = 3,
};

/* Of those that are too near the limit for a quick one. */
static const struct jetwatt_measure_limits exact = {
	.batches = 10, .seconds = 2, .target = 0.004, .most_s = 6, .idle_s = 30, .few = 3,
};

/* A best mode so near the limit was looked for at this limit; else a few more, or where we
 * have just learned it for another limit, as many again: what is known lies elsewhere. */
#define NEAR		0.93
#define MORE		6
/* From so many readings on the model's word counts. */
#define ROWS		4
/* The last of the allowance is for those that only their reading's error keeps from being chosen. */
#define LAST		0.25
/* With so many it knows what to expect. */
#define SURE		9
/* So many confirm what others know of a workload. */
#define CONFIRM		4
/* Before, modes up to this level, and after each that was too much, this share of it; none
 * with a knob near its lower end, which may be many times slower. */
#define LEVEL		0.6
#define LOWER		0.7
#define EDGE		0.2
/* See doubt(); a mean gain that is worth a try. */
#define DOUBT		0.15
#define GAIN		0.005
/* What is far slower than a mode that we have costs the job more than it can teach;
 * what is probably over the budget costs a switch there and back. */
#define SLOWER		2.0
#define OVER		0.5

/* Candidates of the next step: modes, and where they are in the list of all; up to
 * @level, while there is no model to speak for any, which is @foretold then; or if there is
 * none, at @lowest. */
struct choice {
	struct jetwatt_mode *mode;
	size_t *at, n;
	double level, lowest;
	int foretold;
};

static int cautious(const struct jetwattd_run *r, const struct jetwatt_mode *m, double most)
{
	double least;

	return jetwattd_level(r, m, &least) <= most && least >= EDGE * most / LEVEL;
}

/* Is the workload known from elsewhere, and is it here as it is there? */
static int foretold(const struct jetwattd_run *r)
{
	return jetwatt_estimator_foretells(&r->learn.by, r->learn.row, r->learn.nr_rows);
}

/* How many modes are to be known; those of another budget say less of this one. */
static size_t enough(struct jetwattd_run *r)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	size_t known = jetwatt_learn_known(&r->learn), most = (size_t)r->d->policy->most;

	if (foretold(r) && most > CONFIRM)
		most = CONFIRM;
	if (!known)
		return most;
	if (best && best->power_w > NEAR * r->learn.budget_w)
		return known < most ? most : 0;
	return known + (known < most || r->learned_j > 0 ? most : MORE);
}

/* Is it worth a switch, by the model? */
static int worth(const struct jetwatt_prediction *p, double best_ms, double limit_w)
{
	double over = log(p->power_w / limit_w) / fmax(p->power_sd, 1e-3);

	return p->time_ms < SLOWER * best_ms && 0.5 * erfc(over * M_SQRT1_2) > 1 - OVER;
}

/* Readings that were not cut short. */
static size_t whole(const struct jetwatt_learn *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_rows; i++)
		n += l->row[i].time_sd < JETWATTD_NO_TIME;
	return n;
}

/* How much is asked of a mode that no model speaks for: that it is cautious; only that it is
 * low; or it is the lowest that there is. */
enum { CAUTIOUS, LOW, LOWEST, GIVEN_UP };

static int asked(const struct jetwattd_run *r, const struct choice *c, size_t i, int how)
{
	double least, most = how == LOWEST ? c->lowest : c->level;

	return how == CAUTIOUS ? cautious(r, &r->learn.mode[i], most) :
	       jetwattd_level(r, &r->learn.mode[i], &least) <= most;
}

static int barred(const struct jetwattd_run *r, size_t i)
{
	return r->out[i] >= JETWATTD_OUT || r->late[i];
}

/* Of those that can be had and are not known. */
static double lowest(const struct jetwattd_run *r)
{
	double least, low = INFINITY;

	for (size_t i = 0; i < r->learn.nr_modes; i++)
		if (!barred(r, i) && !jetwatt_learn_row(&r->learn, &r->learn.mode[i]))
			low = fmin(low, jetwattd_level(r, &r->learn.mode[i], &least));
	return low;
}

/* All that can be had and is worth it; cautious ones first. Return: 0, negative errno. */
static int narrow(struct jetwattd_run *r, struct choice *c)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	struct jetwatt_learn *l = &r->learn;
	int twin = foretold(r);
	int err = !twin && best && whole(l) >= ROWS ? jetwatt_learn_predict(l) : -ENODATA;
	size_t fresh = 0;

	c->foretold = !err;
	c->lowest = err ? lowest(r) : 0;
	for (int how = CAUTIOUS; !fresh && how < GIVEN_UP; how++) {
		c->n = 0;
		for (size_t i = 0; i < l->nr_modes; i++) {
			int known = jetwatt_learn_row(l, &l->mode[i]) != NULL;

			if (barred(r, i))
				continue;
			/* Who knows the workload weighs all of them himself. */
			if (!known && !twin && (err ? !asked(r, c, i, how) :
							!worth(&l->prediction[i], best->time_ms, l->budget_w)))
				continue;
			c->mode[c->n] = l->mode[i];
			c->at[c->n++] = i;
			fresh += !known;
		}
		if (!err)
			break;
	}
	return c->n ? 0 : -ENODATA;
}

/* The plan has no more to ask for, by what the model is sure of. With few readings it is too
 * sure: a mode that would be worth it if the model knew DOUBT / sqrt(readings) less is tried
 * all the same. Return: its index, negative: none. */
static long doubt(struct jetwattd_run *r, size_t most)
{
	const struct jetwatt_row *best = jetwattd_best(r);
	struct jetwatt_learn *l = &r->learn;
	double least = DOUBT / sqrt(l->nr_rows + 1.0), top = GAIN;
	long at = -1;

	if (!best || foretold(r) || jetwatt_learn_known(l) >= most || whole(l) < ROWS ||
	    jetwatt_learn_predict(l))
		return -1;
	for (size_t i = 0; i < l->nr_modes; i++) {
		const struct jetwatt_prediction *p = &l->prediction[i];
		double t = hypot(p->time_sd, least), w = hypot(p->power_sd, least);
		double z = log(best->time_ms / p->time_ms) / t, over = log(p->power_w / l->budget_w) / w;
		double gain = 0.5 * erfc(over * M_SQRT1_2) * t *
			      (z * 0.5 * erfc(-z * M_SQRT1_2) + exp(-z * z / 2) / sqrt(2 * M_PI));

		if (!barred(r, i) && gain > top && !jetwatt_learn_row(l, &l->mode[i])) {
			top = gain;
			at = (long)i;
		}
	}
	return at;
}

/* The next mode that is worth it. Return: its index, negative: none. */
static long next(struct jetwattd_run *r, struct choice *c, size_t most)
{
	struct jetwatt_plan_next n;
	int err;

	pthread_mutex_lock(&r->d->lock);
	r->learn.budget_w = jetwattd_limit(r->d);
	pthread_mutex_unlock(&r->d->lock);
	err = narrow(r, c);
	if (!err)
		err = jetwatt_plan_next(c->mode, c->n, r->learn.row, r->learn.nr_rows,
					&r->learn.by, r->learn.budget_w, most, JETWATT_LEARN_SEED, &n);
	return err ? doubt(r, most) : (long)c->at[n.index];
}

/* @has_turned: so the rest is to be learned anew. */
static enum jetwattd_outcome seek(struct jetwattd_run *r, struct choice *c,
				  struct jetwattd_allowance *a, int *has_turned)
{
	enum jetwattd_outcome out;
	uint64_t begun;
	double least, before_j, left;
	long i, again;

	while (begun = jetwatt_clock_ns(), (left = jetwattd_allowance_left(r, a)) > 0) {
		again = left < LAST && !foretold(r) ? jetwattd_unsure(r) : -1;
		i = again < 0 ? next(r, c, a->most) : again;
		if (i < 0 && !foretold(r))
			i = again = jetwattd_unsure(r);
		if (i < 0)
			break;
		/* Orders and budgets that came while we were thinking. */
		if (jetwattd_changed(r))
			return JETWATTD_CUT;
		before_j = r->learned_j;
		out = jetwattd_try(r, (size_t)i, again < 0 ? &jetwattd_quick : &exact);
		*has_turned = out == JETWATTD_MEASURED &&
			      (jetwattd_another(r, (size_t)i, c->foretold ? &r->learn.prediction[i] : NULL) ||
			       (!foretold(r) && whole(&r->learn) == SURE && jetwattd_was_another(r)));
		a->seconds += (jetwatt_clock_ns() - begun) * 1e-9;
		a->joules += r->learned_j - before_j;
		if (*has_turned)
			return out;
		/* Or what was too much was drawn before it. */
		if (out == JETWATTD_OVER && barred(r, (size_t)i))
			c->level = LOWER * fmin(c->level, jetwattd_level(r, &r->learn.mode[i], &least));
		if (out != JETWATTD_MEASURED && out != JETWATTD_OVER && out != JETWATTD_REFUSED &&
		    out != JETWATTD_HOT && out != JETWATTD_LATE)
			return out;
	}
	return JETWATTD_MEASURED;
}

enum jetwattd_outcome jetwattd_seek(struct jetwattd_run *r)
{
	enum jetwattd_outcome out = JETWATTD_MEASURED;
	struct jetwattd_allowance *a = jetwattd_allowance(r);
	size_t n = r->learn.nr_modes;
	struct choice c = { malloc(n * sizeof(*c.mode)), malloc(n * sizeof(*c.at)), .level = LEVEL };

	openblas_set_num_threads(1);
	if (!c.mode || !c.at)
		jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot plan");
	if (!a->most)
		a->most = enough(r);
	while (c.mode && c.at && a->most && !a->done) {
		int has_turned = 0, twin = foretold(r);

		out = seek(r, &c, a, &has_turned);
		if (has_turned) {
			a = jetwattd_allowance_anew(r, a);
			c.level = LEVEL;
		} else if (out != JETWATTD_MEASURED || !twin || foretold(r)) {
			break;
		}
		/* Or it is not what the others know, after all. */
		a->most = enough(r);
	}
	a->done |= out == JETWATTD_MEASURED;
	free(c.mode);
	free(c.at);
	return out;
}
