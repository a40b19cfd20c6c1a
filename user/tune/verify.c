// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranks, measures and verifies candidates until a candidate is within the budget.
 */
#include "tune/verify.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/terminal.h"
#include "util/error.h"

/* An unmeasured mode is worth measuring if its predicted time is below this share of the predicted
 * time of the best measured mode. */
#define WORTH_IT	0.99
/* A mode is only faster than the verified one if its time is below this share of the verified
 * mode's time. */
#define DISTINCT	0.998
/* Largest number of verifications and further measurements. */
#define ROUNDS_MAX	24

int jetwatt_verify_rank(struct jetwatt_tuner *l, struct jetwatt_plan_choice *out)
{
	int n;

	if (jetwatt_tuner_predict(l))
		return -1;
	n = jetwatt_plan_rank(l->mode, l->prediction, l->nr_modes, l->row, l->nr_rows, l->budget_w,
			      l->risk, out, JETWATT_VERIFY_CANDIDATES);
	if (n >= 0)
		return n;
	jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-n), NULL, "cannot rank the modes");
	return -1;
}

int jetwatt_verify_infeasible(const struct jetwatt_tuner *l, const struct jetwatt_plan_choice *near)
{
	const struct jetwatt_row *row = jetwatt_tuner_row(l, &l->mode[near->index]);
	double w = row ? row->power_w : near->p.power_w;
	double sd = row ? row->power_sd : near->p.power_sd;
	char what[160], fix[96], name[96] = "";

	jetwatt_board_mode_format(&l->mode[near->index], name, sizeof(name));
	snprintf(what, sizeof(what), "closest: %s at %.2f +- %.2f W (%s)", name, w, w * sd,
		 row ? "measured" : "predicted");
	snprintf(fix, sizeof(fix), "use --power %.0fW, or a job that draws less",
		 (double)(long)(w * (1 + 2 * sd)) + 1);
	return jetwatt_error_report(JETWATT_EXIT_INFEASIBLE, what, fix, "no mode meets %g W",
				 l->budget_w);
}

/* Modes that failed the verification: a mode slightly over the budget in the longer measurement
 * counts as over, even if all measurements together are below. */
struct verify_failures {
	size_t index[ROUNDS_MAX];
	int n;
};

static int verify_has_failed(const struct verify_failures *f, size_t index)
{
	for (int i = 0; i < f->n; i++)
		if (f->index[i] == index)
			return 1;
	return 0;
}

/* Return: the best candidate that is worth measuring, if up to @more > 0 modes may still be
 * measured, else the best measured candidate; NULL: there is neither. Candidates in @f are left
 * out. */
static const struct jetwatt_plan_choice *verify_pick(const struct jetwatt_tuner *l,
						     const struct jetwatt_plan_choice *at, int n,
						     unsigned int more,
						     const struct verify_failures *f)
{
	const struct jetwatt_plan_choice *known = NULL;

	for (int i = 0; i < n && !known; i++)
		if (!verify_has_failed(f, at[i].index) &&
		    jetwatt_tuner_row(l, &l->mode[at[i].index]))
			known = &at[i];
	for (int i = 0; more && i < n && &at[i] != known; i++)
		if (!verify_has_failed(f, at[i].index) &&
		    (!known || at[i].p.time_ms < WORTH_IT * known->p.time_ms))
			return &at[i];
	return known;
}

/* Set @c to the fastest measured mode within the budget that is not in @f. Return: 1; 0: none. */
static int verify_best_measured(const struct jetwatt_tuner *l, const struct verify_failures *f,
				struct jetwatt_plan_choice *c)
{
	double best = INFINITY;
	struct jetwatt_row mean;

	for (size_t i = 0; i < l->nr_modes; i++) {
		if (!jetwatt_plan_reading(&l->mode[i], l->row, l->nr_rows, &mean) ||
		    mean.power_w > l->budget_w || mean.time_ms >= best || verify_has_failed(f, i))
			continue;
		best = mean.time_ms;
		c->index = i;
		c->measured = 1;
		c->p = l->prediction[i];
	}
	return isfinite(best);
}

/* Apply a candidate and measure it for longer. Return: 0; 1 if the measured power is over the
 * budget; negative exit code. */
static int verify_measure(struct jetwatt_tuner *l, const struct jetwatt_plan_choice *at,
			  struct jetwatt_verify *c)
{
	int err;

	c->index = at->index;
	c->predicted = l->prediction[at->index];
	err = jetwatt_tuner_measure(l, at->index, "proof", &jetwatt_measure_verify);
	if (err)
		return -err;
	c->proof = l->row[l->nr_rows - 1];
	c->proven = c->proof.power_w <= l->budget_w;
	if (!c->proven && !l->silent)
		printf("    over %g W when measured for longer: next candidate\n", l->budget_w);
	return !c->proven;
}

/* Return: 1 if @next is not faster than the verified mode, else 0. */
static int verify_is_no_better(const struct jetwatt_tuner *l,
			       const struct jetwatt_plan_choice *next,
			       const struct jetwatt_verify *c)
{
	const struct jetwatt_row *row = jetwatt_tuner_row(l, &l->mode[next->index]);
	double time = row ? row->time_ms : next->p.time_ms;

	return next->index == c->index || time > DISTINCT * c->proof.time_ms;
}

int jetwatt_verify_best(struct jetwatt_tuner *l, unsigned int more, struct jetwatt_verify *c)
{
	struct jetwatt_plan_choice at[JETWATT_VERIFY_CANDIDATES], fallback;
	const struct jetwatt_plan_choice *next;
	struct verify_failures verify_failures = { .n = 0 };
	struct jetwatt_verify try;
	int ret, n;

	memset(c, 0, sizeof(*c));
	for (int round = 0; round < ROUNDS_MAX; round++) {
		unsigned int had = l->measured;

		n = jetwatt_verify_rank(l, at);
		if (n < 0)
			return JETWATT_EXIT_FAILED;
		next = verify_pick(l, at, n, more, &verify_failures);
		if (!next && verify_best_measured(l, &verify_failures, &fallback))
			next = &fallback;
		/* The closest mode is only predicted, so measure it: the measured power may be
		 * within the budget. */
		if (!next && more && !jetwatt_tuner_row(l, &l->mode[at[0].index]))
			next = &at[0];
		if (!next || (c->proven && verify_is_no_better(l, next, c))) {
			ret = more ? jetwatt_tuner_one(l, jetwatt_tuner_known(l) + more) : -ENODATA;
			if (ret > 0)
				return ret;
			if (ret && !c->proven)
				return jetwatt_verify_infeasible(l, &at[0]);
			if (ret)
				break;
			/* A repeated measurement does not count as a new mode. */
			more -= l->measured > had;
			continue;
		}
		memset(&try, 0, sizeof(try));
		ret = verify_measure(l, next, &try);
		if (ret < 0)
			return -ret;
		if (ret)
			verify_failures.index[verify_failures.n++] = next->index;
		/* A mode that was predicted to be faster may turn out slower than the verified
		 * mode. */
		if (!ret && (!c->proven || try.proof.time_ms < c->proof.time_ms))
			*c = try;
		more -= more && l->measured > had;
	}
	if (c->proven)
		return jetwatt_mode_guard_apply(l->guard, &l->mode[c->index]);
	return jetwatt_error_report(
		JETWATT_EXIT_FAILED, "power keeps crossing the budget: the job is not steady",
		"use a lower --power or a steadier job", "no mode could be verified");
}
