// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd with a server of a language model, of made-up costs of prefill and decode steps:
 * which mode is the best one follows from the mix of the steps. */
#include "learner_plant.h"

#include "daemon/learner_inside.h"
#include "plan/drift.h"

#define WINDOW_S	20

/**
 * struct serving - steps of a made-up server in one mode
 * @prefill_ms, @decode_ms: time of a step
 * @prefill_w, @decode_w: power during a step
 */
struct serving {
	double prefill_ms, decode_ms, prefill_w, decode_w;
};

/* A mode with a fast GPU, and one with a fast memory. */
static const struct serving compute = { 50, 20, 20, 12 }, memory = { 100, 12, 18, 12 };

/* Return the costs of WINDOW_S seconds with this number of prefill steps per decode step, and 1 ms between
 * steps. */
static struct jetwatt_step_costs steps_of(const struct serving *s, double prefills)
{
	double decodes = WINDOW_S * 1e3 / (prefills * (s->prefill_ms + 1) + s->decode_ms + 1), n = prefills * decodes;

	return (struct jetwatt_step_costs){
		.kind = {
			[JETWATT_PREFILL] = { n, n * s->prefill_ms, n, n, s->prefill_ms, 0.01, s->prefill_w, 0.01 },
			[JETWATT_DECODE] = { decodes, decodes * s->decode_ms, decodes, decodes, s->decode_ms, 0.002,
					     s->decode_w, 0.005 },
		},
		.prompts = n, .prompts_ms = n * s->prefill_ms, .gap_w = 8, .span_ns = WINDOW_S * 1000000000ull,
	};
}

/* Measure candidate @i. */
static void read_mode(FIXTURE_DATA(learner) *self, size_t i, const struct serving *s, double prefills)
{
	struct jetwattd_reading got = { .steps = steps_of(s, prefills) };
	struct jetwattd_news news;

	got.m.row.mode = self->l.known.mode[i];
	jetwattd_learner_figures(&self->l, &got.steps, &got.m.row);
	jetwattd_learner_reading(&self->l, &got);
	while (jetwattd_learner_news(&self->l, &news))
		;
}

/* Hold a mode with this mix. Return: number of times that the mix has moved. */
static int hold(FIXTURE_DATA(learner) *self, const struct serving *s, double prefills, int windows)
{
	struct jetwatt_step_costs c = steps_of(s, prefills);
	struct jetwattd_news news;
	int moved = 0;

	while (windows--) {
		jetwattd_learner_window(&self->l, &c);
		while (jetwattd_learner_news(&self->l, &news))
			moved += news.what == JETWATTD_MIX_MOVED;
	}
	return moved;
}

static int is_best(FIXTURE_DATA(learner) *self, size_t i)
{
	const struct jetwatt_row *row = best(self);

	return row && jetwatt_mode_same(&row->mode, &self->l.known.mode[i]);
}

/* Begin a server. Candidate 0 has a fast GPU, candidate 60 a fast memory. */
static void measured(FIXTURE_DATA(learner) *self, double prefills)
{
	begin(self, &unknown);
	read_mode(self, 0, &compute, prefills);
	read_mode(self, 60, &memory, prefills);
}

TEST_F(learner, readings_with_different_requests_are_compared_for_one_mix)
{
	begin(self, &unknown);
	read_mode(self, 0, &compute, 0.02);
	/* More prompts arrived while the faster mode was measured. */
	read_mode(self, 60, &memory, 0.12);
	EXPECT_TRUE(is_best(self, 60));
}

TEST_F(learner, best_mode_changes_when_the_mix_moves)
{
	measured(self, 0.02);
	EXPECT_TRUE(is_best(self, 60));
	EXPECT_EQ(0, hold(self, &memory, 0.02, 20));
	EXPECT_TRUE(is_best(self, 60));
	/* 0.5 prefill steps per decode step instead of 0.02: the search is due at once. */
	self->l.again_s = 100;
	self->l.small = 1;
	EXPECT_LT(0, hold(self, &memory, 0.5, 15));
	EXPECT_TRUE(is_best(self, 0));
	EXPECT_EQ(0, self->l.again_s);
	EXPECT_EQ(0, self->l.small);
	/* Time per decode step, with half a prefill and one and a half gaps. */
	EXPECT_GT(0.08 * 46.5, fabs(46.5 - self->l.known.row[0].time_ms));
	EXPECT_LT(0, hold(self, &compute, 0.02, 15));
	EXPECT_TRUE(is_best(self, 60));
}

TEST_F(learner, small_change_of_the_mix_changes_nothing)
{
	struct jetwatt_row was;

	measured(self, 0.1);
	hold(self, &compute, 0.1, 15);
	was = self->l.known.row[0];
	self->l.again_s = 100;
	EXPECT_EQ(0, hold(self, &compute, 0.13, 15));
	EXPECT_EQ(was.time_ms, self->l.known.row[0].time_ms);
	EXPECT_EQ(100, self->l.again_s);
}

TEST_F(learner, first_windows_of_a_server_set_the_mix)
{
	measured(self, 0.5);
	EXPECT_TRUE(is_best(self, 0));
	/* The mix is not known yet, so nothing is reported. */
	EXPECT_EQ(0, hold(self, &memory, 0.02, 12));
	EXPECT_TRUE(is_best(self, 60));
}

TEST_F(learner, rows_after_a_drift_are_those_of_the_changed_server)
{
	const struct serving longer = { 100, 24, 18, 12 };
	struct jetwattd_reading is = { .steps = steps_of(&longer, 0.02) };

	measured(self, 0.02);
	hold(self, &memory, 0.02, 15);
	is.m.row.mode = self->l.known.mode[60];
	jetwattd_learner_figures(&self->l, &is.steps, &is.m.row);
	ASSERT_TRUE(jetwatt_rows_differ(&is.m.row, &self->l.known.row[1]));
	jetwattd_learner_relearn(&self->l, &is, &self->l.known.row[1]);
	EXPECT_EQ(1, self->l.known.nr_rows);
	EXPECT_LT(0, hold(self, &longer, 0.5, 15));
	EXPECT_GT(0.08 * 75.5, fabs(75.5 - self->l.known.row[0].time_ms));
}

/* Few prefills make the time of a row uncertain, and other prompts the power: neither alone is a drift. */
TEST_F(learner, uncertain_time_and_small_difference_of_power_are_no_drift)
{
	const struct jetwatt_row was = { .time_ms = 24.7, .time_sd = .166, .power_w = 20.1, .power_sd = .003 };
	const struct jetwatt_row is = { .time_ms = 31.0, .time_sd = .005, .power_w = 22.0, .power_sd = .003 };
	const struct jetwatt_row slow = { .time_ms = 60, .time_sd = .005, .power_w = 20.1, .power_sd = .003 };

	EXPECT_TRUE(jetwatt_rows_differ(&is, &was));
	EXPECT_FALSE(jetwatt_rows_differ_by(&is, &was, log(JETWATTD_CONTEXTS)));
	EXPECT_TRUE(jetwatt_rows_differ_by(&slow, &was, log(JETWATTD_CONTEXTS)));
}

TEST_F(learner, long_reading_of_the_held_mode_replaces_a_short_one)
{
	const struct serving too_low = { 100, 9, 18, 12 };
	struct jetwattd_reading got = { .steps = steps_of(&memory, 0.02), .m.row.mode = self->l.known.mode[60] };

	begin(self, &unknown);
	read_mode(self, 60, &too_low, 0.02);
	EXPECT_FALSE(jetwattd_learner_refine(&self->l, &got));
	got.steps.span_ns *= 2;
	EXPECT_TRUE(jetwattd_learner_refine(&self->l, &got));
	EXPECT_EQ(1, self->l.known.nr_rows);
	EXPECT_GT(0.3, fabs(15.0 - self->l.known.row[0].time_ms));
	EXPECT_FALSE(jetwattd_learner_refine(&self->l, &got));
}

TEST_F(learner, rows_of_a_server_outlast_its_pause)
{
	EXPECT_FALSE(jetwattd_learner_continue(&self->l, KEY));
	measured(self, 0.02);
	self->l.ran_ns = 5;
	EXPECT_TRUE(jetwattd_learner_continue(&self->l, KEY));
	EXPECT_TRUE(is_best(self, 60));
	/* The pause is no running time, of which learning may take a share. */
	EXPECT_EQ(0, self->l.ran_ns);
	EXPECT_FALSE(jetwattd_learner_continue(&self->l, "fedcba9876543210"));
	begin(self, &unknown);
	EXPECT_FALSE(jetwattd_learner_continue(&self->l, KEY));
}

/* Rows go: those before a drift, and one of a mode over the budget when the budget rises. The remaining row is
 * computed from the steps of its own mode when the mix moves. */
TEST_F(learner, remaining_rows_keep_their_steps)
{
	const struct jetwatt_mode *m = self->l.known.mode;
	struct jetwatt_row over = { .mode = m[179], .power_w = 40, .power_sd = 0.02 }, expected = { .mode = m[60] };
	struct jetwatt_step_costs steps = steps_of(&memory, 0.02);

	for (int budget = 0; budget < 2; budget++) {
		begin(self, &unknown);
		if (budget)
			jetwattd_learner_over(&self->l, &over, 0);
		else
			read_mode(self, 0, &compute, 0.02);
		read_mode(self, 60, &memory, 0.02);
		if (budget)
			jetwattd_learner_budget(&self->l, 51, 50);
		else
			jetwattd_rows_drop(&self->l, 1);
		ASSERT_EQ(1, self->l.known.nr_rows);
		ASSERT_TRUE(jetwatt_mode_same(&m[60], &self->l.known.row[0].mode));
		hold(self, &memory, 0.5, 15);
		EXPECT_LT(30, self->l.known.row[0].time_ms);
		jetwattd_learner_figures(&self->l, &steps, &expected);
		EXPECT_GT(0.01 * expected.time_ms, fabs(expected.time_ms - self->l.known.row[0].time_ms))
			TH_LOG("%g ms, not %g ms", self->l.known.row[0].time_ms, expected.time_ms);
	}
}

/* Pass these limits to the learner. */
static void set_limits(FIXTURE_DATA(learner) *self, int least_energy, double ttft_ms, double tpot_ms)
{
	struct jetwattd_terms t = terms(&self->p);

	t.least_energy = least_energy;
	t.ttft_ms = ttft_ms;
	t.tpot_ms = tpot_ms;
	jetwattd_learner_is_due(&self->l, &t);
}

TEST_F(learner, least_energy_within_the_latencies)
{
	/* Candidate 20 needs twice the time of candidate 60, and less energy. */
	const struct serving slow = { 200, 24, 6, 4 };

	measured(self, 0.02);
	read_mode(self, 20, &slow, 0.02);
	EXPECT_TRUE(is_best(self, 60));
	set_limits(self, 1, 0, 0);
	EXPECT_TRUE(is_best(self, 20));
	set_limits(self, 1, 0, 30);
	hold(self, &memory, 0.02, 1);
	EXPECT_TRUE(is_best(self, 20));
	set_limits(self, 1, 0, 20);
	hold(self, &memory, 0.02, 1);
	EXPECT_TRUE(is_best(self, 60));
	EXPECT_TRUE(self->l.misses_deadline[20]);
	/* The time to the first token is one prefill step. */
	set_limits(self, 1, 150, 0);
	hold(self, &memory, 0.02, 1);
	EXPECT_TRUE(is_best(self, 60));
	EXPECT_FALSE(self->l.misses_deadline[60]);
	/* If no mode is within the limit, the fastest one is nearest to it. */
	set_limits(self, 1, 0, 5);
	hold(self, &memory, 0.02, 1);
	EXPECT_TRUE(is_best(self, 60));
	/* Without a limit, all modes may be chosen again. */
	set_limits(self, 1, 0, 0);
	hold(self, &memory, 0.02, 1);
	EXPECT_TRUE(is_best(self, 20));
}

/* Prefill is limited by the clock of the GPU, decode by that of the memory. */
static struct serving server_in(const struct plant *p, const struct jetwatt_mode *m)
{
	double host = 10e6 / m->cpu_khz, w = watts(p, m);

	return (struct serving){ 60e9 / m->gpu_hz + host, 10e9 * fmax(1.0 / m->emc_hz, 0.2 / m->gpu_hz) + host,
				 w, 0.8 * w };
}

/* Return energy per decode step in a mode, in mJ, with 0.1 prefill steps and 1.1 gaps. */
static double energy_in(const struct plant *p, const struct jetwatt_mode *m)
{
	struct serving s = server_in(p, m);

	return 0.1 * s.prefill_ms * s.prefill_w + s.decode_ms * s.decode_w + 1.1 * 8;
}

static int run_step(FIXTURE_DATA(learner) *self, double tpot_ms)
{
	struct jetwattd_result result = { .outcome = JETWATTD_MEASURED };
	struct jetwattd_terms t = terms(&self->p);
	struct jetwattd_step s;
	struct serving serving;

	t.least_energy = 1;
	t.tpot_ms = tpot_ms;
	t.reading_s = 8;
	if (!jetwattd_learner_next(&self->l, &t, &s))
		return 0;
	serving = server_in(&self->p, &s.mode);
	self->p.now_ns += 8000000000ull;
	self->p.tries++;
	if (s.kind == JETWATTD_TRY || s.kind == JETWATTD_TRY_EXACT) {
		size_t i = 0;

		while (!jetwatt_mode_same(&self->l.known.mode[i], &s.mode))
			i++;
		read_mode(self, i, &serving, 0.1);
	} else {
		result.reading.steps = steps_of(&serving, 0.1);
		result.reading.m.row.mode = s.mode;
		jetwattd_learner_figures(&self->l, &result.reading.steps, &result.reading.m.row);
	}
	t.now_ns = self->p.now_ns;
	jetwattd_learner_done(&self->l, &t, &result);
	return 1;
}

TEST_F(learner, search_by_energy_finds_a_mode_near_the_best)
{
	self->p.budget_w = 60;
	for (double tpot_ms = 0; tpot_ms < 20; tpot_ms += 14) {
		struct jetwattd_terms t = terms(&self->p);
		double least = INFINITY;

		begin(self, &unknown);
		self->p.tries = 0;
		/* As in hold_on(): a search begins when it is due. */
		for (int i = 0; i < 720; i++) {
			t.now_ns = self->p.now_ns += 5000000000ull;
			t.least_energy = 1;
			t.tpot_ms = tpot_ms;
			if (jetwattd_learner_is_due(&self->l, &t))
				jetwattd_learner_resume(&self->l, &t);
			else
				continue;
			for (int n = 0; n < STEPS && run_step(self, tpot_ms); n++)
				;
		}
		for (int i = 0; i < MODES; i++) {
			const struct jetwatt_mode *m = &self->l.known.mode[i];

			if (!tpot_ms || server_in(&self->p, m).decode_ms + 1 <= tpot_ms)
				least = fmin(least, energy_in(&self->p, m));
		}
		ASSERT_NE(NULL, best(self));
		TH_LOG("limit %g ms: %d readings, %.2f %% more energy than the best mode", tpot_ms, self->p.tries,
		       100 * (energy_in(&self->p, &best(self)->mode) / least - 1));
		EXPECT_GT(1.03 * least, energy_in(&self->p, &best(self)->mode));
		if (tpot_ms)
			EXPECT_GE(tpot_ms, server_in(&self->p, &best(self)->mode).decode_ms + 1);
	}
}

TEST_HARNESS_MAIN
