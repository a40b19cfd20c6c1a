// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt ring=64" timeout=60
/*
 * Test dumps of the ring of samples that begin at a given sequence number. The module is loaded
 * with a ring of only 64 samples, so that the ring wraps around.
 */
#include "family.h"

#include "kselftest_harness.h"

#define RING	64

FIXTURE(ring) {
	struct family f;
};

FIXTURE_SETUP(ring)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(1500);
	/* Park the sampler: the ring does not change until a test sets a rate. */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	sleep_ms(50);
}

FIXTURE_TEARDOWN(ring)
{
	family_close(&self->f);
}

struct seen {
	uint64_t first, next, lost, samples, time;
	bool broken;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	struct seen *s = arg;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b) || (s->next && b.seq != s->next)) {
		s->broken = true;
		return;
	}
	if (!s->first)
		s->first = b.seq;
	s->next = b.seq + b.count;
	s->lost = b.lost;
	s->samples += b.count;
	for (i = 0; i < b.count; i++) {
		s->broken |= b.time_ns[i] <= s->time;
		s->time = b.time_ns[i];
	}
}

static int since(struct family *f, uint64_t seq, struct seen *s)
{
	struct nl_msg *msg = request(f, JETWATT_CMD_SAMPLES_GET);

	memset(s, 0, sizeof(*s));
	if (seq)
		nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq);
	return dump(f, msg, note, s);
}

TEST_F(ring, info_states_the_size_of_the_ring)
{
	EXPECT_EQ(RING, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RING));
}

TEST_F(ring, dump_from_0_returns_the_whole_ring)
{
	uint64_t ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	struct seen s;

	ASSERT_LT(RING, ticks);
	ASSERT_EQ(0, since(&self->f, 0, &s));
	EXPECT_FALSE(s.broken);
	EXPECT_EQ(0, s.lost);
	EXPECT_EQ(RING, s.samples);
	EXPECT_EQ(ticks + 1, s.next);
}

/*
 * Dump from the oldest sample in the ring, and then from the sample before it, which was
 * overwritten.
 */
TEST_F(ring, overwritten_samples_are_counted_as_lost)
{
	uint64_t last = stat_of(&self->f, JETWATT_A_STATS_TICKS), oldest = last - RING + 1;
	struct seen s;

	ASSERT_EQ(0, since(&self->f, oldest, &s));
	EXPECT_FALSE(s.broken);
	EXPECT_EQ(oldest, s.first);
	EXPECT_EQ(0, s.lost);
	EXPECT_EQ(RING, s.samples);

	ASSERT_EQ(0, since(&self->f, oldest - 1, &s));
	EXPECT_FALSE(s.broken);
	EXPECT_LT(oldest - 1, s.first);
	EXPECT_EQ(s.first - (oldest - 1), s.lost);
	EXPECT_EQ(last + 1, s.next);

	ASSERT_EQ(0, since(&self->f, 1, &s));
	EXPECT_EQ(s.first - 1, s.lost);
	EXPECT_EQ(last + 1, s.next);
}

TEST_F(ring, dump_begins_at_the_requested_sample)
{
	uint64_t last = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	struct seen s;

	ASSERT_EQ(0, since(&self->f, last - 10, &s));
	EXPECT_EQ(last - 10, s.first);
	EXPECT_EQ(11, s.samples);
	EXPECT_EQ(0, s.lost);
	ASSERT_EQ(0, since(&self->f, last, &s));
	EXPECT_EQ(1, s.samples);
	ASSERT_EQ(0, since(&self->f, last + 1, &s));
	EXPECT_EQ(0, s.samples);
	ASSERT_EQ(0, since(&self->f, UINT64_MAX, &s));
	EXPECT_EQ(0, s.samples);
}

/*
 * While the sampler runs, dump repeatedly from the end of the previous dump: no sample must be
 * returned twice or be missing.
 */
TEST_F(ring, resumed_dumps_return_each_sample_once)
{
	uint64_t next = 0, samples = 0, end;
	struct seen s;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 200));
	sleep_ms(50);
	for (end = now_ns() + 2000000000ULL; now_ns() < end; sleep_ms(70)) {
		ASSERT_EQ(0, since(&self->f, next, &s));
		ASSERT_FALSE(s.broken);
		ASSERT_EQ(0, s.lost);
		if (next && s.first)
			ASSERT_EQ(next, s.first);
		if (s.next)
			next = s.next;
		samples += s.samples;
	}
	EXPECT_LT(350, samples);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
}

TEST_F(ring, dump_without_memory_is_refused)
{
	struct seen s;

	ASSERT_EQ(0, inject("fail_alloc", 1));
	EXPECT_EQ(-ENOMEM, since(&self->f, 0, &s));
	EXPECT_STREQ("no memory for a dump", self->f.text);
	EXPECT_EQ(0, since(&self->f, 0, &s));
	EXPECT_EQ(RING, s.samples);
}

TEST_HARNESS_MAIN
