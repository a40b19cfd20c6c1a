// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval optimize: compare the mode that a method chooses under each budget with the best
 * mode of the corpus. With designed sampling, each budget is a separate search, done and counted as
 * jetwatt optimize does; random modes are drawn once per repeat for all budgets. Terms of
 * PowerTrain (arXiv 2407.13944), section 5: "penalty" is the time of a minibatch in excess of the
 * optimum's time, in percent of that time, at least 0, for answers within the budget. "area" is the
 * mean over all answers of the power in excess of the budget, in W.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/preset.h"
#include "cmd/eval/eval.h"
#include "model/outlier.h"
#include "out/json.h"
#include "plan/plan.h"
#include "util/error.h"

/**
 * struct repeat - state of one repeat
 * @at: @seen rows given to the method, then @more rows measured to verify one budget's answer
 * @all: predictions of all rows from the first @seen; @now: predictions from @seen and @more rows
 * @known: measurements of the rows @at, @rows entries; a row measured twice appears twice
 */
struct repeat {
	size_t *at, seen, more, rows;
	struct jetwatt_prediction *all, *now;
	struct jetwatt_row *known;
	struct jetwatt_plan_choice *choice;
};

/* Results over repeats and budgets. @clean: as @penalty, but the optimum is never an outlier. */
struct choice_tally {
	double *penalty, *clean;
	size_t penalties, cleans, answers, over, over_1w, unsolved, queries;
	double area, profiled;
};

static int was_measured(const struct repeat *q, size_t row)
{
	for (size_t i = 0; i < q->seen + q->more; i++)
		if (q->at[i] == row)
			return 1;
	return 0;
}

/* Return: index of the fastest measured row within the budget; -1 if there is no such row. */
static long best_measured(const struct jetwatt_eval *e, const struct repeat *q, double budget)
{
	long best = -1;

	for (size_t i = 0; i < q->seen + q->more; i++) {
		const struct jetwatt_row *r = &e->row[q->at[i]];

		if (r->power_w <= budget && (best < 0 || r->time_ms < e->row[best].time_ms))
			best = q->at[i];
	}
	return best;
}

static long best_of_all(const struct jetwatt_eval *e, const unsigned char *outlier, double budget)
{
	long best = -1;

	for (size_t i = 0; i < e->n; i++)
		if (e->row[i].power_w <= budget && !(outlier && outlier[i]) &&
		    (best < 0 || e->row[i].time_ms < e->row[best].time_ms))
			best = i;
	return best;
}

static long highest_mode(const struct jetwatt_eval *e)
{
	double most = -1;
	long best = -1;

	for (size_t i = 0; i < e->n; i++) {
		const struct jetwatt_mode *m = &e->mode[i];
		double d = 0;

		jetwatt_each_knob(k)
			if (jetwatt_mode_get(&e->highest, k))
				d += (double)jetwatt_mode_get(m, k) / jetwatt_mode_get(&e->highest, k);
		if (d > most) {
			most = d;
			best = i;
		}
	}
	return best;
}

static int rank_candidates(const struct jetwatt_eval *e, struct repeat *q,
			   const struct jetwatt_prediction *p, double budget)
{
	return jetwatt_plan_rank(e->mode, p, e->n, q->known, q->rows, budget, e->risk, q->choice,
				 e->n);
}

/* Return: whether each budget is answered by a separate search. */
static int searches_per_budget(const struct jetwatt_eval *e)
{
	return e->designed && !(e->method->kind & JETWATT_PREDICTOR_OWN_MODES);
}

/* Return: index of the row to measure next if no candidate is left; -1: none. */
static long next_unmeasured(const struct jetwatt_eval *e, size_t r, const struct repeat *q,
			    double budget)
{
	struct jetwatt_plan_next next;

	if (!searches_per_budget(e) ||
	    jetwatt_plan_next(e->mode, e->n, q->known, q->rows, &e->guide, budget,
			      q->seen + q->more + 1, e->seed + r, &next))
		return -1;
	return was_measured(q, next.index) ? -1 : (long)next.index;
}

/* Measure up to e->verify candidates, with a new fit in between. @answer: as best_measured(). */
static int choose_verified(const struct jetwatt_eval *e, size_t r, struct repeat *q, double budget,
			   long *answer)
{
	const struct jetwatt_prediction *p = q->all;

	for (int k = 0; k < e->verify && q->seen + q->more < e->n; k++) {
		void *model = NULL;
		long best = best_measured(e, q, budget), next = -1;
		int found = rank_candidates(e, q, p, budget), err;

		if (found < 0)
			return found;
		/* If no mode is predicted within the budget, try the closest mode. */
		for (int i = 0; i < (found ? found : 1) && next < 0; i++) {
			size_t c = q->choice[i].index;

			if (!was_measured(q, c) &&
			    (best < 0 || q->choice[i].p.time_ms < e->row[best].time_ms))
				next = c;
		}
		if (next < 0)
			next = next_unmeasured(e, r, q, budget);
		if (next < 0)
			break;
		q->known[q->rows++] = e->row[next];
		q->at[q->seen + q->more++] = next;
		if (k + 1 == e->verify)
			break;
		err = jetwatt_eval_fit(e, r, q->at, q->seen + q->more, &model, NULL);
		if (!err)
			err = jetwatt_eval_all(e, model, q->now, NULL);
		if (model)
			e->method->free(model);
		if (err)
			return err;
		p = q->now;
	}
	*answer = best_measured(e, q, budget);
	return 0;
}

static int choose_for_budget(const struct jetwatt_eval *e, size_t r, struct repeat *q,
			     double budget, long *answer)
{
	int found;

	*answer = -1;
	if (e->method->kind & JETWATT_PREDICTOR_FIXED) {
		*answer = highest_mode(e);
		return 0;
	}
	if (e->method->kind & JETWATT_PREDICTOR_OBSERVED) {
		*answer = best_measured(e, q, budget);
		return 0;
	}
	if (e->verify)
		return choose_verified(e, r, q, budget, answer);
	found = rank_candidates(e, q, q->all, budget);
	if (found > 0)
		*answer = q->choice[0].index;
	return found < 0 ? found : 0;
}

static void tally_add(const struct jetwatt_eval *e, const struct repeat *q, long answer,
		      double budget, const unsigned char *outlier, struct choice_tally *t)
{
	long raw = best_of_all(e, NULL, budget), clean = best_of_all(e, outlier, budget);
	const struct jetwatt_row *a = &e->row[answer < 0 ? 0 : answer];

	t->queries++;
	t->profiled += q->seen + q->more;
	if (answer < 0) {
		t->unsolved++;
		return;
	}
	t->answers++;
	if (a->power_w > budget) {
		t->over++;
		t->over_1w += a->power_w > budget + 1;
		t->area += a->power_w - budget;
		return;
	}
	t->penalty[t->penalties++] = 100 * fmax(a->time_ms / e->row[raw].time_ms - 1, 0);
	if (clean >= 0)
		t->clean[t->cleans++] = 100 * fmax(a->time_ms / e->row[clean].time_ms - 1, 0);
}

/* Measure the modes that jetwatt optimize would measure for this budget, until the plan ends or
 * there are 2 * e->samples rows. Here, a repeated measurement gives the same value. */
static int search_budget(const struct jetwatt_eval *e, size_t r, struct repeat *q, double budget)
{
	int err = 0;

	q->seen = q->rows = 0;
	while (!err && q->rows < 2 * e->samples) {
		struct jetwatt_plan_next next;

		err = jetwatt_plan_next(e->mode, e->n, q->known, q->rows, &e->guide,
					budget, e->samples, e->seed + r, &next);
		if (err)
			break;
		if (!was_measured(q, next.index))
			q->at[q->seen++] = next.index;
		q->known[q->rows++] = e->row[next.index];
	}
	return err < 0 ? err : 0;
}

/* Drop the rows measured for verification; the rows drawn for all budgets remain. */
static void reset_samples(const struct jetwatt_eval *e, struct repeat *q)
{
	q->seen = q->rows = e->samples;
	for (size_t i = 0; i < q->seen; i++)
		q->known[i] = e->row[q->at[i]];
}

static int fit_repeat(const struct jetwatt_eval *e, size_t r, struct repeat *q)
{
	void *model = NULL;
	int err;

	if (!e->method->fit)
		return 0;
	err = jetwatt_eval_fit(e, r, q->at, q->seen, &model, NULL);
	if (!err)
		err = jetwatt_eval_all(e, model, q->all, NULL);
	if (model)
		e->method->free(model);
	return err;
}

static int optimize_repeat(const struct jetwatt_eval *e, size_t r, size_t budgets, struct repeat *q,
			   const unsigned char *outlier, struct choice_tally *t)
{
	int each = searches_per_budget(e);
	long answer;
	int err = 0;

	q->seen = e->samples;
	if (!each && !(e->method->kind & JETWATT_PREDICTOR_FIXED))
		err = jetwatt_eval_sample(e, r, q->at);
	if (!each && !err)
		err = fit_repeat(e, r, q);
	for (size_t b = 0; b < budgets && !err; b++) {
		double budget = e->lo + b * e->step;

		/* Skip budgets that no mode of the corpus meets. */
		if (best_of_all(e, NULL, budget) < 0)
			continue;
		q->more = 0;
		if (each)
			err = search_budget(e, r, q, budget);
		else
			reset_samples(e, q);
		if (each && !err)
			err = fit_repeat(e, r, q);
		if (!err)
			err = choose_for_budget(e, r, q, budget, &answer);
		if (!err)
			tally_add(e, q, answer, budget, outlier, t);
	}
	return err;
}

/* Evaluate the vendor's presets instead of a method: choose the fastest preset measured within the
 * budget. Return: 0; exit code. */
static int tally_presets(const struct jetwatt_eval *e, size_t budgets, struct repeat *q,
			 const unsigned char *outlier, struct choice_tally *t)
{
	struct jetwatt_error_text err = { "", "", "" };
	struct jetwatt_presets *all;

	if (jetwatt_presets_read(&all, NULL, e->presets, &err))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, err.why, err.fix, "%s", err.what);
	q->seen = q->more = 0;
	for (size_t i = 0; i < all->nr && q->seen < e->n; i++) {
		struct jetwatt_mode m;

		jetwatt_preset_mode_of(e->mode, e->n, &all->preset[i], &m);
		/* Skip presets with a power-gated GPU (mask): the corpus has no such modes. */
		for (size_t k = 0; k < e->n && !all->preset[i].mask; k++)
			if (!memcmp(&e->mode[k], &m, sizeof(m))) {
				q->at[q->seen++] = k;
				break;
			}
	}
	jetwatt_presets_free(all);
	if (!q->seen)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "no preset is a mode of the corpus, or all presets power-gate parts of the GPU",
					 "leave --presets out", "no preset of %s can be compared",
					 e->presets);
	for (size_t b = 0; b < budgets; b++) {
		double budget = e->lo + b * e->step;

		if (best_of_all(e, NULL, budget) >= 0)
			tally_add(e, q, best_measured(e, q, budget), budget, outlier, t);
	}
	return 0;
}

static double tally_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : NAN;
}

static double percent_of(size_t part, size_t of)
{
	return of ? 100.0 * part / of : NAN;
}

static void penalty_json(struct jetwatt_json *j, const char *key, double *v, size_t n)
{
	jetwatt_json_object(j, key);
	jetwatt_json_real(j, "median", jetwatt_eval_quantile(v, n, 0.5), 5);
	jetwatt_json_real(j, "mean", tally_mean(v, n), 5);
	jetwatt_json_end(j);
}

static void optimize_print_json(const struct jetwatt_eval *e, struct choice_tally *t,
				struct choice_tally *presets)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "method", e->method->name);
	jetwatt_json_string(&j, "sampling", jetwatt_eval_sampling(e));
	jetwatt_json_uint(&j, "samples", e->samples);
	jetwatt_json_int(&j, "verify", e->verify);
	jetwatt_json_real(&j, "risk", e->risk, 6);
	jetwatt_json_uint(&j, "seed", e->seed);
	penalty_json(&j, "penalty_pct", t->penalty, t->penalties);
	penalty_json(&j, "penalty_clean_pct", t->clean, t->cleans);
	jetwatt_json_real(&j, "area_w", t->answers ? t->area / t->answers : NAN, 5);
	jetwatt_json_real(&j, "above_limit_pct", percent_of(t->over, t->answers), 5);
	jetwatt_json_real(&j, "above_limit_1w_pct", percent_of(t->over_1w, t->answers), 5);
	jetwatt_json_uint(&j, "unsolved", t->unsolved);
	jetwatt_json_real(&j, "modes_profiled", t->profiled / t->queries, 5);
	if (presets->queries) {
		jetwatt_json_object(&j, "presets");
		penalty_json(&j, "penalty_pct", presets->penalty, presets->penalties);
		penalty_json(&j, "penalty_clean_pct", presets->clean, presets->cleans);
		jetwatt_json_uint(&j, "unsolved", presets->unsolved);
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
}

static void optimize_print(const struct jetwatt_eval *e, struct choice_tally *t,
			   struct choice_tally *presets)
{
	printf("%s: fitted to %zu of %zu modes (%s), %zu repeats; %zu queries, %g to %g W\n",
	       e->method->name, e->samples, e->n, jetwatt_eval_sampling(e), e->repeats, t->queries,
	       e->lo, e->hi);
	printf("slower than the optimum        median %6.2f %%, mean %6.2f %%\n",
	       jetwatt_eval_quantile(t->penalty, t->penalties, 0.5), tally_mean(t->penalty, t->penalties));
	printf("slower, outliers excluded      median %6.2f %%, mean %6.2f %%\n",
	       jetwatt_eval_quantile(t->clean, t->cleans, 0.5), tally_mean(t->clean, t->cleans));
	printf("over the budget                %.1f %%, by more than 1 W %.1f %%, %.3f W on average\n",
	       percent_of(t->over, t->answers), percent_of(t->over_1w, t->answers),
	       t->answers ? t->area / t->answers : 0);
	printf("queries without an answer      %zu\n", t->unsolved);
	printf("modes measured per query       %.1f\n", t->profiled / t->queries);
	if (presets->queries)
		printf("the best preset instead        median %6.2f %%, mean %6.2f %%, none within %zu of %zu\n",
		       jetwatt_eval_quantile(presets->penalty, presets->penalties, 0.5),
		       tally_mean(presets->penalty, presets->penalties), presets->unsolved,
		       presets->queries);
}

int jetwatt_eval_optimize(struct jetwatt_eval *e)
{
	size_t budgets = (e->hi - e->lo) / e->step + 1 + 1e-9, n = e->n, all = budgets * e->repeats;
	struct repeat q = { .at = malloc(n * sizeof(*q.at)), .all = malloc(n * sizeof(*q.all)),
			   .now = malloc(n * sizeof(*q.now)),
			   .known = malloc(3 * n * sizeof(*q.known)),
			   .choice = malloc(n * sizeof(*q.choice)) };
	struct choice_tally t = { .penalty = malloc(all * sizeof(double)),
			   .clean = malloc(all * sizeof(double)) };
	struct choice_tally presets = { .penalty = malloc(budgets * sizeof(double)),
				 .clean = malloc(budgets * sizeof(double)) };
	unsigned char *outlier = malloc(n);
	int err = -ENOMEM, code = 0;

	if (!q.at || !q.all || !q.now || !q.known || !q.choice || !t.penalty || !t.clean ||
	    !outlier || !presets.penalty || !presets.clean || jetwatt_outlier_mark(e->row, n, outlier) < 0)
		goto out;
	e->guide.particles = 1;	/* as in jetwatt optimize (tune/tuner.c) */
	/* Under a budget, designed search uses no random numbers, so one repeat is enough. */
	if (searches_per_budget(e) && e->method->kind & JETWATT_PREDICTOR_INTERVAL)
		e->repeats = 1;
	err = 0;
	for (size_t r = 0; r < e->repeats && !err; r++) {
		jetwatt_eval_progress(e, r);
		err = optimize_repeat(e, r, budgets, &q, outlier, &t);
	}
	jetwatt_eval_progress(e, e->repeats);
	if (!err && e->presets)
		code = tally_presets(e, budgets, &q, outlier, &presets);
out:
	if (code)
		;	/* the error was printed */
	else if (err)
		code = jetwatt_eval_failed(e, err);
	else if (!t.queries)
		code = jetwatt_error_report(JETWATT_EXIT_INFEASIBLE, "the lowest power in the file is above all budgets",
					 "give higher --budgets", "no mode of %s meets a budget", e->path);
	else if (e->json)
		optimize_print_json(e, &t, &presets);
	else
		optimize_print(e, &t, &presets);
	free(q.at);
	free(q.all);
	free(q.now);
	free(q.known);
	free(q.choice);
	free(t.penalty);
	free(t.clean);
	free(presets.penalty);
	free(presets.clean);
	free(outlier);
	return code;
}
