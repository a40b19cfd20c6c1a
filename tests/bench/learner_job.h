/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulates a job under jetwattd in virtual time, on a file of measured modes, for learner.c and
 * learner_day.c. The learner is that of jetwattd. The board, the power cap, the actuator and the main
 * loop are short models of user/daemon/search.c, try_mode.c, job_hold.c and cap_recovery.c.
 */
#ifndef JETWATT_LEARNER_JOB_H
#define JETWATT_LEARNER_JOB_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/terms.h"
#include "unit/policy_defaults.h"
#include "unit/search_run.h"

/* Minimum duration of a quick and of an exact measurement, in seconds and in minibatches; after
 * WHOLE_S seconds, one minibatch is enough for a quick one, with the relative error WHOLE_SD. */
#define QUICK_S		1.6
#define EXACT_S		4.0
#define QUICK		2.5
#define EXACT		5
#define WHOLE_S		2.5
#define WHOLE		1.05
#define WHOLE_SD	0.01
/* A mode that takes more than SLOW times the time of the best one is left after CUT minibatches. */
#define SLOW		1.2
#define CUT		1.5
/* Relative standard errors of time and power in a measurement of one second. */
#define TIME_SD		0.006
#define POWER_SD	0.008
/*
 * Time until the cap detects that a mode is over the budget: FAR_S if the mode's power is above FAR
 * times the budget, otherwise the averaging window WINDOW_S.
 */
#define FAR_S		0.3
#define WINDOW_S	1.0
#define FAR		1.15
/* Relative error of the time of a mode that the cap left after fewer than FEW minibatches. */
#define FEW		3
#define FEW_SD		0.05
/* Duration of the measurement of a held mode, in s, and the relative standard deviation of the
 * measured power and time. */
#define HELD_S		10.0
#define HELD_SD		0.002
/* Power limit of the mode to which the cap steps down, as a fraction of the limit. */
#define SAFE		0.9
/* Time until jetwattd has detected the job. */
#define SEEN_S		0.5
#define KEY		"0123456789abcdef"
#define REFERENCES	8
#define PRESETS		3
#define PARTS		4096

/* A period in one mode: its length in s, index of the mode, 1 while learning. */
struct part {
	double s;
	size_t mode;
	int learning;
};

/**
 * struct bench - a file of measured modes, and a job on it
 * @row: candidates with their true time and power
 * @n: number of candidates
 * @other: measured modes of the references
 * @others: number of references
 * @budget_w: power budget of the job, in W
 * @swing: assumed relative standard deviation of the mean power over an averaging window; sets the
 *	margin below the budget, see room()
 * @length_s: duration of the job, in s
 * @share: share of the job's time that learning may cost, as in the policy
 * @rng: state of the random generator
 * @now_s: virtual time since the start of the job, in s
 * @start: index of the mode in which the job starts
 * @preset: for each preset of nvpmodel, index of the candidate nearest to it
 * @presets: number of presets
 * @first: modes of the presets
 * @first_w: nominal power of the presets, in W
 * @part: the time spans in one mode each
 * @parts: number of periods
 * @max_parts: capacity of @part
 * @overs: number of times that the cap stepped down
 * @verbose: 1: print every measurement
 * @l: the learner
 * @stored: measurements that jetwattd would store in the database
 * @nr_stored: their number
 * @max_stored: capacity of @stored
 */
struct bench {
	struct jetwatt_row *row;
	size_t n;
	struct jetwatt_corpus other[REFERENCES];
	int others;
	double budget_w, swing, length_s, share;
	uint64_t rng;
	double now_s;
	size_t start, preset[PRESETS], presets;
	struct jetwatt_mode first[PRESETS];
	double first_w[PRESETS];
	struct part *part;
	size_t parts, max_parts;
	int overs, verbose;
	struct jetwattd_learner l;
	struct jetwatt_row *stored;
	size_t nr_stored, max_stored;
};

static void stay(struct bench *b, double s, size_t mode, int learning)
{
	s = fmin(s, b->length_s - b->now_s);
	if (!(s > 0))
		return;
	if (b->parts == b->max_parts) {
		b->max_parts = b->max_parts ? 2 * b->max_parts : PARTS;
		b->part = realloc(b->part, b->max_parts * sizeof(*b->part));
		if (!b->part)
			exit(1);
	}
	b->part[b->parts++] = (struct part){ s, mode, learning };
	b->now_s += s;
}

static size_t place(const struct bench *b, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < b->n; i++)
		if (jetwatt_mode_same(&b->row[i].mode, mode))
			return i;
	abort();
}

/* Return: index of the mode with the lowest power. */
static size_t lowest(const struct bench *b)
{
	size_t least = 0;

	for (size_t i = 1; i < b->n; i++)
		if (b->row[i].power_w < b->row[least].power_w)
			least = i;
	return least;
}

static double room(const struct bench *b)
{
	return b->budget_w / (1 + 3 * b->swing);
}

static struct jetwattd_terms terms(const struct bench *b)
{
	struct jetwattd_policy policy = policy_defaults();
	struct jetwattd_terms t;

	policy.learn_share = 100 * b->share;
	t = jetwattd_policy_terms(&policy, false);
	t.limit_w = room(b);
	t.safe_w = SAFE * room(b);
	t.now_ns = 1e12 + b->now_s * 1e9;
	return t;
}

/* Return: index of the mode to which the cap steps down. */
static size_t safe(struct bench *b)
{
	const struct jetwatt_row *row = jetwattd_learner_best_under(&b->l, SAFE * room(b), NULL);

	return row ? place(b, &row->mode) : lowest(b);
}

static struct jetwattd_reading reading(struct bench *b, size_t i, double s, double least_sd)
{
	double t = fmax(TIME_SD / sqrt(fmax(s, 0.2)), least_sd), w = fmax(POWER_SD / sqrt(fmax(s, 0.2)), least_sd);
	struct jetwattd_reading got = { .m.dwell_s = s };

	got.m.row = (struct jetwatt_row){
		.mode = b->row[i].mode, .time_sd = t, .power_sd = w,
		.time_ms = b->row[i].time_ms * exp(t * search_normal(&b->rng)),
		.power_w = b->row[i].power_w * exp(w * search_normal(&b->rng)),
	};
	return got;
}

static void store(struct bench *b, const struct jetwatt_row *row)
{
	if (b->nr_stored < b->max_stored)
		b->stored[b->nr_stored++] = *row;
}

/* Return the duration of a quick measurement with minibatches of @t seconds. */
static double quick_s(double t)
{
	return fmax(QUICK_S, fmin(QUICK * t, fmax(WHOLE_S, WHOLE * t)));
}

/* Model of jetwattd_exclude_mode(), after @s seconds in mode @i, whose power has the relative error @sd. */
static void over(struct bench *b, size_t i, double s, double sd)
{
	struct jetwatt_row row = reading(b, i, s, sd).m.row;
	double whole = floor(s / (1e-3 * row.time_ms) - 0.5);

	row.power_w = fmax(row.power_w, 1.0001 * room(b));
	row.power_sd = sd;
	row.time_sd = whole < FEW ? FEW_SD : sd;
	if (whole < 1)
		row.time_ms = 0;
	else
		store(b, &row);
	jetwattd_learner_over(&b->l, &row, 1);
}

/* Model of jetwattd_try_mode(). */
static enum jetwattd_outcome try(struct bench *b, const struct jetwattd_step *step, double *tried_s)
{
	const struct jetwatt_row *best = jetwattd_learner_best_under(&b->l, room(b), NULL);
	size_t i = place(b, &step->mode);
	double t = b->row[i].time_ms * 1e-3, w = b->row[i].power_w;
	int quick = step->kind != JETWATTD_TRY_EXACT;
	double s = quick ? quick_s(t) : fmax(EXACT_S, EXACT * t);
	struct jetwattd_reading got;
	enum jetwattd_outcome out = JETWATTD_MEASURED;

	if (quick && best && t > SLOW * best->time_ms * 1e-3)
		s = fmin(s, fmax(CUT * t, 0.6));
	if (w > b->budget_w && (w > FAR * b->budget_w || s > WINDOW_S)) {
		s = w > FAR * b->budget_w ? FAR_S : WINDOW_S;
		stay(b, s, i, 1);
		jetwattd_learner_add_energy(&b->l, s * w);
		*tried_s = s;
		b->overs++;
		over(b, i, s, 0.02);
		stay(b, WINDOW_S, safe(b), 1);
		out = JETWATTD_OVER;
	} else {
		stay(b, s, i, 1);
		got = reading(b, i, s, s < QUICK * t ? WHOLE_SD : 0);
		jetwattd_learner_add_energy(&b->l, s * w);
		if (jetwattd_learner_reading(&b->l, &got))
			exit(1);
	}
	if (b->verbose)
		printf("  %7.1f s %2u-%u-%u-%u %8.2f ms %6.2f W%s%s\n", b->now_s, step->mode.cores, step->mode.cpu_khz / 1000,
		       (unsigned int)(step->mode.gpu_hz / 1000000), (unsigned int)(step->mode.emc_hz / 1000000),
		       b->row[i].time_ms, w, out == JETWATTD_OVER ? " over" : "", quick ? "" : " exact");
	return out;
}

/* Model of jetwattd_search(). */
static void search(struct bench *b)
{
	struct jetwattd_terms t = terms(b);
	enum jetwattd_follow follow = JETWATTD_FOLLOW_PLAN;
	struct jetwattd_news news;
	struct jetwattd_step step;

	jetwattd_learner_resume(&b->l, &t);
	while (follow != JETWATTD_FOLLOW_STOP && b->now_s < b->length_s) {
		struct jetwattd_result result = { 0 };

		t = terms(b);
		if (!jetwattd_learner_next(&b->l, &t, &step))
			return;
		if (step.kind == JETWATTD_TRY || step.kind == JETWATTD_TRY_EXACT) {
			result.outcome = try(b, &step, &result.tried_s);
			result.here = result.outcome == JETWATTD_MEASURED;
		} else {
			size_t i = place(b, &step.mode);

			stay(b, quick_s(1e-3 * b->row[i].time_ms), i, 1);
			result.reading = reading(b, i, QUICK_S, 0);
		}
		t = terms(b);
		follow = jetwattd_learner_done(&b->l, &t, &result);
		while (jetwattd_learner_news(&b->l, &news))
			if (news.what == JETWATTD_STORE)
				store(b, &news.reading.m.row);
	}
}

/* Model of user/daemon/job_hold.c. */
static void hold(struct bench *b)
{
	const struct jetwatt_row *best;
	double back_off_s = JETWATTD_BACK_OFF_S;
	struct jetwattd_reading got;
	int trips = 0;

	while (b->now_s < b->length_s) {
		struct jetwattd_terms t = terms(b);
		size_t i;

		best = jetwattd_learner_best_under(&b->l, room(b), NULL);
		if (!best) {
			stay(b, JETWATTD_BACK_OFF_MOST_S, lowest(b), 0);
			return;
		}
		if (jetwattd_learner_is_due(&b->l, &t))
			return;
		i = place(b, &best->mode);
		if (b->row[i].power_w > b->budget_w) {
			stay(b, WINDOW_S, i, 0);
			b->overs++;
			if (++trips > 1)
				over(b, i, WINDOW_S, 0.01);
			stay(b, back_off_s, safe(b), 0);
			back_off_s = fmin(2 * back_off_s, JETWATTD_BACK_OFF_MOST_S);
			continue;
		}
		stay(b, HELD_S, i, 0);
		got = reading(b, i, HELD_S, HELD_SD);
		if (jetwattd_wants_power(&b->l, &got.m.row, b->swing) || jetwattd_wants_time(&b->l, &got.m.row))
			jetwattd_learner_reading(&b->l, &got);
	}
}

static void job(struct bench *b, const struct jetwattd_prior *prior)
{
	b->now_s = 0;
	b->parts = 0;
	b->overs = 0;
	if (jetwattd_learner_begin(&b->l, prior))
		exit(1);
	jetwattd_learner_budget(&b->l, b->budget_w, room(b));
	stay(b, SEEN_S, b->start, 0);
	while (b->now_s < b->length_s) {
		search(b);
		hold(b);
	}
}

#endif
