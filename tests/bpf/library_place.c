// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;ina3221"
/*
 * Test the probe on a libcuda in an unknown directory, in a container, deleted, or invalid, and in
 * time namespaces, and check what remains when the watching process or the job is killed.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "cuda_job.h"
#include "held.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* The job's libraries are in a directory that the probe does not know. */
FIXTURE(place) {
	struct cuda_job job;
	char lib[64];
};

FIXTURE_SETUP(place)
{
	const char *why = cuda_job_begin(&self->job);
	char cmd[PATH_MAX + 128];

	if (why)
		SKIP_TEST("%s", why);
	snprintf(self->lib, sizeof(self->lib), "%s/libcuda.so.1", self->job.dir);
	snprintf(cmd, sizeof(cmd), "cp %s/libcuda.so.1 %s", cuda_libs, self->lib);
	ASSERT_EQ(0, system(cmd));
}

FIXTURE_TEARDOWN(place)
{
	cuda_job_end(&self->job);
}

/*
 * Start a job that waits for the GPU every 25 ms, with its libraries in directory @where; probe it
 * with the backends @rungs.
 */
static void run(struct __test_metadata *_metadata, struct cuda_job *j, const char *where,
		void (*before)(void *), uint32_t rungs)
{
	static const char *const arg[] = { "--minibatches", "60", "--wait", "spin", NULL };

	/* Loading data takes 23 ms per minibatch, so the probe has time to find the library before
	 * the job ends. */
	setenv("SIM_CUDA_LOAD_US", "23000", 1);
	cuda_job_start(j, where, before, arg);
	ASSERT_EQ(0, cuda_job_probe(j, rungs)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	ASSERT_EQ(0, cuda_job_go(j));
}

/* Check that the probe has missed waits only at the start of the job, and has reported at least
 * @least waits. */
static void check_tail(struct __test_metadata *_metadata, struct cuda_job *j, int least)
{
	int i, missed;

	ASSERT_EQ(60, j->waits);
	ASSERT_LE(least, j->seen.nr);
	missed = 60 - j->seen.nr;
	TH_LOG("waits missed at the start: %d of 60", missed);
	for (i = 0; i < j->seen.nr; i++) {
		EXPECT_LE(j->start_ns[missed + i], j->seen.sync[i].enter_ns);
		EXPECT_LE(j->seen.sync[i].exit_ns, j->end_ns[missed + i]);
	}
}

TEST_F_TIMEOUT(place, library_is_found_in_the_maps, 60)
{
	run(_metadata, &self->job, self->job.dir, NULL, JETWATT_BACKEND_UPROBE);
	ASSERT_EQ(0, cuda_job_finish(&self->job));
	check_tail(_metadata, &self->job, 20);
}

static void new_root(void *arg)
{
	struct cuda_job *j = arg;
	char lib[128];

	/* Copy the library into a mount that exists only in the mount namespace of the job, so the
	 * library has no path outside. */
	snprintf(lib, sizeof(lib), "%s/x", j->dir);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mkdir(lib, 0755) || mount("tmpfs", lib, "tmpfs", 0, NULL))
		_exit(9);
	snprintf(lib, sizeof(lib), "cp %s/libcuda.so.1 %s/x/", j->dir, j->dir);
	if (system(lib))
		_exit(9);
	snprintf(lib, sizeof(lib), "%s/x", j->dir);
	setenv("LD_LIBRARY_PATH", lib, 1);
}

TEST_F_TIMEOUT(place, in_a_container, 60)
{
	char hidden[64];

	run(_metadata, &self->job, self->job.dir, new_root, JETWATT_BACKEND_UPROBE);
	snprintf(hidden, sizeof(hidden), "%s/x/libcuda.so.1", self->job.dir);
	ASSERT_EQ(0, cuda_job_finish(&self->job));
	EXPECT_NE(0, access(hidden, F_OK));
	check_tail(_metadata, &self->job, 20);
}

#define OUTER	"/dev/cg/jetwatt-outer"
#define OTHERS	70	/* more processes than one search examines */

static bool move_to(const char *cgroup, pid_t pid)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "w");
	return f && fprintf(f, "%d", pid) > 0 && !fclose(f);
}

/*
 * The probe watches a cgroup. The job is in a cgroup below it, like a container; the watched cgroup
 * itself has many processes without libcuda.
 */
TEST_F_TIMEOUT(place, in_a_cgroup_below, 60)
{
	static const char *const arg[] = { "--minibatches", "60", "--wait", "spin", NULL };
	struct jetwatt_probe_opts o = { .cgroup_path = OUTER, .backends = JETWATT_BACKEND_UPROBE };
	struct cuda_job *j = &self->job;
	int major = 0, minor = 0, i;
	pid_t other[OTHERS];
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	if (major * 100 + minor < 515)
		SKIP(return, "the probe of this kernel does not watch the cgroups below");
	mkdir("/dev/cg", 0755);
	if (mount("cgroup2", "/dev/cg", "cgroup2", 0, NULL))
		SKIP(return, "no cgroup v2");
	rmdir(OUTER "/inner");
	rmdir(OUTER);
	ASSERT_EQ(0, mkdir(OUTER, 0755));
	ASSERT_EQ(0, mkdir(OUTER "/inner", 0755));
	setenv("SIM_CUDA_LOAD_US", "73000", 1);
	cuda_job_start(j, j->dir, NULL, arg);
	ASSERT_TRUE(move_to(OUTER "/inner", j->pid));
	for (i = 0; i < OTHERS; i++) {
		other[i] = fork();
		if (!other[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		EXPECT_TRUE(move_to(OUTER, other[i]));
	}
	EXPECT_EQ(0, jetwatt_probe_open(&j->seen.probe, &o, seen_add, &j->seen)) {
		TH_LOG("%s", jetwatt_probe_error());
	}
	EXPECT_EQ(0, cuda_job_go(j));
	EXPECT_EQ(0, cuda_job_finish(j));
	for (i = 0; i < OTHERS; i++) {
		kill(other[i], SIGKILL);
		waitpid(other[i], NULL, 0);
	}
	EXPECT_EQ(0, rmdir(OUTER "/inner"));
	EXPECT_EQ(0, rmdir(OUTER));
	EXPECT_EQ(0, umount("/dev/cg"));
	check_tail(_metadata, j, 20);
}

/*
 * The library file is deleted while the job has it open; the probe must find and watch it
 * nevertheless.
 */
TEST_F_TIMEOUT(place, deleted_under_the_probe, 60)
{
	struct cuda_job *j = &self->job;
	uint64_t until = node_now() + 20000000000;

	run(_metadata, j, j->dir, NULL, JETWATT_BACKEND_UPROBE);
	/* The job opens the library immediately after it has created its file of times; the probe
	 * has not searched yet. */
	while (access(j->times, F_OK) && node_now() < until)
		node_sleep(1000000);
	node_sleep(50000000);
	ASSERT_EQ(0, unlink(self->lib));
	ASSERT_EQ(0, cuda_job_finish(j));
	check_tail(_metadata, j, 20);
}

TEST_F_TIMEOUT(place, invalid_elf_library, 60)
{
	struct cuda_job *j = &self->job;
	struct jetwatt_probe_opts o = { .tgid = getpid(), .backends = JETWATT_BACKEND_UPROBE };
	struct jetwatt_probe_state st;
	FILE *f = fopen(self->lib, "w");

	ASSERT_NE(NULL, f);
	fputs("\177ELF, no", f);
	fclose(f);
	setenv("LD_LIBRARY_PATH", j->dir, 1);
	ASSERT_EQ(0, jetwatt_probe_open(&j->seen.probe, &o, seen_add, &j->seen));
	jetwatt_probe_state(j->seen.probe, &st);
	if (!(st.attached & JETWATT_BACKEND_UPROBE))
		EXPECT_NE(NULL, strstr(st.why[0], "no shared library"));
}

/* Enter a time namespace, in which CLOCK_MONOTONIC differs from the kernel's clock by an offset. */
static void other_time(void *arg)
{
	FILE *f;
	pid_t pid;
	int status;

	(void)arg;
	if (unshare(CLONE_NEWTIME))
		_exit(77);
	f = fopen("/proc/self/timens_offsets", "w");
	if (!f || fputs("monotonic 86400 0\n", f) < 0 || fclose(f))
		_exit(77);
	/* The new time namespace applies only to children of this process. */
	pid = fork();
	if (!pid)
		return;
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

TEST_F_TIMEOUT(place, in_a_time_namespace, 60)
{
	const uint64_t day = 86400000000000ull;
	struct cuda_job *j = &self->job;
	int i, missed;

	if (access("/proc/self/ns/time", F_OK))
		SKIP(return, "this kernel has no time namespaces");
	run(_metadata, j, j->dir, other_time, JETWATT_BACKEND_UPROBE);
	ASSERT_EQ(0, cuda_job_finish(j));
	ASSERT_EQ(60, j->waits);
	ASSERT_LE(20, j->seen.nr);
	missed = 60 - j->seen.nr;
	for (i = 0; i < j->seen.nr; i++) {
		EXPECT_LE(j->start_ns[missed + i] - day, j->seen.sync[i].enter_ns);
		EXPECT_LE(j->seen.sync[i].exit_ns, j->end_ns[missed + i] - day);
	}
}

TEST_F_TIMEOUT(place, probe_in_a_time_namespace, 60)
{
	struct seen s;
	int status;
	pid_t pid;

	if (access("/proc/self/ns/time", F_OK))
		SKIP(return, "this kernel has no time namespaces");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		other_time(NULL);
		_exit(seen_open(&s, 0, 0, 0) != -EOPNOTSUPP ||
		      !strstr(jetwatt_probe_error(), "time namespace"));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* A watching process that is killed by SIGKILL leaves no probe behind, and the job continues. */
TEST_F_TIMEOUT(place, killed_probe_leaves_no_programs, 60)
{
	int ready[2], status, i, n;
	struct cuda_job *j = &self->job;
	__u32 id[32];
	pid_t watcher;
	char c;

	ASSERT_EQ(0, pipe(ready));
	CUDA_JOB_START(j, j->dir, "--seconds", "2", "--wait", "spin");
	watcher = fork();
	ASSERT_LE(0, watcher);
	if (!watcher) {
		if (cuda_job_probe(j, 0) || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			if (cuda_job_turn(j, 100) || (j->seen.nr && write(ready[1], "s", 1) != 1))
				_exit(1);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	ASSERT_EQ(0, cuda_job_go(j));
	/* The probe has reported some waits. */
	ASSERT_EQ(1, read(ready[0], &c, 1));
	n = held(watcher, "prog_id", id, 32);
	/* The probe has at least three BPF programs: for the entry of a function, its return and
	 * the end of a process. */
	EXPECT_LE(3, n);
	EXPECT_EQ(n, programs_left(id, n));
	kill(watcher, SIGKILL);
	ASSERT_EQ(watcher, waitpid(watcher, NULL, 0));
	for (i = 0; i < 500 && programs_left(id, n); i++)
		node_sleep(10000000);
	EXPECT_EQ(0, programs_left(id, n));
	ASSERT_EQ(j->pid, waitpid(j->pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The job is killed by a signal, most likely while it waits for the GPU: afterwards, the probe
 * reports no further wait, and has lost none. */
TEST_F_TIMEOUT(place, job_is_killed, 60)
{
	struct cuda_job *j = &self->job;
	uint64_t until = node_now() + 20000000000;
	int status, seen;

	CUDA_JOB_START(j, j->dir, "--seconds", "30", "--wait", "spin");
	ASSERT_EQ(0, cuda_job_probe(j, 0));
	ASSERT_EQ(0, cuda_job_go(j));
	while (j->seen.nr < 5 && node_now() < until)
		ASSERT_EQ(0, cuda_job_turn(j, 20));
	ASSERT_LE(5, j->seen.nr);
	kill(j->pid, SIGKILL);
	ASSERT_EQ(j->pid, waitpid(j->pid, &status, 0));
	ASSERT_LE(0, seen_all(&j->seen));
	seen = j->seen.nr;
	ASSERT_EQ(0, cuda_job_turn(j, 300));
	EXPECT_EQ(seen, j->seen.nr);
	EXPECT_EQ(0, jetwatt_probe_lost(j->seen.probe));
}

TEST_HARNESS_MAIN
