// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets every memory allocation fail once: by /proc/self/fail-nth, the first, the second, ...
 * allocation of each operation fails, until the operation completes without a failure. This test
 * runs only on the kernel of make check-debug. Afterwards every operation must work, the module
 * must be removable, and kmemleak must report no leak.
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

/* Has an allocation failed? If no allocation has failed, fail-nth still shows a count above 0. */
static bool has_failed(void)
{
	return read_number("/proc/self/fail-nth") == 0;
}

/*
 * Return the number of allocations that the kernel's module loader makes itself, before the
 * module's init function and for the cleanup: counted while init fails before its first allocation.
 * The loader's allocations are skipped, because the loader logs a stack trace if one of them fails.
 * -1: init did not fail.
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
 * platform_device_add() ignores an error of dev_set_name(), and device_add() then returns -EINVAL,
 * because the device has no name. Therefore, in Linux 6.1, a failed allocation in dev_set_name()
 * leads to -EINVAL. Any other failure must lead to -ENOMEM. Trace the failures of dev_set_name() to
 * tell the two errors apart.
 */
static void watch_names(void)
{
	write_file(TRACING "kprobe_events", "r:nameless dev_set_name err=$retval:s32");
	write_file(TRACING "events/kprobes/nameless/filter", "err == -12");
	write_file(TRACING "events/kprobes/nameless/enable", "1");
}

/* Return the number of failures of dev_set_name() so far. */
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
	/* Let allocations that may sleep fail too, without a stack trace for each failure. */
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
	/* Begin 20 allocations earlier: about 20 of those counted are for the cleanup, after
	 * init. */
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
		/* The module may load although this allocation has failed. */
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

/* Send a request and ignore the reply, because its allocation may have failed. */
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

/* Scan twice: kmemleak reports an object only if it was unreferenced for some seconds. */
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
		/* Addresses in a removed module are printed without a symbol. */
		ours |= strstr(line, "jetwatt") || strstr(line, ">] 0x");
		if (strlen(report) + strlen(line) < sizeof(report))
			strcat(report, line);
	}
	fclose(f);
	EXPECT_FALSE(ours) TH_LOG("%s", report);
}

TEST_HARNESS_MAIN
