// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt_socket_dispatch() with a malformed message among those that one system call receives. The kernel
 * sends none, so a pair of Unix sockets stands in for the netlink socket: the datagrams have no port, as
 * those of the kernel.
 */
#include "../../user/lib/socket.c"

#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define FAMILY	77
#define COMMAND	3

int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
{
	snprintf(jw->error, sizeof(jw->error), "%s", fmt);
	return err;
}

int jetwatt_error_kernel(struct jetwatt *jw, int err, const char *text, const char *what)
{
	snprintf(jw->error, sizeof(jw->error), "%s%s", text, what);
	return err;
}

FIXTURE(dispatch) {
	struct jetwatt jw;
	struct nl_sock *sk;
	int to;
};

FIXTURE_SETUP(dispatch)
{
	int pair[2];

	self->jw = (struct jetwatt){ .family = FAMILY };
	self->jw.buf = malloc((size_t)JETWATT_MESSAGES * JETWATT_MESSAGE_MAX);
	ASSERT_NE(NULL, self->jw.buf);
	ASSERT_EQ(0, jetwatt_socket_new(&self->sk, 0, 1));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	ASSERT_LE(0, dup2(pair[0], nl_socket_get_fd(self->sk)));
	close(pair[0]);
	self->to = pair[1];
}

FIXTURE_TEARDOWN(dispatch)
{
	close(self->to);
	nl_socket_free(self->sk);
	free(self->jw.buf);
}

/* Send a message whose only content is @value. Return: 1: sent. */
static int send_message(int to, uint32_t value)
{
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		uint32_t value;
	} m = { { .nlmsg_len = sizeof(m), .nlmsg_type = FAMILY }, { .cmd = COMMAND }, value };

	return send(to, &m, sizeof(m), 0) == (ssize_t)sizeof(m);
}

/* Add the content to the sum @arg; 0 counts as malformed. */
static int add_value(struct jetwatt *jw, const struct nlattr *attr, int len, void *arg)
{
	const uint32_t *value = (const void *)attr;

	(void)jw;
	if (len != sizeof(*value) || !*value)
		return -EBADMSG;
	*(uint32_t *)arg += *value;
	return 0;
}

TEST_F(dispatch, all_messages_count)
{
	uint32_t sum = 0;

	for (uint32_t v = 1; v <= 6; v++)
		ASSERT_TRUE(send_message(self->to, v));
	EXPECT_EQ(6, jetwatt_socket_dispatch(&self->jw, self->sk, COMMAND, "test", add_value, &sum));
	EXPECT_EQ(21, sum);
}

TEST_F(dispatch, malformed_message_loses_no_other)
{
	uint32_t sum = 0;

	for (uint32_t v = 0; v < 6; v++)
		ASSERT_TRUE(send_message(self->to, v));
	EXPECT_EQ(-EBADMSG, jetwatt_socket_dispatch(&self->jw, self->sk, COMMAND, "test", add_value, &sum));
	EXPECT_EQ(1 + 2 + 3, sum);
	EXPECT_EQ(2, jetwatt_socket_dispatch(&self->jw, self->sk, COMMAND, "test", add_value, &sum));
	EXPECT_EQ(15, sum);
}

TEST_HARNESS_MAIN
