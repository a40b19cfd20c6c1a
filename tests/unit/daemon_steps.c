// SPDX-License-Identifier: GPL-2.0-only
/* The learner of jetwattd with a server of a language model, of made-up costs of prefill and decode steps:
 * which mode is the best one follows from the mix of the steps. */
#include "learner_plant.h"

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
	/* 0.5 prefill steps per decode step instead of 0.02. */
	EXPECT_LT(0, hold(self, &memory, 0.5, 15));
	EXPECT_TRUE(is_best(self, 0));
	EXPECT_EQ(0, self->l.again_s);
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
	ASSERT_TRUE(jetwattd_differs(&is.m.row, &self->l.known.row[1]));
	jetwattd_learner_relearn(&self->l, &is, &self->l.known.row[1]);
	EXPECT_EQ(1, self->l.known.nr_rows);
	EXPECT_LT(0, hold(self, &longer, 0.5, 15));
	EXPECT_GT(0.08 * 75.5, fabs(75.5 - self->l.known.row[0].time_ms));
}

TEST_HARNESS_MAIN
