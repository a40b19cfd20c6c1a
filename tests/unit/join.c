// SPDX-License-Identifier: GPL-2.0-only
/*
 * The join of power samples and waits: computation of power, and delivery of the two streams in
 * order of time.
 */
#include <inttypes.h>
#include <linux/jetwatt.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "../../user/lib/join.c"

#define MS	1000000ull
#define NONE	JETWATT_VALUE_NONE

static const struct jetwatt_rail rails[] = {
	{ .id = 10, .shunt_uohm = 2000, .enabled = 1, .label = "VDD_GPU_SOC" },
	{ .id = 20, .shunt_uohm = 5000, .enabled = 1, .label = "VDD_CPU_CV" },
	{ .id = 30, .shunt_uohm = 2000, .enabled = 0, .label = "OFF" },
};

/* struct batch - a batch of samples of two rails (shunt and bus voltage each), the clocks of two
 * CPU policies, GPU and EMC, the number of cores, and a thermal zone */
struct batch {
	struct jetwatt_samples s;
	uint64_t time_ns[8];
	int32_t value[10][8];
	struct jetwatt_series_view view[10];
};

static void batch_init(struct batch *b, uint64_t seq, uint32_t n, uint64_t first_ns, uint64_t step)
{
	static const uint32_t kind[10][2] = {
		{ JETWATT_SERIES_SHUNT_UV, 10 }, { JETWATT_SERIES_BUS_UV, 10 },
		{ JETWATT_SERIES_SHUNT_UV, 20 }, { JETWATT_SERIES_BUS_UV, 20 },
		{ JETWATT_SERIES_CPU_KHZ, 4 },	 { JETWATT_SERIES_CPU_KHZ, 0 },
		{ JETWATT_SERIES_GPU_KHZ, 0 },	 { JETWATT_SERIES_EMC_KHZ, 0 },
		{ JETWATT_SERIES_CORES, 0 },	 { JETWATT_SERIES_TEMP_MC, 0 },
	};
	uint32_t i, k;

	memset(b, 0, sizeof(*b));
	for (k = 0; k < 10; k++) {
		b->view[k] = (struct jetwatt_series_view){ kind[k][0], kind[k][1], b->value[k] };
		for (i = 0; i < 8; i++)
			b->value[k][i] = NONE;
	}
	for (i = 0; i < n; i++)
		b->time_ns[i] = first_ns + i * step;
	b->s = (struct jetwatt_samples){ .seq = seq, .count = n, .nr_series = 10,
					 .time_ns = b->time_ns, .series = b->view };
}

TEST(power_has_the_sign_of_the_current)
{
	struct jetwatt_power_state st;
	struct jetwatt_power p;
	struct batch b;

	jetwatt_power_init(&st, rails, 3);
	batch_init(&b, 7, 1, 1000, 1);
	b.value[0][0] = 20480;		/* 10.24 A through 2 mOhm */
	b.value[1][0] = 19000000;	/* 19 V */
	b.value[2][0] = -40;		/* one LSB below zero, -8 mA through 5 mOhm */
	b.value[3][0] = 5000000;
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 0, &p));
	EXPECT_EQ(7, p.seq);
	EXPECT_EQ(1000, p.time_ns);
	EXPECT_EQ(3, p.nr);
	EXPECT_EQ(194560000, p.uw[0]);
	EXPECT_EQ(-40000, p.uw[1]);
	EXPECT_EQ(0, p.uw[2]);
	EXPECT_EQ(3, p.valid);
}

TEST(largest_values_fit)
{
	static const struct jetwatt_rail rail = { .id = 1, .shunt_uohm = 1, .enabled = 1 };
	int32_t shunt = INT32_MAX, bus = INT32_MAX;
	struct jetwatt_series_view v[2] = { { JETWATT_SERIES_SHUNT_UV, 1, &shunt },
					    { JETWATT_SERIES_BUS_UV, 1, &bus } };
	uint64_t t = 1;
	struct jetwatt_samples s = { .seq = 1, .count = 1, .nr_series = 2, .time_ns = &t,
				     .series = v };
	struct jetwatt_power_state st;
	struct jetwatt_power p;

	jetwatt_power_init(&st, &rail, 1);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &s, 0, &p));
	EXPECT_EQ((int64_t)INT32_MAX * INT32_MAX, p.uw[0]);
}

TEST(rail_without_shunt_has_no_power)
{
	static const struct jetwatt_rail rail = { .id = 10, .shunt_uohm = 0, .enabled = 1 };
	struct jetwatt_power_state st;
	struct jetwatt_power p;
	struct batch b;

	jetwatt_power_init(&st, &rail, 1);
	batch_init(&b, 1, 1, 1, 1);
	b.value[0][0] = b.value[1][0] = 1000;
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 0, &p));
	EXPECT_EQ(0, p.uw[0]);
}

/* The module reads one bus voltage per sample in rotation, so power samples begin once all bus
 * voltages are known. */
TEST(power_begins_once_all_bus_voltages_are_known)
{
	struct jetwatt_power_state st;
	struct jetwatt_power p;
	struct batch b;
	int i;

	jetwatt_power_init(&st, rails, 3);
	batch_init(&b, 1, 6, 1000, 1000);
	for (i = 0; i < 6; i++)
		b.value[0][i] = b.value[2][i] = 1000 * (i + 1);
	b.value[1][0] = b.value[1][2] = 10000000;
	b.value[3][1] = 5000000;
	b.value[1][4] = 20000000;
	b.value[0][5] = NONE;	/* the chip has no reading in this sample */
	EXPECT_EQ(0, jetwatt_power_sample(&st, &b.s, 0, &p));
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 1, &p));
	EXPECT_EQ(2, p.seq);
	EXPECT_EQ(10000000, p.uw[0]);
	EXPECT_EQ(2000000, p.uw[1]);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 2, &p));
	EXPECT_EQ(15000000, p.uw[0]);
	EXPECT_EQ(3, p.valid);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 4, &p));
	EXPECT_EQ(50000000, p.uw[0]);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 5, &p));
	EXPECT_EQ(50000000, p.uw[0]);
	EXPECT_EQ(2, p.valid);
	EXPECT_EQ(6000000, p.uw[1]);
}

/* A chip that never answers must not delay the power samples of the other chip forever. */
TEST(dead_rail_does_not_block_the_others)
{
	struct jetwatt_power_state st;
	struct jetwatt_power p;
	struct batch b;
	int i, first = 0;

	jetwatt_power_init(&st, rails, 2);
	for (i = 1; i <= 100 && !first; i++) {
		batch_init(&b, i, 1, i * 1000, 1);
		b.value[0][0] = 1000;
		b.value[1][0] = 10000000;
		if (jetwatt_power_sample(&st, &b.s, 0, &p))
			first = i;
	}
	ASSERT_EQ(65, first);
	EXPECT_EQ(1, p.valid);
	EXPECT_EQ(5000000, p.uw[0]);
	EXPECT_EQ(0, p.uw[1]);
}

TEST(clocks_and_temperature_join_the_power)
{
	struct jetwatt_power_state st;
	struct jetwatt_power p;
	struct batch b;

	jetwatt_power_init(&st, rails, 0);
	batch_init(&b, 1, 3, 1, 1);
	b.value[4][0] = 1190400;	/* policy of CPU 4 */
	b.value[5][0] = 2201600;	/* policy of CPU 0 */
	b.value[6][0] = 1300500;
	b.value[7][0] = 3199000;
	b.value[8][0] = 12;
	b.value[9][0] = -5000;
	b.value[4][1] = 1190400;
	b.value[5][1] = 0;		/* the policy of CPU 0 has no clock at this time */
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 0, &p));
	EXPECT_EQ(12, p.clock.cores);
	EXPECT_EQ(2201600, p.clock.cpu_khz);
	EXPECT_EQ(1300500000, p.clock.gpu_hz);
	EXPECT_EQ(3199000000, p.clock.emc_hz);
	EXPECT_EQ(-5000, p.temp_mc);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 1, &p));
	EXPECT_EQ(1190400, p.clock.cpu_khz);
	ASSERT_EQ(1, jetwatt_power_sample(&st, &b.s, 2, &p));
	EXPECT_EQ(1190400, p.clock.cpu_khz);
	EXPECT_EQ(1300500000, p.clock.gpu_hz);
}

/* struct seen - calls of the callbacks: kind ('p': power sample, 's': wait) and time, in ms */
struct seen {
	char kind[4096];
	uint64_t ms[4096];
	int gap[4096], nr;
};

static void power(const struct jetwatt_power *p, void *arg)
{
	struct seen *s = arg;

	s->gap[s->nr] = p->gap;
	s->kind[s->nr] = 'p';
	s->ms[s->nr++] = p->time_ns / MS;
}

static void sync_wait(const struct jetwatt_sync *y, void *arg)
{
	struct seen *s = arg;

	s->kind[s->nr] = 's';
	s->ms[s->nr++] = y->exit_ns / MS;
}

static void feed(struct jetwatt_join *j, uint64_t seq, uint64_t gap, uint64_t ms)
{
	struct batch b;
	int i;

	batch_init(&b, seq, 8, ms * MS, MS);
	b.s.gap = gap;
	for (i = 0; i < 8; i++)
		b.value[0][i] = b.value[1][i] = b.value[2][i] = b.value[3][i] = 1000;
	jetwatt_join_samples(&b.s, j);
}

static void end(struct jetwatt_join *j, uint64_t ms)
{
	struct jetwatt_sync s = { .enter_ns = (ms - 1) * MS, .exit_ns = ms * MS };

	jetwatt_join_sync(&s, j);
}

FIXTURE(join) {
	struct jetwatt_join *j;
	struct seen *s;
};

FIXTURE_SETUP(join)
{
	self->s = calloc(1, sizeof(*self->s));
	ASSERT_EQ(0, jetwatt_join_new_rails(&self->j, rails, 2, 100));
	jetwatt_join_set(self->j, power, sync_wait, self->s);
}

FIXTURE_TEARDOWN(join)
{
	jetwatt_join_free(self->j);
	free(self->s);
}

TEST_F(join, samples_and_waits_are_ordered_by_time)
{
	int i;

	feed(self->j, 1, 0, 1000);
	EXPECT_EQ(0, self->s->nr);	/* none delivered: an earlier wait may still arrive */
	end(self->j, 1003);
	end(self->j, 1006);
	end(self->j, 1020);		/* no wait that ends before 1010 ms can arrive any more */
	EXPECT_EQ(10, self->s->nr);
	feed(self->j, 9, 0, 1008);
	EXPECT_EQ(13, self->s->nr);
	jetwatt_join_flush(self->j);
	ASSERT_EQ(19, self->s->nr);
	for (i = 1; i < 19; i++)
		EXPECT_LE(self->s->ms[i - 1], self->s->ms[i]);
	EXPECT_EQ('s', self->s->kind[4]);
	EXPECT_EQ(1003, self->s->ms[4]);
	EXPECT_EQ('s', self->s->kind[8]);
	EXPECT_EQ(0, jetwatt_join_late(self->j));
}

/* A sample is delivered before a wait that ends at the same time. */
TEST_F(join, sample_precedes_a_wait_of_the_same_time)
{
	end(self->j, 1000);
	feed(self->j, 1, 0, 1000);
	jetwatt_join_flush(self->j);
	EXPECT_EQ('p', self->s->kind[0]);
	EXPECT_EQ('s', self->s->kind[1]);
}

/* CPUs may deliver their records in another order than their timestamps. */
TEST_F(join, waits_of_several_cpus_are_sorted)
{
	end(self->j, 1005);
	end(self->j, 1002);
	end(self->j, 1004);
	end(self->j, 1003);
	feed(self->j, 1, 0, 1100);
	end(self->j, 1110);
	ASSERT_LE(4, self->s->nr);
	EXPECT_EQ(1002, self->s->ms[0]);
	EXPECT_EQ(1003, self->s->ms[1]);
	EXPECT_EQ(1004, self->s->ms[2]);
	EXPECT_EQ(1005, self->s->ms[3]);
	EXPECT_EQ(0, jetwatt_join_late(self->j));
}

TEST_F(join, silent_stream_does_not_block_the_other)
{
	feed(self->j, 1, 0, 1000);
	EXPECT_EQ(0, self->s->nr);
	feed(self->j, 9, 0, 1100);	/* when 1107 ms has come, samples up to 1007 ms go out */
	EXPECT_EQ(8, self->s->nr);
	end(self->j, 1300);
	end(self->j, 1301);
	/* without further samples, everything before 1201 ms is delivered */
	EXPECT_EQ(16, self->s->nr);
}

TEST_F(join, late_records_are_counted)
{
	feed(self->j, 1, 0, 1000);
	feed(self->j, 9, 0, 1200);
	EXPECT_EQ(8, self->s->nr);
	end(self->j, 1003);
	EXPECT_EQ(8, self->s->nr);
	EXPECT_EQ(1, jetwatt_join_late(self->j));
	end(self->j, 1050);
	EXPECT_EQ(9, self->s->nr);
	EXPECT_EQ(1, jetwatt_join_late(self->j));
}

/* Put in the samples and the waits of a second, which is longer than the hold time, one after the other. */
static void put_second(struct jetwatt_join *j, int waits_first)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < 100; i++)
			if (pass == waits_first)
				feed(j, 1 + 8 * i, 0, 1000 + 10 * i);
			else
				end(j, 1009 + 10 * i);
}

TEST_F(join, paused_join_loses_nothing_after_a_stop_of_the_reader)
{
	for (int waits_first = 0; waits_first < 2; waits_first++) {
		struct seen *s = calloc(1, sizeof(*s));
		struct jetwatt_join *j;

		ASSERT_EQ(0, jetwatt_join_new_rails(&j, rails, 2, 100));
		jetwatt_join_set(j, power, sync_wait, s);
		jetwatt_join_pause(j, 1);
		put_second(j, waits_first);
		EXPECT_EQ(0, s->nr);
		jetwatt_join_pause(j, 0);
		EXPECT_LT(800, s->nr);
		jetwatt_join_flush(j);
		EXPECT_EQ(900, s->nr);
		EXPECT_EQ(0, jetwatt_join_late(j));
		for (int i = 1; i < s->nr; i++)
			EXPECT_LE(s->ms[i - 1], s->ms[i]);
		jetwatt_join_free(j);
		free(s);
	}
	/* Without a pause, the join takes the stream that is put in last for silent. */
	put_second(self->j, 0);
	EXPECT_LT(50, jetwatt_join_late(self->j));
}

TEST(paused_join_without_a_hold_time_delivers_nothing)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct jetwatt_join *j;

	ASSERT_EQ(0, jetwatt_join_new_rails(&j, rails, 2, 0));
	jetwatt_join_set(j, power, sync_wait, s);
	jetwatt_join_pause(j, 1);
	feed(j, 1, 0, 1000);
	EXPECT_EQ(0, s->nr);
	end(j, 1003);
	jetwatt_join_pause(j, 0);
	EXPECT_EQ(9, s->nr);
	EXPECT_EQ(0, jetwatt_join_late(j));
	jetwatt_join_free(j);
	free(s);
}

TEST_F(join, gaps_are_marked_once)
{
	int i, gaps = 0;

	feed(self->j, 1, 0, 1000);
	feed(self->j, 100, 91, 1099);
	jetwatt_join_flush(self->j);
	ASSERT_EQ(16, self->s->nr);
	for (i = 0; i < 16; i++)
		gaps += self->s->gap[i];
	EXPECT_EQ(1, gaps);
	EXPECT_EQ(1, self->s->gap[8]);
}

/* Records with random times are all delivered, in order of time. */
TEST_F(join, random_streams_are_ordered)
{
	uint64_t ms = 1000, waits = 0, seq = 1;
	int i, k;

	srand(1);
	for (i = 0; i < 300; i++) {
		for (k = rand() % 3; k > 0; k--) {
			end(self->j, ms + rand() % 8);
			waits++;
		}
		feed(self->j, seq, 0, ms);
		seq += 8;
		ms += 8;
	}
	jetwatt_join_flush(self->j);
	EXPECT_EQ(300 * 8 + waits, self->s->nr);
	EXPECT_EQ(0, jetwatt_join_late(self->j));
	for (i = 1; i < self->s->nr; i++)
		ASSERT_LE(self->s->ms[i - 1], self->s->ms[i]);
}

/* With a hold time of 0, each record is delivered at once, and an earlier one afterwards is too late. */
TEST(without_a_hold_time_nothing_waits)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct jetwatt_join *j;

	ASSERT_EQ(0, jetwatt_join_new_rails(&j, rails, 2, 0));
	jetwatt_join_set(j, power, sync_wait, s);
	feed(j, 1, 0, 1000);
	EXPECT_EQ(8, s->nr);
	end(j, 1020);
	EXPECT_EQ(9, s->nr);
	end(j, 1010);
	feed(j, 9, 0, 1016);
	EXPECT_EQ(13, s->nr);
	EXPECT_EQ(1 + 4, jetwatt_join_late(j));
	for (int i = 1; i < s->nr; i++)
		EXPECT_LE(s->ms[i - 1], s->ms[i]);
	EXPECT_EQ(0, j->power.max);
	jetwatt_join_free(j);
	free(s);
}

static uint64_t last_ns, last_tgid, waits, wrong;

static void in_order(const struct jetwatt_sync *y, void *arg)
{
	(void)arg;
	waits++;
	wrong += y->exit_ns < last_ns || (y->exit_ns == last_ns && (uint64_t)y->tgid < last_tgid);
	last_ns = y->exit_ns;
	last_tgid = (uint64_t)y->tgid;
}

/* Sorting N waits takes O(N log N) moves, whatever the order of the waits in a crafted trace. Waits
 * with the same end keep their order. */
TEST_F(join, sorting_costs_log_n_moves)
{
	enum { N = 1 << 15, LOG = 15 };
	uint64_t moved = 0;

	for (int how = 0; how < 3; how++) {
		struct jetwatt_join *j;

		ASSERT_EQ(0, jetwatt_join_new_rails(&j, rails, 2, 1000));
		jetwatt_join_set(j, NULL, in_order, NULL);
		waits = wrong = last_ns = last_tgid = 0;
		for (int i = 0; i < N; i++) {
			int back = how == 2 ? rand() % (N / 4) : N - i;
			struct jetwatt_sync s = { .exit_ns = 5000 * MS + (how ? back : i), .tgid = i };

			jetwatt_join_sync(&s, j);
		}
		jetwatt_join_flush(j);
		EXPECT_EQ(N, waits);
		EXPECT_EQ(0, wrong);
		EXPECT_EQ(0, jetwatt_join_late(j));
		moved = j->sync.moved;
		EXPECT_GT(3ull * LOG * N, moved) TH_LOG("order %d: %" PRIu64 " moved", how, moved);
		jetwatt_join_free(j);
	}
}

TEST(waits_are_delivered_without_samples)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct jetwatt_join *j;

	ASSERT_EQ(0, jetwatt_join_new(&j, NULL, 10));
	jetwatt_join_set(j, power, sync_wait, s);
	end(j, 1000);
	jetwatt_join_flush(j);
	EXPECT_EQ(1, s->nr);
	jetwatt_join_free(j);
	jetwatt_join_free(NULL);
	free(s);
}

TEST_HARNESS_MAIN
