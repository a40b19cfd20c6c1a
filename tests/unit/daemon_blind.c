// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power samples stop ("blind"): jetwattd applies the lowest mode, which stays in force while a
 * process uses the GPU. Time is simulated; each check of the knobs is one step of the test.
 */
#include <signal.h>
#include <time.h>

#include "board/board.h"
#include "jetwatt.h"

#define jetwatt_clock_ns test_now
#define jetwatt_open(jw) test_open(jw)
#define jetwatt_info(jw, info) test_info(jw, info)
#define jetwatt_close(jw) test_close(jw)
#define jetwatt_board_guarded(b) 1
#define sigtimedwait(set, info, t) test_doze(set, info, t)
uint64_t test_now(void);
int test_open(struct jetwatt **jw);
int test_info(struct jetwatt *jw, struct jetwatt_info *info);
void test_close(struct jetwatt *jw);
int test_doze(const sigset_t *set, siginfo_t *info, const struct timespec *t);

#include "../../user/daemon/blind.c"

#include "board_tree.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static uint64_t clock_ns;
static int checks, attempts, module, signal_in;
static void (*on_check)(struct jetwattd_run *r);

uint64_t test_now(void)
{
	return clock_ns;
}

int test_open(struct jetwatt **jw)
{
	(void)jw;
	attempts++;
	return module ? 0 : -ENOENT;
}

int test_info(struct jetwatt *jw, struct jetwatt_info *info)
{
	(void)jw;
	(void)info;
	return 0;
}

void test_close(struct jetwatt *jw)
{
	(void)jw;
}

int test_doze(const sigset_t *set, siginfo_t *info, const struct timespec *t)
{
	(void)set;
	(void)info;
	clock_ns += t->tv_nsec;
	return signal_in && !--signal_in ? SIGTERM : -1;
}

void jetwattd_notify(const char *text)
{
	(void)text;
}

void jetwattd_timeshare_end(struct jetwattd_run *r)
{
	(void)r;
}

void jetwattd_forget_waits(struct jetwattd_run *r)
{
	(void)r;
}

void jetwattd_reload(struct jetwattd_run *r)
{
	checks++;
	if (on_check)
		on_check(r);
}

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };
static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

FIXTURE(blind) {
	struct tree t;
	struct jetwattd d;
	struct jetwattd_policy policy;
	struct jetwattd_run run;
	pid_t job;
};

static FIXTURE_DATA(blind) *it;

FIXTURE_SETUP(blind)
{
	struct jetwatt_board_roots roots;

	it = self;
	clock_ns = 1000000000000;
	checks = attempts = module = signal_in = 0;
	on_check = NULL;
	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	ASSERT_EQ(0, jetwatt_board_open(&self->d.act.board, &roots, NULL));
	ASSERT_EQ(0, pthread_mutex_init(&self->d.lock, NULL));
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->d.act.notify = jetwattd_on_event;
	self->d.act.to = &self->d;
	self->d.act.floor = low;
	self->policy.budget_w = self->d.cap.budget_w = 20;
	self->d.doing = JETWATTD_HOLDING;
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &top));
	self->job = fork();
	if (!self->job) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	ASSERT_LT(0, self->job);
	self->run.d = &self->d;
	self->run.session.pid = self->job;
	self->run.session.pidfd = jetwattd_pidfd(self->job);
	ASSERT_LE(0, self->run.session.pidfd);
}

FIXTURE_TEARDOWN(blind)
{
	kill(self->job, SIGKILL);
	waitpid(self->job, NULL, 0);
	jetwattd_blind_end(&self->run);
	close(self->run.session.pidfd);
	jetwatt_board_restore(self->d.act.board, NULL);
	jetwatt_board_close(self->d.act.board);
	tree_free(&self->t);
}

static int at_floor(void)
{
	return it->d.act.applied && jetwatt_mode_same(&it->d.act.mode, &low) &&
	       tree_get(&it->t, GPU "max_freq") == 420750000;
}

/* Kill the job at check 100, and leave it as a zombie, which does not use the GPU. */
static void ends_after_100(struct jetwattd_run *r)
{
	(void)r;
	/* At every check of the knobs, the lowest mode must be in force: no restore may have lifted
	 * it. */
	if (!at_floor() || it->d.doing > JETWATTD_BLIND)
		abort();
	if (checks == 100) {
		siginfo_t si;

		kill(it->job, SIGKILL);
		waitid(P_PID, (id_t)it->job, &si, WEXITED | WNOWAIT);
	}
}

TEST_F(blind, lowest_mode_stays_until_the_job_ends)
{
	jetwattd_blind(&self->d);
	EXPECT_TRUE(at_floor());
	EXPECT_EQ(0, atomic_load(&self->d.stop));
	EXPECT_EQ(1, atomic_load(&self->d.invalidate));
	EXPECT_EQ(1, self->d.count.blind);
	/* While blind, a switch to a faster mode that the loop chose just before is refused. */
	EXPECT_EQ(-EBUSY, jetwattd_apply(&self->d.act, &top));
	on_check = ends_after_100;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(100, checks);
	EXPECT_EQ(JETWATTD_BLIND, self->d.doing);
	EXPECT_TRUE(at_floor());
	EXPECT_LT(90, attempts);
	EXPECT_GE(100, attempts);
}

static void begins(struct jetwattd_run *r)
{
	if (checks == 5) {
		/* Another process has begun to wait for the GPU, then the job ends. */
		r->seen[4] = (struct jetwattd_seen){ .pid = getppid(), .waits = 5, .last_ns = clock_ns };
	}
	if (checks == 6)
		kill(it->job, SIGKILL);
	if (checks == 50)
		module = 1;
}

TEST_F(blind, samples_return_during_another_job)
{
	jetwattd_blind(&self->d);
	on_check = begins;
	EXPECT_EQ(1, jetwattd_blind_hold(&self->run));
	EXPECT_LE(50, checks);
	EXPECT_GE(51, checks);
	/* The samples stop again at once, so jetwattd delays its next attempt to read samples. */
	checks = attempts = 0;
	on_check = NULL;
	EXPECT_EQ(1, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(2000000000ull, self->run.retry_ns);
	EXPECT_EQ(1, attempts);
}

TEST_F(blind, sigterm_ends_the_wait)
{
	jetwattd_blind(&self->d);
	signal_in = 10;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(SIGTERM, self->run.session.stop);
}

TEST_F(blind, refused_knob_is_retried)
{
	self->t.fail_at = self->t.writes + 1;
	self->t.fail_for = 1;
	self->t.fail = EBUSY;
	jetwattd_blind(&self->d);
	/* One write is refused, so jetwattd first lowers only the clocks and leaves all cores
	 * online. */
	EXPECT_FALSE(at_floor());
	EXPECT_EQ(low.gpu_hz, self->d.act.mode.gpu_hz);
	signal_in = 4 * 15;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_TRUE(at_floor());
}

/* A switch to a faster mode fails halfway, so the knobs are no longer in the lowest mode. */
TEST_F(blind, torn_switch_returns_to_the_lowest_mode)
{
	ASSERT_EQ(0, jetwattd_apply(&self->d.act, &low));
	self->t.fail_at = self->t.writes + 14;
	self->t.fail_for = 1000;
	self->t.fail = EBUSY;
	ASSERT_EQ(-ENOTRECOVERABLE, jetwattd_apply(&self->d.act, &top));
	jetwattd_blind(&self->d);
	EXPECT_TRUE(self->d.act.mixed);
	self->t.fail_at = 0;
	signal_in = 4 * 15;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_FALSE(self->d.act.mixed);
	EXPECT_TRUE(at_floor());
}

/* A restore is refused, then the power samples stop, then the lowest mode is refused too. The
 * pending restore must not lift the cap. */
TEST_F(blind, pending_restore_does_not_lift_the_cap)
{
	self->t.fail_at = self->t.writes + 1;
	self->t.fail_for = 1000;
	self->t.fail = EBUSY;
	ASSERT_NE(0, jetwattd_restore(&self->d.act));
	jetwattd_blind(&self->d);
	EXPECT_EQ(JETWATTD_RESTORING, self->d.doing);
	self->t.fail_at = 0;
	pthread_mutex_lock(&self->d.lock);
	EXPECT_EQ(0, jetwattd_check_knobs(&self->d.act));
	pthread_mutex_unlock(&self->d.lock);
	EXPECT_TRUE(self->d.act.applied);
	signal_in = 4 * 15;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(JETWATTD_BLIND, self->d.doing);
	EXPECT_TRUE(at_floor());
}

static void turned(struct jetwattd_run *r)
{
	(void)r;
	if (checks == 5)
		tree_put(&it->t, GPU "max_freq", "522750000\n");
}

TEST_F(blind, foreign_change_makes_jetwattd_yield)
{
	jetwattd_blind(&self->d);
	on_check = turned;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(5, checks);
	EXPECT_EQ(JETWATTD_YIELDING, self->d.doing);
	EXPECT_EQ(522750000, tree_get(&self->t, GPU "max_freq"));
}

/* A reload has removed the policy's budget, or an interval of "hours" has ended. */
static void unlimited(struct jetwattd_run *r)
{
	if (checks == 5)
		r->d->policy->budget_w = 0;
}

TEST_F(blind, removed_budget_ends_the_hold)
{
	jetwattd_blind(&self->d);
	on_check = unlimited;
	signal_in = 100;
	EXPECT_EQ(0, jetwattd_blind_hold(&self->run));
	EXPECT_EQ(5, checks);
	EXPECT_EQ(0, self->run.session.stop);
}

TEST_F(blind, policy_restore_ends_jetwattd)
{
	self->policy.blind_restore = 1;
	jetwattd_blind(&self->d);
	EXPECT_EQ(0, atomic_load(&self->d.blind));
	EXPECT_EQ(JETWATT_EXIT_FAILED, atomic_load(&self->d.stop));
}

TEST_F(blind, paused_or_without_budget_jetwattd_ends)
{
	self->d.pause = 1;
	jetwattd_blind(&self->d);
	EXPECT_EQ(0, atomic_load(&self->d.blind));
	EXPECT_EQ(JETWATT_EXIT_FAILED, atomic_load(&self->d.stop));
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
	self->d.pause = 0;
	self->d.cap.budget_w = 0;
	atomic_store(&self->d.stop, 0);
	jetwattd_blind(&self->d);
	EXPECT_EQ(JETWATT_EXIT_FAILED, atomic_load(&self->d.stop));
	EXPECT_TRUE(jetwatt_mode_same(&self->d.act.mode, &top));
}

TEST_HARNESS_MAIN
