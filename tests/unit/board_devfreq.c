// SPDX-License-Identifier: GPL-2.0-only
/* The functions of devfreq.c for an optional knob. No board has such a knob, so the tests give the
 * DLA knob a devfreq device. */
#include "kselftest_harness.h"

#include "board_tree.h"

#include "board/knobs.h"

#define ENGINE	"15340000.vic"
#define FILES	"sys/class/devfreq/" ENGINE "/"
#define KNOB	JETWATT_KNOB_DLA

FIXTURE(engine) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_board_state target;
	struct jetwatt_switch p;
	struct jetwatt_error_text err;
};

FIXTURE_SETUP(engine)
{
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	tree_put(&self->t, FILES "min_freq", "115200000\n");
	tree_put(&self->t, FILES "max_freq", "601600000\n");
	memset(&self->err, 0, sizeof(self->err));
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0) TH_LOG("%s", self->err.what);
	strcpy(self->b->device[KNOB], ENGINE);
	memset(&self->b->lack[KNOB], 0, sizeof(self->b->lack[KNOB]));
	ASSERT_EQ(jetwatt_devfreq_read(self->b, KNOB, &self->target, &self->err), 0);
	/* A restore or a roll-back also writes clocks that do not differ. */
	self->p = (struct jetwatt_switch){ .b = self->b, .target = &self->target,
					   .err = &self->err, .best_effort = true, .all = true };
}

FIXTURE_TEARDOWN(engine)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

/* Restore the knob as jetwatt_switch_to() does. Return: number of writes. */
static int restore(struct jetwatt_switch *p, const struct tree *t)
{
	int before = t->writes;

	memset(p->range_done, 0, sizeof(p->range_done));
	if (jetwatt_devfreq_read(p->b, KNOB, &p->now, p->err) ||
	    !jetwatt_devfreq_lower(p, KNOB) || !jetwatt_devfreq_raise(p, KNOB) || p->rc)
		return -1;
	return t->writes - before;
}

TEST_F(engine, clock_that_no_mode_has_set_is_not_written)
{
	EXPECT_TRUE(self->target.range[KNOB].known);
	EXPECT_EQ(restore(&self->p, &self->t), 0);
}

TEST_F(engine, clock_that_a_mode_has_set_is_restored)
{
	tree_put(&self->t, FILES "max_freq", "115200000\n");
	EXPECT_GT(restore(&self->p, &self->t), 0);
	EXPECT_EQ(tree_get(&self->t, FILES "max_freq"), 601600000);
	tree_put(&self->t, FILES "min_freq", "601600000\n");
	EXPECT_GT(restore(&self->p, &self->t), 0);
	EXPECT_EQ(tree_get(&self->t, FILES "min_freq"), 115200000);
}

/* While a clock is throttled, its files do not show what was written, so a mode writes all clocks
 * that it sets. */
TEST_F(engine, throttled_clock_is_written_by_a_mode)
{
	self->p.best_effort = false;
	EXPECT_EQ(restore(&self->p, &self->t), 2);
}

TEST_F(engine, required_clock_is_restored_although_it_does_not_differ)
{
	struct jetwatt_switch *p = &self->p;

	ASSERT_EQ(jetwatt_state_read(self->b, &self->target, &self->err), 0);
	p->now = self->target;
	EXPECT_TRUE(jetwatt_devfreq_raise(p, JETWATT_KNOB_GPU));
	EXPECT_EQ(self->t.writes, 2);
}

TEST_HARNESS_MAIN
