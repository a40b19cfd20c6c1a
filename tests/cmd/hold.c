// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount timeout=200
/*
 * Test that a frozen job always continues in the end, whatever happens to the process that has
 * frozen the job.
 */
#include "../../user/job/cgroup.c"
#include "../../user/job/freezer.c"
#include "../../user/util/fork.c"

#include <sys/mman.h>
#include <stdint.h>

#include "kselftest_harness.h"

/*
 * Number of times that the freezing process is killed; make bench-schedule sets a higher number by
 * the environment variable JETWATT_KILLS.
 */
#define KILLS	50

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int kills(void)
{
	const char *more = getenv("JETWATT_KILLS");

	return more ? atoi(more) : KILLS;
}

FIXTURE(hold) {
	struct jetwatt_cgroup cgroup;
	struct jetwatt_freezer hold;
	volatile uint64_t *count;
	pid_t job;
};

/* @signals: freeze the job by SIGSTOP and SIGCONT instead of by its cgroup */
FIXTURE_VARIANT(hold) {
	int signals;
};

FIXTURE_VARIANT_ADD(hold, freezer) { 0 };
FIXTURE_VARIANT_ADD(hold, signals) { 1 };

/* The job has two processes, like a job with a data loader. */
FIXTURE_SETUP(hold)
{
	struct timespec nap = { 0, 200000 };

	memset(&self->cgroup, 0, sizeof(self->cgroup));
	self->cgroup.events = -1;
	self->count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->count);
	if (!variant->signals)
		ASSERT_EQ(0, jetwatt_cgroup_make(&self->cgroup));
	self->job = fork();
	if (!self->job) {
		int second = 0;

		while (getppid() == 1 || !self->count[2])
			nanosleep(&nap, NULL);
		second = !fork();
		for (;;) {
			self->count[second]++;
			nanosleep(&nap, NULL);
		}
	}
	setpgid(self->job, self->job);
	if (!variant->signals)
		ASSERT_EQ(0, jetwatt_cgroup_move(&self->cgroup, self->job));
	self->count[2] = 1;
	ASSERT_EQ(0, jetwatt_freezer_open(&self->hold, &self->cgroup, self->job));
	ASSERT_EQ(variant->signals, self->hold.freeze < 0);
}

FIXTURE_TEARDOWN(hold)
{
	kill(-self->job, SIGKILL);
	waitpid(self->job, NULL, 0);
	jetwatt_freezer_close(&self->hold);
	jetwatt_cgroup_close(&self->cgroup);
}

/* Test whether both processes make progress within a minute. */
static int runs(volatile uint64_t *count)
{
	uint64_t was[] = { count[0], count[1] }, end = now() + 60000000000ull;
	struct timespec nap = { 0, 200000 };

	while ((count[0] == was[0] || count[1] == was[1]) && now() < end)
		nanosleep(&nap, NULL);
	return now() < end;
}

static int stands(volatile uint64_t *count)
{
	uint64_t was[] = { count[0], count[1] };
	struct timespec nap = { 0, 5000000 };

	nanosleep(&nap, NULL);
	return count[0] == was[0] && count[1] == was[1];
}

TEST_F(hold, frozen_job_makes_no_progress)
{
	ASSERT_TRUE(runs(self->count));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, jetwatt_freezer_freeze(&self->hold, now()));
		ASSERT_EQ(0, jetwatt_freezer_wait(&self->hold, 5000));
		EXPECT_TRUE(stands(self->count));
		ASSERT_EQ(0, jetwatt_freezer_thaw(&self->hold, now()));
		ASSERT_TRUE(runs(self->count));
	}
	EXPECT_LE(20 * 5000000ull, jetwatt_freezer_frozen_ns(&self->hold, now()));
}

/*
 * Run as the process that is killed: freeze and thaw the job as fast as possible, sometimes with a
 * short delay.
 */
static void hold_for_ever(struct jetwatt_freezer *h, unsigned int seed, int ready)
{
	struct jetwatt_freezer all[] = { *h };
	int guard = jetwatt_freezer_guard(all, 1);

	if (guard < 0 || write(ready, "r", 1) != 1)
		_exit(1);
	srand(seed);
	for (;;) {
		struct timespec nap = { 0, rand() % 3 ? 0 : rand() % 2000000 };

		jetwatt_freezer_notify_guard(guard);
		jetwatt_freezer_freeze(h, now());
		jetwatt_freezer_wait(h, 1000);
		nanosleep(&nap, NULL);
		jetwatt_freezer_thaw(h, now());
		nanosleep(&nap, NULL);
	}
}

TEST_F_TIMEOUT(hold, continues_when_the_holder_is_killed, 3600)
{
	int n = kills(), held = 0;

	srand(1);
	for (int i = 0; i < n; i++) {
		struct timespec nap = { 0, rand() % 8000000 };
		uint64_t was;
		int ready[2];
		pid_t pid;
		char c;

		ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
		pid = fork();
		if (!pid)
			hold_for_ever(&self->hold, i, ready[1]);
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &c, 1));
		close(ready[0]);
		nanosleep(&nap, NULL);
		was = self->count[0];
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		held += self->count[0] == was;
		ASSERT_TRUE(runs(self->count)) {
			TH_LOG("kill %d of %d: the job no longer runs", i + 1, n);
		}
	}
	TH_LOG("%d kills, the job ran on after each; %d of them while nothing moved", n, held);
	EXPECT_LT(0, held);
}

/* If the freezing process hangs, it cannot thaw the job itself; its watchdog must do so. */
TEST_F(hold, continues_when_the_holder_is_stopped)
{
	int ready[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		struct jetwatt_freezer all[] = { self->hold };
		int guard = jetwatt_freezer_guard(all, 1);

		jetwatt_freezer_freeze(&self->hold, now());
		jetwatt_freezer_wait(&self->hold, 1000);
		jetwatt_freezer_notify_guard(guard);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	EXPECT_TRUE(stands(self->count));
	EXPECT_TRUE(runs(self->count));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Return: a process id that is lower than the ids of all processes that are started later. */
static pid_t number(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static pid_t guard_after(pid_t before)
{
	char path[300], name[32];
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (dir && !found && (e = readdir(dir))) {
		FILE *f = NULL;

		if (atoi(e->d_name) > before) {
			snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
			f = fopen(path, "re");
		}
		if (f && fgets(name, sizeof(name), f) && !strcmp(name, "jetwatt-guard\n"))
			found = atoi(e->d_name);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* If its watchdog has ended, the freezing process must be notified. */
TEST_F(hold, end_of_the_watchdog_is_reported)
{
	struct jetwatt_freezer all[] = { self->hold };
	pid_t before = number();
	int guard = jetwatt_freezer_guard(all, 1);
	struct pollfd p = { .fd = guard, .events = POLLIN };
	pid_t found = 0;

	ASSERT_LE(0, guard);
	while (!found)
		found = guard_after(before);
	kill(found, SIGKILL);
	EXPECT_EQ(1, poll(&p, 1, 60000));
	EXPECT_NE(0, p.revents & POLLHUP);
	close(guard);
}

TEST_HARNESS_MAIN
