// SPDX-License-Identifier: GPL-2.0-only
/* Time and power in a new mode from the minibatch during which the mode was changed. */
#include "measure/partial.h"

#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"

#define S		1000000000ull
#define SINCE_NS	(100 * S)
#define SAMPLES		400

/* A minibatch that began @before_s before the change of mode and ended @after_s after it. */
static struct jetwatt_batch_bound minibatch(double before_s, double after_s)
{
	return (struct jetwatt_batch_bound){ .start_ns = SINCE_NS - before_s * S, .end_ns = SINCE_NS + after_s * S,
					     .kind = JETWATT_BATCH_TRAIN };
}

/* Minibatches took 2 s in the mode before. */
static const struct jetwatt_measure_limits limits = { .before_ms = 2000, .before_ns = SINCE_NS - 2 * S };

TEST(the_rest_of_the_minibatch_shows_the_new_time)
{
	struct jetwatt_batch_bound b = minibatch(0.2, 3.6);
	struct jetwatt_row row = { 0 };

	/* A tenth was done before; the other nine tenths took 3.6 s. */
	ASSERT_EQ(0, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	EXPECT_GT(0.001, fabs(row.time_ms / 4000 - 1));
	/* If the beginning did none or twice the average work, the time would be 3.6 or 4.5 s: within
	 * four standard errors. */
	EXPECT_LT(log(4000 / 3600.), 4 * row.time_sd);
	EXPECT_LT(log(4500 / 4000.), 4 * row.time_sd);
	b = minibatch(0, 4);
	ASSERT_EQ(0, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	EXPECT_GT(0.001, fabs(row.time_ms / 4000 - 1));
	EXPECT_GT(0.03, row.time_sd);
}

TEST(other_minibatches_are_refused)
{
	struct jetwatt_measure_limits unknown = limits, late = limits;
	struct jetwatt_batch_bound b = minibatch(0.6, 3);
	struct jetwatt_row row = { 0 };

	/* 30 % of the minibatch was done in the mode before. */
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	/* The minibatch began after the change, or ended before it. */
	b = minibatch(-0.1, 3);
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	b = minibatch(2, -0.1);
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	/* An evaluation. */
	b = minibatch(0.2, 3);
	b.kind = JETWATT_BATCH_EVAL;
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &limits, &row));
	/* The time in the mode before is not known, or the minibatch began before that mode. */
	b = minibatch(0.2, 3);
	unknown.before_ms = 0;
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &unknown, &row));
	late.before_ns = SINCE_NS - S / 10;
	EXPECT_EQ(-ENODATA, jetwatt_partial_time(&b, SINCE_NS, &late, &row));
}

TEST(power_is_that_of_the_settled_part)
{
	static uint64_t t[SAMPLES];
	static double w[SAMPLES];
	struct jetwatt_settle s = { .t = t, .w = w, .n = SAMPLES, .since_ns = SINCE_NS };
	struct jetwatt_row row = { 0 };

	/* 4 s at 100 Hz: 30 W for the first second, then 20 W with a swing of 2 W. */
	for (int i = 0; i < SAMPLES; i++) {
		t[i] = SINCE_NS + i * S / 100;
		w[i] = i < 100 ? 30 : 20 + (i % 2 ? 2 : -2);
	}
	ASSERT_EQ(0, jetwatt_partial_power(&s, SINCE_NS + S, SINCE_NS + 4 * S, &row));
	EXPECT_GT(0.01, fabs(row.power_w / 20 - 1));
	/* The missing quarter of the minibatch, with a swing of 10 %. */
	EXPECT_GT(0.002, fabs(row.power_sd - 0.025));
	EXPECT_EQ(-ENODATA, jetwatt_partial_power(&s, SINCE_NS + 3 * S, SINCE_NS + 4 * S, &row));
	/* Samples are missing for half a second, or nearly all. */
	for (int i = 250; i < SAMPLES; i++)
		t[i] += S / 2;
	EXPECT_EQ(-ENODATA, jetwatt_partial_power(&s, SINCE_NS + S, SINCE_NS + 4 * S, &row));
	s.n = 105;
	EXPECT_EQ(-ENODATA, jetwatt_partial_power(&s, SINCE_NS + S, SINCE_NS + 4 * S, &row));
}

TEST_HARNESS_MAIN
