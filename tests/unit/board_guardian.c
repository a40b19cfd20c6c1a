// SPDX-License-Identifier: GPL-2.0-only
/* The guardian process restores the knobs after the process that it guards was killed. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "board_tree.h"
#include "kselftest_harness.h"

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

/* Apply a mode and end without restoring the board. */
static void __attribute__((noreturn)) apply_and_end(struct tree *t)
{
	struct jetwatt_board_roots roots = tree_roots(t);
	struct jetwatt_mode mode;
	struct jetwatt_board *b;

	if (jetwatt_board_open(&b, &roots, NULL) || jetwatt_board_read(b, &mode) ||
	    jetwatt_board_guardian(b, NULL) || jetwatt_board_apply(b, &top, NULL))
		_exit(1);
	_exit(0);
}

/* One cluster is offline when the board is read, so its files are not open yet when the guardian
 * starts, but those of the other knobs are. */
TEST_F(guardian, reads_its_own_files)
{
	char now[512];
	int status;
	pid_t pid;

	for (int c = 8; c < 12; c++) {
		snprintf(now, sizeof(now), CPU "cpu%d/online", c);
		tree_put(&self->t, now, "0\n");
	}
	tree_cluster(&self->t, 8);
	tree_state(&self->t, self->first, sizeof(self->first));
	/* The guardian becomes a child of this process, which waits for its end. */
	ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork();
	if (!pid)
		apply_and_end(&self->t);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT_EQ(status, 0);
	ASSERT_LT(0, waitpid(-1, &status, 0));
	EXPECT_EQ(status, 0);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
	EXPECT_FALSE(tree_saved(&self->t));
}

TEST_HARNESS_MAIN
