// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt"
/* Test the client library with the module on the simulated board. */
#include <linux/jetwatt.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jetwatt.h"
#include "kselftest_harness.h"
#include "module.h"
#include "skip.h"

/*
 * Sampling rate in Hz that takes less than half of the bus time, even on a debug kernel that checks
 * each memory access.
 */
#define RATE_HZ	150

struct received {
	uint64_t samples, batches, gaps, lost, next, first, last_ns;
	int disorder, config_events;
};

static void samples(const struct jetwatt_samples *s, void *arg)
{
	struct received *h = arg;
	uint32_t i;

	if (!h->first)
		h->first = s->seq;
	if (h->next && s->seq != h->next + s->gap)
		h->disorder++;
	for (i = 0; i < s->count; i++) {
		if (s->time_ns[i] <= h->last_ns)
			h->disorder++;
		h->last_ns = s->time_ns[i];
	}
	h->next = s->seq + s->count;
	h->samples += s->count;
	h->gaps += s->gap;
	h->lost = s->lost;
	h->batches++;
}

static void event(const struct jetwatt_event *e, void *arg)
{
	struct received *h = arg;

	h->config_events += e->kind == JETWATT_EVENT_CONFIG_CHANGED;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/*
 * Receive messages from the module for @ms milliseconds and pass them to the callbacks. Return:
 * number of messages that were received, or a negative error.
 */
static int serve(struct jetwatt *jw, uint64_t ms)
{
	struct pollfd pfd = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t end = now_ms() + ms, now;
	int n = 0, ret;

	while ((now = now_ms()) < end) {
		if (poll(&pfd, 1, end - now) <= 0)
			continue;
		ret = jetwatt_dispatch(jw);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}

static void sleep_for(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

FIXTURE(client) {
	struct jetwatt *jw;
	struct received h;
};

FIXTURE_SETUP(client)
{
	struct jetwatt_config c = { RATE_HZ, 16, 50, UINT32_MAX, 0, 0 };
	struct jetwatt_info info;

	if (jetwatt_open(&self->jw))
		SKIP_TEST("%s", jetwatt_error(NULL));
	ASSERT_EQ(0, jetwatt_info(self->jw, &info));
	if (!info.chips)
		SKIP_TEST("no simulated board");
	ASSERT_EQ(0, jetwatt_config_set(self->jw, &c)) {
		TH_LOG("%s", jetwatt_error(self->jw));
	}
	memset(&self->h, 0, sizeof(self->h));
}

FIXTURE_TEARDOWN(client)
{
	jetwatt_close(self->jw);
}

TEST_F(client, lists)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX], one;
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	struct jetwatt_chip chip[8];
	struct jetwatt_config c;
	int n, i, gpu_soc = 0, kinds = 0;

	n = jetwatt_chips(self->jw, chip, 8);
	ASSERT_EQ(2, n);
	EXPECT_STREQ("ina3221", chip[0].model);
	EXPECT_EQ(0x40, chip[0].addr < chip[1].addr ? chip[0].addr : chip[1].addr);
	n = jetwatt_rails(self->jw, rail, JETWATT_RAILS_MAX);
	ASSERT_LE(4, n);
	for (i = 0; i < n; i++)
		if (!strcmp(rail[i].label, "VDD_GPU_SOC")) {
			gpu_soc++;
			EXPECT_EQ(2000, rail[i].shunt_uohm);
			EXPECT_EQ(1, rail[i].enabled);
		}
	EXPECT_EQ(1, gpu_soc);
	/* The return value counts all rails, even if the array is smaller. */
	EXPECT_EQ(n, jetwatt_rails(self->jw, &one, 1));
	EXPECT_EQ(0, memcmp(&one, rail, sizeof(one)));
	n = jetwatt_clocks(self->jw, clock, JETWATT_CLOCKS_MAX);
	ASSERT_LT(0, n);
	for (i = 0; i < n; i++)
		kinds |= 1 << clock[i].kind;
	EXPECT_TRUE(kinds & 1 << JETWATT_SERIES_GPU_KHZ);
	EXPECT_TRUE(kinds & 1 << JETWATT_SERIES_CORES);
	ASSERT_EQ(0, jetwatt_config_get(self->jw, &c));
	EXPECT_EQ(RATE_HZ, c.rate_hz);
	EXPECT_EQ(16, c.batch);
	EXPECT_LE(RATE_HZ, c.rate_max_hz);
}

/* The error names the highest possible rate, and that rate is accepted. */
TEST_F(client, rate_above_the_limit)
{
	struct jetwatt_config c = { 1000000, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };
	char number[16];

	ASSERT_EQ(-ERANGE, jetwatt_config_set(self->jw, &c));
	TH_LOG("%s", jetwatt_error(self->jw));
	ASSERT_EQ(0, jetwatt_config_get(self->jw, &c));
	snprintf(number, sizeof(number), "%u", c.rate_max_hz);
	EXPECT_NE(NULL, strstr(jetwatt_error(self->jw), number));
	EXPECT_EQ(RATE_HZ, c.rate_hz);
	c.rate_hz = c.rate_max_hz;
	EXPECT_EQ(0, jetwatt_config_set(self->jw, &c));
}

TEST_F(client, stream)
{
	struct jetwatt_stats stats;

	ASSERT_EQ(0, jetwatt_subscribe(self->jw, samples, &self->h)) {
		TH_LOG("%s", jetwatt_error(self->jw));
	}
	EXPECT_EQ(-EALREADY, jetwatt_subscribe(self->jw, samples, &self->h));
	ASSERT_LT(0, serve(self->jw, 2000));
	EXPECT_LE(2 * RATE_HZ * 9 / 10, self->h.samples);
	EXPECT_GE(2 * RATE_HZ * 11 / 10, self->h.samples);
	EXPECT_EQ(0, self->h.gaps);
	EXPECT_EQ(0, self->h.lost);
	EXPECT_EQ(0, self->h.disorder);
	ASSERT_EQ(0, jetwatt_stats(self->jw, &stats));
	EXPECT_LE(self->h.samples, stats.ticks);
	ASSERT_EQ(0, jetwatt_unsubscribe(self->jw));
	self->h.samples = 0;
	EXPECT_EQ(0, serve(self->jw, 300));
	EXPECT_EQ(0, self->h.samples);
	/* After a client has unsubscribed and subscribed again, the samples of the time in between
	 * do not count as lost. */
	self->h.next = 0;
	ASSERT_EQ(0, jetwatt_subscribe(self->jw, samples, &self->h));
	ASSERT_LT(0, serve(self->jw, 300));
	EXPECT_EQ(0, self->h.gaps);
}

/*
 * A client that does not read for a while loses samples and is told their number; other clients
 * lose none.
 */
TEST_F(client, slow_reader)
{
	struct jetwatt_config c = { UINT32_MAX, 1, 1, UINT32_MAX, 0, 0 };
	struct received good = { 0 };
	struct jetwatt *other;
	int small = 2304, fd;
	uint32_t port = 0;

	ASSERT_EQ(0, jetwatt_config_set(self->jw, &c));
	fd = module_stream_fd(&port);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	ASSERT_EQ(0, jetwatt_open(&other));
	ASSERT_EQ(0, jetwatt_subscribe(self->jw, samples, &self->h));
	ASSERT_EQ(0, jetwatt_subscribe(other, samples, &good));
	ASSERT_LT(0, serve(other, 1000));
	/* The client first receives the messages that were queued before its socket overflowed,
	 * then the current ones. */
	ASSERT_LE(0, jetwatt_dispatch(self->jw));
	ASSERT_LT(0, serve(self->jw, 200));
	EXPECT_LT(RATE_HZ / 2, self->h.gaps);
	EXPECT_EQ(self->h.gaps, self->h.lost);
	EXPECT_EQ(0, self->h.disorder);
	EXPECT_EQ(self->h.next - self->h.first, self->h.samples + self->h.gaps);
	ASSERT_LE(0, jetwatt_dispatch(other));
	EXPECT_EQ(0, good.gaps);
	EXPECT_EQ(0, good.lost);
	/* A client whose socket is full still receives the acknowledgement when it unsubscribes. */
	ASSERT_EQ(0, jetwatt_unsubscribe(other));
	serve(other, 500);
	EXPECT_EQ(0, jetwatt_unsubscribe(self->jw)) {
		TH_LOG("%s", jetwatt_error(self->jw));
	}
	jetwatt_close(other);
}

TEST_F(client, ring)
{
	struct received again = { 0 };
	int n;

	ASSERT_EQ(0, jetwatt_subscribe(self->jw, samples, &self->h));
	ASSERT_LT(0, serve(self->jw, 1000));
	n = jetwatt_samples_since(self->jw, self->h.first, samples, &again);
	ASSERT_LE((int)self->h.samples, n);
	EXPECT_EQ(self->h.first, again.first);
	EXPECT_EQ(0, again.gaps);
	EXPECT_EQ(0, again.disorder);
	EXPECT_EQ(n, again.samples);
}

TEST_F(client, events)
{
	struct jetwatt_config c = { RATE_HZ / 2, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };

	ASSERT_EQ(0, jetwatt_events(self->jw, event, &self->h));
	ASSERT_EQ(0, jetwatt_config_set(self->jw, &c));
	ASSERT_LT(0, serve(self->jw, 200));
	EXPECT_EQ(1, self->h.config_events);
}

/* Another process that can send to the port cannot forge samples. */
TEST_F(client, forged_samples_are_ignored)
{
	struct nl_sock *sk = nl_socket_alloc();
	uint64_t time_ns = 1;
	struct nl_msg *msg;
	uint32_t port = 0;
	int family;

	ASSERT_LE(0, module_stream_fd(&port));
	ASSERT_EQ(0, genl_connect(sk));
	family = genl_ctrl_resolve(sk, JETWATT_GENL_NAME);
	ASSERT_LT(0, family);
	msg = nlmsg_alloc();
	genlmsg_put(msg, 0, 0, family, 0, 0, JETWATT_CMD_SAMPLES_NTF, JETWATT_GENL_VERSION);
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, 1ull << 40);
	nla_put_u32(msg, JETWATT_A_SAMPLES_COUNT, 1);
	nla_put_u64(msg, JETWATT_A_SAMPLES_LOST, 7777);
	nla_put(msg, JETWATT_A_SAMPLES_TIME_NS, sizeof(time_ns), &time_ns);
	nl_socket_set_peer_port(sk, port);
	ASSERT_EQ(0, jetwatt_subscribe(self->jw, samples, &self->h));
	ASSERT_LT(0, nl_send_auto(sk, msg));
	ASSERT_LT(0, serve(self->jw, 300));
	EXPECT_LT(0, self->h.samples);
	EXPECT_EQ(0, self->h.disorder);
	EXPECT_GT(1ull << 40, self->h.next);
	EXPECT_EQ(0, self->h.lost);
	nlmsg_free(msg);
	nl_socket_free(sk);
}

struct joined {
	int nr, valid;
	int64_t least, most;
	struct jetwatt_mode mode;
};

static void power(const struct jetwatt_power *p, void *arg)
{
	struct joined *j = arg;

	j->nr++;
	j->valid |= p->valid;
	if (p->uw[0] < j->least)
		j->least = p->uw[0];
	if (p->uw[0] > j->most)
		j->most = p->uw[0];
	j->mode = p->clock;
}

TEST_F(client, power)
{
	struct joined seen = { .least = INT64_MAX };
	struct jetwatt_join *j;

	ASSERT_EQ(0, jetwatt_join_new(&j, self->jw, 200));
	jetwatt_join_set(j, power, NULL, &seen);
	ASSERT_EQ(0, jetwatt_subscribe(self->jw, jetwatt_join_samples, j));
	ASSERT_LT(0, serve(self->jw, 1500));
	jetwatt_join_flush(j);
	EXPECT_LT(RATE_HZ, seen.nr);
	EXPECT_TRUE(seen.valid & 1);
	/* An idle board draws some power, and less than a hundred watts. */
	EXPECT_LT(100000, seen.least);
	EXPECT_GT(100000000, seen.most);
	EXPECT_LT(0, seen.mode.cores);
	EXPECT_LT(0, seen.mode.gpu_hz);
	EXPECT_LT(0, seen.mode.cpu_khz);
	EXPECT_LT(0, seen.mode.emc_hz);
	jetwatt_join_free(j);
}

TEST_F(client, energies)
{
	struct jetwatt_energy before[8], after[8];
	struct jetwatt_rail rail[8];
	int n = jetwatt_rails(self->jw, rail, 8), i;

	ASSERT_EQ(4, n);
	ASSERT_EQ(n + 1, jetwatt_energies(self->jw, before, 8));
	sleep_for(500);
	ASSERT_EQ(n + 1, jetwatt_energies(self->jw, after, 8));
	EXPECT_EQ(UINT32_MAX, before[0].rail);
	EXPECT_LT(before[0].uj, after[0].uj);
	EXPECT_LT(before[0].time_ns, after[0].time_ns);
	for (i = 1; i <= n; i++) {
		EXPECT_EQ(rail[i - 1].id, after[i].rail);
		EXPECT_LT(0, after[i].uw);
	}
	/* The rail graph and LSBs: VDDQ is fed by the 5 V input. */
	EXPECT_EQ(2, rail[3].parent);
	EXPECT_EQ(0, rail[3].in_total);
	EXPECT_EQ(UINT32_MAX, rail[0].parent);
	EXPECT_EQ(1, rail[0].in_total);
	EXPECT_LT(100000, rail[0].step_uw);
	EXPECT_LT(rail[0].skew_ns, rail[1].skew_ns);
	EXPECT_EQ(-EINVAL, jetwatt_sampler_cpu(self->jw, 4000));
	EXPECT_EQ(0, jetwatt_sampler_cpu(self->jw, 0));
	EXPECT_EQ(0, jetwatt_sampler_cpu(self->jw, UINT32_MAX));
}

TEST_F(client, box)
{
	struct jetwatt_config c = { RATE_HZ, 16, 50, UINT32_MAX, 0, 0 };
	struct received h = { 0 };
	struct jetwatt_box box;

	EXPECT_EQ(-ENOENT, jetwatt_box(self->jw, &box));
	EXPECT_EQ(-ENOENT, jetwatt_box_samples(self->jw, samples, &h));
	ASSERT_EQ(0, jetwatt_box_keep(self->jw, 500));
	ASSERT_EQ(0, jetwatt_config_set(self->jw, &c));
	sleep_for(1000);
	ASSERT_EQ(0, jetwatt_box_freeze(self->jw));
	EXPECT_EQ(-EBUSY, jetwatt_box_freeze(self->jw));
	ASSERT_EQ(0, jetwatt_box(self->jw, &box));
	EXPECT_EQ(JETWATT_BOX_CAUSE_REQUEST, box.cause);
	EXPECT_EQ(1, box.missed);
	EXPECT_LT(RATE_HZ * 45 / 100, box.count);
	EXPECT_GT(RATE_HZ * 55 / 100, box.count);
	EXPECT_EQ((int)box.count, jetwatt_box_samples(self->jw, samples, &h));
	EXPECT_EQ(box.count, h.samples);
	EXPECT_EQ(box.seq, h.first);
	EXPECT_EQ(0, h.gaps);
	EXPECT_EQ(0, h.disorder);
	EXPECT_EQ(0, jetwatt_box_clear(self->jw));
	EXPECT_EQ(0, jetwatt_box_keep(self->jw, 10000));
	c.rate_hz = 0;
	EXPECT_EQ(0, jetwatt_config_set(self->jw, &c));
}

TEST_HARNESS_MAIN
