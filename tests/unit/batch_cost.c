// SPDX-License-Identifier: GPL-2.0-only
/* The energy of each minibatch, compared with the true energy of a simulated board. Also tested:
 * the error that jetwatt states for the energy, the grade of the energy, and the division of energy
 * among jobs. The environment variable SEED selects other random boards. */
#include "energy/energy.h"
#include "minibatch/minibatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cost_run.h"
#include "kselftest_harness.h"

#define MS	1000000ull

static uint64_t seed(void)
{
	const char *s = getenv("SEED");

	return s ? strtoull(s, NULL, 0) : 20260101;
}

TEST(energy_is_within_its_stated_error)
{
	static struct cost_run all;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %llu\n", (unsigned long long)seed());
	for (size_t i = 0; i < COST_SHAPES; i++) {
		size_t from = all.all, in = all.covered;

		for (uint64_t run = 0; run < 4; run++)
			ASSERT_EQ(cost_run_add(&all, &cost_shapes[i], seed() + 100 * i + run), 0);
		printf("# %-22s %4zu minibatches, covered %.1f %%\n", cost_shapes[i].name, all.all - from,
		       100.0 * (double)(all.covered - in) / (double)(all.all - from));
		EXPECT_GE((all.covered - in) * 5, (all.all - from) * 4);
	}
	printf("# all: covered %.1f %%, width %.2f %%, error %.2f %%\n",
	       100.0 * (double)all.covered / (double)all.all, 100 * cost_median(all.width, all.all),
	       100 * cost_median(all.off, all.all));
	printf("# at 1 kHz: 50 ms and more %.2f %%, 10 ms %.2f %%\n",
	       100 * cost_median(all.off_50ms, all.longer), 100 * cost_median(all.off_10ms, all.shortest));
	EXPECT_LE(cost_median(all.off_50ms, all.longer), 0.01);
	EXPECT_LE(cost_median(all.off_10ms, all.shortest), 0.03);
	EXPECT_GE(all.covered * 10, all.all * 9);
	EXPECT_LE(cost_median(all.width, all.all), 3 * cost_median(all.off, all.all));
}

static struct jetwatt_power reading(uint64_t t, int64_t a, int64_t b, uint32_t valid)
{
	struct jetwatt_power p = { .time_ns = t, .nr = 2, .valid = valid };

	p.uw[0] = a;
	p.uw[1] = b;
	return p;
}

/* One rail draws 3 W, the other 1 W. The second rail delivers no samples for 300 ms. */
TEST(silent_rail_is_a_gap)
{
	const struct jetwatt_batch_sensor s[2] = { { .idle_uw = 1e6, .counts = 1 },
						   { .idle_uw = -1, .counts = 1 } };
	struct jetwatt_batch_bound b = { .start_ns = 100 * MS, .end_ns = 900 * MS };
	const int both[] = { 0, 1 };
	static struct jetwatt_power p[1000];
	struct jetwatt_batch_energy_result c;
	uint64_t covered;
	double uj;

	for (int i = 0; i < 1000; i++)
		p[i] = reading((uint64_t)i * MS, 3000000, 1000000, i >= 400 && i < 700 ? 1 : 3);
	ASSERT_EQ(jetwatt_batch_energy_result(p, 1000, s, 2, &b, &c), 0);
	EXPECT_LT(fabs(c.total_uj - 3200000), 1);
	EXPECT_LT(fabs(c.covered - 499.0 / 800), 0.01);
	EXPECT_EQ(c.grade, 'D');
	EXPECT_LT(c.dynamic_uj, 0);
	ASSERT_EQ(jetwatt_batch_energy(p, 1000, both, 2, b.start_ns, b.end_ns, &uj, &covered), 0);
	EXPECT_LT(fabs(uj - 3200000), 1);
	EXPECT_EQ(covered, 499 * MS);
	ASSERT_EQ(jetwatt_batch_energy(p, 1000, both, 1, b.start_ns, b.end_ns, &uj, &covered), 0);
	EXPECT_EQ(covered, 800 * MS);
}

TEST(idle_and_dynamic_energy_and_grade)
{
	struct jetwatt_batch_sensor s[2] = { { .idle_uw = 1e6, .counts = 1 },
					     { .idle_uw = 5e5, .counts = 0 } };
	struct jetwatt_batch_bound b = { .start_ns = 100 * MS, .end_ns = 200 * MS };
	static struct jetwatt_power p[400];
	struct jetwatt_batch_energy_result c;

	for (int i = 0; i < 400; i++)
		p[i] = reading((uint64_t)i * MS, 3000000, 1000000, 3);
	ASSERT_EQ(jetwatt_batch_energy_result(p, 400, s, 2, &b, &c), 0);
	EXPECT_LT(fabs(c.total_uj - 300000), 1);
	EXPECT_LT(fabs(c.idle_uj - 100000), 1);
	EXPECT_LT(fabs(c.dynamic_uj - 200000), 1);
	EXPECT_LT(fabs(c.uj[1] - 100000), 1);
	EXPECT_EQ(c.grade, 'A');
	/* With an LSB of 0.5 W and a constant reading, the power is known less exactly than to 1 %,
	 * so the grade is C. */
	s[0].quantum_uw = 5e5;
	ASSERT_EQ(jetwatt_batch_energy_result(p, 400, s, 2, &b, &c), 0);
	EXPECT_EQ(c.grade, 'C');
	s[0].quantum_uw = 0;
	/* The grade is lower for short minibatches, which have few samples, and for a minibatch
	 * whose end is inferred. */
	b.end_ns = 120 * MS;
	ASSERT_EQ(jetwatt_batch_energy_result(p, 400, s, 2, &b, &c), 0);
	EXPECT_EQ(c.grade, 'B');
	b.end_ns = 200 * MS;
	b.flags = JETWATT_BATCH_INFERRED;
	ASSERT_EQ(jetwatt_batch_energy_result(p, 400, s, 2, &b, &c), 0);
	EXPECT_EQ(c.grade, 'D');
	/* A minibatch that ends after the last sample, or starts before the first one, is
	 * refused. */
	b.end_ns = 400 * MS;
	EXPECT_EQ(jetwatt_batch_energy_result(p, 400, s, 2, &b, &c), -ENODATA);
	EXPECT_EQ(jetwatt_batch_energy_result(p + 150, 200, s, 2, &b, &c), -ENODATA);
	EXPECT_EQ(jetwatt_batch_energy_result(p, 0, s, 2, &b, &c), -ENODATA);
}

/* The samples are added one at a time, and the sum drops old ones by itself, as in a live session. */
TEST(incremental_energy_equals_batch_energy)
{
	struct jetwatt_batch_sensor s[PLANT_RAILS];
	struct jetwatt_energy_mark from, to;
	struct jetwatt_batch_energy_result a, b;
	struct jetwatt_batch_sum *sum;
	struct plant p;
	size_t next = 3, seen = 0;

	plant_make(&p, &cost_shapes[3], seed());
	cost_sensors(&p, s);
	sum = jetwatt_batch_sum_new(s, PLANT_RAILS);
	ASSERT_NE(sum, NULL);
	EXPECT_EQ(jetwatt_batch_sum_at(sum, p.bound_ns[2], &from), -EAGAIN);
	for (size_t i = 0; i < p.samples && next + 2 < p.bounds; i++) {
		jetwatt_batch_sum_add(sum, &p.power[i]);
		if (jetwatt_batch_sum_at(sum, p.bound_ns[next], &to))
			continue;
		if (next > 3) {
			struct jetwatt_batch_bound o = { .start_ns = p.bound_ns[next - 1],
							 .end_ns = p.bound_ns[next] };

			jetwatt_batch_cost_between(&from, &to, s, &o, &a);
			ASSERT_EQ(jetwatt_batch_energy_result(p.power, p.samples, s, PLANT_RAILS, &o, &b), 0);
			EXPECT_LT(fabs(a.total_uj - b.total_uj), 1e-6 * b.total_uj);
			EXPECT_EQ(a.grade, b.grade);
			seen++;
		}
		from = to;
		next++;
	}
	EXPECT_GT(seen, 100);
	EXPECT_EQ(jetwatt_batch_sum_at(sum, p.bound_ns[1], &to), -ENODATA);
	jetwatt_batch_sum_free(sum);
	plant_free(&p);
}

/* The rate falls from 1 kHz to 20 Hz: the intervals are gaps at first, then the usual ones. */
TEST(intervals_after_a_lower_rate_was_set_are_no_gaps)
{
	const struct jetwatt_batch_sensor s = { .idle_uw = -1, .counts = 1 };
	struct jetwatt_batch_sum *sum = jetwatt_batch_sum_new(&s, 1);
	struct jetwatt_energy_mark from, to;
	struct jetwatt_batch_energy_result c;

	ASSERT_NE(sum, NULL);
	for (uint64_t t = 0; t < 12000; t += t < 1000 ? 1 : 50) {
		struct jetwatt_power p = reading(t * MS, 3000000, 0, 1);

		jetwatt_batch_sum_add(sum, &p);
		if (t == 9000)
			ASSERT_EQ(0, jetwatt_batch_sum_at(sum, t * MS, &from));
		if (t == 11000)
			ASSERT_EQ(0, jetwatt_batch_sum_at(sum, t * MS, &to));
	}
	jetwatt_batch_cost_between(&from, &to, &s, NULL, &c);
	EXPECT_LT(fabs(c.covered - 1), 0.001);
	jetwatt_batch_sum_free(sum);
}

/* The power rises from 0 to 10 W at 500 ms. The values of the chip are 20 ms old, or its filter has a time
 * constant of 50 ms: either way, the energy is that of the board, not of the readings. */
TEST(age_and_filter_of_the_chip_are_undone)
{
	const struct jetwatt_batch_sensor s[] = { { .age_ns = 20e6, .idle_uw = -1, .counts = 1 },
						  { .lag_ns = 50e6, .idle_uw = -1, .counts = 1 } };
	struct jetwatt_batch_bound b = { .start_ns = 400 * MS, .end_ns = 600 * MS };
	static struct jetwatt_power p[1000];
	struct jetwatt_batch_energy_result c;

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 1000; i++)
			p[i] = reading((uint64_t)i * MS, k ? i < 500 ? 0 : 1e7 * (1 - exp((500 - i) / 50.0)) :
					       i < 520 ? 0 : 10000000, 0, 1);
		ASSERT_EQ(jetwatt_batch_energy_result(p, 1000, &s[k], 1, &b, &c), 0);
		EXPECT_LT(fabs(c.total_uj - 1e6), 1e4) TH_LOG("%g uJ", c.total_uj);
	}
}

/* The stated error of a steady power is that of the times of start and end. A chip that is read less often
 * than it converts has as many values as readings. */
TEST(error_of_the_times_and_number_of_values)
{
	const struct jetwatt_batch_sensor s[] = { { .idle_uw = -1, .counts = 1, .fresh_hz = 1000 },
						  { .idle_uw = -1, .counts = 1, .fresh_hz = 1000 } };
	struct jetwatt_batch_bound b = { .start_ns = 200 * MS, .end_ns = 1100 * MS };
	static struct jetwatt_power p[20];
	struct jetwatt_batch_energy_result c;

	for (int i = 0; i < 20; i++)
		p[i] = reading((uint64_t)i * 100 * MS, 6000000, 4000000, 3);
	ASSERT_EQ(jetwatt_batch_energy_result(p, 20, s, 2, &b, &c), 0);
	EXPECT_LT(fabs(c.total_sd_uj - JETWATT_BATCH_SKEW_NS * 1e-9 * 1e7 * sqrt(2)), 1e-3) TH_LOG("%g uJ", c.total_sd_uj);
	EXPECT_LT(fabs(c.samples - 9), 1);
	EXPECT_EQ(c.grade, 'C');
}

/* The second of two rails has gaps: with its power before and after them, whatever the samples in them hold.
 * A reading that the chip repeats with the same time is none. */
TEST(gaps_of_one_rail)
{
	const struct jetwatt_batch_sensor s[] = { { .idle_uw = -1, .counts = 1, .fresh_hz = 1000 },
						  { .idle_uw = -1, .counts = 1, .fresh_hz = 1000 } };
	struct jetwatt_batch_bound b = { .start_ns = 50 * MS, .end_ns = 1900 * MS };
	const int order[] = { 1, 0 };
	static struct jetwatt_power p[2000];
	struct jetwatt_batch_energy_result c;
	uint64_t covered;
	double uj;

	/* A long gap, a gap of 30 ms, a late reading, and lost samples while the rail has no reading. */
	for (int i = 0; i < 2000; i++) {
		int gap = (i > 100 && i < 1000) || (i > 1010 && i < 1040) || (i > 1300 && i < 1315) ||
			  (i > 1400 && i < 1404);

		p[i] = reading((uint64_t)i * MS, 3000000, gap ? 0 : 1000000, gap ? 1 : 3);
		p[i].gap = i == 1402;
	}
	p[1801] = p[1800];
	p[1802] = reading(1802 * MS, 3000100, 1000100, 3);
	ASSERT_EQ(jetwatt_batch_energy_result(p, 2000, s, 2, &b, &c), 0);
	EXPECT_LT(fabs(c.total_uj - 7400000), 1);
	EXPECT_LT(fabs(c.covered - (1850 - 900 - 30 - 4) / 1850.0), 1e-6) TH_LOG("%g", c.covered);
	EXPECT_TRUE(isfinite(c.total_sd_uj));
	ASSERT_EQ(jetwatt_batch_energy(p, 2000, order, 2, b.start_ns, b.end_ns, &uj, &covered), 0);
	EXPECT_LT(fabs(uj - 7400000), 1);
	EXPECT_EQ(covered, (1850 - 900 - 30 - 4) * MS);
	/* From within a gap to within it. */
	ASSERT_EQ(jetwatt_batch_energy(p, 2000, order, 1, 300 * MS, 700 * MS, &uj, &covered), 0);
	EXPECT_LT(fabs(uj - 400000), 1);
	EXPECT_EQ(covered, 0);
	/* Between two samples, while the power rises from 1 W to 3 W. */
	p[0] = reading(0, 500000, 500000, 3);
	p[1] = reading(10 * MS, 2500000, 500000, 3);
	EXPECT_LT(fabs(jetwatt_batch_energy_between(&p[0], &p[1], order, 2, 5 * MS, 10 * MS) - 2500 * 5), 1e-6);
}

/* The board draws 2 W idle and 10 W while a job computes. In each 200 ms, the first job computes
 * for 100 ms and the second for 50 ms; for 25 ms of these, both compute at the same time. */
TEST(two_jobs_share_energy_by_busy_time)
{
	static struct jetwatt_power p[3000];
	static struct jetwatt_sync w[20];
	struct jetwatt_batch_share share[2];
	const int rail = 0;
	double rest;
	size_t n = 0;

	for (uint64_t k = 0; k < 10; k++) {
		uint64_t t = (100 + 200 * k) * MS;

		w[n++] = (struct jetwatt_sync){ .enter_ns = t + 20 * MS, .launch_ns = t, .exit_ns = t + 100 * MS,
						.tgid = 1, .cgroup = 70 };
		w[n++] = (struct jetwatt_sync){ .enter_ns = t + 75 * MS, .exit_ns = t + 125 * MS, .tgid = 2,
						.cgroup = 71 };
	}
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t in = (i + 100) % 200;

		p[i] = reading(i * MS, in < 125 ? 10000000 : 2000000, 0, 1);
	}
	ASSERT_EQ(jetwatt_batch_split(w, n, JETWATT_BATCH_BY_TGID, p, 3000, &rail, 1, 2e6, share, 2, &rest), 2);
	EXPECT_EQ(share[0].key, 1);
	EXPECT_EQ(share[0].busy_ns, 1000 * MS);
	EXPECT_EQ(share[1].busy_ns, 500 * MS);
	EXPECT_LT(fabs(share[0].shared - 0.25), 0.001);
	EXPECT_LT(fabs(share[1].shared - 0.5), 0.001);
	/* Per 200 ms, the first job gets 8 W for 75 ms alone plus half of the shared 25 ms: 87.5
	 * ms. The tolerance is 1 ms, the distance of the samples. */
	EXPECT_LT(fabs(share[0].dynamic_uj - 10 * 8e6 * 0.0875), 10 * 8e6 * 0.001);
	EXPECT_LT(fabs(share[1].dynamic_uj - 10 * 8e6 * 0.0375), 10 * 8e6 * 0.001);
	EXPECT_LT(fabs(share[0].idle_uj - 2 * share[1].idle_uj), 1);
	EXPECT_LT(fabs(rest), 10 * 8e6 * 0.001);
	ASSERT_EQ(jetwatt_batch_split(w, n, JETWATT_BATCH_BY_CGROUP, p, 3000, &rail, 1, 2e6, share, 2, &rest), 2);
	EXPECT_EQ(share[1].key, 71);
	EXPECT_EQ(jetwatt_batch_split(w, n, JETWATT_BATCH_BY_TGID, p, 3000, &rail, 1, 2e6, share, 1, &rest), -ENOSPC);
	EXPECT_EQ(jetwatt_batch_split(w, n, JETWATT_BATCH_BY_TGID, p, 300, &rail, 1, 2e6, share, 2, &rest), -ENODATA);
	EXPECT_EQ(jetwatt_batch_split(w, 0, JETWATT_BATCH_BY_TGID, p, 300, &rail, 1, 2e6, share, 2, &rest), 0);
}

TEST_HARNESS_MAIN
