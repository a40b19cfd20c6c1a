// SPDX-License-Identifier: GPL-2.0-only
/*
 * The learner alone. Cap and actuator are made up: a board in virtual time that draws what the
 * modes' clocks ask for, a cap that ends what draws too much, and knobs of which some refuse. There is no
 * jetwattd, no sysfs and no clock here.
 */
#include "daemon/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define MODES		180
#define NOISE		0.01
#define QUICK_S		1.5
#define EXACT_S		4.0
#define MOST		20
#define STEPS		200
#define KEY		"0123456789abcdef"

/**
 * struct plant - job, board, cap and actuator
 * @gpu, @cpu, @base_w: of the job; @by, @by_w: factors of its time and power now
 * @change_ns: from then on the factor is @then
 * @now_ns: virtual time; @budget_w: of the cap
 * @refuse: share of the modes whose knobs refuse; @learn_s, @learn_j, @most, @share: of the policy
 * @tries, @checks: steps; @overs: of those, the cap stepped down; @most_w: power of the highest one
 * @tried: modes, in order; @stored, @drifts: news
 */
struct plant {
	double gpu, cpu, base_w, by, by_w, then, budget_w, refuse, learn_s, learn_j, share, most_w;
	uint64_t change_ns, now_ns, state;
	size_t most;
	int tries, checks, overs, refusals, stored, drifts, exacts;
	struct jetwatt_mode tried[STEPS], board;
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
				  .budget_w = 22, .learn_s = 200, .learn_j = 5000, .most = MOST, .now_ns = 1000000000000, .state = 1 };
}

FIXTURE_TEARDOWN(learner)
{
	jetwattd_learner_close(&self->l);
}

static double noise(struct plant *p)
{
	p->state = p->state * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + NOISE * ((double)(p->state >> 33) / 2147483648.0 - 0.5);
}

static double time_ms(const struct plant *p, const struct jetwatt_mode *m)
{
	double gpu = p->gpu * 1e9 / m->gpu_hz, cpu = p->cpu * 1e6 / m->cpu_khz / m->cores;
	double by = p->by * (p->change_ns && p->now_ns >= p->change_ns ? p->then : 1);

	return by * (fmax(gpu, cpu) + 0.3 * fmin(gpu, cpu) + 10e9 / m->emc_hz);
}

static double watts(const struct plant *p, const struct jetwatt_mode *m)
{
	return p->by_w * (p->base_w + 12e-9 * m->gpu_hz + 0.8e-6 * m->cpu_khz * m->cores + 0.8e-9 * m->emc_hz);
}

static struct jetwattd_terms terms(const struct plant *p)
{
	return (struct jetwattd_terms){ .limit_w = 0.98 * p->budget_w, .safe_w = 0.88 * p->budget_w,
					.now_ns = p->now_ns, .most = p->most, .learn_s = p->learn_s, .learn_j = p->learn_j, .share = p->share };
}

/* Does a knob refuse the mode? Always the same ones. */
static int refuses(const struct plant *p, const struct jetwatt_mode *m)
{
	return (m->gpu_hz / 1000 * 31 + m->cpu_khz * 17 + m->cores * 7919) * 2654435761u % 1000 < p->refuse * 1000;
}

static void measure(struct plant *p, const struct jetwatt_mode *m, double seconds, struct jetwattd_reading *got)
{
	double sd = seconds < EXACT_S ? NOISE : NOISE / 4;

	p->now_ns += seconds * 1e9;
	*got = (struct jetwattd_reading){ .m.dwell_s = seconds };
	got->m.row = (struct jetwatt_row){ .mode = *m, .time_ms = noise(p) * time_ms(p, m),
					   .power_w = noise(p) * watts(p, m), .time_sd = sd, .power_sd = sd };
}

/* Switch and measure: what the actuator and the cap would make of it. */
static enum jetwattd_outcome try(FIXTURE_DATA(learner) *self, const struct jetwattd_step *step)
{
	struct jetwattd_learner *l = &self->l;
	struct plant *p = &self->p;
	struct jetwattd_reading got;

	p->tried[p->tries++] = step->mode;
	p->exacts += step->ask == JETWATTD_TRY_EXACT;
	if (refuses(p, &step->mode)) {
		p->refusals++;
		jetwattd_learner_refused(l, &step->mode, JETWATTD_REFUSED);
		return JETWATTD_REFUSED;
	}
	measure(p, &step->mode, step->ask == JETWATTD_TRY ? QUICK_S : EXACT_S, &got);
	jetwattd_learner_spent(l, got.m.dwell_s * got.m.row.power_w);
	p->most_w = fmax(p->most_w, watts(p, &step->mode));
	if (watts(p, &step->mode) > p->budget_w) {
		p->overs++;
		jetwattd_learner_over(l, &step->mode, got.m.row.power_w, 0.02);
		return JETWATTD_OVER;
	}
	p->board = step->mode;
	jetwattd_learner_reading(l, &got);
	return JETWATTD_MEASURED;
}

/* The loop: one step. Return: 0: there is no more to learn; -1: the learning was ended. */
static int step(FIXTURE_DATA(learner) *self)
{
	struct jetwattd_terms t = terms(&self->p);
	struct jetwattd_result result = { 0 };
	enum jetwattd_follow follow;
	struct plant *p = &self->p;
	struct jetwattd_news news;
	struct jetwattd_step s;

	if (!jetwattd_learner_next(&self->l, &t, &s))
		return 0;
	if (s.ask == JETWATTD_TRY || s.ask == JETWATTD_TRY_EXACT) {
		result.outcome = try(self, &s);
		result.here = jetwatt_mode_same(&p->board, &s.mode);
	} else {
		p->checks++;
		measure(p, &s.mode, QUICK_S, &result.reading);
	}
	t = terms(p);
	follow = jetwattd_learner_done(&self->l, &t, &result);
	while (jetwattd_learner_news(&self->l, &news))
		*(news.what == JETWATTD_STORE ? &p->stored : &p->drifts) += 1;
	return follow == JETWATTD_FOLLOW_STOP ? -1 : 1;
}

static void begin(FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	struct jetwattd_terms t = terms(&self->p);

	jetwattd_learner_begin(&self->l, prior);
	jetwattd_learner_budget(&self->l, self->p.budget_w, t.limit_w);
	jetwattd_learner_resume(&self->l, &t);
}

static void learn(FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	int n = 0;

	self->p.tries = self->p.checks = self->p.overs = self->p.stored = 0;
	begin(self, prior);
	while (n++ < STEPS && step(self) > 0)
		;
}

static const struct jetwatt_row *best(FIXTURE_DATA(learner) *self)
{
	return jetwattd_learner_within(&self->l, terms(&self->p).limit_w, NULL);
}

/* How much slower is the mode that was found than the fastest one that can be had within the limit? */
static double loss(FIXTURE_DATA(learner) *self)
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

TEST_F(learner, finds_a_fast_mode_within_the_limit)
{
	for (double budget_w = 16; budget_w < 34; budget_w += 4) {
		self->p.budget_w = budget_w;
		learn(self, &unknown);
		ASSERT_NE(NULL, best(self));
		EXPECT_GE(budget_w, watts(&self->p, &best(self)->mode));
		EXPECT_GT(0.1, loss(self)) TH_LOG("%g W: %g", budget_w, loss(self));
		/* All that was read is to be stored, and nothing else. */
		EXPECT_EQ(self->p.tries - self->p.overs, self->p.stored);
		EXPECT_GE(MOST + 4, self->p.tries);
		EXPECT_EQ(0, self->p.drifts);
	}
}

TEST_F(learner, is_deterministic)
{
	struct plant first;

	learn(self, &unknown);
	first = self->p;
	self->p.state = 1;
	self->l.allowance[0] = (struct jetwattd_allowance){ 0 };
	learn(self, &unknown);
	ASSERT_EQ(first.tries, self->p.tries);
	EXPECT_EQ(0, memcmp(first.tried, self->p.tried, (size_t)first.tries * sizeof(*first.tried)));
}

TEST_F(learner, a_tight_limit)
{
	/* Few modes are within: one, and its neighbours. */
	self->p.budget_w = 1.08 * watts(&self->p, &self->l.known.mode[0]) / 0.98;
	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	EXPECT_GE(self->p.budget_w, watts(&self->p, &best(self)->mode));
	/* Nothing is within: it gives up, and says so by no mode. */
	self->p.budget_w = 0.9 * watts(&self->p, &self->l.known.mode[0]);
	learn(self, &unknown);
	EXPECT_EQ(NULL, best(self));
	EXPECT_EQ(0, self->p.stored);
	EXPECT_GT(STEPS, self->p.tries);
	/* Of a mode that was over, none that is higher in all knobs was tried later. */
	for (int i = 0; i < self->p.tries; i++)
		for (int k = 0; k < i; k++)
			EXPECT_FALSE(jetwattd_reaches(&self->p.tried[i], &self->p.tried[k]));
}

TEST_F(learner, refused_modes_are_left_out)
{
	self->p.refuse = 0.3;
	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	EXPECT_LT(0, self->p.refusals);
	EXPECT_GT(0.15, loss(self)) TH_LOG("%g", loss(self));
	for (int i = 0; i < self->p.tries; i++)
		for (int k = 0; k < i; k++)
			EXPECT_FALSE(refuses(&self->p, &self->p.tried[k]) &&
				     jetwatt_mode_same(&self->p.tried[i], &self->p.tried[k]));
	/* One that is refused once it was found is not chosen, until the budget is another one. */
	{
		struct jetwatt_mode was = best(self)->mode;

		jetwattd_learner_refused(&self->l, &was, JETWATTD_REFUSED);
		EXPECT_FALSE(best(self) && jetwatt_mode_same(&was, &best(self)->mode));
		jetwattd_learner_budget(&self->l, self->p.budget_w, terms(&self->p).limit_w);
		EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
	}
}

/* Hot, or over for what may have been another process's doing: once more, and then not again. */
TEST_F(learner, a_second_chance)
{
	struct jetwatt_mode was;

	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	was = best(self)->mode;
	jetwattd_learner_refused(&self->l, &was, JETWATTD_HOT);
	EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
	jetwattd_learner_over(&self->l, &was, 0, 0);
	EXPECT_FALSE(best(self) && jetwatt_mode_same(&was, &best(self)->mode));
}

TEST_F(learner, the_allowance_ends_the_learning)
{
	uint64_t begun = self->p.now_ns;

	self->p.learn_s = 4 * QUICK_S;
	learn(self, &unknown);
	/* The step that uses it up is the last one. */
	EXPECT_EQ(4 * QUICK_S, (self->p.now_ns - begun) * 1e-9);
	EXPECT_EQ(4, self->p.tries);
	ASSERT_NE(NULL, best(self));
	/* Also when the job begins again; but it begins with what is known. */
	{
		struct jetwatt_row row = *best(self);
		struct jetwattd_prior again = { .key = KEY, .row = &row, .rows = 1 };

		learn(self, &again);
		EXPECT_EQ(0, self->p.tries);
		/* Another workload has its own; so has another budget. */
		again.key = "fedcba9876543210";
		learn(self, &again);
		EXPECT_EQ(4, self->p.tries);
		again.key = KEY;
		self->p.budget_w += 4;
		learn(self, &again);
		EXPECT_EQ(4, self->p.tries);
	}
	/* Energy ends it as well. */
	self->p.budget_w += 4;
	self->p.learn_s = 200;
	self->p.learn_j = 60;
	learn(self, &unknown);
	EXPECT_LT(0, self->p.tries);
	EXPECT_GT(8, self->p.tries);
}

/* What cannot be held leaves the rest of the allowance for a few more. */
TEST_F(learner, more_of_the_allowance)
{
	struct jetwattd_terms t;
	int tries;

	learn(self, &unknown);
	tries = self->p.tries;
	EXPECT_EQ(0, step(self));
	t = terms(&self->p);
	jetwattd_learner_over(&self->l, &best(self)->mode, 1.02 * self->p.budget_w, 0.005);
	ASSERT_EQ(1, jetwattd_learner_more(&self->l, &t));
	jetwattd_learner_resume(&self->l, &t);
	while (step(self) > 0 && self->p.tries < STEPS)
		;
	EXPECT_LE(tries, self->p.tries);
	EXPECT_GE(tries + 8, self->p.tries);
	t.learn_s = 0.1;
	EXPECT_EQ(0, jetwattd_learner_more(&self->l, &t));
}

/* Other data while it is learned: what was read before is forgotten, and the end is as good. */
TEST_F(learner, the_job_becomes_another_one)
{
	static const double then[] = { 0.4, 0.6, 1.7, 2.5 };

	for (size_t k = 0; k < sizeof(then) / sizeof(then[0]); k++) {
		int was = self->p.drifts;

		self->p.change_ns = self->p.now_ns + 8000000000ull;
		self->p.then = then[k];
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, &unknown);
		EXPECT_LT(was, self->p.drifts) TH_LOG("%g", then[k]);
		EXPECT_LT(0, self->p.checks) TH_LOG("%g", then[k]);
		ASSERT_NE(NULL, best(self));
		EXPECT_GT(0.1, loss(self)) TH_LOG("%g: %g", then[k], loss(self));
		for (size_t i = 0; i < self->l.known.nr_rows; i++) {
			const struct jetwatt_row *row = &self->l.known.row[i];

			EXPECT_TRUE(row->time_sd >= JETWATTD_NO_TIME ||
				    fabs(log(row->time_ms / time_ms(&self->p, &row->mode))) < 0.05)
				TH_LOG("%g: row %zu", then[k], i);
		}
		/* What was spent counts half, for this workload and budget. */
		EXPECT_STREQ(KEY, self->l.spent->key);
	}
}

/* With so few readings that the model is never sure: it is asked before the learning ends. */
TEST_F(learner, it_changes_and_few_are_read)
{
	for (double then = 0.5; then < 3; then *= 4) {
		int was = self->p.drifts;

		self->p.most = 6;
		self->p.then = then;
		self->p.change_ns = self->p.now_ns + (uint64_t)(2 * QUICK_S * 1e9) - 1;
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, &unknown);
		EXPECT_LT(was, self->p.drifts) TH_LOG("%g", then);
		EXPECT_EQ(0, step(self));
		for (size_t i = 0; i < self->l.known.nr_rows; i++)
			EXPECT_GT(0.05, fabs(log(self->l.known.row[i].time_ms / time_ms(&self->p, &self->l.known.row[i].mode))));
	}
	/* Nothing has changed: one reading more, and that is all. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.change_ns = 0;
	self->p.drifts = 0;
	learn(self, &unknown);
	EXPECT_EQ(1, self->p.checks);
	EXPECT_EQ(0, self->p.drifts);
}

/* While it is held: as soon as the loop says so. */
TEST_F(learner, drift_of_a_job_that_is_held)
{
	struct jetwatt_row was, is;
	struct jetwattd_news news;

	learn(self, &unknown);
	ASSERT_NE(NULL, best(self));
	was = is = *best(self);
	is.time_ms *= 1.02;
	EXPECT_FALSE(jetwattd_differs(&is, &was));
	is.time_ms = 1.5 * was.time_ms;
	ASSERT_TRUE(jetwattd_differs(&is, &was));
	jetwattd_learner_forget(&self->l, &is, &was);
	ASSERT_EQ(1, jetwattd_learner_news(&self->l, &news));
	EXPECT_EQ(JETWATTD_DRIFTED, news.what);
	EXPECT_EQ(is.time_ms, news.is.time_ms);
	EXPECT_EQ(0, jetwattd_learner_news(&self->l, &news));
	EXPECT_EQ(1, self->l.known.nr_rows);
}

/* What was read before the change says, scaled, where the best mode is: a few readings confirm it. Also
 * when only a few modes were read before. */
TEST_F(learner, few_readings_after_a_change)
{
	for (double budget = 18; budget < 30; budget += 3) {
		for (double then = 0.5; then < 3; then *= 4) {
			struct jetwattd_terms t;
			struct jetwatt_row was, is;
			int n = 0;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.by = 1;
			self->p.most = 8;
			self->p.budget_w = budget;
			learn(self, &unknown);
			ASSERT_NE(NULL, best(self));
			was = is = *best(self);
			self->p.by = then;
			is.time_ms *= then;
			jetwattd_learner_forget(&self->l, &is, &was);
			self->p.tries = 0;
			self->p.most = MOST;
			t = terms(&self->p);
			jetwattd_learner_resume(&self->l, &t);
			while (n++ < STEPS && step(self) > 0)
				;
			EXPECT_GE(8, self->p.tries) TH_LOG("%g W, times %g: %d", budget, then, self->p.tries);
			EXPECT_GT(0.1, loss(self)) TH_LOG("%g W, times %g: %g", budget, then, loss(self));
		}
	}
}

/* Of the same workload elsewhere: four modes will do. And of its own rows none is measured again. */
TEST_F(learner, what_was_known_before)
{
	struct jetwatt_row row[40];
	struct jetwattd_prior prior = { .key = KEY, .twin = row, .twins = 40 };
	int tries;

	for (int i = 0; i < 40; i++) {
		const struct jetwatt_mode *m = &self->l.known.mode[i * 37 % MODES];

		row[i] = (struct jetwatt_row){ .mode = *m, .time_ms = time_ms(&self->p, m),
					       .power_w = watts(&self->p, m), .time_sd = NOISE, .power_sd = NOISE };
	}
	learn(self, &prior);
	tries = self->p.tries;
	EXPECT_GE(6, tries);
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	for (int i = 0; i < 40; i++)
		row[i].time_ms *= noise(&self->p);
	prior = (struct jetwattd_prior){ .key = KEY, .row = row, .rows = 40 };
	learn(self, &prior);
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
	EXPECT_EQ(0, self->p.drifts);
}

/* Three workloads that the board has run before, each in some of its modes. */
#define OTHER_ROWS	20

static void others(FIXTURE_DATA(learner) *self, struct jetwatt_row row[3][OTHER_ROWS],
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

/* Of other workloads: fewer modes are tried, hardly any of them is over, and what is found after
 * few is good. */
TEST_F(learner, other_workloads)
{
	struct jetwatt_row row[3][OTHER_ROWS];
	struct jetwatt_corpus other[3];
	struct jetwattd_prior prior = { .key = KEY, .other = other, .others = 3 };
	double least = watts(&self->p, &self->l.known.mode[0]), few = 0, few_alone = 0;
	int overs = 0, alone = 0, budgets = 0;

	others(self, row, other);
	for (double budget = 1.25 * least; budget < 3 * least; budget *= 1.3) {
		self->p.budget_w = budget;
		for (int with = 1; with >= 0; with--) {
			int n = 0;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.tries = self->p.overs = 0;
			begin(self, with ? &prior : &unknown);
			EXPECT_EQ(with, self->l.known.by.prior != NULL);
			while (self->p.tries < 5 && n++ < STEPS && step(self) > 0)
				;
			*(with ? &few : &few_alone) += fmin(loss(self), 2);
			*(with ? &overs : &alone) += self->p.overs;
			while (n++ < STEPS && step(self) > 0)
				;
			EXPECT_GT(0.1, loss(self)) TH_LOG("%g W: %g", budget, loss(self));
		}
		budgets++;
	}
	TH_LOG("after five modes %.1f %% slower than the best, %d over; alone %.1f %%, %d",
	       100 * few / budgets, overs, 100 * few_alone / budgets, alone);
	EXPECT_GT(0.08, few / budgets);
	EXPECT_LT(2 * few, few_alone);
	EXPECT_GE(budgets, overs);
}

/* A workload that others are known for changes after a few readings: that is told before the change is taken
 * for a trait of the workload. */
TEST_F(learner, a_change_beside_other_workloads)
{
	static const double then[] = { 0.5, 0.65, 1.6, 2 };
	struct jetwatt_row row[3][OTHER_ROWS];
	struct jetwatt_corpus other[3];
	struct jetwattd_prior prior = { .key = KEY, .other = other, .others = 3 };
	double longest = 0, sum = 0;
	int n = 0;

	others(self, row, other);
	for (size_t k = 0; k < sizeof(then) / sizeof(then[0]); k++) {
		for (int after = 2; after <= 6; after++) {
			double told_s = INFINITY;
			int drifts = self->p.drifts, steps = 0, result = 1;

			memset(self->l.allowance, 0, sizeof(self->l.allowance));
			self->p.tries = self->p.checks = self->p.overs = 0;
			self->p.then = then[k];
			self->p.change_ns = self->p.now_ns + (uint64_t)(after * QUICK_S * 1e9) - 1;
			begin(self, &prior);
			while (steps++ < STEPS && result > 0) {
				result = step(self);
				if (self->p.drifts > drifts && told_s == INFINITY)
					told_s = (self->p.now_ns - self->p.change_ns) * 1e-9;
			}
			EXPECT_GT(30, told_s) TH_LOG("times %g after %d: %g s, %d readings", then[k], after, told_s, self->p.tries);
			EXPECT_GT(0.1, loss(self)) TH_LOG("times %g after %d: %g", then[k], after, loss(self));
			longest = fmax(longest, fmin(told_s, 99));
			sum += fmin(told_s, 99);
			n++;
		}
	}
	TH_LOG("told after %.1f s, at most %.1f s", sum / n, longest);
	EXPECT_GT(12, longest);
	EXPECT_GT(6, sum / n);
}

TEST_F(learner, first_candidates_come_first)
{
	const struct jetwatt_mode first[] = {
		self->l.known.mode[25], { .cores = 1, .cpu_khz = 1, .gpu_hz = 1, .emc_hz = 1 },
		self->l.known.mode[7], self->l.known.mode[25], self->l.known.mode[MODES - 1],
		self->l.known.mode[41],
	};
	struct jetwattd_prior prior = { .key = KEY, .first = first, .firsts = 6 };

	learn(self, &prior);
	ASSERT_LT(5, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[0], &self->p.tried[0]));
	/* No candidate; and one that is known by then. */
	EXPECT_TRUE(jetwatt_mode_same(&first[2], &self->p.tried[1]));
	/* The highest one of all is over the budget, which does not end it. */
	EXPECT_TRUE(jetwatt_mode_same(&first[4], &self->p.tried[2]));
	EXPECT_TRUE(jetwatt_mode_same(&first[5], &self->p.tried[3]));
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
}

/* A job that is held for @seconds, and learned whenever that pays. */
static void hold_on(FIXTURE_DATA(learner) *self, double seconds)
{
	struct plant *p = &self->p;
	uint64_t until = p->now_ns + seconds * 1e9;

	while (p->now_ns < until) {
		struct jetwattd_terms t = terms(p);
		int n = 0;

		if (jetwattd_learner_again(&self->l, &t)) {
			jetwattd_learner_resume(&self->l, &t);
			while (n++ < STEPS / 4 && p->tries < STEPS && step(self) > 0)
				;
		}
		p->now_ns += 5000000000ull;
	}
}

/* By a share of its time: after two hours it has cost no more, and the mode is good. */
static void shared(struct __test_metadata *_metadata, FIXTURE_DATA(learner) *self, const struct jetwattd_prior *prior)
{
	for (double budget_w = 16; budget_w < 34; budget_w += 4) {
		double at_first, lost_s, ran_s = 0;
		int tries;

		self->p.budget_w = budget_w;
		self->p.share = 0.05;
		self->p.learn_s = 0;
		self->p.learn_j = 1e9;
		memset(self->l.allowance, 0, sizeof(self->l.allowance));
		learn(self, prior);
		ASSERT_NE(NULL, best(self)) TH_LOG("%g W", budget_w);
		at_first = loss(self);
		tries = self->p.tries;
		lost_s = self->l.cost.lost_s;
		hold_on(self, 7200);
		ran_s = self->l.spent->ran_s;
		TH_LOG("%g W: %d modes, %.1f %% slower than the best; after two hours %d, %.1f %%, %.2f %% of the time lost",
		       budget_w, tries, 100 * at_first, self->p.tries, 100 * loss(self),
		       100 * self->l.spent->lost_s / ran_s);
		EXPECT_LT(7200, ran_s);
		EXPECT_GE(0.05 * ran_s, self->l.spent->lost_s);
		EXPECT_LE(lost_s, self->l.cost.lost_s);
		EXPECT_GE(budget_w, watts(&self->p, &best(self)->mode));
		EXPECT_GT(0.03, loss(self)) TH_LOG("%g W: %g", budget_w, loss(self));
		/* It does not try for ever: what is left to gain is less than what it costs. */
		EXPECT_GT(STEPS / 2, self->p.tries);
	}
}

TEST_F(learner, a_share_of_its_time)
{
	shared(_metadata, self, &unknown);
}

/* One that has no key begins at nothing when it begins again, but not each time that it is learned. */
TEST_F(learner, a_share_without_a_key)
{
	shared(_metadata, self, &(struct jetwattd_prior){ 0 });
}

/* Nor one that becomes another one. */
TEST_F(learner, a_share_of_one_that_changes)
{
	double lost_s = 0;

	self->p.share = 0.05;
	self->p.learn_s = 0;
	self->p.learn_j = 1e9;
	learn(self, &unknown);
	for (int i = 0; i < 20 && best(self); i++) {
		struct jetwatt_row was = *best(self), is = was;
		struct jetwattd_news news;

		self->p.by *= i % 2 ? 1 / 1.5 : 1.5;
		is.time_ms = time_ms(&self->p, &is.mode);
		jetwattd_learner_forget(&self->l, &is, &was);
		while (jetwattd_learner_news(&self->l, &news))
			;
		self->p.tries = 0;
		hold_on(self, 60);
		EXPECT_LE(lost_s, self->l.spent->lost_s);
		lost_s = self->l.spent->lost_s;
	}
	EXPECT_LT(1200, self->l.spent->ran_s);
	/* But for the step that uses it up. */
	EXPECT_GE(0.05 * self->l.spent->ran_s + 2 * EXACT_S, lost_s)
		TH_LOG("%g of %g s", lost_s, self->l.spent->ran_s);
}

/* A step that was cut ends the learning; it is not the end of it. */
TEST_F(learner, a_share_after_a_cut)
{
	struct jetwattd_result cut = { .outcome = JETWATTD_CUT };
	struct jetwattd_terms t;
	struct jetwattd_step s;

	self->p.share = 0.05;
	begin(self, &unknown);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(1, step(self));
	t = terms(&self->p);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	ASSERT_EQ(JETWATTD_FOLLOW_STOP, jetwattd_learner_done(&self->l, &t, &cut));
	EXPECT_EQ(0, jetwattd_learner_again(&self->l, &t));
	t.now_ns += 60000000000ull;
	EXPECT_EQ(1, jetwattd_learner_again(&self->l, &t));
}

/* Presets: the highest that its name puts within; the next one down if it is over, up if there is room. */
TEST_F(learner, presets_come_first)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	const struct jetwatt_mode first[] = { m[0], m[85], m[MODES - 1] };
	const double w = watts(&self->p, &m[85]);
	struct jetwattd_prior prior = { .key = KEY, .first = first, .firsts = 3,
					.first_w = (const double[]){ 0.5 * w, w, 5 * w } };

	self->p.share = 0.05;
	self->p.budget_w = 1.05 * w;
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	/* One of five times the watts is not within a budget that is nearly drawn. */
	for (int i = 0; i < self->p.tries; i++)
		EXPECT_FALSE(jetwatt_mode_same(&first[2], &self->p.tried[i]));
	/* Over, though its name says that it is within. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.budget_w = 0.95 * w;
	prior.first_w = (const double[]){ 0.2 * w, 0.5 * w, 5 * w };
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	EXPECT_TRUE(jetwatt_mode_same(&first[0], &self->p.tried[1]));
	/* Room for the next one. */
	memset(self->l.allowance, 0, sizeof(self->l.allowance));
	self->p.budget_w = 2 * w;
	prior.first_w = (const double[]){ 0.5 * w, 1.8 * w, 4 * w };
	learn(self, &prior);
	ASSERT_LT(1, self->p.tries);
	EXPECT_TRUE(jetwatt_mode_same(&first[1], &self->p.tried[0]));
	EXPECT_TRUE(jetwatt_mode_same(&first[2], &self->p.tried[1]));
}

/* A server is too late in a mode, so in all below: they are chosen only if there is no other. */
TEST_F(learner, too_slow_for_a_server)
{
	struct jetwatt_mode was;

	learn(self, &unknown);
	was = best(self)->mode;
	ASSERT_EQ(1, jetwattd_learner_too_slow(&self->l, &was, 20));
	EXPECT_EQ(0, jetwattd_learner_too_slow(&self->l, &was, 20));
	EXPECT_FALSE(jetwattd_reaches(&was, &best(self)->mode));
	jetwattd_learner_in_time(&self->l);
	EXPECT_TRUE(jetwatt_mode_same(&was, &best(self)->mode));
}

/* An order, or the end of the job, in a step: the learning can be resumed. */
TEST_F(learner, a_step_that_is_cut)
{
	struct jetwattd_result cut = { .outcome = JETWATTD_CUT };
	struct jetwattd_terms t = terms(&self->p);
	struct jetwattd_step s;

	begin(self, &unknown);
	ASSERT_EQ(1, jetwattd_learner_next(&self->l, &t, &s));
	EXPECT_EQ(JETWATTD_FOLLOW_STOP, jetwattd_learner_done(&self->l, &t, &cut));
	jetwattd_learner_resume(&self->l, &t);
	while (step(self) > 0 && self->p.tries < STEPS)
		;
	EXPECT_GT(0.1, loss(self)) TH_LOG("%g", loss(self));
}

TEST_HARNESS_MAIN
