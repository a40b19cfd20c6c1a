// SPDX-License-Identifier: GPL-2.0-only
// guest: alone
/*
 * Test the client library if the module is not loaded, if the module has found no sensor chip, and
 * without privileges: each case has its own error number and message.
 */
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

#include "jetwatt.h"
#include "kselftest_harness.h"
#include "module.h"
#include "skip.h"

FIXTURE(bare) {
	struct jetwatt *jw;
};

FIXTURE_SETUP(bare)
{
	int err = load("jetwatt", "");

	if (err == -ENOENT || err == -EPERM)
		SKIP_TEST("no jetwatt.ko here, or not root");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, jetwatt_open(&self->jw)) {
		TH_LOG("%s", jetwatt_error(NULL));
	}
}

FIXTURE_TEARDOWN(bare)
{
	jetwatt_close(self->jw);
	unload("jetwatt");
}

static void samples(const struct jetwatt_samples *s, void *arg)
{
	*(int *)arg += s->count;
}

TEST(module_not_loaded)
{
	struct jetwatt *jw = (void *)1;

	if (!access("/sys/module/jetwatt", F_OK))
		SKIP(return, "it is loaded");
	EXPECT_EQ(-ENOENT, jetwatt_open(&jw));
	EXPECT_EQ(NULL, jw);
	EXPECT_NE(NULL, strstr(jetwatt_error(NULL), "not loaded"));
	EXPECT_NE(NULL, strstr(jetwatt_error(NULL), "modprobe"));
}

TEST_F(bare, info_without_a_chip)
{
	struct jetwatt_info info;

	ASSERT_EQ(0, jetwatt_info(self->jw, &info));
	EXPECT_NE('\0', info.version[0]);
	EXPECT_EQ(0, info.chips);
	EXPECT_EQ(0, info.rails);
	EXPECT_EQ(0, info.running);
	EXPECT_EQ(0, jetwatt_chips(self->jw, NULL, 0));
	EXPECT_EQ(0, jetwatt_rails(self->jw, NULL, 0));
}

TEST_F(bare, no_chip_to_read)
{
	int n = 0;

	ASSERT_EQ(-ENODEV, jetwatt_subscribe(self->jw, samples, &n));
	EXPECT_NE(NULL, strstr(jetwatt_error(self->jw), "subscribing: "));
	/* The error text is the module's message, not that of strerror(). */
	EXPECT_EQ(NULL, strstr(jetwatt_error(self->jw), "No such device"));
	TH_LOG("%s", jetwatt_error(self->jw));
	EXPECT_EQ(0, jetwatt_dispatch(self->jw));
	EXPECT_EQ(-ENOENT, jetwatt_unsubscribe(self->jw));
	EXPECT_EQ(0, n);
}

TEST_F(bare, out_of_range)
{
	struct jetwatt_config c = { UINT32_MAX, 100000, UINT32_MAX, UINT32_MAX, 0, 0 };

	EXPECT_EQ(-ERANGE, jetwatt_config_set(self->jw, &c));
	EXPECT_NE('\0', jetwatt_error(self->jw)[0]);
	TH_LOG("%s", jetwatt_error(self->jw));
}

TEST_F(bare, not_root)
{
	struct jetwatt_config c = { UINT32_MAX, 64, UINT32_MAX, UINT32_MAX, 0, 0 };
	struct jetwatt_info info;
	struct jetwatt *jw;
	int n = 0, status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgid(65534) || setuid(65534) || jetwatt_open(&jw) || jetwatt_info(jw, &info))
			_exit(1);
		if (jetwatt_subscribe(jw, samples, &n) != -EPERM ||
		    !strstr(jetwatt_error(jw), "CAP_NET_ADMIN"))
			_exit(2);
		if (jetwatt_samples_since(jw, 1, samples, &n) != -EPERM ||
		    !strstr(jetwatt_error(jw), "CAP_NET_ADMIN"))
			_exit(3);
		if (jetwatt_config_set(jw, &c) != -EPERM)
			_exit(4);
		_exit(n ? 5 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Root of a user and network namespace does not see the netlink family. */
TEST_F(bare, root_of_a_namespace)
{
	struct jetwatt *jw;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(77);
		_exit(jetwatt_open(&jw) != -ENOENT || !strstr(jetwatt_error(NULL), "namespace"));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP(return, "this kernel has no user namespaces");
	EXPECT_EQ(0, status);
}

TEST_F(bare, module_is_unloaded)
{
	struct jetwatt_info info;

	ASSERT_EQ(0, unload("jetwatt"));
	EXPECT_EQ(-ENOENT, jetwatt_info(self->jw, &info));
	EXPECT_NE(NULL, strstr(jetwatt_error(self->jw), "unloaded"));
	EXPECT_EQ(0, jetwatt_dispatch(self->jw));
}

TEST_HARNESS_MAIN
