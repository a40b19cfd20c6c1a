// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;ina3221"
/*
 * Test the probe on a training job of the simulated board. The simulation records the number of
 * minibatches and the time at which each has ended; the test compares the probe's waits with these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "seen.h"

#define TRUTH	"/sys/kernel/debug/jetwatt-sim/truth/minibatches"

FIXTURE(train) {
	struct seen seen;
};

FIXTURE_SETUP(train)
{
	NEEDS_BPF_EVENTS();
	if (access(TRUTH, R_OK) || access("/bin/train", X_OK))
		SKIP_TEST("no simulated board");
}

FIXTURE_TEARDOWN(train)
{
	jetwatt_probe_close(self->seen.probe);
}

/* Get the end times of all minibatches so far from the simulation. Return: their number. */
static int truth(uint64_t *end_ns, int max)
{
	unsigned long long start, end;
	char line[128];
	FILE *f = fopen(TRUTH, "r");
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*u,%llu,%llu", &start, &end) == 2) {
			if (n < max)
				end_ns[n] = end;
			n++;
		}
	fclose(f);
	return n;
}

/* Run the job with the probe until it ends. Return: its wait status; -1 on error. */
static int run(struct seen *s, const char *wait, const char *syncs, const char *minibatches)
{
	int hold[2], status;
	pid_t pid;
	char c;

	if (pipe(hold))
		return -1;
	pid = fork();
	if (!pid) {
		if (read(hold[0], &c, 1) == 1)
			execl("/bin/train", "train", "--wait", wait, "--syncs", syncs,
			      "--minibatches", minibatches, NULL);
		_exit(127);
	}
	if (seen_open(s, pid, 1, 0) || write(hold[1], "g", 1) != 1)
		return -1;
	if (waitpid(pid, &status, 0) != pid || seen_all(s) < 0)
		return -1;
	return status;
}

static void check(struct __test_metadata *_metadata, struct seen *s, const char *wait, int syncs,
		  int call)
{
	static uint64_t end_ns[4096];
	uint64_t late, most = 0;
	int before = truth(end_ns, 4096), n, i;
	char k[8];

	snprintf(k, sizeof(k), "%d", syncs);
	ASSERT_LE(0, before);
	ASSERT_EQ(0, run(s, wait, k, "40"));
	n = truth(end_ns, 4096) - before;
	EXPECT_EQ(40, n);
	ASSERT_EQ(40 * syncs, s->nr);
	for (i = 0; i < s->nr; i++) {
		EXPECT_EQ(call, (int)s->sync[i].call);
		EXPECT_LT(s->sync[i].enter_ns, s->sync[i].exit_ns);
	}
	/* The last wait of a minibatch ends shortly after its work. */
	for (i = 0; i < 40; i++) {
		uint64_t exit_ns = s->sync[(i + 1) * syncs - 1].exit_ns;

		EXPECT_LE(end_ns[before + i], exit_ns);
		late = exit_ns - end_ns[before + i];
		if (late > most)
			most = late;
	}
	TH_LOG("%s: wake-up at most %llu us after the end of GPU work", wait,
	       (unsigned long long)most / 1000);
	EXPECT_GT(5000000, most);
	EXPECT_EQ(0, jetwatt_probe_lost(s->probe));
}

TEST_F_TIMEOUT(train, pollfd, 120)
{
	check(_metadata, &self->seen, "pollfd", 1, JETWATT_SYNC_POLLFD);
}

TEST_F_TIMEOUT(train, syncpt, 120)
{
	check(_metadata, &self->seen, "syncpt", 1, JETWATT_SYNC_SYNCPT);
}

TEST_F_TIMEOUT(train, three_waits_a_minibatch, 120)
{
	check(_metadata, &self->seen, "pollfd", 3, JETWATT_SYNC_POLLFD);
}

/*
 * The probe reports no wait, because this job spins on mapped memory and makes no system call to
 * wait.
 */
TEST_F_TIMEOUT(train, spinning_on_memory, 120)
{
	ASSERT_EQ(0, run(&self->seen, "spin", "1", "5"));
	EXPECT_EQ(0, self->seen.nr);
}

TEST_HARNESS_MAIN
