// SPDX-License-Identifier: GPL-2.0-only
/* Measures prefill and decode in a mode, and combines all measured modes with the counter of tokens. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/phase_cost.h"
#include "out/terminal.h"
#include "tune/token_search.h"
#include "util/clock.h"
#include "util/error.h"

/* Time after a change of mode until power has settled, ns. */
#define SETTLE_NS	1000000000ull
#define POLL_MS		250
/* Least number of prefills at @max_s, if the server has any; none is needed at twice @max_s. */
#define FEWEST_PREFILLS	3

/**
 * struct token_limits - when a measurement is complete
 * @seconds: least time in the mode, s
 * @max_s: time in the mode after which the error may be larger and the steps fewer, s
 * @target: relative standard error of ms per token and of power to reach
 * @prefills, @decodes: least number of steps of each kind
 */
static const struct token_limits {
	double seconds, max_s, target;
	size_t prefills, decodes;
} search = { 4, 20, 0.01, 10, 40 }, proof = { 10, 40, 0.006, 20, 100 };

/* Process the readings of the counter. */
static void read_counter(struct jetwatt_tokens *t)
{
	struct jetwatt_unit_reading r;
	uint64_t busy;

	while (jetwatt_unit_reader_next(&t->reader, &r, &busy)) {
		uint64_t half = (r.end_ns - r.begin_ns) / 2;

		jetwatt_unit_reader_drop(&t->reader);
		snprintf(t->why, sizeof(t->why), "%s", r.err ? r.why : isnan(r.value[0]) ?
			 "the source has no such counter" : "");
		if (!*t->why)
			jetwatt_unit_count_add(&t->count, r.begin_ns + half, half, r.value[0]);
	}
}

/* Compute the mix of @n modes. Return: 0; -ENODATA. */
static int find_mix(struct jetwatt_tokens *t, size_t n)
{
	double counted = t->count.last_ns - t->count.first_ns, span = 0;

	for (size_t i = 0; i < n; i++)
		span += t->cost[i].span_ns;
	return jetwatt_token_mix_of(t->cost, n, counted > 0 ? t->count.units * span / counted : 0, &t->mix);
}

/* Compute all rows again with the present mix. */
static void update_rows(struct jetwatt_tokens *t, struct jetwatt_tuner *l)
{
	for (size_t i = 0; i < l->nr_rows; i++) {
		struct jetwatt_token_figures f = { .row = l->row[i] };

		jetwatt_token_figures_of(&t->cost[i], &t->mix, &f);
		l->row[i] = f.row;
	}
}

static int reserve_costs(struct jetwatt_tokens *t, size_t n)
{
	struct jetwatt_step_costs *c;

	if (n <= t->max_costs)
		return 0;
	c = reallocarray(t->cost, 2 * n, sizeof(*c));
	if (!c)
		return jetwatt_tuner_no_memory();
	t->cost = c;
	t->max_costs = 2 * n;
	return 0;
}

/* Return: 1 if the measurement of the last of @n modes is complete, then @f is set to its figures;
 * else 0. */
static int is_complete(struct jetwatt_tokens *t, size_t n, double dwell_s, const struct token_limits *limits,
		       struct jetwatt_token_figures *f)
{
	const struct jetwatt_step_costs *c = &t->cost[n - 1];

	if (!c->kind[JETWATT_DECODE].used || dwell_s < limits->seconds || find_mix(t, n))
		return 0;
	jetwatt_token_figures_of(c, &t->mix, f);
	/* A slow mode may have few prefills in this time. */
	if (dwell_s >= limits->max_s)
		return c->kind[JETWATT_PREFILL].used >= FEWEST_PREFILLS || !(t->mix.work[JETWATT_PREFILL] > 0) ||
		       dwell_s >= 2 * limits->max_s;
	return c->kind[JETWATT_DECODE].used >= limits->decodes &&
	       (!(t->mix.work[JETWATT_PREFILL] > 0) || c->kind[JETWATT_PREFILL].used >= limits->prefills) &&
	       f->row.time_sd <= limits->target && f->row.power_sd <= limits->target;
}

static int explain_no_tokens(const struct jetwatt_tokens *t)
{
	const struct jetwatt_unit *u = &t->units.unit[0];

	return jetwatt_error_report(JETWATT_EXIT_FAILED, *t->why ? t->why : "the count did not increase",
				    "check that the server generates tokens and exports this counter",
				    "--per %s: no unit was counted", u->name);
}

/* Run the session until the mode is measured. Return: 0, exit code. */
static int run(struct jetwatt_tokens *t, struct jetwatt_tuner *l, const struct token_limits *limits,
	       const struct jetwatt_mode *mode, struct jetwatt_token_figures *f)
{
	const struct jetwatt_measure_limits why = { .idle_s = l->wait_s, .max_s = limits->max_s };
	struct jetwatt_session *w = l->session;
	size_t n = l->nr_rows + 1;
	char what[48];

	for (;;) {
		uint64_t now, last;
		double dwell_s;
		int err;

		if (jetwatt_session_run(w, POLL_MS))
			return jetwatt_measure_why(w, 1, &why);
		read_counter(t);
		now = jetwatt_clock_ns();
		dwell_s = (now - t->since_ns) * 1e-9;
		last = w->last_wait_ns > t->since_ns ? w->last_wait_ns : t->since_ns;
		err = jetwatt_phase_costs(w, t->since_ns, t->since_ns + SETTLE_NS, &t->cost[n - 1]);
		if (!err && is_complete(t, n, dwell_s, limits, f))
			return 0;
		if (err && err != -EAGAIN)
			return jetwatt_measure_why(w, err, &why);
		if (now > last && (now - last) * 1e-9 > l->wait_s)
			return jetwatt_measure_why(w, -ENODATA, &why);
		if (dwell_s > fmax(4 * limits->max_s, l->wait_s))
			return t->count.units > 0 ? jetwatt_measure_why(w, -ETIMEDOUT, &why) :
			       explain_no_tokens(t);
		jetwatt_terminal_progress(l->args, l->measured + 1, l->max_measured,
					  fmin(dwell_s / limits->max_s, 0.99),
					  jetwatt_terminal_mode(mode, what, sizeof(what)));
	}
}

int jetwatt_token_measure(struct jetwatt_tokens *t, struct jetwatt_tuner *l, size_t index, const char *why,
			  int verify)
{
	struct jetwatt_token_figures f = { .row.mode = l->mode[index] };
	int fresh = !jetwatt_tuner_row(l, &l->mode[index]);
	struct jetwatt_step_costs c;
	int err = reserve_costs(t, l->nr_rows + 1);

	if (err)
		return err;
	/* Include the steps that the previous mode ran while this one was chosen. */
	if (t->since_ns && !jetwatt_phase_costs(l->session, t->since_ns, t->since_ns + SETTLE_NS, &c))
		t->cost[l->nr_rows - 1] = c;
	jetwatt_session_forget(l->session, JETWATT_MEASURE_WAITS_BEFORE);
	err = jetwatt_mode_guard_apply(l->guard, &l->mode[index]);
	if (err)
		return err;
	t->since_ns = jetwatt_clock_ns();
	jetwatt_session_discard(l->session, t->since_ns);
	err = run(t, l, verify ? &proof : &search, &l->mode[index], &f);
	jetwatt_terminal_clear_progress(l->args);
	if (!err)
		err = jetwatt_mode_guard_check(l->guard, &l->mode[index]);
	if (!err)
		err = jetwatt_tuner_add(l, &f.row);
	if (err)
		return err;
	update_rows(t, l);
	if (!l->silent)
		jetwatt_terminal_measured_row(l->nr_rows, &f.row, why);
	l->measured += fresh;
	l->ended_ns = jetwatt_clock_ns();
	return 0;
}

int jetwatt_token_reading(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			  const struct jetwatt_mode *mode, struct jetwatt_token_figures *f)
{
	for (size_t i = l->nr_rows; i > 0; i--) {
		if (!jetwatt_mode_same(&l->row[i - 1].mode, mode))
			continue;
		*f = (struct jetwatt_token_figures){ .row = l->row[i - 1] };
		jetwatt_token_figures_of(&t->cost[i - 1], &t->mix, f);
		return 1;
	}
	return 0;
}

void jetwatt_tokens_free(struct jetwatt_tokens *t)
{
	if (t->reader.units)
		jetwatt_unit_reader_free(&t->reader);
	jetwatt_units_forget(&t->units);
	free(t->cost);
	t->cost = NULL;
}
