// SPDX-License-Identifier: GPL-2.0-only
/* A signal does not leave the board between two modes, nor in a mode that is not to stay. */
#include <signal.h>

#include "board_tree.h"
#include "kselftest_harness.h"
#include "tune/mode_guard.h"
#include "tune/offline.h"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_tuner l;
};

/* Before each write of a knob, the user presses Ctrl-C. */
static int write_interrupted(const char *path, const char *text, void *arg)
{
	raise(SIGINT);
	return tree_write(path, text, arg);
}

FIXTURE_SETUP(board)
{
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	roots.write = write_interrupted;
	ASSERT_EQ(0, jetwatt_board_open(&self->b, &roots, NULL));
	self->l.silent = 1;
}

FIXTURE_TEARDOWN(board)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

/* jetwatt schedule holds the board and applies a mode before it opens the session that receives
 * signals. */
TEST_F(board, a_signal_waits_until_a_held_board_is_restored)
{
	struct jetwatt_mode mode, is;
	struct jetwatt_mode_guard g;

	ASSERT_EQ(0, jetwatt_mode_guard_hold(&g, self->b));
	mode = g.before;
	mode.cores = 4;
	ASSERT_EQ(0, jetwatt_mode_guard_apply(&g, &mode));
	EXPECT_LT(0, self->t.writes);
	ASSERT_EQ(0, jetwatt_mode_guard_restore(&g));
	ASSERT_EQ(0, jetwatt_board_read(self->b, &is));
	EXPECT_TRUE(jetwatt_mode_same(&is, &g.before));
}

TEST_F(board, a_signal_does_not_interrupt_the_switch)
{
	struct jetwatt_mode mode, is;

	ASSERT_EQ(0, jetwatt_board_read(self->b, &mode));
	mode.cores = 4;
	ASSERT_EQ(0, jetwatt_offline_apply(&self->l, self->b, &mode));
	EXPECT_LT(0, self->t.writes);
	ASSERT_EQ(0, jetwatt_board_read(self->b, &is));
	EXPECT_TRUE(jetwatt_mode_same(&is, &mode));
}

TEST_HARNESS_MAIN
