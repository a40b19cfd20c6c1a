// SPDX-License-Identifier: GPL-2.0-only
/* The lease: who gets it, and what a process that does not get it leaves behind. */
#include <sys/file.h>

#include "board/knobs.h"
#include "board_tree.h"
#include "kselftest_harness.h"

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };

/* Another process's lock of the lease, which ends at the first wait; -1: none. */
static int look;

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	if (look >= 0)
		close(look);
	look = -1;
	return 0;
}

FIXTURE(lease)
{
	struct tree t;
	struct jetwatt_board *b, *other;
	struct jetwatt_error_text err;
};

FIXTURE_SETUP(lease)
{
	struct jetwatt_board_roots roots;

	look = -1;
	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	memset(&self->err, 0, sizeof(self->err));
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, NULL), 0);
	ASSERT_EQ(jetwatt_board_open(&self->other, &roots, NULL), 0);
}

FIXTURE_TEARDOWN(lease)
{
	jetwatt_board_close(self->other);
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

/* "jetwatt status" locks the lease for an instant to see whether it is held. */
TEST_F(lease, a_short_lock_is_waited_for)
{
	char path[PATH_MAX];

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	snprintf(path, sizeof(path), "%s/lease", self->t.state);
	look = open(path, O_RDONLY);
	ASSERT_EQ(flock(look, LOCK_SH), 0);
	EXPECT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0) TH_LOG("%s", self->err.what);
}

/* jetwattd tries again and again while another process holds the lease. */
TEST_F(lease, a_refused_lease_leaves_nothing_open)
{
	int fd[2];

	ASSERT_EQ(jetwatt_board_apply(self->other, &low, NULL), 0);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EBUSY);
		fd[i] = open("/dev/null", O_RDONLY);
		close(fd[i]);
	}
	EXPECT_EQ(fd[0], fd[1]);
}

/* Else a job that outlives jetwatt would hold the board. */
TEST_F(lease, a_job_does_not_inherit_it)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	EXPECT_EQ(fcntl(self->b->lease, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

/* A process that has a mode applied keeps the board when another switch is rolled back, and until it restores or
 * forgets the saved state. */
TEST_F(lease, a_process_with_a_mode_keeps_it)
{
	static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	self->t.fail_at = self->t.writes + 3;
	self->t.fail_for = 1;
	self->t.fail = EINVAL;
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), -EIO);
	EXPECT_EQ(jetwatt_board_apply(self->other, &top, NULL), -EBUSY);
	EXPECT_TRUE(tree_saved(&self->t));
	ASSERT_EQ(jetwatt_board_forget(self->b), 0);
	EXPECT_EQ(jetwatt_board_apply(self->other, &top, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_apply(self->b, &low, NULL), -EBUSY);
}

/* A reboot resets the knobs, so the saved state of an earlier boot has no owner. */
TEST_F(lease, the_saved_state_of_an_earlier_boot_is_not_owned)
{
	int owner;

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	EXPECT_EQ(jetwatt_board_saved_owner(self->other, &owner), 1);
	EXPECT_EQ(owner, getpid());
	tree_put(&self->t, "proc/sys/kernel/random/boot_id", "6f0d2c1e-0000-4000-8000-000000000002\n");
	EXPECT_EQ(jetwatt_board_saved_owner(self->other, &owner), 0);
	EXPECT_EQ(owner, 0);
}

TEST_HARNESS_MAIN
