// SPDX-License-Identifier: GPL-2.0-only
/* The main loop's work on one job: when it ends. */
#include "../../user/daemon/loop.c"

#include "kselftest_harness.h"

static int learned, detached, idle;
/* Budget after the first call of jetwattd_learn_and_hold(), in W. */
static double later_w;

enum jetwattd_outcome jetwattd_learn_and_hold(struct jetwattd_run *r)
{
	r->d->cap.budget_w = learned++ ? 0 : later_w;
	/* The budget has changed; or the job has ended, so that a faulty loop ends too. */
	return learned < 10 ? JETWATTD_INTERRUPTED : JETWATTD_ENDED;
}

int jetwattd_attach_job(struct jetwattd_run *r, pid_t pid)
{
	(void)r;
	(void)pid;
	return 0;
}

void jetwattd_detach_job(struct jetwattd_run *r)
{
	(void)r;
	detached++;
}

int jetwattd_must_yield(struct jetwattd_run *r, int *paused)
{
	(void)r;
	*paused = 0;
	return 0;
}

void jetwattd_idle(struct jetwattd_run *r)
{
	(void)r;
	idle++;
}

void jetwattd_wait_for_board(struct jetwattd_run *r)
{
	(void)r;
}

FIXTURE(loop) {
	struct jetwattd d;
	struct jetwattd_run run;
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->run.d = &self->d;
	self->d.cap.budget_w = 20;
	learned = detached = idle = 0;
}

FIXTURE_TEARDOWN(loop)
{
	pthread_mutex_destroy(&self->d.lock);
}

/* At the end of an interval of the policy's "hours", for example. Without a budget jetwattd applies
 * no mode, so it neither learns the job further nor leaves it in a mode. */
TEST_F(loop, job_is_left_when_the_budget_is_removed)
{
	later_w = 0;
	EXPECT_EQ(0, loop_job(&self->run, 77));
	EXPECT_EQ(1, learned);
	EXPECT_EQ(1, detached);
	EXPECT_EQ(1, idle);
}

TEST_F(loop, job_is_learned_again_for_another_budget)
{
	later_w = 15;
	EXPECT_EQ(0, loop_job(&self->run, 77));
	EXPECT_EQ(2, learned);
	EXPECT_EQ(1, detached);
}

TEST_HARNESS_MAIN
