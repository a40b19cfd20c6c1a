// SPDX-License-Identifier: GPL-2.0-only
/* The guardian process restores the knobs after the process that it guards was killed. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "board/knobs.h"
#include "board_tree.h"
#include "kselftest_harness.h"

#define BATCH	"sys/fs/cgroup/batch.slice/cgroup.freeze"

static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

FIXTURE(guardian) {
	struct tree t;
	char first[512];
};

FIXTURE_SETUP(guardian) {
	tree_orin(&self->t);
}

FIXTURE_TEARDOWN(guardian) {
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
	return 7;
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
