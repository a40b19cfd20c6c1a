// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=120
/*
 * Test the black box, in which the module keeps the samples around an event: which events fill it,
 * what it contains, and that later events do not change it. Also test the ring of samples when it
 * wraps around.
 */
#include "family.h"

#include <glob.h>

#include "kselftest_harness.h"

#define TEMP	"/sys/module/jetwatt_sim/parameters/temp_mc"
/* Sampling rate in Hz that takes less than half of the bus time, on the debug kernel too. */
#define HZ	150
/* In this time the module reads all limits of a chip: it reads one of its registers in 0.6 s or less. */
#define LIMITS_MS	10000

FIXTURE(board) {
	struct family f, events;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, family_open(&self->events));
	ASSERT_EQ(0, family_join(&self->events));
	simple(&self->f, JETWATT_CMD_BOX_CLEAR);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BOX_MS, 2000));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, HZ));
	sleep_ms(3000);
}

FIXTURE_TEARDOWN(board)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->events);
	family_close(&self->f);
}

/* Return: whether the kernel's thermal governor limits a clock at present. */
static bool is_limited(void)
{
	bool limited = false;
	glob_t g;

	if (glob("/sys/class/thermal/cooling_device*/cur_state", 0, NULL, &g))
		return false;
	for (size_t i = 0; i < g.gl_pathc; i++)
		limited |= read_number(g.gl_pathv[i]) > 0;
	globfree(&g);
	return limited;
}

static uint64_t box(struct family *f, int type)
{
	return number(f, JETWATT_CMD_BOX_GET, type);
}

struct content {
	uint64_t first, next, first_ns, last_ns;
	uint32_t lost, disorder, samples;
	uint64_t sum;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	struct content *c = arg;
	struct batch b;
	uint32_t i, k;

	if (!batch_of(nlh, ((struct genlmsghdr *)nlmsg_data(nlh))->cmd, &b)) {
		c->disorder++;
		return;
	}
	if (!c->first) {
		c->first = b.seq;
		c->first_ns = b.time_ns[0];
	} else if (b.seq != c->next) {
		c->disorder++;
	}
	c->next = b.seq + b.count;
	c->last_ns = b.time_ns[b.count - 1];
	c->lost = b.lost;
	c->samples += b.count;
	for (i = 0; i < b.nr_series; i++)
		for (k = 0; k < b.count; k++)
			c->sum = c->sum * 31 + (uint32_t)b.series[i].value[k];
}

static int content(struct family *f, uint8_t cmd, uint64_t from, struct content *c)
{
	struct nl_msg *msg = request(f, cmd);

	memset(c, 0, sizeof(*c));
	if (from)
		nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, from);
	return dump(f, msg, note, c);
}

TEST_F(board, requests_to_an_empty_box_are_refused)
{
	struct content c;

	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
	EXPECT_STREQ("the black box is empty", self->f.text);
	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
	EXPECT_EQ(-ENOENT, content(&self->f, JETWATT_CMD_BOX_SAMPLES_GET, 0, &c));
}

TEST_F(board, box_fills_on_request)
{
	uint64_t before = now_ns(), head, first;
	struct content c, again, part;

	head = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_NE(NULL, next_event(&self->events, 1000, JETWATT_EVENT_BOX_FROZEN));
	EXPECT_EQ(JETWATT_BOX_CAUSE_REQUEST, box(&self->f, JETWATT_A_BOX_CAUSE));
	EXPECT_LE(before, box(&self->f, JETWATT_A_BOX_TIME_NS));
	EXPECT_GE(now_ns(), box(&self->f, JETWATT_A_BOX_TIME_NS));
	first = box(&self->f, JETWATT_A_BOX_SEQ);
	EXPECT_LE(2 * HZ - 2, box(&self->f, JETWATT_A_BOX_COUNT));
	EXPECT_GE(2 * HZ + 2, box(&self->f, JETWATT_A_BOX_COUNT));
	EXPECT_LE(head, first + box(&self->f, JETWATT_A_BOX_COUNT) - 1);

	ASSERT_EQ(0, content(&self->f, JETWATT_CMD_BOX_SAMPLES_GET, 0, &c));
	EXPECT_EQ(first, c.first);
	EXPECT_EQ(box(&self->f, JETWATT_A_BOX_COUNT), c.samples);
	EXPECT_EQ(0, c.lost);
	EXPECT_EQ(0, c.disorder);
	EXPECT_LE(before - 2000000000ULL, c.first_ns);
	EXPECT_LE(before - 100000000ULL, c.last_ns);

	/* A request to fill the black box while it is full is refused, and the box keeps its
	 * contents. */
	EXPECT_EQ(-EBUSY, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_STREQ("the black box is not empty: read and clear it first", self->f.text);
	EXPECT_EQ(1, box(&self->f, JETWATT_A_BOX_MISSED));
	sleep_ms(1000);
	ASSERT_EQ(0, content(&self->f, JETWATT_CMD_BOX_SAMPLES_GET, 0, &again));
	EXPECT_EQ(c.sum, again.sum);
	EXPECT_EQ(c.samples, again.samples);
	/* A dump from the middle. */
	ASSERT_EQ(0, content(&self->f, JETWATT_CMD_BOX_SAMPLES_GET, first + 100, &part));
	EXPECT_EQ(first + 100, part.first);
	EXPECT_EQ(c.samples - 100, part.samples);
	EXPECT_EQ(0, part.lost);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
}

/*
 * Lower the current limit through the hwmon driver: the over-current must fill the black box, and
 * the alarm of the driver must work as without the module.
 */
TEST_F(board, over_current_fills_the_box)
{
	char dir[128], path[160];
	long ma, old;

	ASSERT_TRUE(hwmon(0x40, dir, sizeof(dir)));
	snprintf(path, sizeof(path), "%s/curr2_input", dir);
	ma = read_number(path);
	ASSERT_LT(0, ma);
	snprintf(path, sizeof(path), "%s/curr2_max", dir);
	old = read_number(path);
	sleep_ms(2000);
	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
	ASSERT_EQ(0, write_number(path, ma / 2));
	EXPECT_NE(NULL, next_event(&self->events, 10000, JETWATT_EVENT_BOX_FROZEN));
	EXPECT_EQ(JETWATT_BOX_CAUSE_OVERCURRENT, box(&self->f, JETWATT_A_BOX_CAUSE));
	EXPECT_EQ(1, box(&self->f, JETWATT_A_BOX_INDEX));
	EXPECT_LT(2 * HZ - 20, box(&self->f, JETWATT_A_BOX_COUNT));
	snprintf(path, sizeof(path), "%s/curr2_max_alarm", dir);
	EXPECT_EQ(1, read_number(path));
	/* An over-current that lasts for seconds counts as one alarm. */
	sleep_ms(1000);
	EXPECT_EQ(0, box(&self->f, JETWATT_A_BOX_MISSED));
	snprintf(path, sizeof(path), "%s/curr2_max", dir);
	ASSERT_EQ(0, write_number(path, old));
	sleep_ms(LIMITS_MS);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
}

/* An over-current and an overheating that began while the sampler was parked fill the box when it starts, and the
 * box contains the samples that show the cause. */
TEST_F(board, alarm_from_before_the_start_fills_the_box)
{
	char dir[128], path[160];
	long ma, old;

	ASSERT_TRUE(hwmon(0x40, dir, sizeof(dir)));
	snprintf(path, sizeof(path), "%s/curr2_input", dir);
	ma = read_number(path);
	snprintf(path, sizeof(path), "%s/curr2_max", dir);
	old = read_number(path);
	for (int again = 0; again < 2; again++) {
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
		ASSERT_EQ(0, write_number(path, ma / 2));
		/* The idle readings, ten in a second, see the over-current. */
		sleep_ms(LIMITS_MS);
		EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, HZ));
		EXPECT_NE(NULL, next_event(&self->events, 10000, JETWATT_EVENT_BOX_FROZEN));
		EXPECT_EQ(JETWATT_BOX_CAUSE_OVERCURRENT, box(&self->f, JETWATT_A_BOX_CAUSE));
		EXPECT_LE(1, box(&self->f, JETWATT_A_BOX_COUNT));
		EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
	}
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	ASSERT_EQ(0, write_number(path, old));
	sleep_ms(LIMITS_MS);
	ASSERT_EQ(0, write_number(TEMP, 99500));
	/* A request for the clocks reads the temperatures while the sampler is parked. */
	sleep_ms(2500);
	simple(&self->f, JETWATT_CMD_CLOCK_GET);
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, HZ));
	EXPECT_NE(NULL, next_event(&self->events, 5000, JETWATT_EVENT_BOX_FROZEN));
	EXPECT_EQ(JETWATT_BOX_CAUSE_THERMAL, box(&self->f, JETWATT_A_BOX_CAUSE));
	ASSERT_EQ(0, write_number(TEMP, 0));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
	for (int i = 0; i < 100 && is_limited(); i++)
		sleep_ms(200);
	EXPECT_FALSE(is_limited());
}

TEST_F(board, overheating_fills_the_box)
{
	/* 85 C is above the fan's trip point (75 C) and the "hot-surface" alert (70 C), neither of
	 * which is an alarm that fills the box. */
	ASSERT_EQ(0, write_number(TEMP, 85000));
	sleep_ms(2500);
	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
	ASSERT_EQ(0, write_number(TEMP, 99500));
	EXPECT_NE(NULL, next_event(&self->events, 3000, JETWATT_EVENT_BOX_FROZEN));
	EXPECT_EQ(JETWATT_BOX_CAUSE_THERMAL, box(&self->f, JETWATT_A_BOX_CAUSE));
	ASSERT_EQ(0, write_number(TEMP, 0));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
	sleep_ms(1500);
	/* If the configured window (CONFIG_BOX_MS) is 0 ms, neither alarms nor a request fill the
	 * box. */
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_BOX_MS, 0));
	EXPECT_EQ(-ENODATA, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_STREQ("the length of the black box is 0 ms", self->f.text);
	ASSERT_EQ(0, write_number(TEMP, 99500));
	sleep_ms(2500);
	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
	ASSERT_EQ(0, write_number(TEMP, 0));
	/* Wait until the thermal governor limits no clock any more, because the next test needs
	 * full clocks. */
	for (int i = 0; i < 100 && is_limited(); i++)
		sleep_ms(200);
	EXPECT_FALSE(is_limited());
}

TEST_F(board, box_without_memory_stays_empty)
{
	ASSERT_EQ(0, inject("fail_alloc", 1));
	EXPECT_EQ(-ENOMEM, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_STREQ("no memory for the black box", self->f.text);
	EXPECT_EQ(-ENOENT, simple(&self->f, JETWATT_CMD_BOX_GET));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_CLEAR));
}

/*
 * A dump of a full ring of 64 samples must return at least the newest 60, and must count all others
 * as lost.
 */
TEST(ring_overwrites_its_oldest_sample)
{
	struct content c;
	struct family f;
	uint64_t n;
	int i;

	ASSERT_EQ(0, unload("jetwatt"));
	ASSERT_EQ(0, load("jetwatt", "ring=64"));
	ASSERT_EQ(0, family_open(&f));
	ASSERT_EQ(0, set_u32(&f, JETWATT_A_CONFIG_RATE_HZ, 20));
	for (i = 0; i < 100; i++) {
		n = stat_of(&f, JETWATT_A_STATS_TICKS);
		ASSERT_EQ(0, content(&f, JETWATT_CMD_SAMPLES_GET, 1, &c));
		if (stat_of(&f, JETWATT_A_STATS_TICKS) != n)
			continue;	/* a sample was taken in between */
		if (!n)
			continue;
		EXPECT_EQ(0, c.disorder);
		EXPECT_EQ(n, c.next - 1);
		if (n <= 64) {
			EXPECT_EQ(n, c.samples);
			EXPECT_EQ(0, c.lost);
		} else {
			/* The dump skips up to a sixteenth of the ring, the oldest samples, because
			 * the sampler may overwrite them during the dump. */
			EXPECT_LE(60, c.samples);
			EXPECT_GE(64, c.samples);
			EXPECT_EQ(n - c.samples, c.lost);
		}
		sleep_ms(45);
	}
	EXPECT_LT(66, stat_of(&f, JETWATT_A_STATS_TICKS));
	/* The configured window of the black box is longer than the ring, so the box gets the
	 * samples that a dump of the ring returns. */
	ASSERT_EQ(0, simple(&f, JETWATT_CMD_BOX_FREEZE));
	EXPECT_LE(60, box(&f, JETWATT_A_BOX_COUNT));
	EXPECT_GE(64, box(&f, JETWATT_A_BOX_COUNT));
	family_close(&f);
	/* Unloading the module while the black box is full must free all of its memory. */
	ASSERT_EQ(0, unload("jetwatt"));
	ASSERT_EQ(0, load("jetwatt", ""));
}

TEST_HARNESS_MAIN
