// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches the best mode for a language model's server. First the plan chooses modes to measure:
 * for least time per token if the objective is time under a power budget, otherwise to learn the
 * whole grid. Then the best candidate is measured, or verified if it was measured before, until the
 * best candidate is a verified one, or VERIFIED_MAX modes are verified.
 */
#include "tune/token_search.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/terminal.h"
#include "util/clock.h"
#include "util/error.h"

/* With the objective time, a power budget and no limit of a latency: number of modes reserved for
 * the best candidates, if more than RESERVE + 3 modes may be measured. In other queries half of the
 * modes are reserved. */
#define RESERVE		2
/* Largest number of verified modes. */
#define VERIFIED_MAX	16
/* Largest number of ranked candidates. */
#define RANKED_MAX	512
/* With the objective time, a mode with at most this multiple of the best candidate's time per token is
 * preferred if it needs less energy: many modes differ only in knobs that hardly change the time. */
#define AS_FAST		1.01

/**
 * struct choice - the ranking
 * @index: candidates that are within the limits of the latencies
 * @mode, @p: their modes and predictions
 * @latency: predictions of a latency
 * @at: the best candidates
 * @near: if no candidate is within the limits: the candidate with the least latency among those
 *	that only the last limit has left out, @near_ms: that latency; @near_first: 1: it is the time
 *	to first token
 */
struct choice {
	size_t *index, nr, near;
	double near_ms;
	int near_first;
	struct jetwatt_mode *mode;
	struct jetwatt_prediction *p, *latency;
	struct jetwatt_plan_choice at[RANKED_MAX];
};

static int choice_alloc(struct choice *k, size_t n)
{
	*k = (struct choice){ .index = calloc(n, sizeof(*k->index)), .mode = calloc(n, sizeof(*k->mode)),
			      .p = calloc(n, sizeof(*k->p)), .latency = calloc(n, sizeof(*k->latency)) };
	return k->index && k->mode && k->p && k->latency ? 0 : jetwatt_tuner_no_memory();
}

static void choice_free(struct choice *k)
{
	free(k->index);
	free(k->mode);
	free(k->p);
	free(k->latency);
}

/* Leave out the candidates whose latency is above the limit: the time to first token if @first is 1,
 * the time per output token if it is 0. @z: standard deviations that are added to a prediction.
 * Return: 0, exit code. */
static int limit_latency(const struct jetwatt_tokens *t, struct jetwatt_tuner *l, int first, double limit_ms,
			 double z, struct choice *k)
{
	struct jetwatt_row *row = calloc(l->nr_rows, sizeof(*row));
	struct jetwatt_token_figures f;
	struct jetwatt_fitted *m = NULL;
	size_t n = 0;
	int err = row ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->nr_rows && !err; i++) {
		f = (struct jetwatt_token_figures){ .row = l->row[i] };
		jetwatt_token_figures_of(&t->cost[i], &t->mix, &f);
		row[i] = f.row;
		row[i].time_ms = first ? f.ttft_ms : f.tpot_ms;
		row[i].time_sd = first ? f.ttft_sd : f.tpot_sd;
	}
	if (!err)
		err = jetwatt_estimator_fit(&m, &l->by, row, l->nr_rows, 0, JETWATT_TUNER_SEED);
	if (!err)
		err = jetwatt_fitted_predict(m, l->mode, NULL, l->nr_modes, k->latency);
	for (size_t i = 0; i < k->nr && !err; i++) {
		const struct jetwatt_prediction *p = &k->latency[k->index[i]];
		double ms = p->time_ms * exp(z * p->time_sd);

		if (jetwatt_token_reading(t, l, &l->mode[k->index[i]], &f))
			ms = first ? f.ttft_ms : f.tpot_ms;
		if (!i || ms < k->near_ms) {
			k->near = k->index[i];
			k->near_ms = ms;
			k->near_first = first;
		}
		if (ms <= limit_ms)
			k->index[n++] = k->index[i];
	}
	k->nr = err ? k->nr : n;
	jetwatt_fitted_free(m);
	free(row);
	return err ? jetwatt_tuner_failed(l, err, "cannot predict the latency") : 0;
}

/* Find the candidates that are within the limits of the latencies. @z: as for limit_latency(). Return: 0,
 * exit code. */
static int find_candidates(const struct jetwatt_tokens *t, struct jetwatt_tuner *l, double z, struct choice *k)
{
	int err = 0;

	k->nr = l->nr_modes;
	for (size_t i = 0; i < k->nr; i++)
		k->index[i] = i;
	/* A server without prefills has no time to first token. */
	if (t->ttft_ms > 0 && t->mix.per_prompt > 0)
		err = limit_latency(t, l, 1, t->ttft_ms, z, k);
	if (!err && t->tpot_ms > 0)
		err = limit_latency(t, l, 0, t->tpot_ms, z, k);
	return err;
}

/* Leave out the candidates that are not measured, unless none is measured. */
static void leave_measured(const struct jetwatt_tuner *l, struct choice *k)
{
	struct jetwatt_row row;
	size_t n = 0;

	for (size_t i = 0; i < k->nr; i++)
		if (jetwatt_plan_reading(&l->mode[k->index[i]], l->row, l->nr_rows, &row))
			k->index[n++] = k->index[i];
	k->nr = n ? n : k->nr;
}

/* Rank the candidates. @may_measure: 0: only the measured ones, because more than RANKED_MAX others
 * may have better predictions. @k: receives the best ones; @n: their number. Return: 0, exit code. */
static int rank(const struct jetwatt_tokens *t, struct jetwatt_tuner *l, int may_measure, struct choice *k, int *n)
{
	int err = jetwatt_tuner_predict(l);

	if (!err)
		err = find_candidates(t, l, jetwatt_plan_quantile(l->risk), k);
	/* If no mode meets the limits at this risk, a measurement may show that one does. */
	if (!err && !k->nr)
		err = find_candidates(t, l, 0, k);
	*n = 0;
	if (err || !k->nr)
		return err;
	if (!may_measure)
		leave_measured(l, k);
	for (size_t i = 0; i < k->nr; i++) {
		k->mode[i] = l->mode[k->index[i]];
		k->p[i] = l->prediction[k->index[i]];
	}
	*n = jetwatt_plan_candidates(k->mode, k->p, k->nr, l->row, l->nr_rows, &t->q, k->at,
				     RANKED_MAX);
	for (int i = 0; i < (*n > 0 ? *n : 1); i++)
		k->at[i].index = k->index[k->at[i].index];
	return *n < 0 ? jetwatt_tuner_failed(l, *n, "cannot rank the modes") : 0;
}

static int explain_infeasible(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l, const struct choice *k)
{
	const struct jetwatt_plan_choice *near = &k->at[0];
	char what[192], name[96] = "";
	struct jetwatt_row row;

	if (!k->nr) {
		jetwatt_board_mode_format(&l->mode[k->near], name, sizeof(name));
		snprintf(what, sizeof(what), "closest: %s with %.2f ms %s", name, k->near_ms,
			 k->near_first ? "to the first token" : "per output token");
	} else {
		if (!jetwatt_plan_reading(&l->mode[near->index], l->row, l->nr_rows, &row))
			row = (struct jetwatt_row){ .time_ms = near->p.time_ms, .power_w = near->p.power_w };
		jetwatt_board_mode_format(&l->mode[near->index], name, sizeof(name));
		snprintf(what, sizeof(what), "closest: %s with %.2f ms/%s at %.2f W", name, row.time_ms,
			 t->units.unit[0].name, row.power_w);
	}
	return jetwatt_error_report(JETWATT_EXIT_INFEASIBLE, what, "relax a limit", "no mode meets all limits");
}

/* Measure the modes that the plan chooses, at most @most different ones. Return: 0, exit code. */
static int learn(struct jetwatt_tokens *t, struct jetwatt_tuner *l, unsigned int most)
{
	double budget_w = t->q.minimise == JETWATT_MIN_TIME ? t->q.power_w : 0;
	struct jetwatt_plan_next next;

	for (;;) {
		int err = jetwatt_plan_next(l->mode, l->nr_modes, l->row, l->nr_rows, &l->by, budget_w, most,
					    JETWATT_TUNER_SEED, &next);

		if (err)
			return err == 1 ? 0 : jetwatt_tuner_failed(l, err, "cannot choose the next mode");
		err = jetwatt_token_measure(t, l, next.index, next.why, 0);
		if (err)
			return err;
	}
}

/* Set @ms and @mj to time and energy per token of a candidate, measured or else predicted. */
static void candidate_figures(const struct jetwatt_tuner *l, const struct jetwatt_plan_choice *at, double *ms,
			      double *mj)
{
	struct jetwatt_row row = { .time_ms = at->p.time_ms, .power_w = at->p.power_w };

	jetwatt_plan_reading(&l->mode[at->index], l->row, l->nr_rows, &row);
	*ms = row.time_ms;
	*mj = row.time_ms * row.power_w;
}

/* Return: the best candidate; if no mode may be measured any more, the best measured candidate; NULL:
 * there is none. */
static const struct jetwatt_plan_choice *best_candidate(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
							const struct choice *k, int n, int may_measure)
{
	const struct jetwatt_plan_choice *best = NULL;
	double limit_ms = 0, best_mj = 0, ms, mj;

	for (int i = 0; i < n; i++) {
		if (!may_measure && !k->at[i].measured)
			continue;
		candidate_figures(l, &k->at[i], &ms, &mj);
		if (best && (ms > limit_ms || mj >= best_mj))
			continue;
		limit_ms = best ? limit_ms : t->q.minimise == JETWATT_MIN_TIME ? AS_FAST * ms : 0;
		best_mj = mj;
		best = &k->at[i];
	}
	return best;
}

/* Measure the best candidates, and verify the best one of the measured modes. Return: 0, exit code. */
static int verify(struct jetwatt_tokens *t, struct jetwatt_tuner *l, unsigned int most, struct choice *k,
		  struct jetwatt_verify *c)
{
	struct {
		size_t index;
		struct jetwatt_prediction p;
	} verified[VERIFIED_MAX], last = { .index = SIZE_MAX };
	int nr = 0, n, at, err;

	for (;;) {
		const struct jetwatt_plan_choice *best;
		/* Without further verifications, the answer is one of the measured modes. */
		int may_measure = l->measured < most && nr < VERIFIED_MAX;

		err = rank(t, l, may_measure, k, &n);
		if (err)
			return err;
		best = best_candidate(t, l, k, n, may_measure);
		if (!best && k->nr && may_measure && !k->at[0].measured)
			best = &k->at[0];
		if (!best)
			return explain_infeasible(t, l, k);
		for (at = 0; at < nr && verified[at].index != best->index;)
			at++;
		if (at < nr || nr == VERIFIED_MAX) {
			c->index = best->index;
			c->predicted = at < nr ? verified[at].p : best->p;
			c->proven = 1;
			jetwatt_plan_reading(&l->mode[best->index], l->row, l->nr_rows, &c->proof);
			if (t->ttft_ms > 0 && !(t->mix.per_prompt > 0))
				jetwatt_notice("--ttft was not checked: no prefill step was found");
			return jetwatt_mode_guard_apply(l->guard, &l->mode[best->index]);
		}
		/* The prediction from other modes is more informative than that from the mode itself. */
		if (!best->measured || best->index != last.index) {
			last.index = best->index;
			last.p = best->p;
		}
		if (best->measured)
			verified[nr++] = last;
		err = jetwatt_token_measure(t, l, best->index, best->measured ? "proof" : "best candidate",
					    best->measured);
		if (err)
			return err;
	}
}

int jetwatt_token_search(struct jetwatt_tokens *t, struct jetwatt_tuner *l, unsigned int most,
			 struct jetwatt_verify *c)
{
	int under_budget = t->q.minimise == JETWATT_MIN_TIME && t->q.power_w > 0 &&
			   !(t->ttft_ms > 0 || t->tpot_ms > 0);
	unsigned int first = under_budget ? (most > 3 + RESERVE ? most - RESERVE : most) : (most + 1) / 2;
	struct choice k;
	int err = choice_alloc(&k, l->nr_modes);

	memset(c, 0, sizeof(*c));
	l->max_measured = most;
	l->begun_ns = jetwatt_clock_ns();
	if (!err) {
		err = jetwatt_unit_reader_start(&t->reader, &t->units);
		if (err)
			err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
						   "--per: cannot read the counter");
	}
	if (!l->silent)
		jetwatt_terminal_measured_heading("token");
	if (!err)
		err = learn(t, l, first);
	if (!err)
		err = verify(t, l, most, &k, c);
	choice_free(&k);
	return err;
}
