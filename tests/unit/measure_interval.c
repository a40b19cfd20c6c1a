// SPDX-License-Identifier: GPL-2.0-only
/* How often minibatches are searched while a mode is measured. */
#include "measure/mode.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "util/clock.h"

/* Called after each search. */
static void count(const struct jetwatt_measure *m, double part, void *arg)
{
	(void)m;
	(void)part;
	++*(int *)arg;
}

/* Until the minibatches can be long enough in total, a search only serves the display of the progress. */
TEST(few_searches_before_the_minimum_duration)
{
	const struct jetwatt_measure_limits limits = { .batches = 8, .seconds = 60, .poll_s = 0.01, .idle_s = 0.6 };
	struct jetwatt_power power[1];
	struct jetwatt_sync sync[1];
	struct jetwatt_session w = { .epoll = epoll_create1(0), .signals = -1, .pidfd = -1, .cgroup.events = -1,
				     .power = power, .sync = sync };
	struct jetwatt_measure m = { .batches = 0 };
	int n = 0;

	ASSERT_LE(0, w.epoll);
	/* The job has no waits, so the measurement ends at the first search after idle_s. */
	EXPECT_EQ(-ENODATA, jetwatt_measure_mode(&w, jetwatt_clock_ns(), &limits, &m, count, &n));
	EXPECT_LE(1, n);
	EXPECT_GE(2, n);
	close(w.epoll);
}

TEST_HARNESS_MAIN
