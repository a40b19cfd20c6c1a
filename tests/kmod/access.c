// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * Test that neither an unprivileged process nor root of other namespaces can get a sample from the
 * module, by a subscription, a dump of the ring or the black box, or a multicast group. Meanwhile
 * the sampler streams to a privileged subscriber, so that there are samples to be leaked.
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>

#include "family.h"

#include "kselftest_harness.h"

#define NOBODY	65534

FIXTURE(stream) {
	struct family f;
};

FIXTURE_SETUP(stream)
{
	struct batch b;

	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&self->f, 1000, &b));
	/* Fill the black box, so that an allowed request for its samples succeeds. */
	simple(&self->f, JETWATT_CMD_BOX_CLEAR);
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_BOX_FREEZE));
}

FIXTURE_TEARDOWN(stream)
{
	simple(&self->f, JETWATT_CMD_BOX_CLEAR);
	family_close(&self->f);
}

static void count(struct nlmsghdr *nlh, void *arg)
{
	struct batch b;

	*(int *)arg += batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b);
}

/*
 * In the child process: join all groups, send requests that need capabilities, among them the
 * requests to stream samples and to read the ring and the black box, and wait. Exit with status 0
 * if all requests were refused and no sample has arrived.
 */
static void try_all(struct family *f, uint16_t id)
{
	uint32_t group;
	struct nlmsghdr *nlh;
	int got = 0, n;

	f->id = id;
	for (group = 1; group < 64; group++)
		setsockopt(f->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
	if (!simple(f, JETWATT_CMD_SUBSCRIBE))
		_exit(10);
	if (!dump(f, request(f, JETWATT_CMD_SAMPLES_GET), count, &got) || got)
		_exit(11);
	if (!simple(f, JETWATT_CMD_UNSUBSCRIBE))
		_exit(12);
	if (!set_u32(f, JETWATT_A_CONFIG_RATE_HZ, 1))
		_exit(13);
	if (!dump(f, request(f, JETWATT_CMD_SUBSCRIBER_GET), NULL, NULL))
		_exit(14);
	if (!dump(f, request(f, JETWATT_CMD_BOX_SAMPLES_GET), NULL, NULL))
		_exit(15);
	if (!dump(f, request(f, JETWATT_CMD_ENERGY_GET), NULL, NULL))
		_exit(16);
	if (!simple(f, JETWATT_CMD_WAITS_WATCH))
		_exit(17);
	for (n = 0; n < 20; n++)
		if (next_message(f, 50, &nlh) == JETWATT_CMD_SAMPLES_NTF)
			_exit(18);
	_exit(0);
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(stream, unprivileged_process_gets_no_sample)
{
	pid_t pid = fork();
	static struct family f;

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY) || family_open(&f))
			_exit(1);
		/* Requests that need no capability must succeed. */
		if (number(&f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RAILS) != 4)
			_exit(2);
		if (simple(&f, JETWATT_CMD_SUBSCRIBE) != -EPERM)
			_exit(3);
		try_all(&f, f.id);
	}
	EXPECT_EQ(0, status_of(pid));
}

static void count_steps(struct nlmsghdr *nlh, void *arg)
{
	*(int *)arg += !!attr_of(nlh, JETWATT_A_RAIL_STEP_UW);
}

/*
 * An unprivileged process must not get the attribute "power of an LSB", because the bus voltage can
 * be calculated from it.
 */
TEST_F(stream, unprivileged_process_gets_no_voltage)
{
	static struct family f;
	int steps = 0;
	pid_t pid;

	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_RAIL_GET), count_steps, &steps));
	EXPECT_EQ(4, steps);
	pid = fork();
	if (!pid) {
		steps = 0;
		if (setgid(NOBODY) || setuid(NOBODY) || family_open(&f) ||
		    dump(&f, request(&f, JETWATT_CMD_RAIL_GET), count_steps, &steps))
			_exit(1);
		_exit(steps ? 2 : 0);
	}
	EXPECT_EQ(0, status_of(pid));
}

/*
 * A process opens a netlink socket with all capabilities and then drops them: requests on this
 * socket must not return samples.
 */
TEST_F(stream, no_sample_after_giving_up_rights)
{
	pid_t pid = fork();
	static struct family f;

	if (!pid) {
		if (family_open(&f) || setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		try_all(&f, f.id);
	}
	EXPECT_EQ(0, status_of(pid));
}

/* Drop all capabilities of the calling process except those in @mask; its user id stays 0. */
static int keep(uint64_t mask)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = mask, .permitted = mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	return syscall(SYS_capset, &head, data);
}

/*
 * In the child process. Keep only the capabilities in @mask, and send each request that returns
 * measurements, then one that configures. @text gets the error message of the subscription.
 * Return: mask of the requests that were accepted, where bit 5 states that RAIL_GET returned the
 * power of an LSB; -1 on error.
 */
static int observed(uint64_t mask, char *text, size_t size)
{
	static struct family f;
	int got = 0, what = 0;

	if (keep(mask) || family_open(&f))
		return -1;
	what |= !simple(&f, JETWATT_CMD_SUBSCRIBE) << 0;
	snprintf(text, size, "%s", f.text);
	simple(&f, JETWATT_CMD_UNSUBSCRIBE);
	what |= (!dump(&f, request(&f, JETWATT_CMD_SAMPLES_GET), count, &got) && got) << 1;
	what |= !dump(&f, request(&f, JETWATT_CMD_ENERGY_GET), NULL, NULL) << 2;
	what |= !dump(&f, request(&f, JETWATT_CMD_BOX_SAMPLES_GET), NULL, NULL) << 3;
	what |= !simple(&f, JETWATT_CMD_WAITS_WATCH) << 4;
	got = 0;
	dump(&f, request(&f, JETWATT_CMD_RAIL_GET), count_steps, &got);
	what |= !!got << 5;
	return what | !set_u32(&f, JETWATT_A_CONFIG_BATCH, 32) << 6;
}

#define BIT64(n)	(1ULL << (n))

/*
 * CAP_NET_ADMIN, which containers with the host's network often have, allows a client to configure
 * the sampler, but not to read measurements. Reading measurements requires, in addition,
 * CAP_PERFMON or CAP_SYS_ADMIN, as perf events do.
 */
TEST_F(stream, measurements_require_cap_perfmon_or_cap_sys_admin)
{
	static const struct {
		uint64_t mask;
		int may;
	} cases[] = {
		{ BIT64(CAP_NET_ADMIN), 0x40 },
		{ BIT64(CAP_PERFMON), 0 },
		{ BIT64(CAP_SYS_ADMIN), 0 },
		{ ~(BIT64(CAP_PERFMON) | BIT64(CAP_SYS_ADMIN)) & (BIT64(CAP_PERFMON) - 1), 0x40 },
		{ BIT64(CAP_NET_ADMIN) | BIT64(CAP_PERFMON), 0x7f },
		{ BIT64(CAP_NET_ADMIN) | BIT64(CAP_SYS_ADMIN), 0x7f },
	};
	char text[128];
	unsigned int i;
	pid_t pid;
	int may;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid = fork();
		if (!pid) {
			may = observed(cases[i].mask, text, sizeof(text));
			/* If the module refuses a request, its error message names the missing
			 * capability. */
			_exit(may == 0x40 && !strstr(text, "CAP_PERFMON") ? 0x80 : may);
		}
		EXPECT_EQ(cases[i].may, status_of(pid)) TH_LOG("case %u", i);
	}
}

TEST_F(stream, root_in_other_namespaces_gets_no_sample)
{
	uint16_t id = self->f.id;
	pid_t pid = fork();
	static struct family f;

	if (!pid) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(1);
		/* The netlink family is not listed in another network namespace, but a process
		 * there can guess its id. */
		if (family_open(&f) != -ENOENT)
			_exit(2);
		try_all(&f, id);
	}
	EXPECT_EQ(0, status_of(pid));
}

TEST_F(stream, root_in_a_user_namespace_gets_no_sample)
{
	pid_t pid = fork();
	static struct family f;

	if (!pid) {
		if (unshare(CLONE_NEWUSER) || family_open(&f))
			_exit(1);
		try_all(&f, f.id);
	}
	EXPECT_EQ(0, status_of(pid));
}

/*
 * A process waits to bind its socket to the netlink port of a subscriber. When the subscriber has
 * closed its socket and the process gets the port, it must not receive the stream of samples.
 */
TEST_F(stream, new_owner_of_a_port_gets_no_sample)
{
	struct sockaddr_nl sa = { .nl_family = AF_NETLINK };
	static struct family f, heir;
	struct nlmsghdr *nlh;
	pid_t pid;
	int n;

	ASSERT_EQ(0, family_open(&f));
	ASSERT_EQ(0, simple(&f, JETWATT_CMD_SUBSCRIBE));
	sa.nl_pid = f.port;
	pid = fork();
	if (!pid) {
		close(f.fd);
		heir.fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		for (n = 0; n < 100000; n++)
			if (!bind(heir.fd, (struct sockaddr *)&sa, sizeof(sa)))
				break;
		if (n == 100000)
			_exit(2);
		for (n = 0; n < 20; n++)
			if (next_message(&heir, 50, &nlh) == JETWATT_CMD_SAMPLES_NTF)
				_exit(3);
		_exit(0);
	}
	sleep_ms(30);
	family_close(&f);
	EXPECT_EQ(0, status_of(pid));
}

TEST_HARNESS_MAIN
