/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated environment for the learner, for daemon_learner, daemon_learner_rows, daemon_drift,
 * daemon_share and daemon_steps. The environment simulates the board, whose power follows from its
 * mode, the cap, which aborts readings over the budget, and the actuator, whose knobs
 * may refuse a mode. Time is simulated, and neither jetwattd nor sysfs is used. */
#ifndef TESTS_UNIT_LEARNER_PLANT_H
#define TESTS_UNIT_LEARNER_PLANT_H

#include "daemon/terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "policy_defaults.h"

#define MODES		180
#define NOISE		0.01
#define QUICK_S		1.5
#define EXACT_S		4.0
#define MOST		20
#define STEPS		200
#define DB_ROWS		2000
#define KEY		"0123456789abcdef"

/*
 * struct plant - job, board, cap and actuator
 * @gpu: GPU time of a minibatch at 1 GHz, in ms
 * @cpu: CPU time of a minibatch on one core at 1 GHz, in ms
 * @base_w: constant part of the power, in W
 * @by, @by_w: current factors by which the minibatch time and the power are multiplied
 * @change_ns: virtual time from which on the minibatch time is multiplied by @then; 0: never
 * @now_ns: virtual time
 * @budget_w: budget of the cap
 * @refuse: share of the modes whose knobs refuse
 * @policy: the policy, of which the settings of the learner count
 * @tries, @checks: number of steps that tried a mode, and that measured a known mode again
 * @overs: number of steps in which the cap stepped down
 * @refusals: number of steps whose mode the knobs refused
 * @exacts: number of steps that measured exactly
 * @most_w: highest power in a tried mode, in W
 * @tried: tried modes, in order
 * @stored, @drifts: number of rows that the learner passed on to be stored, and of drifts that it
 *	reported
 * @db, @nr_db: stored rows, and their number, at most DB_ROWS; @db is NULL: rows are not stored
 */
struct plant {
	double gpu, cpu, base_w, by, by_w, then, budget_w, refuse, most_w;
	uint64_t change_ns, now_ns, state;
	int tries, checks, overs, refusals, stored, drifts, exacts;
	struct jetwatt_mode tried[STEPS], board;
	struct jetwattd_policy policy;
	struct jetwatt_row *db;
	size_t nr_db;
};

FIXTURE(learner) {
	struct jetwattd_learner l;
	struct plant p;
};

FIXTURE_SETUP(learner)
{
	struct jetwattd_learner *l = &self->l;

	l->known.mode = calloc(MODES, sizeof(*l->known.mode));
	ASSERT_NE(NULL, l->known.mode);
	for (int i = 0; i < MODES; i++)
		l->known.mode[i] = (struct jetwatt_mode){
			.cores = 2 + 2 * (i % 5), .cpu_khz = 422400 + 400000 * (i / 5 % 4),
			.gpu_hz = 300000000 + 300000000ull * (i / 20 % 3),
			.emc_hz = 665600000 + 1266700000ull * (i / 60) };
	l->known.nr_modes = MODES;
	ASSERT_EQ(0, jetwattd_learner_open(l));
	self->p = (struct plant){ .gpu = 60, .cpu = 100, .base_w = 6, .by = 1, .by_w = 1, .then = 1,
				  .budget_w = 22, .now_ns = 1000000000000, .state = 1,
				  .policy = policy_defaults() };
	self->p.policy.learn_s = 200;
	self->p.policy.learn_j = 5000;
	self->p.policy.most = MOST;
}

FIXTURE_TEARDOWN(learner)
{
	jetwattd_learner_close(&self->l);
}

static inline double noise(struct plant *p)
{
	p->state = p->state * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + NOISE * ((double)(p->state >> 33) / 2147483648.0 - 0.5);
}

static inline double time_ms(const struct plant *p, const struct jetwatt_mode *m)
{
	double gpu = p->gpu * 1e9 / m->gpu_hz, cpu = p->cpu * 1e6 / m->cpu_khz / m->cores;
	double by = p->by * (p->change_ns && p->now_ns >= p->change_ns ? p->then : 1);

	return by * (fmax(gpu, cpu) + 0.3 * fmin(gpu, cpu) + 10e9 / m->emc_hz);
}

static inline double watts(const struct plant *p, const struct jetwatt_mode *m)
{
	return p->by_w * (p->base_w + 12e-9 * m->gpu_hz + 0.8e-6 * m->cpu_khz * m->cores + 0.8e-9 * m->emc_hz);
}

static inline struct jetwattd_terms terms(const struct plant *p)
{
	struct jetwattd_terms t = jetwattd_policy_terms(&p->policy, false);

	t.limit_w = 0.98 * p->budget_w;
	t.safe_w = 0.88 * p->budget_w;
	t.now_ns = p->now_ns;
	return t;
}

/* Return whether a knob refuses the mode; the same modes are refused in every run. */
static inline int refuses(const struct plant *p, const struct jetwatt_mode *m)
{
	return (m->gpu_hz / 1000 * 31 + m->cpu_khz * 17 + m->cores * 7919) * 2654435761u % 1000 < p->refuse * 1000;
}

static inline void measure(struct plant *p, const struct jetwatt_mode *m, double seconds, struct jetwattd_reading *got)
{
	double sd = seconds < EXACT_S ? NOISE : NOISE / 4;

	p->now_ns += seconds * 1e9;
	*got = (struct jetwattd_reading){ .m.dwell_s = seconds };
	got->m.row = (struct jetwatt_row){ .mode = *m, .time_ms = noise(p) * time_ms(p, m),
					   .power_w = noise(p) * watts(p, m), .time_sd = sd, .power_sd = sd };
}

/* Switch to a mode and measure it, with the refusals of the actuator and the aborts of the cap. */
static inline enum jetwattd_outcome try(FIXTURE_DATA(learner) *self, const struct jetwattd_step *step)
{
	struct jetwattd_learner *l = &self->l;
	struct plant *p = &self->p;
	struct jetwattd_reading got;

	p->tried[p->tries++] = step->mode;
	p->exacts += step->kind == JETWATTD_TRY_EXACT;
	if (refuses(p, &step->mode)) {
		p->refusals++;
		jetwattd_learner_refused(l, &step->mode, JETWATTD_REFUSED);
		return JETWATTD_REFUSED;
	}
	measure(p, &step->mode, step->kind == JETWATTD_TRY ? QUICK_S : EXACT_S, &got);
	jetwattd_learner_add_energy(l, got.m.dwell_s * got.m.row.power_w);
	p->most_w = fmax(p->most_w, watts(p, &step->mode));
	if (watts(p, &step->mode) > p->budget_w) {
		p->overs++;
		got.m.row.power_sd = 0.02;
		jetwattd_learner_over(l, &got.m.row, 0);
		return JETWATTD_OVER;
	}
	p->board = step->mode;
	jetwattd_learner_reading(l, &got);
	return JETWATTD_MEASURED;
}

/* Count the learner's news, and store the rows among them. */
static inline void handle_news(FIXTURE_DATA(learner) *self)
{
	struct plant *p = &self->p;
	struct jetwattd_news news;

	while (jetwattd_learner_news(&self->l, &news)) {
		*(news.what == JETWATTD_STORE ? &p->stored : &p->drifts) += 1;
		if (p->db && news.what == JETWATTD_STORE && p->nr_db < DB_ROWS)
			p->db[p->nr_db++] = news.reading.m.row;
	}
}

/* Run one step of the loop: measure the mode that the learner requests. Return: 1: the search goes
 * on; 0: the search has ended; -1: the search was aborted. */
static inline int step(FIXTURE_DATA(learner) *self)
{
	struct jetwattd_terms t = terms(&self->p);
	struct jetwattd_result result = { 0 };
	enum jetwattd_follow follow;
	struct plant *p = &self->p;
	struct jetwattd_step s;

	if (!jetwattd_learner_next(&self->l, &t, &s))
		return 0;
	if (s.kind == JETWATTD_TRY || s.kind == JETWATTD_TRY_EXACT) {
		result.outcome = try(self, &s);
		result.here = jetwatt_mode_same(&p->board, &s.mode);
	} else {
		p->checks++;
		measure(p, &s.mode, QUICK_S, &result.reading);
	}
	t = terms(p);
	follow = jetwattd_learner_done(&self->l, &t, &result);
	handle_news(self);
	return follow == JETWATTD_FOLLOW_STOP ? -1 : 1;
}

static inline void begin(FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	struct jetwattd_terms t = terms(&self->p);

	jetwattd_learner_begin(&self->l, prior);
	jetwattd_learner_budget(&self->l, self->p.budget_w, t.limit_w);
	jetwattd_learner_resume(&self->l, &t);
}

static inline void learn(FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	int n = 0;

	self->p.tries = self->p.checks = self->p.overs = self->p.stored = self->p.exacts = 0;
	begin(self, prior);
	while (n++ < STEPS && step(self) > 0)
		;
}

/* Run a job for @seconds: hold its best mode, and start a search whenever the possible gain exceeds
 * the cost. */
static inline void hold_on(FIXTURE_DATA(learner) *self, double seconds)
{
	struct plant *p = &self->p;
	uint64_t until = p->now_ns + seconds * 1e9;

	while (p->now_ns < until) {
		struct jetwattd_terms t = terms(p);
		int n = 0;

		if (jetwattd_learner_is_due(&self->l, &t)) {
			jetwattd_learner_resume(&self->l, &t);
			while (n++ < STEPS / 4 && p->tries < STEPS && step(self) > 0)
				;
		}
		p->now_ns += 5000000000ull;
	}
}

static const struct jetwatt_row *best(FIXTURE_DATA(learner) *self)
{
	return jetwattd_learner_best_under(&self->l, terms(&self->p).limit_w, NULL);
}

/* Return by what share the chosen mode is slower than the fastest mode within the budget. */
static inline double loss(FIXTURE_DATA(learner) *self)
{
	const struct jetwatt_row *found = best(self);
	struct plant *p = &self->p;
	double least = INFINITY;

	for (int i = 0; i < MODES; i++) {
		const struct jetwatt_mode *m = &self->l.known.mode[i];

		if (watts(p, m) <= terms(p).limit_w && !refuses(p, m))
			least = fmin(least, time_ms(p, m));
	}
	return found ? time_ms(p, &found->mode) / least - 1 : INFINITY;
}

static const struct jetwattd_prior unknown = { .key = KEY };

/* Create the rows of three workloads that the board has run before, each in some modes. */
#define OTHER_ROWS	20

static inline void others(FIXTURE_DATA(learner) *self, struct jetwatt_row row[3][OTHER_ROWS],
			  struct jetwatt_corpus *other)
{
	static const double gpu[] = { 2, 0.5, 0.8 }, cpu[] = { 0.5, 1.5, 0.2 };

	for (int w = 0; w < 3; w++) {
		struct plant job = self->p;

		job.gpu *= gpu[w];
		job.cpu *= cpu[w];
		job.base_w += w - 1;
		for (int i = 0; i < OTHER_ROWS; i++) {
			const struct jetwatt_mode *m = &self->l.known.mode[(i * 37 + w) % MODES];

			row[w][i] = (struct jetwatt_row){
				.mode = *m, .time_ms = noise(&job) * time_ms(&job, m),
				.power_w = noise(&job) * watts(&job, m), .time_sd = NOISE, .power_sd = NOISE };
		}
		other[w] = (struct jetwatt_corpus){ .row = row[w], .n = OTHER_ROWS };
	}
}

#endif
