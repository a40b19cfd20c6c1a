// SPDX-License-Identifier: GPL-2.0-only
/* The guardian process restores the knobs after the process that it guards was killed. */
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "board/knobs.h"
#include "board_tree.h"
#include "kselftest_harness.h"

#define BATCH	"sys/fs/cgroup/batch.slice/cgroup.freeze"

static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

/* The waits for the lease and for knobs take no time, but wait number @last ends only when the test sets @go_on. */
static struct {
	_Atomic int nr, last, go_on;
} *waits;

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	waits->nr++;
	while (waits->nr == waits->last && !waits->go_on)
		usleep(1000);
	return 0;
}

FIXTURE(guardian) {
	struct tree t;
	char first[512];
};

FIXTURE_SETUP(guardian) {
	tree_orin(&self->t);
	waits = mmap(NULL, sizeof(*waits), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(waits, MAP_FAILED);
}

FIXTURE_TEARDOWN(guardian) {
	munmap(waits, sizeof(*waits));
	tree_free(&self->t);
}

/* Apply a mode, freeze a job and end without restoring the board. The guardian, which is forked before,
 * finds the first @refused knobs that it writes busy. */
static void __attribute__((noreturn)) apply_and_end(struct tree *t, int refused)
{
	struct jetwatt_board_roots roots = tree_roots(t);
	struct jetwatt_mode mode;
	struct jetwatt_board *b;
	int fd;

	t->fail_at = 1;
	t->fail_for = refused;
	t->fail = EBUSY;
	if (jetwatt_board_open(&b, &roots, NULL) || jetwatt_board_read(b, &mode) ||
	    jetwatt_board_guardian(b, NULL))
		_exit(1);
	t->fail_at = 0;
	fd = jetwatt_board_freezer(b, "/batch.slice", NULL);
	if (fd < 0 || pwrite(fd, "1", 1, 0) != 1 || jetwatt_board_apply(b, &top, NULL))
		_exit(1);
	_exit(0);
}

/* As a restore of the guardian: first, the signals arrive that end a service or a session. */
static int signals_first(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };

	(void)b;
	(void)err;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		raise(signals[i]);
	/* SIGKILL cannot be ignored: the guardian leaves the group. */
	return getpgrp() == getpid() ? 7 : 8;
}

static int dies(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	(void)b;
	(void)err;
	return raise(SIGKILL);
}

TEST_F(guardian, outlives_the_signals_that_end_its_group)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	struct jetwatt_board *b;
	int fd;

	ASSERT_EQ(jetwatt_board_open(&b, &roots, NULL), 0);
	ASSERT_EQ(jetwatt_guardian_start(b, -1, signals_first, &fd, NULL), 0);
	EXPECT_EQ(jetwatt_guardian_finish(&fd), 7);
	jetwatt_board_close(b);
}

/* A reader of the guarded process's output sees its end while the guardian runs. The lock stays until the guardian ends. */
TEST_F(guardian, keeps_nothing_open_but_its_lock)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	char path[PATH_MAX], c;
	struct jetwatt_board *b;
	int lock[2], output[2], errors, fd;

	tree_put(&self->t, "lock", "\n");
	snprintf(path, sizeof(path), "%s/lock", self->t.root);
	for (int i = 0; i < 2; i++)
		lock[i] = open(path, O_RDWR);
	ASSERT_EQ(flock(lock[0], LOCK_EX), 0);
	ASSERT_EQ(jetwatt_board_open(&b, &roots, NULL), 0);
	/* The guardian closes the output after the lock, if it closes that too. */
	ASSERT_EQ(pipe(output), 0);
	errors = dup(2);
	ASSERT_EQ(dup2(output[1], 2), 2);
	ASSERT_EQ(jetwatt_guardian_start(b, lock[0], signals_first, &fd, NULL), 0);
	ASSERT_EQ(dup2(errors, 2), 2);
	close(output[1]);
	ASSERT_EQ(poll(&(struct pollfd){ output[0], POLLIN, 0 }, 1, 20000), 1);
	EXPECT_EQ(read(output[0], &c, 1), 0);
	close(lock[0]);
	EXPECT_EQ(flock(lock[1], LOCK_EX | LOCK_NB), -1);
	EXPECT_EQ(jetwatt_guardian_finish(&fd), 7);
	EXPECT_EQ(fd, -1);
	EXPECT_EQ(flock(lock[1], LOCK_EX), 0);
	jetwatt_board_close(b);
	close(lock[1]);
	close(output[0]);
	close(errors);
}

TEST_F(guardian, its_end_is_noticed)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	struct jetwatt_board *b;
	int fd;

	ASSERT_EQ(jetwatt_board_open(&b, &roots, NULL), 0);
	EXPECT_EQ(jetwatt_board_guarded(b), 0);
	ASSERT_EQ(jetwatt_board_guardian(b, NULL), 0);
	fd = b->knobs_guardian;
	EXPECT_EQ(jetwatt_board_guarded(b), 1);
	/* One guardian is enough. */
	ASSERT_EQ(jetwatt_board_guardian(b, NULL), 0);
	EXPECT_EQ(b->knobs_guardian, fd);
	jetwatt_guardian_finish(&b->knobs_guardian);
	EXPECT_EQ(jetwatt_board_guarded(b), 0);
	/* Another one is killed. */
	ASSERT_EQ(jetwatt_guardian_start(b, -1, dies, &b->knobs_guardian, NULL), 0);
	EXPECT_EQ(jetwatt_board_guarded(b), 1);
	ASSERT_EQ(shutdown(b->knobs_guardian, SHUT_WR), 0);
	ASSERT_EQ(poll(&(struct pollfd){ b->knobs_guardian, POLLIN, 0 }, 1, 20000), 1);
	EXPECT_EQ(jetwatt_board_guarded(b), 0);
	EXPECT_EQ(jetwatt_guardian_finish(&b->knobs_guardian), -EPIPE);
	jetwatt_board_close(b);
}

/* The guarded process asks its guardian to restore the knobs, and holds the lease meanwhile: the guardian waits for
 * the lease a hundred times. */
TEST_F(guardian, waits_for_the_lease)
{
	char now[512];
	int status;
	pid_t pid;

	tree_state(&self->t, self->first, sizeof(self->first));
	ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	waits->last = 100;
	pid = fork();
	if (!pid) {
		struct jetwatt_board_roots roots = tree_roots(&self->t);
		struct jetwatt_board *b;

		if (jetwatt_board_open(&b, &roots, NULL) || jetwatt_board_guardian(b, NULL) ||
		    jetwatt_board_apply(b, &top, NULL))
			_exit(1);
		waits->nr = 0;
		shutdown(b->knobs_guardian, SHUT_WR);
		while (waits->nr < waits->last && !poll(&(struct pollfd){ b->knobs_guardian, POLLIN, 0 }, 1, 1))
			;
		_exit(0);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT_EQ(status, 0);
	waits->go_on = 1;
	ASSERT_LT(0, waitpid(-1, &status, 0));
	EXPECT_EQ(status, 0);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
	EXPECT_FALSE(tree_saved(&self->t));
}

/* One cluster is offline when the board is read, so its files are not open yet when the guardian
 * starts, but those of the other knobs are. */
TEST_F(guardian, reads_its_own_files)
{
	const int refused[] = { 0, 20 };

	char now[512];
	int status;
	pid_t pid;

	for (int c = 8; c < 12; c++) {
		snprintf(now, sizeof(now), CPU "cpu%d/online", c);
		tree_put(&self->t, now, "0\n");
	}
	tree_cluster(&self->t, 8);
	tree_state(&self->t, self->first, sizeof(self->first));
	/* The guardian becomes a child of this process, which waits for its end. It restores the knobs although
	 * some of them are busy at first, and thaws the job. */
	ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (int i = 0; i < 2; i++) {
		tree_put(&self->t, BATCH, "0");
		pid = fork();
		if (!pid)
			apply_and_end(&self->t, refused[i]);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		ASSERT_EQ(status, 0);
		ASSERT_LT(0, waitpid(-1, &status, 0));
		EXPECT_EQ(status, 0);
		EXPECT_EQ(tree_get(&self->t, BATCH), 0);
		tree_state(&self->t, now, sizeof(now));
		EXPECT_STREQ(now, self->first);
		EXPECT_FALSE(tree_saved(&self->t));
	}
}

TEST_HARNESS_MAIN
