// SPDX-License-Identifier: GPL-2.0-only
/* Grades of the energy of minibatches during a run that is evaluated several times per second. */
#include "measure/run_energy.h"

#include <linux/jetwatt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define MS	1000000ull
#define BEGIN	(10000 * MS)
#define STEPS	100
#define STEP_MS	50
#define POLL_MS	200
#define NONE	JETWATT_VALUE_NONE

/* A run of STEPS minibatches of one wait each, on a board with two rails that are sampled once per ms.
 * Only the first rail belongs to the total. @enabled: 0: the chip does not convert the second one, so
 * it has no readings. Return: number of minibatches whose error is known. */
static size_t known_errors(double age_ms, int enabled)
{
	static struct jetwatt_power power[4096];
	static struct jetwatt_sync sync[STEPS];
	struct jetwatt_session w = { .power = power, .sync = sync, .nr_rails = 2, .nr_total = 1, .begun_ns = BEGIN };
	struct jetwatt_energy_errors errors;
	struct jetwatt_run_energy m;
	uint64_t t = BEGIN - 10 * MS, end = BEGIN + STEPS * STEP_MS * MS;

	w.rail[0].enabled = 1;
	w.rail[1].enabled = enabled;
	jetwatt_run_energy_begin(&m, &w);
	jetwatt_batch_sum_free(m.error.sum);
	m.error.sensor[0].age_ns = m.error.sensor[1].age_ns = age_ms * MS;
	m.error.sum = jetwatt_batch_sum_new(m.error.sensor, 2);
	while (t < end + 100 * MS) {
		for (uint64_t poll = t + POLL_MS * MS; t < poll; t += MS) {
			struct jetwatt_power p = { .time_ns = t, .nr = 2, .valid = enabled ? 3 : 1, .uw = { 10000000, 1000000 } };
			uint64_t step = BEGIN + (w.nr_sync + 1) * STEP_MS * MS;

			power[w.nr_power++] = p;
			w.power_ns = t;
			if (t == step && w.nr_sync < STEPS)
				sync[w.nr_sync++] = (struct jetwatt_sync){ .enter_ns = t - 40 * MS, .exit_ns = t - MS / 2,
									   .tgid = 7, .tid = 7 };
		}
		jetwatt_run_energy_run(&m);
	}
	if (jetwatt_run_energy_end(&m, end))
		return 0;
	jetwatt_energy_error_end(&m.error, m.bound, m.bounds, 0, &errors);
	jetwatt_run_energy_free(&m);
	return errors.n;
}

TEST(all_minibatches_have_a_known_error)
{
	EXPECT_LE(STEPS - 2, known_errors(0, 1));
}

/* A value of a chip that averages many conversions is old when it is read, so the energy up to a wait is
 * known only some time after the wait. */
TEST(old_values_hide_no_error)
{
	EXPECT_LE(STEPS - 2, known_errors(50, 1));
	/* Those at the end of the run need samples that no longer arrive. */
	EXPECT_LE(STEPS - 10, known_errors(250, 1));
}

/* A rail that is disabled has no readings. */
TEST(disabled_rail_hides_no_error)
{
	EXPECT_LE(STEPS - 2, known_errors(0, 0));
}

/* The module reads one bus voltage per sample, in rotation. The resolution in W of every rail is part of
 * its error, whichever rail was read last. */
TEST(resolution_of_all_rails_is_known)
{
	const int32_t bus[3][4] = { { 5000000, NONE, NONE, 5100000 }, { NONE, 12000000, NONE, NONE },
				    { NONE, NONE, 19000000, NONE } };
	const uint64_t time[4] = { BEGIN, BEGIN + MS, BEGIN + 2 * MS, BEGIN + 3 * MS };
	struct jetwatt_series_view series[3];
	struct jetwatt_samples s = { .count = 4, .nr_series = 3, .time_ns = time, .series = series };
	struct jetwatt_session w = { .nr_rails = 3 };

	for (int r = 0; r < 3; r++) {
		w.rail[r].id = r;
		series[r] = (struct jetwatt_series_view){ JETWATT_SERIES_BUS_UV, r, bus[r] };
	}
	jetwatt_session_samples(&s, &w);
	EXPECT_EQ(5100000, w.bus_uv[0]);
	EXPECT_EQ(12000000, w.bus_uv[1]);
	EXPECT_EQ(19000000, w.bus_uv[2]);
}

/* Two threads of a job wait at the same time, first for work that was launched before the mark, then for work
 * launched 30 ms after it. */
TEST(times_of_a_marked_minibatch_count_once)
{
	struct jetwatt_sync sync[] = {
		{ .launch_ns = BEGIN - 5 * MS, .enter_ns = BEGIN + 10 * MS, .exit_ns = BEGIN + 20 * MS, .launches = 2, .tgid = 7 },
		{ .launch_ns = BEGIN + 30 * MS, .enter_ns = BEGIN + 40 * MS, .exit_ns = BEGIN + 80 * MS, .launches = 3, .tgid = 7 },
		{ .enter_ns = BEGIN + 45 * MS, .exit_ns = BEGIN + 85 * MS, .tgid = 7 },
	};
	struct jetwatt_sync mark = { .call = JETWATT_SYNC_MARK, .enter_ns = BEGIN, .exit_ns = BEGIN + 100 * MS, .tgid = 7 };
	struct jetwatt_session w = { .sync = sync, .nr_sync = 3, .mark = &mark, .nr_mark = 1 };
	struct jetwatt_batch_bound b;
	struct jetwatt_run_energy m = { .session = &w, .bound = &b };

	ASSERT_EQ(1, jetwatt_user_marks_bounds(&m));
	EXPECT_EQ(55 * MS, b.wait_ns);
	EXPECT_EQ(75 * MS, b.gpu_ns);
	EXPECT_EQ(0, b.fetch_ns);
	EXPECT_EQ(5, b.launches);
	EXPECT_EQ(3, b.syncs);
}

TEST_HARNESS_MAIN
