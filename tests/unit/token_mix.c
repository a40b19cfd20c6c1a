// SPDX-License-Identifier: GPL-2.0-only
/* Costs of prefill and decode steps of a made-up server, and the figures per token of their mix. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/phase_cost.h"
#include "near.h"
#include "tune/token_mix.h"

#define MS	1000000ull
#define STEPS	1000
#define SAMPLES	40000

static struct jetwatt_sync sync_[STEPS];
static struct jetwatt_power power[SAMPLES];

/**
 * struct server - a made-up server in one mode
 * @prefill_ms, @decode_ms: time of a full chunk of a prompt, and of a decode step; the chunks of
 *	every third prompt are full, the others are half a chunk
 * @prefill_w, @decode_w, @gap_w: power in a prefill and in a decode step, and between the steps, in W
 * @every: number of steps of which two are prefill
 */
struct server {
	double prefill_ms, decode_ms, prefill_w, decode_w, gap_w;
	int every;
};

#define GAP_MS	1.0

/* Simulate the server for STEPS steps. Return: the session. */
static struct jetwatt_session serve(const struct server *s)
{
	struct jetwatt_session w = { .power = power, .sync = sync_, .nr_sync = STEPS, .nr_total = 1 };
	uint64_t t = 1000 * MS, at = t;

	for (int i = 0; i < STEPS; i++) {
		int prefill = i % s->every < 2;
		double ms = !prefill ? s->decode_ms : i / s->every % 3 ? s->prefill_ms / 2 : s->prefill_ms;
		uint64_t launch = t + (uint64_t)(GAP_MS * MS), end = launch + (uint64_t)(ms * MS);

		sync_[i] = (struct jetwatt_sync){
			.enter_ns = launch + MS / 10, .exit_ns = end, .tgid = 7, .tid = 7, .call = JETWATT_SYNC_STREAM,
			.launch_ns = launch, .launches = prefill ? 48 : 1,
		};
		for (; at < end && w.nr_power < SAMPLES; at += MS / 2)
			power[w.nr_power++] = (struct jetwatt_power){
				.time_ns = at, .nr = 1, .valid = 1,
				.uw[0] = 1e6 * (at < launch ? s->gap_w : prefill ? s->prefill_w : s->decode_w),
			};
		t = end;
	}
	w.power_ns = at;
	return w;
}

TEST(prefill_and_decode_have_their_own_time_and_power)
{
	const struct server s = { 100, 10, 30, 20, 8, 25 };
	struct jetwatt_session w = serve(&s);
	struct jetwatt_step_costs c;

	ASSERT_EQ(0, jetwatt_phase_costs(&w, 1000 * MS, 2000 * MS, &c));
	EXPECT_NEAR(STEPS, c.kind[JETWATT_PREFILL].steps + c.kind[JETWATT_DECODE].steps, 3);
	EXPECT_NEAR(2.0 / 25, (double)c.kind[JETWATT_PREFILL].steps / STEPS, 0.002);
	EXPECT_NEAR(STEPS / 25, c.prompts, 1);
	EXPECT_NEAR(100, c.kind[JETWATT_PREFILL].ms, 0.1);
	EXPECT_NEAR(10, c.kind[JETWATT_DECODE].ms, 0.1);
	EXPECT_NEAR(30, c.kind[JETWATT_PREFILL].power_w, 0.3);
	EXPECT_NEAR(20, c.kind[JETWATT_DECODE].power_w, 0.6);
	EXPECT_NEAR(GAP_MS * STEPS, c.kind[JETWATT_PREFILL].gap_ms + c.kind[JETWATT_DECODE].gap_ms, 5);
}

/* Three prefills are too few for a phase. */
TEST(rare_prefills_are_told_apart)
{
	const struct server s = { 100, 10, 30, 20, 8, 700 };
	struct jetwatt_session w = serve(&s);
	struct jetwatt_step_costs c;

	ASSERT_EQ(0, jetwatt_phase_costs(&w, 1110 * MS, 1110 * MS, &c));
	EXPECT_EQ(3, c.kind[JETWATT_PREFILL].steps);
	EXPECT_NEAR(10, c.kind[JETWATT_DECODE].ms, 0.1);
	EXPECT_NEAR(20, c.kind[JETWATT_DECODE].power_w, 0.5);
}

static int by_end(const void *a, const void *b)
{
	const struct jetwatt_sync *x = a, *y = b;

	return (x->exit_ns > y->exit_ns) - (x->exit_ns < y->exit_ns);
}

/* The prefill steps of each server contain whole decode steps of the other. */
TEST(two_servers)
{
	const struct server s = { 100, 10, 20, 20, 20, 25 };
	struct jetwatt_session w;
	static struct jetwatt_sync both[2 * STEPS];
	struct jetwatt_step_costs c;

	for (int i = 0; i < 2; i++) {
		w = serve(&s);
		memcpy(both + i * STEPS, sync_, sizeof(sync_));
		for (int j = 0; j < STEPS && i; j++) {
			both[STEPS + j].tgid = both[STEPS + j].tid = 8;
			both[STEPS + j].launch_ns += 203 * MS;
			both[STEPS + j].enter_ns += 203 * MS;
			both[STEPS + j].exit_ns += 203 * MS;
		}
	}
	qsort(both, 2 * STEPS, sizeof(*both), by_end);
	w.sync = both;
	w.nr_sync = 2 * STEPS;
	ASSERT_EQ(0, jetwatt_phase_costs(&w, 1000 * MS, 2000 * MS, &c));
	EXPECT_NEAR(2 * STEPS / 25, c.prompts, 2);
	EXPECT_NEAR(c.kind[JETWATT_PREFILL].steps, c.kind[JETWATT_PREFILL].used, 20);
	EXPECT_NEAR(100, c.kind[JETWATT_PREFILL].ms, 0.1);
	EXPECT_NEAR(10, c.kind[JETWATT_DECODE].ms, 0.1);
	EXPECT_NEAR(20, c.kind[JETWATT_PREFILL].power_w, 0.01);
}

TEST(figures_do_not_depend_on_the_requests_that_arrived)
{
	/* The second mode is half as fast, and fewer prompts arrived while it was measured. */
	const struct server s[] = { { 100, 10, 30, 20, 8, 20 }, { 200, 20, 12, 9, 5, 50 } };
	const double steps[] = { 2 * STEPS / 20 + 2 * STEPS / 50, 2 * STEPS - (2 * STEPS / 20 + 2 * STEPS / 50) };
	/* A chunk takes on average two thirds of the time of a full one. */
	const double prefill = steps[0] * 2 / 3 / steps[1];
	struct jetwatt_step_costs c[2];
	struct jetwatt_token_mix mix;

	for (int i = 0; i < 2; i++) {
		struct jetwatt_session w = serve(&s[i]);

		ASSERT_EQ(0, jetwatt_phase_costs(&w, 1000 * MS, 2000 * MS, &c[i]));
	}
	/* One token for each decode step. */
	ASSERT_EQ(0, jetwatt_token_mix_of(c, 2, steps[1], &mix));
	EXPECT_NEAR(1, mix.work[JETWATT_DECODE], 0.02);
	EXPECT_NEAR(prefill, mix.work[JETWATT_PREFILL], 0.03 * prefill);
	for (int i = 0; i < 2; i++) {
		double gap = GAP_MS * 2 * STEPS / steps[1];
		double ms = prefill * s[i].prefill_ms + s[i].decode_ms + gap;
		double mj = prefill * s[i].prefill_ms * s[i].prefill_w + s[i].decode_ms * s[i].decode_w +
			    gap * s[i].gap_w;
		struct jetwatt_token_figures f = { .tpot_ms = 0 };

		jetwatt_token_figures_of(&c[i], &mix, &f);
		EXPECT_NEAR(ms, f.row.time_ms, 0.02 * ms);
		EXPECT_NEAR(mj / ms, f.row.power_w, 0.03 * mj / ms);
		/* Both chunks of a prompt have the same size. */
		EXPECT_NEAR(2 * 2.0 / 3 * s[i].prefill_ms, f.ttft_ms, 0.05 * 2 * s[i].prefill_ms);
		EXPECT_NEAR(s[i].decode_ms + GAP_MS, f.tpot_ms, 0.1);
	}
}

TEST(a_mode_without_a_prefill_is_estimated_from_its_decode_steps)
{
	struct jetwatt_step_costs c[2] = {
		{ .kind = { { 10, 1000, 10, 10, 100, 0.01, 30, 0.01 }, { 90, 900, 90, 90, 10, 0.01, 20, 0.01 } } },
		{ .kind = { { 0 }, { 90, 1800, 90, 90, 20, 0.01, 10, 0.01 } } },
	};
	struct jetwatt_token_figures f = { .tpot_ms = 0 };
	struct jetwatt_token_mix mix;

	ASSERT_EQ(0, jetwatt_token_mix_of(c, 2, 180, &mix));
	jetwatt_token_figures_of(&c[1], &mix, &f);
	EXPECT_NEAR(10.0 / 180 * 200 + 20 + 190.0 / 180, f.row.time_ms, 1e-6);
	EXPECT_EQ(1, f.row.time_sd > 0.05);
	EXPECT_EQ(-ENODATA, jetwatt_token_mix_of(c, 2, 0, &mix));
}

TEST(too_few_waits_have_no_costs)
{
	const struct server s = { 100, 10, 30, 20, 8, 25 };
	struct jetwatt_session w = serve(&s);
	struct jetwatt_step_costs c;

	EXPECT_EQ(-EAGAIN, jetwatt_phase_costs(&w, w.power_ns, w.power_ns, &c));
	w.nr_sync = 0;
	EXPECT_EQ(-EAGAIN, jetwatt_phase_costs(&w, 1000 * MS, 1000 * MS, &c));
}

TEST_HARNESS_MAIN
