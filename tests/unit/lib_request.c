// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies that take long to handle, replies of an earlier request, and the gap before a dump. A pair of Unix
 * sockets stands in for the netlink socket, as in lib_dispatch.c.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int test_clock(clockid_t id, struct timespec *ts);
#define clock_gettime(id, ts)	test_clock(id, ts)
#include "../../user/lib/request.c"
#undef clock_gettime

#include "kselftest_harness.h"

#define FAMILY	77
#define SEQ	7

static time_t now_s;

static int test_clock(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec){ .tv_sec = now_s };
	return 0;
}

FIXTURE(request) {
	struct jetwatt *jw;
	int to;
};

FIXTURE_SETUP(request)
{
	int pair[2];

	self->jw = calloc(1, sizeof(*self->jw));
	ASSERT_NE(NULL, self->jw);
	self->jw->family = FAMILY;
	self->jw->buf = malloc((size_t)JETWATT_MESSAGES * JETWATT_MESSAGE_MAX);
	ASSERT_NE(NULL, self->jw->buf);
	ASSERT_EQ(0, jetwatt_socket_new(&self->jw->ctl, 0, 0));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	ASSERT_LE(0, dup2(pair[0], nl_socket_get_fd(self->jw->ctl)));
	close(pair[0]);
	self->to = pair[1];
	now_s = 1000;
}

FIXTURE_TEARDOWN(request)
{
	close(self->to);
	nl_socket_free(self->jw->ctl);
	free(self->jw->buf);
	free(self->jw);
}

/* Send a batch of one sample. Return: 1: sent. */
static int send_batch(int to, uint32_t nl_seq, int cmd, uint64_t seq)
{
	struct nl_msg *msg = nlmsg_alloc();
	uint64_t time_ns = seq * 1000;
	int sent;

	genlmsg_put(msg, 0, nl_seq, FAMILY, 0, NLM_F_MULTI, cmd, JETWATT_GENL_VERSION);
	nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ, seq);
	nla_put_u32(msg, JETWATT_A_SAMPLES_COUNT, 1);
	nla_put_u64(msg, JETWATT_A_SAMPLES_LOST, 0);
	nla_put(msg, JETWATT_A_SAMPLES_TIME_NS, sizeof(time_ns), &time_ns);
	sent = send(to, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len, 0) == (ssize_t)nlmsg_hdr(msg)->nlmsg_len;
	nlmsg_free(msg);
	return sent;
}

static int send_done(int to, uint32_t nl_seq)
{
	struct {
		struct nlmsghdr nl;
		int err;
	} m = { { .nlmsg_len = sizeof(m), .nlmsg_type = NLMSG_DONE, .nlmsg_seq = nl_seq }, 0 };

	return send(to, &m, sizeof(m), 0) == (ssize_t)sizeof(m);
}

static int run(struct jetwatt *jw, jetwatt_reply_fn fn, void *arg)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, NL_AUTO_PORT, SEQ, FAMILY, 0, NLM_F_REQUEST, JETWATT_CMD_SAMPLES_GET, JETWATT_GENL_VERSION);
	return jetwatt_request_run(jw, jw->ctl, msg, "test", fn, arg);
}

static int slow_reply(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	(void)jw, (void)attr, (void)len;
	now_s += 6;
	++*(int *)arg;
	return 0;
}

/* The callback of a dump writes to a slow disk, for instance: its time is not that of the module. */
TEST_F(request, time_of_the_callback_does_not_count)
{
	int replies = 0;

	for (uint64_t seq = 1; seq <= 4; seq++)
		ASSERT_TRUE(send_batch(self->to, SEQ, JETWATT_CMD_SAMPLES_GET, seq));
	ASSERT_TRUE(send_done(self->to, SEQ));
	EXPECT_EQ(0, run(self->jw, slow_reply, &replies)) TH_LOG("%s", self->jw->error);
	EXPECT_EQ(4, replies);
}

static void count_batch(const struct jetwatt_samples *s, void *arg)
{
	uint64_t *got = arg;

	got[0]++;
	got[1] = s->seq;
}

/* The rest of a dump that has timed out is not a part of the subscription. */
TEST_F(request, replies_of_an_earlier_dump_are_ignored)
{
	uint64_t got[2] = { 0, 0 };

	self->jw->subscribed = 1;
	self->jw->samples = count_batch;
	self->jw->samples_arg = got;
	self->jw->next_seq = 900;
	ASSERT_TRUE(send_batch(self->to, SEQ - 1, JETWATT_CMD_SAMPLES_GET, 5));
	ASSERT_TRUE(send_done(self->to, SEQ - 1));
	ASSERT_TRUE(send_batch(self->to, 0, JETWATT_CMD_SAMPLES_NTF, 900));
	ASSERT_TRUE(send_done(self->to, SEQ));
	EXPECT_EQ(0, run(self->jw, NULL, NULL));
	EXPECT_EQ(1, got[0]);
	EXPECT_EQ(900, got[1]);
	EXPECT_EQ(901, self->jw->next_seq);
}

static void store_gap(const struct jetwatt_samples *s, void *arg)
{
	*(uint64_t *)arg = s->gap;
}

/* The ring has lost samples, whether a client asks for the first one by 1 or by 0. */
TEST_F(request, gap_of_the_whole_ring)
{
	for (uint64_t since = 0; since <= 2; since++) {
		uint32_t next = nl_socket_use_seq(self->jw->ctl) + 1;
		uint64_t gap = 0;

		ASSERT_TRUE(send_batch(self->to, next, JETWATT_CMD_SAMPLES_GET, 1000));
		ASSERT_TRUE(send_done(self->to, next));
		EXPECT_EQ(1, jetwatt_samples_since(self->jw, since, store_gap, &gap));
		EXPECT_EQ(since ? 1000 - since : 999, gap);
	}
}

TEST_HARNESS_MAIN
