// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=90
/* Test several subscribers, one of which does not read, and clients that are refused. */
#include "family.h"

#include "kselftest_harness.h"

FIXTURE(two) {
	struct family a, b;
};

FIXTURE_SETUP(two)
{
	ASSERT_EQ(0, family_open(&self->a));
	ASSERT_EQ(0, family_open(&self->b));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH, 32));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH_AGE_MS, 100));
}

FIXTURE_TEARDOWN(two)
{
	set_u32(&self->a, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->a);
	family_close(&self->b);
}

/*
 * Receive samples for @ms milliseconds. Return: number of samples; 0 if a batch is missing or
 * reports lost samples.
 */
static uint64_t follow(struct family *f, unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL, seq = 0, n = 0;
	struct batch b;

	while (now_ns() < end) {
		if (!next_batch(f, 1000, &b) || (seq && b.seq != seq) || b.lost)
			return 0;
		seq = b.seq + b.count;
		n += b.count;
	}
	return n;
}

TEST_F(two, slow_subscriber_gets_its_loss_count)
{
	uint64_t seq = 0, gaps = 0, lost, got = 0, before;
	int small = 16384;
	struct batch b;

	before = stat_of(&self->a, JETWATT_A_STATS_LOST);
	setsockopt(self->b.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, simple(&self->b, JETWATT_CMD_SUBSCRIBE));
	/* Subscriber b does not read its socket, which must not affect subscriber a. At 208 Hz, a
	 * receives about 2000 samples in 10 s. */
	EXPECT_LT(1900, follow(&self->a, 10000));
	EXPECT_EQ(0, subscriber_of(&self->a, self->a.port, JETWATT_A_SUBSCRIBER_LOST));
	lost = subscriber_of(&self->a, self->b.port, JETWATT_A_SUBSCRIBER_LOST);
	EXPECT_LT(1000, lost);
	EXPECT_GT(2400, lost);
	EXPECT_LE(before + lost, stat_of(&self->a, JETWATT_A_STATS_LOST));

	/* Subscriber b reads again: the number of lost samples that the module reports to b must be
	 * the number that is missing in the sequence. */
	while (got < 8 || !gaps) {
		ASSERT_GT(1000, got++);
		ASSERT_TRUE(next_batch(&self->b, 1000, &b));
		if (seq)
			gaps += b.seq - seq;
		seq = b.seq + b.count;
		ASSERT_EQ(gaps, b.lost);
	}
	EXPECT_LE(lost, gaps);
	EXPECT_EQ(0, simple(&self->b, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(UINT64_MAX, subscriber_of(&self->a, self->b.port, JETWATT_A_SUBSCRIBER_SENT));
}

TEST_F(two, repeated_subscribe_and_unsubscribe_are_refused)
{
	EXPECT_EQ(-ENOENT, simple(&self->a, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_STREQ("this socket has not subscribed", self->a.text);
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	EXPECT_EQ(-EALREADY, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	EXPECT_STREQ("this socket has subscribed already", self->a.text);
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_UNSUBSCRIBE));
}

TEST_F(two, at_most_32_subscribers)
{
	static struct family more[32];
	unsigned int i;

	for (i = 0; i < 32; i++) {
		ASSERT_EQ(0, family_open(&more[i]));
		ASSERT_EQ(0, simple(&more[i], JETWATT_CMD_SUBSCRIBE));
	}
	EXPECT_EQ(-EUSERS, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	EXPECT_STREQ("too many subscribers", self->a.text);
	family_close(&more[7]);
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 32; i++)
		if (i != 7)
			family_close(&more[i]);
}

/*
 * The sampler must run while there is a subscriber, and park after the last subscriber has closed
 * its socket.
 */
TEST_F(two, sampler_parks_after_the_last_subscriber)
{
	uint64_t ticks;
	int i;

	EXPECT_EQ(0, config_of(&self->b, JETWATT_A_CONFIG_ACTIVE_HZ));
	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	EXPECT_GE(208, config_of(&self->b, JETWATT_A_CONFIG_ACTIVE_HZ));
	EXPECT_LE(least_hz(208), config_of(&self->b, JETWATT_A_CONFIG_ACTIVE_HZ));
	EXPECT_EQ(1, number(&self->b, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RUNNING));
	family_close(&self->a);
	/* Closing the socket does not wait for the sampler, which may park slightly later. */
	for (i = 0; i < 100 && config_of(&self->b, JETWATT_A_CONFIG_ACTIVE_HZ); i++)
		sleep_ms(10);
	EXPECT_EQ(0, config_of(&self->b, JETWATT_A_CONFIG_ACTIVE_HZ));
	sleep_ms(20);
	ticks = stat_of(&self->b, JETWATT_A_STATS_TICKS);
	sleep_ms(300);
	EXPECT_EQ(ticks, stat_of(&self->b, JETWATT_A_STATS_TICKS));
	ASSERT_EQ(0, family_open(&self->a));
}

/*
 * While a request of one client waits for the sampler's transfers, requests to other generic
 * netlink families must not wait.
 */
TEST_F(two, other_families_do_not_wait_for_transfers)
{
	uint64_t start, took;
	struct nl_msg *msg;
	int status, i, err;
	pid_t pid;

	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 1000));
	pid = fork();
	if (!pid) {
		start = now_ns();
		simple(&self->a, JETWATT_CMD_SUBSCRIBE);
		_exit(now_ns() - start < 300000000);
	}
	sleep_ms(100);
	start = now_ns();
	msg = request_to(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, "nlctrl");
	err = call(&self->b, msg, NULL, NULL);
	took = now_ns() - start;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 0));
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, status);
	EXPECT_GT(50000000, took);
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_UNSUBSCRIBE));
	for (i = 0; i < 200 && (chip_of(&self->b, 0, JETWATT_A_CHIP_LOST) ||
				chip_of(&self->b, 1, JETWATT_A_CHIP_LOST)); i++)
		sleep_ms(100);
	EXPECT_GT(200, i);
}

/*
 * The request of a subscriber waits for transfers on a stuck bus. Meanwhile, another program must
 * be able to close its generic netlink socket without waiting.
 */
TEST_F(two, closing_waits_for_no_transfer)
{
	uint64_t start, took;
	int status, i;
	pid_t pid;

	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 1000));
	pid = fork();
	if (!pid) {
		/* Close the child's copy, so that the parent holds the last reference to this
		 * socket. */
		family_close(&self->b);
		start = now_ns();
		simple(&self->a, JETWATT_CMD_SUBSCRIBE);
		_exit(now_ns() - start < 300000000);
	}
	sleep_ms(100);
	start = now_ns();
	family_close(&self->b);
	took = now_ns() - start;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_stuck"), 0));
	/* Status 0: the subscriber was waiting for the bus while the other socket was closed. */
	EXPECT_EQ(0, status);
	EXPECT_GT(50000000, took);
	ASSERT_EQ(0, family_open(&self->b));
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_UNSUBSCRIBE));
	/* Wait until the lost chips have returned, because other tests need them. */
	for (i = 0; i < 200 && (chip_of(&self->b, 0, JETWATT_A_CHIP_LOST) ||
				chip_of(&self->b, 1, JETWATT_A_CHIP_LOST)); i++)
		sleep_ms(100);
	EXPECT_GT(200, i);
}

/*
 * The module copies a batch of samples for each subscriber, and may have to wait for memory for the
 * copies. Meanwhile, another program must be able to close its generic netlink socket without
 * waiting.
 */
TEST_F(two, closing_waits_for_no_copy)
{
	uint64_t took[2], start;
	int i;

	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, simple(&self->b, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 2; i++) {
		static struct family other;

		ASSERT_EQ(0, family_open(&other));
		ASSERT_EQ(0, inject("fail_copy", 1));
		while (injected_left("fail_copy"))
			sleep_ms(5);
		start = now_ns();
		/* Close first a socket that has not subscribed, then the socket of a subscriber. */
		family_close(i ? &self->b : &other);
		took[i] = now_ns() - start;
		sleep_ms(1000);
		if (!i)
			continue;
		family_close(&other);
	}
	EXPECT_GT(50000000, took[0]);
	EXPECT_GT(50000000, took[1]);
	EXPECT_EQ(UINT64_MAX, subscriber_of(&self->a, self->b.port, JETWATT_A_SUBSCRIBER_SENT));
	ASSERT_EQ(0, family_open(&self->b));
}

/* After a client has set a sampling rate, the sampler must run even without a subscriber. */
TEST_F(two, runs_without_subscriber_after_a_rate_was_set)
{
	uint64_t ticks;

	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(100);
	ticks = stat_of(&self->a, JETWATT_A_STATS_TICKS);
	sleep_ms(1000);
	EXPECT_LE(ticks + 99, stat_of(&self->a, JETWATT_A_STATS_TICKS));
	EXPECT_GE(ticks + 102, stat_of(&self->a, JETWATT_A_STATS_TICKS));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_RATE_HZ, 0));
	EXPECT_EQ(0, config_of(&self->a, JETWATT_A_CONFIG_ACTIVE_HZ));
}

/* A batch is sent when it is full or reaches its maximum age. */
TEST_F(two, batch_is_sent_when_full_or_old)
{
	uint64_t age;
	struct batch b;
	int i;

	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_RATE_HZ, 200));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH, 5));
	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(next_batch(&self->a, 1000, &b));
		EXPECT_EQ(5, b.count);
	}
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH, 256));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH_AGE_MS, 250));
	ASSERT_TRUE(next_batch(&self->a, 1000, &b));
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(next_batch(&self->a, 1000, &b));
		age = now_ns() - b.time_ns[0];
		EXPECT_LE(249000000, age);
		EXPECT_GE(290000000, age);
		EXPECT_LE(48, b.count);
		EXPECT_GE(58, b.count);
	}
	/* At a low sampling rate, the module must check the age of a batch between ticks too. */
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_RATE_HZ, 1));
	ASSERT_EQ(0, set_u32(&self->a, JETWATT_A_CONFIG_BATCH_AGE_MS, 100));
	ASSERT_TRUE(next_batch(&self->a, 2000, &b));
	ASSERT_TRUE(next_batch(&self->a, 2000, &b));
	EXPECT_EQ(1, b.count);
	EXPECT_GE(200000000, now_ns() - b.time_ns[0]);
}

/*
 * If the maximum age is lowered while a batch is collected, the new maximum must hold for this batch
 * too, from the next sample on.
 */
TEST_F(two, lower_maximum_age_holds_for_the_present_batch)
{
	uint64_t start;
	struct batch b;

	ASSERT_EQ(0, set_u32(&self->b, JETWATT_A_CONFIG_RATE_HZ, 10));
	ASSERT_EQ(0, set_u32(&self->b, JETWATT_A_CONFIG_BATCH, 256));
	ASSERT_EQ(0, set_u32(&self->b, JETWATT_A_CONFIG_BATCH_AGE_MS, 10000));
	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	ASSERT_FALSE(next_batch(&self->a, 500, &b));
	start = now_ns();
	ASSERT_EQ(0, set_u32(&self->b, JETWATT_A_CONFIG_BATCH_AGE_MS, 50));
	ASSERT_TRUE(next_batch(&self->a, 15000, &b));
	TH_LOG("first batch after %llu ms", (unsigned long long)(now_ns() - start) / 1000000);
	EXPECT_GE(300000000, now_ns() - start);
	EXPECT_EQ(0, simple(&self->a, JETWATT_CMD_UNSUBSCRIBE));
}

/*
 * No other process sends requests, so each injected fault hits the allocation that is tested.
 */
TEST_F(two, failed_allocation_refuses_a_request_or_loses_samples)
{
	struct batch b;

	ASSERT_EQ(0, inject("fail_alloc", 1));
	EXPECT_EQ(-ENOMEM, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	EXPECT_STREQ("no memory for a subscriber", self->a.text);
	ASSERT_EQ(0, inject("fail_skb", 1));
	EXPECT_EQ(-ENOMEM, simple(&self->a, JETWATT_CMD_INFO_GET));
	EXPECT_STREQ("no memory for a reply", self->a.text);

	ASSERT_EQ(0, simple(&self->a, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, simple(&self->b, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&self->a, 1000, &b));
	/* If there is no memory for a batch, its samples are lost for all subscribers. */
	ASSERT_EQ(0, inject("fail_skb", 1));
	while (injected_left("fail_skb"))
		sleep_ms(10);
	while (b.lost == 0)
		ASSERT_TRUE(next_batch(&self->a, 1000, &b));
	do {
		ASSERT_TRUE(next_batch(&self->b, 1000, &b));
	} while (b.lost == 0);
	EXPECT_EQ(0, simple(&self->b, JETWATT_CMD_UNSUBSCRIBE));
	/* If a batch cannot be sent to one subscriber, its samples are lost for this subscriber
	 * only. */
	ASSERT_EQ(0, simple(&self->b, JETWATT_CMD_SUBSCRIBE));
	ASSERT_EQ(0, inject("fail_send", 1));
	while (injected_left("fail_send"))
		sleep_ms(10);
	sleep_ms(50);
	EXPECT_EQ(0, subscriber_of(&self->a, self->b.port, JETWATT_A_SUBSCRIBER_LOST));
	EXPECT_LT(32, subscriber_of(&self->a, self->a.port, JETWATT_A_SUBSCRIBER_LOST));
}

TEST_HARNESS_MAIN
