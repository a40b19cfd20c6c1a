// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of a server of a language model: computes time and power of every row from the costs of its
 * prefill and decode steps, for the mix of steps that the server has, and computes the rows again when
 * the mix moves.
 */
#include "daemon/learner_inside.h"

#include <string.h>

/* The present mix is that of the latest windows which together last at least this time: a server with one
 * request at a time gets about a hundred requests in it, with which the share of prefill in the time is
 * known to about 0.03. */
#define RECENT_NS	300000000000ull
/* The mix has moved if the share of prefill, decode or gaps in the time has changed by more than this. If
 * prefill and decode take 1 to 1.3 times as long in one mode as in another, a smaller change moves the
 * ratio of the times per decode step in both by less than 0.1 * ln(1.3) = 2.6 %. */
#define MOVED		0.1
/* A reading that took this many times as long as the reading of the row replaces it. */
#define LONGER		1.4

/* Compute the mix of @n windows per decode step. Return: 0; -ENODATA: there is no decode step. */
static int mix_of(const struct jetwatt_step_costs *window, size_t n, struct jetwatt_token_mix *mix)
{
	double steps = 0;

	for (size_t i = 0; i < n; i++)
		steps += window[i].kind[JETWATT_DECODE].steps;
	return jetwatt_token_mix_of(window, n, steps, mix);
}

static uint64_t span_ns(const struct jetwattd_steps *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->windows; i++)
		ns += s->window[i].span_ns;
	return ns;
}

/* Add a window, and drop the oldest ones that are not needed for RECENT_NS. */
static void add_window(struct jetwattd_steps *s, const struct jetwatt_step_costs *c)
{
	size_t old = s->windows == JETWATTD_WINDOWS;
	uint64_t ns = span_ns(s) + c->span_ns - (old ? s->window[0].span_ns : 0);

	while (old < s->windows && ns - s->window[old].span_ns >= RECENT_NS)
		ns -= s->window[old++].span_ns;
	s->windows -= old;
	memmove(s->window, s->window + old, s->windows * sizeof(*s->window));
	s->window[s->windows++] = *c;
}

/* Return: 1 if the time of steps with costs @c is divided among prefill, decode and gaps in the two mixes
 * in shares that differ by more than MOVED. */
static int has_moved(const struct jetwatt_step_costs *c, const struct jetwatt_token_mix *was,
		     const struct jetwatt_token_mix *is)
{
	const struct jetwatt_token_mix *mix[] = { was, is };
	double decode[2], gap[2];

	for (int i = 0; i < 2; i++) {
		struct jetwatt_token_figures f = { .tpot_ms = 0 };

		jetwatt_token_figures_of(c, mix[i], &f);
		decode[i] = mix[i]->work[JETWATT_DECODE] * c->kind[JETWATT_DECODE].ms / f.row.time_ms;
		gap[i] = mix[i]->gap_ms / f.row.time_ms;
	}
	return fabs(decode[1] - decode[0]) > MOVED || fabs(gap[1] - gap[0]) > MOVED ||
	       fabs(decode[1] + gap[1] - decode[0] - gap[0]) > MOVED;
}

/* Set time and power of a row, for a mix. */
static void compute_row(const struct jetwatt_step_costs *c, const struct jetwatt_token_mix *mix,
			struct jetwatt_row *row)
{
	struct jetwatt_token_figures f = { .row = *row };

	jetwatt_token_figures_of(c, mix, &f);
	*row = f.row;
}

/* Find in which modes the server misses a latency limit, for the mix of the rows. */
static void find_misses(struct jetwattd_learner *l)
{
	const struct jetwattd_terms *t = &l->terms;
	const struct jetwatt_tuner *k = &l->known;

	jetwattd_learner_forget_misses(l);
	for (size_t i = 0; i < k->nr_rows; i++) {
		struct jetwatt_token_figures f = { .row = k->row[i] };

		if (!l->steps.cost[i].kind[JETWATT_DECODE].used || jetwatt_tuner_row(k, &k->row[i].mode) != &k->row[i])
			continue;
		jetwatt_token_figures_of(&l->steps.cost[i], &l->steps.mix, &f);
		if ((t->ttft_ms > 0 && f.ttft_ms > t->ttft_ms) || (t->tpot_ms > 0 && f.tpot_ms > t->tpot_ms))
			jetwattd_learner_deadline_miss(l, &k->row[i].mode, 0);
	}
}

void jetwattd_learner_figures(const struct jetwattd_learner *l, const struct jetwatt_step_costs *steps,
			      struct jetwatt_row *row)
{
	struct jetwatt_token_mix own;

	if (l->steps.windows)
		compute_row(steps, &l->steps.mix, row);
	else if (!mix_of(steps, 1, &own))
		compute_row(steps, &own, row);
}

/* Add a window, and compute the rows again if the mix has moved or is not settled yet. The mix stays the
 * same during a check for a drift, which compares a new reading with an earlier row. */
static void update_mix(struct jetwattd_learner *l, const struct jetwatt_step_costs *steps)
{
	struct jetwattd_steps *s = &l->steps;
	const struct jetwatt_row *best;
	struct jetwatt_token_mix mix;
	int first = !s->windows;

	add_window(s, steps);
	if ((l->check.state && !first) || mix_of(s->window, s->windows, &mix))
		return;
	if (first)
		s->settled = 0;
	if (s->settled && !has_moved(steps, &s->mix, &mix))
		return;
	if (s->settled) {
		jetwattd_news_add(l, &(struct jetwattd_news){ .what = JETWATTD_MIX_MOVED });
		l->again_s = 0;
		l->small = 0;
	}
	s->mix = mix;
	s->settled = span_ns(s) >= RECENT_NS;
	best = l->best_objective > 0 ? jetwattd_best(l) : NULL;
	for (size_t i = 0; i < l->known.nr_rows; i++)
		if (s->cost[i].kind[JETWATT_DECODE].used)
			compute_row(&s->cost[i], &mix, &l->known.row[i]);
	/* The predictions are those of the mix before. */
	l->predicted = 0;
	if (best)
		l->best_objective = jetwattd_row_objective(l, best);
}

void jetwattd_learner_window(struct jetwattd_learner *l, const struct jetwatt_step_costs *steps)
{
	update_mix(l, steps);
	find_misses(l);
}

/* Append the reading of a mode of a server as a row, for the present mix. Return: as jetwattd_row_add(). */
static int add_steps(struct jetwattd_learner *l, const struct jetwattd_reading *got)
{
	struct jetwatt_row row = got->m.row;
	int err;

	update_mix(l, &got->steps);
	jetwattd_learner_figures(l, &got->steps, &row);
	err = jetwattd_row_add(l, &row, &got->steps);
	if (!err)
		find_misses(l);
	return err;
}

int jetwattd_learner_reading(struct jetwattd_learner *l, const struct jetwattd_reading *got)
{
	jetwattd_news_add(l, &(struct jetwattd_news){ .what = JETWATTD_STORE, .reading = *got });
	return got->steps.kind[JETWATT_DECODE].used ? add_steps(l, got) :
						      jetwattd_row_add(l, &got->m.row, NULL);
}

int jetwattd_learner_refine(struct jetwattd_learner *l, const struct jetwattd_reading *got)
{
	const struct jetwatt_row *row = jetwatt_tuner_row(&l->known, &got->m.row.mode);
	size_t i = row ? (size_t)(row - l->known.row) : 0;

	if (!row || got->steps.span_ns < LONGER * l->steps.cost[i].span_ns)
		return 0;
	l->steps.cost[i] = got->steps;
	update_mix(l, &got->steps);
	compute_row(&got->steps, &l->steps.mix, &l->known.row[i]);
	find_misses(l);
	return 1;
}

int jetwattd_learner_continue(struct jetwattd_learner *l, const char *key)
{
	if (!*l->key || strncmp(l->key, key, sizeof(l->key) - 1) || !l->steps.windows)
		return 0;
	l->ran_ns = 0;
	return 1;
}
