// SPDX-License-Identifier: GPL-2.0-only
/* The search for a language model's server: its error if no mode is within the limits of the
 * latencies, and its end after the last verification. */
#include "tune/token_search.h"

#define jetwatt_token_measure test_measure
#define jetwatt_mode_guard_apply(guard, mode) ((void)(guard), (void)(mode), 0)
int test_measure(struct jetwatt_tokens *t, struct jetwatt_tuner *l, size_t index, const char *why, int longer);
#include "../../user/tune/token_search.c"

#include <unistd.h>

#include "kselftest_harness.h"

#define MODES	6
#define MANY	4096	/* several times RANKED_MAX */

FIXTURE(search) {
	struct jetwatt_args args;
	struct jetwatt_mode mode[MODES];
	struct jetwatt_row row[MODES];
	struct jetwatt_step_costs cost[MODES];
	struct jetwatt_tuner l;
	struct jetwatt_tokens t;
	struct choice k;
};

/* The third mode is the fastest: a decode step takes 7 ms. */
FIXTURE_SETUP(search)
{
	static const double ms[MODES] = { 20, 12, 7, 16, 10, 14 };

	for (int i = 0; i < MODES; i++) {
		self->mode[i] = (struct jetwatt_mode){ 4, 1000000 + 1000 * i, 500000000 + 10000000 * i,
						       2133000000 };
		self->row[i] = (struct jetwatt_row){ .mode = self->mode[i], .time_ms = ms[i],
						     .power_w = 20 };
		self->cost[i].kind[JETWATT_DECODE].ms = ms[i];
		self->cost[i].kind[JETWATT_DECODE].power_w = 20;
		self->cost[i].kind[JETWATT_DECODE].steps = 100;
	}
	self->l = (struct jetwatt_tuner){ .args = &self->args, .mode = self->mode, .nr_modes = MODES,
					  .row = self->row, .nr_rows = MODES };
	self->t = (struct jetwatt_tokens){ .cost = self->cost,
					   .mix = { .work[JETWATT_DECODE] = 1, .per_step = 1,
						    .per_prompt = 2, .slower = 3 } };
	ASSERT_EQ(0, choice_alloc(&self->k, MODES));
}

FIXTURE_TEARDOWN(search)
{
	choice_free(&self->k);
	jetwatt_estimator_forget(&self->l.by);
}

static FILE *errors;
static int errors_fd;

/* From now on, write errors and notices to a file. */
static void keep_errors(void)
{
	errors = tmpfile();
	errors_fd = dup(STDERR_FILENO);
	dup2(fileno(errors), STDERR_FILENO);
}

/* Return: the errors and notices since keep_errors(). */
static const char *kept_errors(void)
{
	static char text[512];

	dup2(errors_fd, STDERR_FILENO);
	close(errors_fd);
	rewind(errors);
	text[fread(text, 1, sizeof(text) - 1, errors)] = '\0';
	fclose(errors);
	return text;
}

/* Return: the text of explain_infeasible(). */
static const char *infeasible(FIXTURE_DATA(search) *self)
{
	const char *text;
	int code;

	keep_errors();
	code = explain_infeasible(&self->t, &self->l, &self->k);
	text = kept_errors();
	return code == JETWATT_EXIT_INFEASIBLE ? text : "another exit code";
}

TEST_F(search, least_time_per_output_token_is_named)
{
	const char *text;

	self->t.tpot_ms = 5;
	ASSERT_EQ(0, find_candidates(&self->t, &self->l, 0, &self->k));
	ASSERT_EQ(0, self->k.nr);
	text = infeasible(self);
	EXPECT_NE(NULL, strstr(text, "closest: c4")) TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, " with 7.00 ms per output token")) TH_LOG("%s", text);
}

TEST_F(search, least_time_to_first_token_is_named)
{
	const char *text;

	/* Two prefill steps, each of which takes three times as long as a decode step. */
	self->t.ttft_ms = 30;
	ASSERT_EQ(0, find_candidates(&self->t, &self->l, 0, &self->k));
	ASSERT_EQ(0, self->k.nr);
	text = infeasible(self);
	EXPECT_NE(NULL, strstr(text, " with 42.00 ms to the first token")) TH_LOG("%s", text);
}

/* Time and power of each mode of the next measurements; NULL: all modes are alike. */
static const double *mode_ms, *mode_w;

/* Every verification shows that the mode is slower than its first measurement; with @mode_ms, only that
 * of the last mode does. */
int test_measure(struct jetwatt_tokens *t, struct jetwatt_tuner *l, size_t index, const char *why, int longer)
{
	int slower = longer && (!mode_ms || index + 1 == l->nr_modes);
	struct jetwatt_row row = { .mode = l->mode[index],
				   .time_ms = slower ? 100 : mode_ms ? mode_ms[index] : 9,
				   .power_w = mode_w ? mode_w[index] : 20,
				   .time_sd = 0.01, .power_sd = 0.01 };

	(void)t;
	(void)why;
	l->measured += !longer;
	return jetwatt_tuner_add(l, &row);
}

TEST_F(search, answer_is_measured_if_no_verification_succeeds)
{
	struct jetwatt_tuner l = { .args = &self->args, .mode = calloc(MANY, sizeof(*l.mode)), .nr_modes = MANY,
				   .risk = 0.05 };
	struct jetwatt_verify c = { .index = 0 };
	struct choice k;
	const char *text;
	int err;

	ASSERT_NE(NULL, l.mode);
	for (int i = 0; i < MANY; i++)
		l.mode[i] = (struct jetwatt_mode){ 4, 700000 + 25000 * (i % 64), 300000000 + 12500000ull * (i / 64),
						   2133000000 };
	self->t.q = (struct jetwatt_plan_objective){ .minimise = JETWATT_MIN_ENERGY, .power_w = 30, .risk = 0.05 };
	for (size_t i = 0; i < 5; i++)
		ASSERT_EQ(0, test_measure(&self->t, &l, 853 * i, "", 0));
	ASSERT_EQ(0, choice_alloc(&k, MANY));
	/* No measurement had a prefill step, so the time to first token is unknown. */
	self->t.ttft_ms = 1;
	self->t.mix.per_prompt = 0;
	keep_errors();
	err = verify(&self->t, &l, MANY, &k, &c);
	text = kept_errors();
	ASSERT_EQ(0, err);
	EXPECT_NE(NULL, strstr(text, "--ttft was not checked")) TH_LOG("%s", text);
	EXPECT_LT(0, c.proof.time_ms);
	EXPECT_LE(VERIFIED_MAX + 5, (int)l.nr_rows);
	choice_free(&k);
	jetwatt_tuner_free(&l);
}

TEST_F(search, prediction_is_that_of_the_chosen_mode)
{
	static const double ms[MODES] = { 30, 24, 20, 17, 14.5, 12.5 }, w[MODES] = { 10, 12, 14.5, 17.5, 21, 26 };
	struct jetwatt_tuner l = { .args = &self->args, .mode = self->mode, .nr_modes = MODES, .risk = 0.05 };
	struct jetwatt_verify c = { .index = 0 };

	self->t.q = (struct jetwatt_plan_objective){ .minimise = JETWATT_MIN_TIME, .power_w = 30, .risk = 0.05 };
	mode_ms = ms;
	mode_w = w;
	for (size_t i = 0; i < MODES; i++) {
		self->mode[i].gpu_hz = 300000000 + 150000000 * i;
		ASSERT_EQ(0, test_measure(&self->t, &l, i, "", 0));
	}
	ASSERT_EQ(0, verify(&self->t, &l, MODES, &self->k, &c));
	mode_ms = mode_w = NULL;
	EXPECT_EQ(MODES - 2, c.index);
	EXPECT_LT(0.9 * w[MODES - 2], c.predicted.power_w);
	EXPECT_GT(1.1 * w[MODES - 2], c.predicted.power_w);
	l.mode = NULL;
	jetwatt_tuner_free(&l);
}

TEST_HARNESS_MAIN
