// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of every path fails once: the first, the second, ... of each
 * operation, by /proc/self/fail-nth, until it goes through without one. On the
 * kernel of make check-debug only. Afterwards all must work, the module must
 * go, and kmemleak must know of nothing that it has left.
 */
#include "kmod/family.h"
#include "skip.h"

#include "kselftest_harness.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
#define TRACING		"/sys/kernel/tracing/"

static void fail_nth(int n)
{
	write_number("/proc/self/fail-nth", n);
}

/* Was an allocation made to fail? What is left of the count is above 0 if not. */
static bool has_failed(void)
{
	return read_number("/proc/self/fail-nth") == 0;
}

/*
 * How many allocations the kernel's loader makes before the module's own, and to
 * clean up: counted where the first step of loading fails without any. If one of
 * the loader's fails, it puts the stack into the log, like a complaint.
 */
static int allocations_of_the_loader(void)
{
	const int many = 100000;
	int left;

	fail_nth(many);
	if (load("jetwatt", "fail_init=1") != -ENOMEM)
		return -1;
	left = read_number("/proc/self/fail-nth");
	fail_nth(0);
	return many - left;
}

/*
 * platform_device_add() does not look whether the device got its name, and
 * device_add() says EINVAL of one that has none: in 6.1 a failed allocation
 * in dev_set_name() comes back so, and nothing else may.
 */
static void watch_names(void)
{
	write_file(TRACING "kprobe_events", "r:nameless dev_set_name err=$retval:s32");
	write_file(TRACING "events/kprobes/nameless/filter", "err == -12");
	write_file(TRACING "events/kprobes/nameless/enable", "1");
}

/* How often a device got no name so far. */
static unsigned int nameless(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	unsigned int n = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, " nameless: ");
	if (f)
		fclose(f);
	return n;
}

FIXTURE(slab) {
	struct family f;
};

FIXTURE_SETUP(slab)
{
	if (access(FAILSLAB "ignore-gfp-wait", F_OK))
		SKIP_TEST("a kernel without failslab");
	/* What sleeps may fail too; without a trace of the stack for each. */
	ASSERT_EQ(0, write_file(FAILSLAB "ignore-gfp-wait", "N"));
	ASSERT_EQ(0, write_file(FAILSLAB "verbose", "0"));
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	unload("jetwatt");
}

FIXTURE_TEARDOWN(slab)
{
	unload("jetwatt");
}

TEST_F_TIMEOUT(slab, loading, 600)
{
	unsigned int n, failed = 0, names = 0;
	int loaders = allocations_of_the_loader(), err;

	ASSERT_LT(50, loaders);
	watch_names();
	/* The last ones of the loader's too: so many it makes to clean up. */
	for (n = loaders - 20; n < 3000; n++) {
		fail_nth(n);
		err = load("jetwatt", "");
		if (!has_failed()) {
			fail_nth(0);
			break;
		}
		fail_nth(0);
		failed++;
		if (err == -EINVAL && nameless() == names + 1)
			err = -ENOMEM;
		names = nameless();
		/* Some it can do without. */
		ASSERT_EQ(err ? -ENOMEM : 0, err) TH_LOG("allocation %u", n);
		if (!err)
			ASSERT_EQ(0, unload("jetwatt"));
	}
	TH_LOG("%u allocations of loading failed in turn, from the %dth on, %u of them for a name",
	       failed, loaders - 20, names);
	EXPECT_LT(20, failed);
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, family_open(&self->f));
	family_close(&self->f);
}

static const struct {
	uint8_t cmd;
	bool dump;
} ops[] = {
	{ JETWATT_CMD_INFO_GET, false }, { JETWATT_CMD_CHIP_GET, true }, { JETWATT_CMD_RAIL_GET, true },
	{ JETWATT_CMD_CLOCK_GET, true }, { JETWATT_CMD_CONFIG_GET, false }, { JETWATT_CMD_CONFIG_SET, false },
	{ JETWATT_CMD_SUBSCRIBE, false }, { JETWATT_CMD_SAMPLES_GET, true },
	{ JETWATT_CMD_STATS_GET, false }, { JETWATT_CMD_SUBSCRIBER_GET, true },
	{ JETWATT_CMD_UNSUBSCRIBE, false }, { JETWATT_CMD_ENERGY_GET, true },
	{ JETWATT_CMD_BOX_FREEZE, false }, { JETWATT_CMD_BOX_GET, false }, { JETWATT_CMD_BOX_SAMPLES_GET, true },
	{ JETWATT_CMD_BOX_CLEAR, false }, { JETWATT_CMD_WAITS_WATCH, false }, { JETWATT_CMD_WAITS_UNWATCH, false },
};

/* Only sends: what the kernel answers may itself have had no memory. */
static void ask(struct family *f, unsigned int i)
{
	struct nl_msg *msg = request(f, ops[i].cmd);
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	char sink[8192];

	if (ops[i].cmd == JETWATT_CMD_CONFIG_SET)
		nla_put_u32(msg, JETWATT_A_CONFIG_RATE_HZ, 50);
	nlh->nlmsg_flags |= ops[i].dump ? NLM_F_DUMP : NLM_F_ACK;
	send(f->fd, nlh, nlh->nlmsg_len, 0);
	while (recv(f->fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		;
	nlmsg_free(msg);
}

TEST_F_TIMEOUT(slab, operations, 600)
{
	unsigned int i, n, failed, all = 0;
	struct batch b;

	ASSERT_EQ(0, load("jetwatt", ""));
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (failed = 0, n = 1; n < 500; n++) {
			ASSERT_EQ(0, family_open(&self->f));
			fail_nth(n);
			ask(&self->f, i);
			if (!has_failed()) {
				fail_nth(0);
				family_close(&self->f);
				break;
			}
			fail_nth(0);
			failed++;
			family_close(&self->f);
		}
		EXPECT_LT(0, failed) TH_LOG("command %u", ops[i].cmd);
		all += failed;
	}
	TH_LOG("%u allocations of operations failed in turn", all);
	ASSERT_EQ(0, family_open(&self->f));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	EXPECT_TRUE(next_batch(&self->f, 5000, &b));
	family_close(&self->f);
}

/* Twice: an object counts once it has been seen without a reference for a while. */
TEST_F_TIMEOUT(slab, leaves_nothing, 600)
{
	char line[256], report[4096] = "";
	bool ours = false;
	FILE *f;
	int i;

	ASSERT_EQ(0, load("jetwatt", ""));
	ASSERT_EQ(0, unload("jetwatt"));
	for (i = 0; i < 2; i++) {
		sleep_ms(6000);
		ASSERT_EQ(0, write_file(KMEMLEAK, "scan"));
	}
	f = fopen(KMEMLEAK, "r");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		/* Addresses of a module that is gone have no name. */
		ours |= strstr(line, "jetwatt") || strstr(line, ">] 0x");
		if (strlen(report) + strlen(line) < sizeof(report))
			strcat(report, line);
	}
	fclose(f);
	EXPECT_FALSE(ours) TH_LOG("%s", report);
}

TEST_HARNESS_MAIN
