// SPDX-License-Identifier: GPL-2.0-only
/* Whether a co-runner with many threads is idle. */
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A read of cgroup.threads returns at most a page. */
static ssize_t read_page(int fd, void *to, size_t max, off_t off)
{
	return pread(fd, to, max < 4096 ? max : 4096, off);
}

static int thread_waits(void)
{
	return 0;
}

#include "jetwatt.h"
#define pread(fd, to, max, off)			read_page(fd, to, max, off)
#define jetwatt_probe_waiting(probe, tid)	((void)(tid), thread_waits())
#include "../../user/timeshare/corunner.c"

#include "kselftest_harness.h"

FIXTURE(program) {
	struct jetwatt_corunner t;
	FILE *threads;
};

FIXTURE_SETUP(program)
{
	jetwatt_corunner_init(&self->t, "program", NULL);
	self->threads = tmpfile();
	ASSERT_NE(NULL, self->threads);
}

FIXTURE_TEARDOWN(program)
{
	fclose(self->threads);
}

/* Add the ids of @n threads that have ended. */
static void add_threads(FILE *threads, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(threads, "%d\n", INT32_MAX - i);
	fflush(threads);
}

/* Check a program twice, because the first check only sets the stamp. */
static int idle(struct jetwatt_corunner *t, FILE *threads)
{
	uint64_t stamp = 0;

	t->threads = fileno(threads);
	jetwatt_corunner_idle(t, &stamp);
	return jetwatt_corunner_idle(t, &stamp);
}

TEST_F(program, threads_that_sleep_are_idle)
{
	add_threads(self->threads, 1000);
	EXPECT_EQ(1, idle(&self->t, self->threads));
}

TEST_F(program, last_of_many_threads_runs)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	add_threads(self->threads, 1000);
	fprintf(self->threads, "%d\n", pid);
	fflush(self->threads);
	EXPECT_EQ(0, idle(&self->t, self->threads));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* With more threads than are checked, the program must not count as idle. */
TEST_F(program, too_many_threads_are_not_idle)
{
	add_threads(self->threads, 3000);
	EXPECT_EQ(0, idle(&self->t, self->threads));
}

TEST_HARNESS_MAIN
