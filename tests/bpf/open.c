// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="fuse"
/*
 * Test opening the BPF probe: the error messages if it cannot be opened, the rights that it needs,
 * what remains after closing it, and the count of records that do not fit into its buffer.
 */
#include "kselftest_harness.h"
#include "held.h"
#include "node.h"
#include "seen.h"

TEST(unprivileged)
{
	struct seen s;

	if (getuid())
		SKIP(return, "needs root, to drop privileges");
	if (syscall(SYS_bpf, -1, NULL, 0) && errno == ENOSYS)
		SKIP(return, "this kernel has no bpf()");
	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	ASSERT_EQ(-EPERM, seen_open(&s, getpid(), 0, 0));
	EXPECT_EQ(NULL, s.probe);
	EXPECT_NE(NULL, strstr(jetwatt_probe_error(), "CAP_BPF"));
}

/* If the kernel lacks a feature that the probe needs, the error message names that feature. */
TEST(missing_kernel_features_are_named)
{
	struct seen s;

	if (getuid())
		SKIP(return, "needs root");
	if (can_trace()) {
		ASSERT_EQ(0, seen_open(&s, getpid(), 0, 0)) TH_LOG("%s", jetwatt_probe_error());
		jetwatt_probe_close(s.probe);
		return;
	}
	EXPECT_EQ(-EOPNOTSUPP, seen_open(&s, getpid(), 0, 0));
	EXPECT_NE(NULL, strstr(jetwatt_probe_error(), "CONFIG_BPF_EVENTS"));
}

/*
 * Opening the probe takes mostly the time in which the kernel verifies the programs. The verifier simulates
 * loops, so a small change of a loop can multiply the time.
 */
TEST(programs_are_verified_in_few_steps)
{
	__u32 id[32], len, steps = 0;
	struct bpf_prog_info info;
	struct seen s;
	int fd, n;

	NEEDS_BPF_EVENTS();
	if (getuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, seen_open(&s, getpid(), 1, 0)) TH_LOG("%s", jetwatt_probe_error());
	n = held(getpid(), "prog_id", id, 32);
	ASSERT_LE(3, n);
	for (int i = 0; i < n; i++) {
		fd = bpf_prog_get_fd_by_id(id[i]);
		ASSERT_LE(0, fd);
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		ASSERT_EQ(0, bpf_obj_get_info_by_fd(fd, &info, &len));
		steps += info.verified_insns;
		close(fd);
	}
	jetwatt_probe_close(s.probe);
	if (!steps)
		SKIP(return, "this kernel does not count the verified instructions");
	EXPECT_GE(20000, steps);
}

TEST(ended_process_cannot_be_followed)
{
	siginfo_t info;
	struct seen s;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	NEEDS_BPF_EVENTS();
	if (getuid())
		SKIP(return, "needs root");
	/* The process has ended, but its parent has not yet called waitpid() for it. */
	ASSERT_EQ(0, waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	ASSERT_EQ(-ESRCH, seen_open(&s, pid, 1, 0));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(-ESRCH, seen_open(&s, pid, 1, 0));
	EXPECT_NE(NULL, strstr(jetwatt_probe_error(), "following process"));
}

TEST(in_a_pid_namespace)
{
	struct seen s;
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(2);
		_exit(seen_open(&s, 1, 1, 0) != -EOPNOTSUPP ||
		      !strstr(jetwatt_probe_error(), "pid namespace"));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Stock Jetson kernels have no BTF: the probe must work without it. */
TEST(without_kernel_btf)
{
	struct node node;
	struct seen s;
	int i, err = node_open(&node);

	NEEDS_BPF_EVENTS();
	if (err == -ENODEV)
		SKIP(return, "needs root and /dev/fuse");
	ASSERT_EQ(0, err);
	if (!access("/sys/kernel/btf", F_OK))
		ASSERT_EQ(0, mount("tmpfs", "/sys/kernel/btf", "tmpfs", 0, NULL));
	ASSERT_EQ(0, seen_open(&s, getpid(), 1, 0)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, node_syncpt(node.render, i, 0, 0));
	EXPECT_EQ(100, seen_all(&s));
	jetwatt_probe_close(s.probe);
	node_close(&node);
}

TEST(closing_frees_the_programs)
{
	__u32 id[32];
	struct seen s;
	int n, k;

	NEEDS_BPF_EVENTS();
	if (getuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, held(getpid(), "prog_id", id, 32));
	ASSERT_EQ(0, seen_open(&s, getpid(), 1, 0));
	n = held(getpid(), "prog_id", id, 32);
	/* The probe has at least three BPF programs: for the entry and the exit of a system call,
	 * and for the end of a process. */
	ASSERT_LE(3, n);
	jetwatt_probe_close(s.probe);
	/* The kernel frees the BPF programs some time after the last reference is dropped. */
	for (k = 0; k < 500 && programs_left(id, n); k++)
		node_sleep(10000000);
	EXPECT_EQ(0, programs_left(id, n));
	EXPECT_EQ(0, held(getpid(), "prog_id", id, 32));
}

TEST(lost_records_are_counted)
{
	struct jetwatt_probe_opts o = { .tgid = getpid(), .ring_kib = 4 };
	struct seen s = { 0 };
	struct node node;
	int i, err = node_open(&node);

	NEEDS_BPF_EVENTS();
	if (err == -ENODEV)
		SKIP(return, "needs root and /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, jetwatt_probe_open(&s.probe, &o, seen_add, &s));
	for (i = 0; i < 500; i++)
		ASSERT_EQ(0, node_syncpt(node.render, i, 0, 0));
	ASSERT_LT(10, seen_all(&s));
	EXPECT_LT(s.nr, 4096 / 48);
	EXPECT_EQ(500 - s.nr, (int)jetwatt_probe_lost(s.probe));
	/* The reader has emptied the probe's buffer, so the next record fits in. */
	i = s.nr;
	ASSERT_EQ(0, node_syncpt(node.render, 1, 0, 0));
	EXPECT_EQ(i + 1, seen_all(&s));
	jetwatt_probe_close(s.probe);
	node_close(&node);
}

TEST_HARNESS_MAIN
