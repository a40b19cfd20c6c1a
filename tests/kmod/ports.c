// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 mttcg modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=120
/*
 * When a socket is closed, netlink frees its port first and notifies modules later, so a new socket
 * may get the port in between. The module's cleanup for the previous subscriber of a port must not
 * affect a new subscriber with the same port.
 */
#include "family.h"

#include <pthread.h>

#include "kselftest_harness.h"

#define ROUNDS	400

struct closing {
	pthread_barrier_t begin;
	int fd;
};

static void *close_it(void *arg)
{
	struct closing *c = arg;

	pthread_barrier_wait(&c->begin);
	close(c->fd);
	return NULL;
}

/*
 * Bind a socket to netlink port @port, which another thread is about to free; retry until this
 * succeeds. Return: 0 or -errno.
 */
static int rebind(struct family *f, uint32_t port)
{
	struct sockaddr_nl sa = { .nl_family = AF_NETLINK, .nl_pid = port };
	int one = 1;

	f->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (f->fd < 0)
		return -errno;
	while (bind(f->fd, (struct sockaddr *)&sa, sizeof(sa)))
		if (errno != EADDRINUSE)
			return -errno;
	if (setsockopt(f->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(f->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)))
		return -errno;
	f->port = port;
	return 0;
}

TEST(reused_port_of_a_subscriber)
{
	static struct family old, new, other;
	unsigned int i, refused = 0, dropped = 0;
	struct closing c;
	pthread_t thread;
	int err;

	ASSERT_EQ(0, pthread_barrier_init(&c.begin, NULL, 2));
	ASSERT_EQ(0, family_open(&other));
	ASSERT_EQ(0, set_u32(&other, JETWATT_A_CONFIG_RATE_HZ, 100));
	ASSERT_EQ(0, family_open(&old));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, simple(&old, JETWATT_CMD_SUBSCRIBE));
		c.fd = old.fd;
		ASSERT_EQ(0, pthread_create(&thread, NULL, close_it, &c));
		new = old;
		pthread_barrier_wait(&c.begin);
		ASSERT_EQ(0, rebind(&new, old.port));
		err = simple(&new, JETWATT_CMD_SUBSCRIBE);
		refused += err == -EALREADY;
		ASSERT_EQ(0, pthread_join(thread, NULL));
		/* Netlink has now notified the module of the closed socket; the new subscriber must
		 * still exist. */
		if (!err && subscriber_of(&other, new.port, JETWATT_A_SUBSCRIBER_SENT) == UINT64_MAX)
			dropped++;
		simple(&new, JETWATT_CMD_UNSUBSCRIBE);
		old = new;
	}
	TH_LOG("of %u: %u refused, %u dropped", ROUNDS, refused, dropped);
	EXPECT_EQ(0, refused);
	EXPECT_EQ(0, dropped);
	EXPECT_EQ(0, set_u32(&other, JETWATT_A_CONFIG_RATE_HZ, 0));
	family_close(&other);
	family_close(&old);
}

/* A new subscriber to waits keeps its subscription if it reuses the port of a closed one. */
TEST(reused_port_of_a_wait_subscriber)
{
	static struct family old, new;
	unsigned int i, refused = 0, dropped = 0;
	struct closing c;
	pthread_t thread;
	int err;

	ASSERT_EQ(0, pthread_barrier_init(&c.begin, NULL, 2));
	ASSERT_EQ(0, family_open(&old));
	for (i = 0; i < ROUNDS / 4; i++) {
		ASSERT_EQ(0, simple(&old, JETWATT_CMD_WAITS_WATCH));
		c.fd = old.fd;
		ASSERT_EQ(0, pthread_create(&thread, NULL, close_it, &c));
		new = old;
		pthread_barrier_wait(&c.begin);
		ASSERT_EQ(0, rebind(&new, old.port));
		err = simple(&new, JETWATT_CMD_WAITS_WATCH);
		refused += err == -EALREADY;
		ASSERT_EQ(0, pthread_join(thread, NULL));
		if (!err && simple(&new, JETWATT_CMD_WAITS_UNWATCH) == -ENOENT)
			dropped++;
		old = new;
	}
	TH_LOG("of %u: %u refused, %u dropped", ROUNDS / 4, refused, dropped);
	EXPECT_EQ(0, refused);
	EXPECT_EQ(0, dropped);
	family_close(&old);
}

TEST_HARNESS_MAIN
