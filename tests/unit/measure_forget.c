// SPDX-License-Identifier: GPL-2.0-only
/* The waits of a long search are counted and discarded. */
#include "measure/session.h"

#include <stdlib.h>

#include "kselftest_harness.h"
#include "measure/mode.h"

#define MS	1000000ull

/* A search of 40 modes. A minibatch has two waits, of which the second ends it, and takes 1 ms in the
 * first mode and up to 2 ms in the others. */
TEST(minibatches_are_counted_in_all_waits)
{
	enum { MODES = 40, PER_MODE = 5000, WAITS = 2 * MODES * PER_MODE };
	struct jetwatt_session w = { .sync = calloc(WAITS, sizeof(*w.sync)), .max_sync = WAITS };
	uint64_t t = 1000 * MS;
	size_t most = 0;

	ASSERT_NE(NULL, w.sync);
	for (int mode = 0; mode < MODES; mode++) {
		uint64_t us = 1000 + mode % 7 * 160;

		for (int i = 0; i < PER_MODE; i++, t += us * 1000) {
			uint64_t noise = i * 7919 % 31;

			w.sync[w.nr_sync++] = (struct jetwatt_sync){
				.enter_ns = t + us * 300 + noise * 100, .exit_ns = t + us * 500, .tgid = 7, .tid = 7,
			};
			w.sync[w.nr_sync++] = (struct jetwatt_sync){
				.enter_ns = t + us * 510, .exit_ns = t + us * 1000 - noise * 50, .tgid = 7, .tid = 7,
			};
		}
		w.waits = w.nr_sync;
		most = w.nr_sync > most ? w.nr_sync : most;
		jetwatt_session_forget(&w, JETWATT_MEASURE_WAITS_BEFORE);
	}
	EXPECT_EQ(MODES * PER_MODE, jetwatt_session_minibatches(&w));
	EXPECT_GT(80000, most);
	free(w.sync);
}

/* Nothing is discarded in a short search. */
TEST(few_waits_stay)
{
	struct jetwatt_sync s[100];
	struct jetwatt_session w = { .sync = s, .nr_sync = 100, .max_sync = 100 };

	for (uint64_t i = 0; i < 100; i++)
		s[i] = (struct jetwatt_sync){ .enter_ns = 10 * (i + 1) * MS, .exit_ns = (10 * i + 18) * MS, .tgid = 7, .tid = 7 };
	jetwatt_session_forget(&w, 10);
	EXPECT_EQ(100, w.nr_sync);
	EXPECT_EQ(100, jetwatt_session_minibatches(&w));
}

TEST_HARNESS_MAIN
