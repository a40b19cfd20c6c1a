// SPDX-License-Identifier: GPL-2.0-only
/* What learning may cost, with figures computed by hand. */
#include "daemon/learner_inside.h"

#include <stdlib.h>
#include <string.h>

#include "near.h"

#define S	1000000000ull

FIXTURE(job)
{
	struct jetwatt_row *row;
	struct jetwattd_learner l;
};

/* Three modes, of 100, 150 and 200 ms per minibatch, and 10 W each; a share of 5 %. */
FIXTURE_SETUP(job)
{
	struct jetwattd_learner *l = &self->l;

	l->known.mode = calloc(3, sizeof(*l->known.mode));
	l->known.row = self->row = calloc(3, sizeof(*l->known.row));
	ASSERT_TRUE(l->known.mode && l->known.row);
	l->known.nr_modes = l->known.nr_rows = 3;
	for (int i = 0; i < 3; i++) {
		l->known.mode[i] = (struct jetwatt_mode){ 4, 600000 * (3 - i), 1000000000, 2133000000 };
		l->known.row[i] = (struct jetwatt_row){ .mode = l->known.mode[i], .time_ms = 100 + 50 * i, .power_w = 10 };
	}
	ASSERT_EQ(0, jetwattd_learner_open(l));
	l->terms = (struct jetwattd_terms){ .limit_w = 20, .safe_w = 15, .share = 0.05, .max_modes = 9 };
	l->budget_w = 20;
	l->spent = jetwattd_allowance(l);
	l->at_budget = jetwattd_allowance_at_budget(l);
	l->best_objective = 100;
}

FIXTURE_TEARDOWN(job)
{
	jetwattd_learner_close(&self->l);
}

TEST_F(job, two_jobs_without_a_key_share_no_allowance)
{
	struct jetwattd_allowance *one = jetwattd_allowance(&self->l), *two;

	one->seconds = 5;
	two = jetwattd_allowance(&self->l);
	EXPECT_NE(one, two);
	EXPECT_EQ(0, two->seconds);
	strcpy(self->l.key, "a");
	one = jetwattd_allowance(&self->l);
	one->seconds = 7;
	EXPECT_EQ(one, jetwattd_allowance(&self->l));
}

/* The job's share is 5 % of two minutes although it ran for one; the workload's is that of all its jobs, or of
 * those with this budget. */
TEST_F(job, share)
{
	struct jetwattd_learner *l = &self->l;

	l->job = (struct jetwattd_share){ .ran_s = 60, .lost_s = 2 };
	l->spent->all = (struct jetwattd_share){ .ran_s = 1000, .lost_s = 48 };
	*l->at_budget = (struct jetwattd_share){ .ran_s = 200, .lost_s = 1 };
	EXPECT_NEAR(4, jetwattd_share_left(l), 1e-6);
	EXPECT_EQ(0, jetwattd_share_when(l, 3));
	/* The job has to run for 240 s. */
	EXPECT_NEAR(1180, jetwattd_share_when(l, 10), 1e-6);
	l->job = (struct jetwattd_share){ .ran_s = 10000 };
	EXPECT_NEAR(9, jetwattd_share_left(l), 1e-6);
	/* Until the workload has run for 1200 s with any budget, or for 260 s with this one. */
	EXPECT_NEAR(1060, jetwattd_share_when(l, 12), 1e-6);
	EXPECT_NEAR(1005, jetwattd_share_when(l, 9.25), 1e-6);
}

/* In a mode of 150 ms, a job whose best mode takes 100 ms loses a third of the time. */
TEST_F(job, cost_of_a_reading)
{
	struct jetwattd_learner *l = &self->l;

	l->trying = 1;
	l->begun_ns = 100 * S;
	l->terms.now_ns = 106 * S;
	l->gain_s = 5;
	l->rest_s = 90;
	l->best_objective = 150;
	self->row[1].time_ms = 225;
	jetwattd_allowance_spend(l, JETWATTD_MEASURED, 6);
	EXPECT_NEAR(6, l->spent->seconds, 1e-6);
	EXPECT_NEAR(2, l->spent->all.lost_s, 1e-6);
	EXPECT_NEAR(2, l->at_budget->lost_s, 1e-6);
	EXPECT_NEAR(2, l->job.lost_s, 1e-6);
	EXPECT_NEAR(2, l->cost.lost_s, 1e-6);
	/* The best mode now takes 100 ms instead of 150. */
	EXPECT_NEAR(5, l->cost.gain_s, 1e-6);
	EXPECT_NEAR(30, l->cost.saved_s, 1e-6);
	/* The gain of a choice counts once. */
	jetwattd_allowance_spend(l, JETWATTD_MEASURED, 6);
	EXPECT_NEAR(5, l->cost.gain_s, 1e-6);
	EXPECT_NEAR(4, l->job.lost_s, 1e-6);
}

/* Until the cap steps down, the job runs in the tried mode, and then in the one that the cap applies. */
TEST_F(job, time_of_a_mode_over_the_budget)
{
	struct jetwattd_learner *l = &self->l;

	l->trying = 2;
	l->terms.now_ns = 1000 * S;
	/* Before, the job did not run. */
	jetwattd_allowance_tried(l, JETWATTD_OVER, 4);
	EXPECT_EQ(0, l->spent->all.ran_s);
	l->terms.now_ns = 1010 * S;
	jetwattd_allowance_tried(l, JETWATTD_OVER, 4);
	EXPECT_NEAR(10, l->spent->all.ran_s, 1e-6);
	EXPECT_NEAR(10, l->at_budget->ran_s, 1e-6);
	EXPECT_NEAR(10, l->job.ran_s, 1e-6);
	/* 4 s at half the speed of the best mode. */
	l->begun_ns = 1000 * S;
	jetwattd_allowance_spend(l, JETWATTD_OVER, 4);
	EXPECT_NEAR(2, l->job.lost_s, 1e-6);
}

TEST_F(job, presets_that_are_excluded_are_no_measure)
{
	struct jetwattd_learner *l = &self->l;

	l->first[0] = 0;
	l->first[1] = 1;
	l->firsts = 2;
	EXPECT_NEAR(100, jetwattd_best_preset(l), 1e-6);
	l->exclusions[0] = JETWATTD_EXCLUDED;
	EXPECT_NEAR(150, jetwattd_best_preset(l), 1e-6);
	self->row[1].power_w = 30;
	EXPECT_EQ(0, jetwattd_best_preset(l));
}

/* A reading is affordable if it costs at most half of what is left of the share, at the time that a minibatch
 * takes at worst: with a third of the CPU clock, 300 ms. */
TEST_F(job, affordable)
{
	struct jetwattd_learner *l = &self->l;
	double cost = jetwattd_reading_cost(l, 300, 1. / 3);

	EXPECT_NEAR(300, jetwattd_worst_ms(l, 2, &self->row[0]), 1e-6);
	l->job = l->spent->all = *l->at_budget = (struct jetwattd_share){ .ran_s = 40 * cost + 1000 };
	l->job.lost_s = l->job.ran_s * 0.05 - 2.1 * cost;
	EXPECT_EQ(1, jetwattd_is_affordable(l, 2, &self->row[0]));
	l->job.lost_s = l->job.ran_s * 0.05 - 1.9 * cost;
	EXPECT_EQ(0, jetwattd_is_affordable(l, 2, &self->row[0]));
}

TEST_HARNESS_MAIN
