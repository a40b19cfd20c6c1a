// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="fuse" timeout=300
/*
 * Test the selection of the processes whose waits are reported: one process, its children however
 * they were created, or all processes of a cgroup.
 */
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>

#include "../../bpf/wait_slot.h"
#include "held.h"
#include "kselftest_harness.h"
#include "node.h"
#include "seen.h"

/*
 * Without the kernel's tracepoint for forks, the probe knows a child only when fork() has returned
 * in the parent, and misses earlier waits of the child. Each child therefore sleeps this long in ns
 * before its first wait: 20 ms, or 0 with the tracepoint.
 */
static uint64_t head_start;

/* Start a child that waits for the GPU @n times and then exits. */
static pid_t child(struct node *node, int n)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	node_sleep(head_start);
	while (n--)
		node_syncpt(node->render, n, 0, 0);
	_exit(0);
}

FIXTURE(family) {
	struct node node;
	struct seen seen;
};

/*
 * With tracefs, the probe can use the tracepoint for forks, which reports a fork before the child
 * runs.
 */
FIXTURE_VARIANT(family) { int tracefs; };
FIXTURE_VARIANT_ADD(family, return_value) { .tracefs = 0 };
FIXTURE_VARIANT_ADD(family, tracepoint) { .tracefs = 1 };

FIXTURE_SETUP(family)
{
	const char *fs = variant->tracefs ? "tracefs" : "tmpfs";
	int err = node_open(&self->node);

	head_start = variant->tracefs ? 0 : 20000000;
	NEEDS_BPF_EVENTS();
	if (err == -ENODEV)
		SKIP_TEST("needs root and /dev/fuse");
	ASSERT_EQ(0, err);
	/* EBUSY: it is mounted already. */
	if (mount("tmpfs", "/sys/kernel/debug", "tmpfs", 0, NULL) ||
	    (mount(fs, "/sys/kernel/tracing", fs, 0, NULL) && errno != EBUSY))
		SKIP_TEST("cannot mount %s", fs);
	if (variant->tracefs &&
	    access("/sys/kernel/tracing/events/sched/sched_process_fork/format", R_OK))
		SKIP_TEST("this kernel has no sched events");
}

FIXTURE_TEARDOWN(family)
{
	jetwatt_probe_close(self->seen.probe);
	node_close(&self->node);
}

static int count(const struct seen *s, pid_t tgid)
{
	int i, n = 0;

	for (i = 0; i < s->nr; i++)
		n += s->sync[i].tgid == (uint32_t)tgid;
	return n;
}

TEST_F(family, one_process)
{
	pid_t pid;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 0, 0));
	pid = child(&self->node, 20);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, node_syncpt(self->node.render, 1, 0, 0));
	EXPECT_EQ(1, seen_all(&self->seen));
}

TEST_F(family, all_processes)
{
	pid_t pid;

	ASSERT_EQ(0, seen_open(&self->seen, 0, 0, 0));
	pid = child(&self->node, 20);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, node_syncpt(self->node.render, 1, 0, 0));
	EXPECT_LE(21, seen_all(&self->seen));
	EXPECT_EQ(20, count(&self->seen, pid));
}

TEST_F(family, three_generations)
{
	pid_t pid, mine[3];
	int i, status;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	for (i = 0; i < 3; i++) {
		mine[i] = fork();
		ASSERT_LE(0, mine[i]);
		if (!mine[i]) {
			node_sleep(head_start);
			node_syncpt(self->node.render, 1, 0, 0);
			pid = child(&self->node, 10);
			waitpid(pid, &status, 0);
			pid = child(&self->node, 10);
			waitpid(pid, &status, 0);
			_exit(0);
		}
		ASSERT_EQ(mine[i], waitpid(mine[i], NULL, 0));
	}
	EXPECT_EQ(63, seen_all(&self->seen));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(1, count(&self->seen, mine[i]));
}

/*
 * Create a child by a direct clone() system call, without the C library's fork(), and another by
 * posix_spawn().
 */
TEST_F(family, other_ways_to_fork)
{
	char *argv[] = { "/proc/self/exe", "--wait", NULL };
	char *envp[] = { NULL };
	pid_t pid;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		node_sleep(head_start);
		node_syncpt(self->node.render, 1, 0, 0);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(1, seen_all(&self->seen));
	ASSERT_EQ(0, posix_spawn(&pid, argv[0], NULL, NULL, argv, envp));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(3, seen_all(&self->seen));
	EXPECT_EQ(2, count(&self->seen, pid));
}

TEST_F(family, forked_before_the_probe)
{
	int go[2], ready[2], i;
	pid_t pid[2];
	char c;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(ready));
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i]) {
			pid_t grandchild = fork();

			if (write(ready[1], "r", 1) != 1 || read(go[0], &c, 1) != 1)
				_exit(1);
			node_syncpt(self->node.render, 1, 0, 0);
			if (grandchild)
				waitpid(grandchild, NULL, 0);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(1, read(ready[0], &c, 1));
	ASSERT_EQ(0, seen_open(&self->seen, pid[0], 1, 0));
	ASSERT_EQ(4, write(go[1], "1234", 4));
	for (i = 0; i < 2; i++)
		waitpid(pid[i], NULL, 0);
	EXPECT_EQ(2, seen_all(&self->seen));
	EXPECT_EQ(1, count(&self->seen, pid[0]));
	EXPECT_EQ(0, count(&self->seen, pid[1]));
}

/*
 * Make @pid the id of the next process that is created; fails if another process forks in between.
 */
static void next_is(FILE *f, pid_t pid)
{
	fprintf(f, "%d", pid - 1);
	fflush(f);
	rewind(f);
}

/*
 * Two processes whose ids share a table entry: when the first one ends, the call in progress of the
 * other must not be dropped. The second one ends 50 ms after the first.
 */
TEST_F(family, colliding_process_ids)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
	pid_t one, other;
	int i, again = 0;

	if (!f)
		SKIP(return, "cannot choose a process id");
	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	for (i = 0; i < 50 && !again; i++) {
		one = fork();
		ASSERT_LE(0, one);
		if (!one) {
			node_sleep(head_start);
			node_syncpt(self->node.render, 1, 100000000, 0);
			_exit(0);
		}
		next_is(f, one < 16384 ? one + 8192 : one - 8192);
		other = fork();
		ASSERT_LE(0, other);
		if (!other) {
			node_sleep(head_start + 50000000);
			node_syncpt(self->node.render, 1, 100000000, 0);
			_exit(0);
		}
		again = other % 8192 == one % 8192;
		ASSERT_EQ(one, waitpid(one, NULL, 0));
		ASSERT_EQ(other, waitpid(other, NULL, 0));
		ASSERT_LT(0, seen_all(&self->seen));
		EXPECT_EQ(1, count(&self->seen, one));
		EXPECT_EQ(1, count(&self->seen, other));
	}
	if (!again)
		SKIP(return, "the kernel never assigned the requested process id");
}

/* A process that gets the id of an ended process is not watched. */
TEST_F(family, reused_process_id_is_not_followed)
{
	pid_t pid, again;
	int go[2], i;
	FILE *f;
	char c;

	f = fopen("/proc/sys/kernel/ns_last_pid", "w");
	if (!f)
		SKIP(return, "cannot choose a process id");
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(read(go[0], &c, 1) != 1 || node_syncpt(self->node.render, 1, 0, 0));
	ASSERT_EQ(0, seen_open(&self->seen, pid, 1, 0));
	ASSERT_EQ(1, write(go[1], "1", 1));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(1, seen_all(&self->seen));
	for (i = 0; i < 50; i++) {
		next_is(f, pid);
		again = child(&self->node, 1);
		ASSERT_EQ(again, waitpid(again, NULL, 0));
		if (again == pid)
			break;
	}
	if (again != pid)
		SKIP(return, "the kernel never reused the process id");
	EXPECT_EQ(1, seen_all(&self->seen));
}

/*
 * A thread other than the main thread calls exec: the process keeps its id, and must still be
 * watched.
 */
static void *exec_thread(void *arg)
{
	char *argv[] = { arg, "--wait", NULL };

	execv(argv[0], argv);
	return NULL;
}

TEST_F(family, exec_by_a_thread)
{
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		node_sleep(head_start);
		pthread_create(&thread, NULL, exec_thread, "/proc/self/exe");
		pause();
	}
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(2, seen_all(&self->seen));
}

/*
 * After an exec, the new program has other files under the same descriptor numbers; ioctls on them
 * are no waits.
 */
TEST_F(family, exec_closes_files)
{
	char *argv[] = { "/proc/self/exe", "--other", NULL };
	int ready[2], go[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int fd;

		node_sleep(head_start);
		close(60);
		fd = fcntl(self->node.render, F_DUPFD_CLOEXEC, 60);
		node_syncpt(fd, 1, 0, 0);
		if (fd != 60 || write(ready[1], "r", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		execv(argv[0], argv);
		_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	/* The probe has looked up which file the descriptor refers to; it caches this result for
	 * one second. */
	ASSERT_EQ(1, seen_all(&self->seen));
	ASSERT_EQ(1, write(go[1], "g", 1));
	/* Process the reports while the process runs, because the probe cannot look up the
	 * descriptors of an ended process. */
	while (waitpid(pid, NULL, WNOHANG) != pid)
		ASSERT_LE(0, seen_all(&self->seen));
	EXPECT_EQ(1, seen_all(&self->seen));
}

/*
 * A thread that continues after the main thread has ended, and waits for the GPU after the probe has
 * searched the followed processes.
 */
static void *late_thread(void *arg)
{
	node_sleep(1500000000);
	node_syncpt(((struct node *)arg)->render, 1, 0, 0);
	_exit(0);
}

TEST_F(family, main_thread_ends)
{
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		node_sleep(head_start);
		pthread_create(&thread, NULL, late_thread, &self->node);
		syscall(SYS_exit, 0);
	}
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		ASSERT_LE(0, seen_all(&self->seen));
		node_sleep(20000000);
	}
	EXPECT_EQ(1, seen_all(&self->seen));
}

/* The probe must not keep a process that has ended, even if its first thread ended before others. */
TEST_F(family, ended_process_is_removed)
{
	struct jetwatt_probe_opts o = { .tgid = getpid(), .children = 1,
					.backends = JETWATT_BACKEND_TRACEPOINT };
	int i, fd, state = 0, status;
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, jetwatt_probe_open(&self->seen.probe, &o, seen_add, &self->seen));
	fd = held_map("followed");
	ASSERT_LE(0, fd);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		node_sleep(head_start);
		pthread_create(&thread, NULL, late_thread, &self->node);
		syscall(SYS_exit, 0);
	}
	/* The library removes nothing meanwhile, because it does so in jetwatt_probe_dispatch(). */
	for (i = 0; i < 500 && state != 2; i++) {
		node_sleep(20000000);
		bpf_map_lookup_elem(fd, &pid, &state);
	}
	EXPECT_EQ(2, state);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	for (i = 0; i < 150 && !bpf_map_lookup_elem(fd, &pid, &state); i++) {
		ASSERT_LE(0, seen_all(&self->seen));
		node_sleep(20000000);
	}
	EXPECT_NE(0, bpf_map_lookup_elem(fd, &pid, &state));
	close(fd);
}

/* Wait for the GPU, write the id of this thread into a pipe, and execute another program. */
static void *wait_and_exec(void *arg)
{
	char *argv[] = { "/proc/self/exe", "--wait", NULL };
	pid_t tid = syscall(SYS_gettid);
	int *fd = arg;

	if (!node_syncpt(fd[0], 1, 0, 0) && write(fd[1], &tid, sizeof(tid)) == sizeof(tid))
		execv(argv[0], argv);
	_exit(1);
}

/*
 * A thread that is not the first one of its process calls execve(), after which no thread has its
 * id. The BPF program must not keep the entry of this id, which another program's thread may get.
 */
TEST_F(family, entry_of_a_thread_ends_with_its_execve)
{
	int fd, status, ready[2], arg[2];
	struct wait_slot slot;
	pthread_t thread;
	pid_t pid, tid;
	__u32 at;

	ASSERT_EQ(0, seen_open(&self->seen, getpid(), 1, 0));
	fd = held_map("places");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		node_sleep(head_start);
		arg[0] = self->node.render;
		arg[1] = ready[1];
		pthread_create(&thread, NULL, wait_and_exec, arg);
		for (;;)
			pause();
	}
	ASSERT_EQ(sizeof(tid), (size_t)read(ready[0], &tid, sizeof(tid)));
	while (waitpid(pid, &status, WNOHANG) != pid) {
		ASSERT_LE(0, seen_all(&self->seen));
		node_sleep(20000000);
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, seen_all(&self->seen));
	at = tid & (WAIT_SLOTS - 1);
	ASSERT_EQ(0, bpf_map_lookup_elem(fd, &at, &slot));
	EXPECT_EQ(SLOT_FREED, slot.tid);
	close(fd);
}

TEST_F(family, cgroup)
{
	struct stat st;
	pid_t in, out;
	FILE *f;
	int go[2];
	char c;

	ASSERT_EQ(0, mkdir("/dev/cg", 0755));
	if (mount("cgroup2", "/dev/cg", "cgroup2", 0, NULL))
		SKIP(return, "no cgroup v2");
	rmdir("/dev/cg/jetwatt-test");
	ASSERT_EQ(0, mkdir("/dev/cg/jetwatt-test", 0755));
	ASSERT_EQ(0, stat("/dev/cg/jetwatt-test", &st));
	ASSERT_EQ(0, seen_open(&self->seen, 0, 0, st.st_ino));
	ASSERT_EQ(0, pipe(go));
	in = fork();
	if (!in) {
		if (read(go[0], &c, 1) == 1)
			for (c = 0; c < 7; c++)
				node_syncpt(self->node.render, c, 0, 0);
		_exit(0);
	}
	f = fopen("/dev/cg/jetwatt-test/cgroup.procs", "w");
	ASSERT_NE(NULL, f);
	fprintf(f, "%d", in);
	ASSERT_EQ(0, fclose(f));
	ASSERT_EQ(1, write(go[1], "1", 1));
	out = child(&self->node, 5);
	ASSERT_EQ(in, waitpid(in, NULL, 0));
	ASSERT_EQ(out, waitpid(out, NULL, 0));
	rmdir("/dev/cg/jetwatt-test");
	ASSERT_EQ(7, seen_all(&self->seen));
	EXPECT_EQ(7, count(&self->seen, in));
	EXPECT_EQ(st.st_ino, self->seen.sync[0].cgroup);
}

/* After an exec: open a node and wait twice on it. With --other, the node is of another driver and
 * has descriptor number 60, which exec has freed. */
int main(int argc, char **argv)
{
	int fd;

	if (argc > 1 && !strcmp(argv[1], "--other")) {
		fd = fcntl(open("/dev/other", O_RDWR), F_DUPFD, 60);
		if (fd != 60 || node_syncpt(fd, 1, 0, 0) || node_syncpt(fd, 2, 0, 0))
			return 1;
		node_sleep(500000000);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--wait")) {
		node_sleep(20000000);
		fd = open("/dev/dri/renderD128", O_RDWR);
		return node_syncpt(fd, 1, 0, 0) || node_syncpt(fd, 2, 0, 0);
	}
	return test_harness_run(argc, argv);
}
