// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the actuator of jetwattd reports, on a simulated sysfs. The actuator runs alone,
 * without a budget, a job or the daemon.
 */
#include "daemon/actuator.h"

#include "board_tree.h"
#include "kselftest_harness.h"

uint64_t jetwatt_clock_ns(void)
{
	return 1000000000000;
}

void jetwatt_notice(const char *text, ...)
{
	(void)text;
}

int jetwatt_error_board(int err, const struct jetwatt_error_text *e)
{
	(void)e;
	return err;
}

static const struct jetwatt_mode low = { 4, 729600, 420750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };
static const struct jetwatt_mode lowest = { 1, 115200, 114750000, 204000000 };

#define EVENTS_MAX	32

FIXTURE(actuator) {
	struct tree t;
	struct jetwattd_actuator a;
	enum jetwattd_event events[EVENTS_MAX];
	int n;
};

static void note(void *to, enum jetwattd_event event, const struct jetwatt_mode *mode, const char *why)
{
	FIXTURE_DATA(actuator) *self = to;

	(void)mode;
	(void)why;
	if (self->n < EVENTS_MAX)
		self->events[self->n++] = event;
}

FIXTURE_SETUP(actuator)
{
	struct jetwatt_error_text e;
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	ASSERT_EQ(0, jetwatt_board_open(&self->a.board, &roots, &e)) TH_LOG("%s", e.what);
	self->a.floor = lowest;
	self->a.notify = note;
	self->a.to = self;
}

FIXTURE_TEARDOWN(actuator)
{
	jetwatt_board_close(self->a.board);
	tree_free(&self->t);
}

static void refuse(struct tree *t, int nr, int n)
{
	t->fail_at = t->writes + nr;
	t->fail_for = n;
	t->fail = EBUSY;
}

TEST_F(actuator, switch_and_restore)
{
	ASSERT_EQ(0, jetwattd_apply(&self->a, &mid));
	ASSERT_EQ(1, self->n);
	EXPECT_EQ(JETWATTD_SWITCHED, self->events[0]);
	EXPECT_TRUE(jetwattd_is_applied(&self->a, &mid));
	EXPECT_EQ(0, jetwattd_check_knobs(&self->a));
	/* The actuator reports no event for a restore that succeeds at once. */
	EXPECT_EQ(0, jetwattd_restore(&self->a));
	EXPECT_EQ(1, self->n);
	EXPECT_FALSE(self->a.applied);
}

TEST_F(actuator, foreign_change_cedes_the_board)
{
	ASSERT_EQ(0, jetwattd_apply(&self->a, &mid));
	tree_put(&self->t, GPU "max_freq", "1300500000\n");
	EXPECT_EQ(-EBUSY, jetwattd_apply(&self->a, &low));
	ASSERT_EQ(2, self->n);
	EXPECT_EQ(JETWATTD_CEDED, self->events[1]);
	EXPECT_TRUE(self->a.ceded);
	EXPECT_FALSE(tree_saved(&self->t));
	/* The actuator does not overwrite the value that the other process has written. */
	EXPECT_EQ(1300500000, tree_get(&self->t, GPU "max_freq"));
}

TEST_F(actuator, reassert_reverts_three_of_four_foreign_changes)
{
	int again = 0;

	self->a.reassert = 1;
	ASSERT_EQ(0, jetwattd_apply(&self->a, &mid));
	/* The actuator reverts the first three changes by another process; after the fourth, it
	 * yields the board. */
	for (int i = 0; i < 4; i++) {
		tree_put(&self->t, GPU "max_freq", "1300500000\n");
		again += !jetwattd_check_knobs(&self->a);
	}
	EXPECT_EQ(3, again);
	EXPECT_EQ(4, self->a.others);
	EXPECT_EQ(JETWATTD_CEDED, self->events[self->n - 1]);
}

TEST_F(actuator, refused_restore_is_reported_and_retried)
{
	ASSERT_EQ(0, jetwattd_apply(&self->a, &low));
	refuse(&self->t, 1, 1000);
	EXPECT_EQ(-EIO, jetwattd_restore(&self->a));
	EXPECT_EQ(-EIO, jetwattd_check_knobs(&self->a));
	EXPECT_EQ(JETWATTD_UNRESTORED, self->events[1]);
	EXPECT_EQ(2, self->a.unrestored);
	/* Without power samples (floor_only), the restore is not retried, because it would lift the
	 * power cap. */
	self->a.floor_only = 1;
	EXPECT_EQ(0, jetwattd_check_knobs(&self->a));
	EXPECT_EQ(2, self->a.unrestored);
	self->a.floor_only = 0;
	self->t.fail_at = 0;
	EXPECT_EQ(0, jetwattd_check_knobs(&self->a));
	EXPECT_EQ(JETWATTD_RESTORED, self->events[self->n - 1]);
	EXPECT_FALSE(self->a.restoring);
}

TEST_F(actuator, floor_only_refuses_other_modes)
{
	self->a.floor_only = 1;
	EXPECT_EQ(-EBUSY, jetwattd_apply(&self->a, &mid));
	EXPECT_EQ(0, self->n);
	EXPECT_EQ(0, jetwattd_apply(&self->a, &lowest));
	EXPECT_TRUE(jetwattd_is_applied(&self->a, &lowest));
}

/* A CPU refuses to go offline: each refused mode is reported, then only the clocks are lowered. */
TEST_F(actuator, lowest_possible_mode_if_a_core_stays_online)
{
	struct jetwatt_mode got;

	self->t.sticks = CPU "cpu4/online";
	self->t.fail = EBUSY;
	EXPECT_EQ(0, jetwattd_apply_low(&self->a, &low));
	ASSERT_EQ(3, self->n);
	EXPECT_EQ(JETWATTD_LOW_REFUSED, self->events[0]);
	EXPECT_EQ(JETWATTD_LOW_REFUSED, self->events[1]);
	EXPECT_EQ(JETWATTD_SWITCHED, self->events[2]);
	EXPECT_NE(0, self->a.low_ns);
	EXPECT_EQ(0, jetwatt_board_read(self->a.board, &got));
	EXPECT_EQ(12, got.cores);
	EXPECT_EQ(lowest.gpu_hz, got.gpu_hz);
}

TEST_HARNESS_MAIN
