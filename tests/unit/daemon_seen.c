// SPDX-License-Identifier: GPL-2.0-only
/* What was learned about a process that waits for the GPU does not apply to the next process with
 * the same PID. */
#define jetwatt_clock_ns test_now
#include <stdio.h>
static FILE *test_fopen(const char *path, const char *how);
#define fopen(path, how) test_fopen(path, how)
#include "../../user/daemon/seen.c"
#undef fopen

#include <sys/wait.h>

#include "kselftest_harness.h"

static unsigned long long started;

/* Stub: return the contents of /proc/PID/stat for a process with an unusual name. */
static FILE *test_fopen(const char *path, const char *how)
{
	static char line[256];

	if (strcmp(path, "/proc/77/stat"))
		return NULL;
	(void)how;
	snprintf(line, sizeof(line), "77 (a) R (1) S 1 77 77 0 -1 4194560 2 0 0 0 5 6 0 0 20 0 1 0 %llu 99 1\n", started);
	return fmemopen(line, strlen(line), "r");
}

uint64_t test_now(void)
{
	return 1;
}

void jetwatt_session_wait(const struct jetwatt_sync *s, void *w) { (void)s; (void)w; }
void jetwattd_minibatch_wait(struct jetwattd_minibatch *m, const struct jetwatt_sync *s) { (void)m; (void)s; }
void jetwatt_profile_store_command(pid_t pid, char *buf, size_t len) { (void)pid; (void)buf; (void)len; }
uint64_t jetwatt_profile_store_known(struct jetwatt_profile_store *k, const struct jetwatt_profile_store_args *a, const struct jetwatt_board *b, const char *s, pid_t pid) { (void)k; (void)a; (void)b; (void)s; (void)pid; return 0; }
int jetwatt_cgroup_of(pid_t pid, char *buf, size_t len) { (void)pid; (void)buf; (void)len; return 0; }

static struct jetwattd_run r;

/* A wait of 10 ms. */
static struct jetwattd_seen *waits(double at_s)
{
	struct jetwatt_sync s = { .tgid = 77, .enter_ns = at_s * 1e9, .exit_ns = at_s * 1e9 + 10000000 };

	jetwattd_on_wait(&s, &r);
	return jetwattd_seen_find(&r, 77);
}

TEST(reused_pid_is_a_new_process)
{
	struct jetwattd_seen *seen;

	started = 5000;
	for (int i = 0; i < 10; i++)
		seen = waits(100 + i);
	EXPECT_EQ(10, seen->waits);
	seen->opaque = seen->known = seen->serves = 1;
	/* When the process waits again after a pause, the number of its waits starts from 1, but
	 * the other facts about the process are kept. */
	seen = waits(120);
	EXPECT_EQ(1, seen->waits);
	EXPECT_EQ(1, seen->opaque);
	EXPECT_EQ(1, seen->serves);
	/* Another process gets the same PID, which its different start time reveals. */
	started = 9000;
	seen = waits(140);
	EXPECT_EQ(1, seen->waits);
	EXPECT_EQ(0, seen->opaque);
	EXPECT_EQ(-1, seen->known);
	EXPECT_EQ(-1, seen->serves);
}

/* The waits of two threads arrive in the wrong order once: the time between waits of the process stays short. */
TEST(waits_in_another_order)
{
	struct jetwattd_seen *seen;

	started = 9500;
	waits(150);
	waits(150.1);
	seen = waits(150.05);
	EXPECT_GE(100000000, seen->cycle_ns);
	EXPECT_EQ(150110000000, seen->last_ns);
	seen = waits(150.2);
	EXPECT_GE(100000001, seen->cycle_ns);
}

/* Short programs use the GPU one after the other, beside a long job. */
TEST(ended_process_does_not_keep_another_from_the_job)
{
	static struct jetwattd d;
	static struct jetwattd_policy policy;
	struct jetwatt_sync s = { .enter_ns = 0, .exit_ns = 1 };
	int status;
	pid_t pid = fork(), job = getppid();

	if (!pid)
		_exit(0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	memset(&r, 0, sizeof(r));
	r.d = &d;
	d.policy = &policy;
	for (int i = 0; i < 2 * WAITS; i++) {
		s.tgid = (uint32_t)(i < WAITS ? pid : job);
		jetwattd_on_wait(&s, &r);
	}
	EXPECT_EQ(job, jetwattd_find_job(&r));
}

TEST_HARNESS_MAIN
