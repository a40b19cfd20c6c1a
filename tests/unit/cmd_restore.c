// SPDX-License-Identifier: GPL-2.0-only
/* The message of jetwatt restore names what was restored. */
#include "board_tree.h"
#include "kselftest_harness.h"

#include "../../user/cmd/restore.c"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_board *b;
};

FIXTURE_SETUP(board)
{
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	ASSERT_EQ(0, jetwatt_board_open(&self->b, &roots, NULL));
}

FIXTURE_TEARDOWN(board)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

/* Return: whether the output starts with @start. */
static int prints(struct jetwatt_board *b, int json, int knobs, int sensors, const char *start)
{
	const struct restore_input in = { .json = json };
	FILE *f, *saved = stdout;
	char text[400] = "";

	f = fmemopen(text, sizeof(text), "w");
	if (!f)
		return 0;
	stdout = f;
	restore_print(b, &in, knobs, sensors);
	stdout = saved;
	fclose(f);
	return !strncmp(text, start, strlen(start));
}

TEST_F(board, the_text_names_what_was_restored)
{
	EXPECT_TRUE(prints(self->b, 0, 0, -ENOENT, "nothing to restore: there is no saved state: "));
	EXPECT_TRUE(prints(self->b, 0, 1, -ENOENT, "all knobs were restored: "));
	EXPECT_TRUE(prints(self->b, 0, 0, -EBUSY, "no knobs to restore; a running process still uses the "
			   "changed settings of the power sensors: "));
	EXPECT_TRUE(prints(self->b, 0, 1, -EBUSY, "all knobs were restored; a running process still uses the "
			   "changed settings of the power sensors: "));
	EXPECT_TRUE(prints(self->b, 0, 0, 0, "the settings of the power sensors were restored: "));
	EXPECT_TRUE(prints(self->b, 0, 1, 0, "all knobs and the settings of the power sensors were restored: "));
}

TEST_F(board, json_is_true_for_either)
{
	EXPECT_TRUE(prints(self->b, 1, 0, -ENOENT, "{\"restored\":false,"));
	EXPECT_TRUE(prints(self->b, 1, 0, -EBUSY, "{\"restored\":false,"));
	EXPECT_TRUE(prints(self->b, 1, 1, -ENOENT, "{\"restored\":true,"));
	EXPECT_TRUE(prints(self->b, 1, 0, 0, "{\"restored\":true,"));
}

TEST_F(board, the_result_is_printed_if_the_mode_cannot_be_read)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/devfreq/17000000.gpu/max_freq", self->t.sys);
	ASSERT_EQ(0, unlink(path));
	EXPECT_TRUE(prints(self->b, 0, 0, -ENOENT, "nothing to restore: there is no saved state\n"));
	EXPECT_TRUE(prints(self->b, 1, 0, -ENOENT, "{\"restored\":false}"));
}

TEST_HARNESS_MAIN
