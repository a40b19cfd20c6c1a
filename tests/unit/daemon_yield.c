// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another process changes a knob: jetwattd yields the board until the job has ended, and does not
 * undo the change afterwards. Each poll of jetwattd's loop is one step of the test.
 */
#include <pthread.h>

#define jetwatt_clock_ns test_now
#define pthread_mutex_lock(lock) test_lock(lock)
int test_lock(pthread_mutex_t *lock);
#include "../../user/daemon/idle.c"

#include "board_tree.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#define MOST	100

#undef pthread_mutex_lock

static int turns, locks_blind;
static enum jetwattd_doing did;
static void (*on_turn)(struct jetwattd_run *r);

static void on_blind(void);

/* Stub of pthread_mutex_lock(): at call number @locks_blind, act as if the cap's thread had become
 * blind just before. */
int test_lock(pthread_mutex_t *lock)
{
	int err = pthread_mutex_lock(lock);

	if (locks_blind && !--locks_blind)
		on_blind();
	return err;
}

uint64_t test_now(void)
{
	return 1000000000ull + 250000000ull * turns;
}

void jetwattd_poll(struct jetwattd_run *r, double most_s)
{
	(void)most_s;
	turns++;
	if (on_turn)
		on_turn(r);
}

int jetwattd_stopped(const struct jetwattd_run *r)
{
	(void)r;
	return turns >= MOST;
}

void jetwattd_detach_job(struct jetwattd_run *r)
{
	close(r->session.pidfd);
	r->session.pidfd = -1;
	r->session.pid = 0;
}

void jetwattd_ramp_end(struct jetwattd_run *r)
{
	(void)r;
}

static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };
#define IDLE		"c4-422400-g420750000-e665600000"
#define IDLE_HZ		420750000
#define THEIRS_HZ	624750000

FIXTURE(yield) {
	struct tree t;
	struct jetwattd d;
	struct jetwattd_policy policy;
	struct jetwattd_run run;
	pid_t job;
};

static FIXTURE_DATA(yield) *it;

static void on_blind(void)
{
	atomic_store(&it->d.blind, 1);
	it->d.act.floor_only = 1;
}

FIXTURE_SETUP(yield)
{
	struct jetwatt_board_roots roots;

	it = self;
	turns = 0;
	on_turn = NULL;
	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	ASSERT_EQ(0, jetwatt_board_open(&self->d.act.board, &roots, NULL));
	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->d.act.notify = jetwattd_on_event;
	self->d.act.to = &self->d;
	self->run.d = &self->d;
	self->job = fork();
	if (!self->job) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	ASSERT_LT(0, self->job);
	self->run.session.pid = self->job;
	self->run.session.pidfd = jetwattd_pidfd(self->job);
	ASSERT_LE(0, self->run.session.pidfd);
}

FIXTURE_TEARDOWN(yield)
{
	kill(self->job, SIGKILL);
	waitpid(self->job, NULL, 0);
	if (self->run.session.pidfd >= 0)
		close(self->run.session.pidfd);
	jetwatt_board_restore(self->d.act.board, NULL);
	jetwatt_board_close(self->d.act.board);
	tree_free(&self->t);
}

static long long gpu(void)
{
	return tree_get(&it->t, GPU "max_freq");
}

static void turned(long long hz)
{
	tree_put(&it->t, GPU "min_freq", "114750000\n");
	tree_put(&it->t, GPU "max_freq", "%lld\n", hz);
	pthread_mutex_lock(&it->d.lock);
	jetwattd_check_knobs(&it->d.act);
	pthread_mutex_unlock(&it->d.lock);
}

static void ends(struct jetwattd_run *r)
{
	siginfo_t si;

	(void)r;
	if (turns != 20)
		return;
	/* Make the job a zombie: kill it without collecting its exit status. */
	kill(it->job, SIGKILL);
	waitid(P_PID, (id_t)it->job, &si, WEXITED | WNOWAIT);
}

TEST_F(yield, yields_until_the_job_is_a_zombie)
{
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	turned(THEIRS_HZ);
	EXPECT_EQ(JETWATTD_YIELDING, self->d.doing);
	on_turn = ends;
	jetwattd_wait_for_board(&self->run);
	EXPECT_EQ(20, turns);
	EXPECT_EQ(JETWATTD_IDLE, self->d.doing);
	EXPECT_EQ(THEIRS_HZ, gpu());
}

TEST_F(yield, idle_mode_does_not_undo_a_foreign_change)
{
	snprintf(self->policy.idle, sizeof(self->policy.idle), "%s", IDLE);
	jetwattd_idle(&self->run);
	EXPECT_EQ(IDLE_HZ, gpu());
	/* No job runs, and another process changes a knob of the idle mode. */
	close(self->run.session.pidfd);
	self->run.session.pidfd = -1;
	self->run.session.pid = 0;
	turned(THEIRS_HZ);
	EXPECT_EQ(JETWATTD_YIELDING, self->d.doing);
	jetwattd_wait_for_board(&self->run);
	EXPECT_EQ(THEIRS_HZ, gpu());
	EXPECT_FALSE(self->d.act.applied);
	/* The end of a later job does not undo the other process's change either. */
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	jetwattd_idle(&self->run);
	EXPECT_EQ(THEIRS_HZ, gpu());
	/* After a pause command, jetwattd no longer yields the board. */
	self->d.pause = 1;
	turns = MOST - 1;
	jetwattd_wait_for_board(&self->run);
	EXPECT_EQ(IDLE_HZ, gpu());
}

static void resumes(struct jetwattd_run *r)
{
	if (turns == 10)
		r->d->pause = 0;
}

TEST_F(yield, pause_lasts_until_resume)
{
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	self->d.pause = 1;
	on_turn = resumes;
	jetwattd_wait_for_board(&self->run);
	/* The pause lasts until the resume command. */
	EXPECT_EQ(10, turns);
	EXPECT_EQ(JETWATTD_IDLE, self->d.doing);
}

/* A pause command arrives while jetwattd yields the board; on resume jetwattd controls the board
 * again. */
static void pauses(struct jetwattd_run *r)
{
	if (turns == 5)
		r->d->pause = 1;
	if (turns == 10) {
		did = r->d->doing;
		r->d->pause = 0;
	}
}

TEST_F(yield, pause_while_yielding)
{
	snprintf(self->policy.idle, sizeof(self->policy.idle), "%s", IDLE);
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	turned(THEIRS_HZ);
	EXPECT_EQ(JETWATTD_YIELDING, self->d.doing);
	EXPECT_EQ(1, self->d.act.ceded);
	on_turn = pauses;
	jetwattd_wait_for_board(&self->run);
	EXPECT_EQ(JETWATTD_PAUSED, did);
	EXPECT_EQ(10, turns);
	EXPECT_EQ(0, self->d.act.ceded);
	EXPECT_EQ(IDLE_HZ, gpu());
}

static void minds(struct jetwattd_run *r)
{
	if (turns == 5)
		it->t.fail_at = 0;
	jetwattd_check_knobs(&r->d->act);
	did = r->d->doing;
	if (turns == 10)
		r->d->pause = 0;
}

/* A restore that was refused is retried while jetwattd is paused. */
TEST_F(yield, pause_with_a_refused_restore)
{
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	self->d.pause = 1;
	self->t.fail_at = self->t.writes + 1;
	self->t.fail_for = 1000;
	self->t.fail = EBUSY;
	on_turn = minds;
	jetwattd_wait_for_board(&self->run);
	EXPECT_EQ(JETWATTD_PAUSED, did);
	EXPECT_FALSE(self->d.act.applied);
}

/* The power samples stop just before a restore: the restore must not undo the applied mode. */
TEST_F(yield, mode_stays_if_samples_stop_before_a_restore)
{
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	locks_blind = 1;
	jetwattd_idle(&self->run);
	EXPECT_TRUE(self->d.act.applied);
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
}

TEST_HARNESS_MAIN
