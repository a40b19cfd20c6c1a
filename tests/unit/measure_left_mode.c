// SPDX-License-Identifier: GPL-2.0-only
/* Time of a minibatch in a mode that was left before its measurement was complete. */
#include "measure/left_mode.h"

#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"

#define MS		1000000ull
#define SINCE_NS	(100000 * MS)
#define WAITS		512

/* A job that waits three times a minibatch: after 20, 30 and 100 % of its time. A minibatch takes 100 ms
 * before the change to the mode, 200 ms in it, and 50 ms after it was left, @left_ms after the change. */
static size_t job(struct jetwatt_sync *sync, double left_ms)
{
	static const double part[] = { 0.2, 0.1, 0.7 };
	double t = -10000;
	size_t n = 0;

	while (n < WAITS) {
		double ms = part[n % 3] * (t < 0 ? 100 : t < left_ms ? 200 : 50);

		t += ms;
		sync[n++] = (struct jetwatt_sync){ .enter_ns = SINCE_NS + (t - ms / 2) * MS, .exit_ns = SINCE_NS + t * MS,
						   .tgid = 7, .tid = 7 };
	}
	return n;
}

static int left_after(double left_ms, struct jetwatt_measure *m)
{
	static struct jetwatt_sync sync[WAITS];
	struct jetwatt_session w = { .sync = sync, .nr_sync = job(sync, left_ms) };

	*m = (struct jetwatt_measure){ 0 };
	return jetwatt_left_mode_time(&w, SINCE_NS, SINCE_NS + left_ms * MS, m);
}

TEST(only_minibatches_within_the_mode_count)
{
	struct jetwatt_measure m;

	ASSERT_EQ(0, left_after(1100, &m));
	EXPECT_GT(0.01, fabs(m.row.time_ms / 200 - 1));
	EXPECT_LE(4, m.batches);
	EXPECT_LE(0.02, m.row.time_sd);
	EXPECT_GT(0.01, fabs(m.span_s / (m.batches * 0.2) - 1));
	/* A single one is less certain. */
	ASSERT_EQ(0, left_after(390, &m));
	EXPECT_EQ(1, m.batches);
	EXPECT_LE(0.05, m.row.time_sd);
}

TEST(without_a_whole_minibatch_there_is_no_time)
{
	struct jetwatt_measure m;

	EXPECT_EQ(-ENODATA, left_after(150, &m));
	EXPECT_EQ(0, m.row.time_ms);
}

TEST_HARNESS_MAIN
