// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a job while a knob refuses: jetwattd's own failure is not taken for another process's
 * change, the saved state stays, and the restore is retried.
 */
#define jetwatt_clock_ns test_now
#define sleep test_sleep
unsigned int test_sleep(unsigned int seconds);
/* Weak references: the test links without the files that define these functions. */
#pragma weak jetwatt_cgroup_of
#pragma weak jetwatt_estimator_cross_device_agrees
#pragma weak jetwatt_profile_store_command
#pragma weak jetwatt_profile_store_open
#pragma weak jetwatt_profile_store_rows
#pragma weak jetwatt_profile_store_workload
#pragma weak jetwatt_session_add
#pragma weak jetwattd_back_off
#pragma weak jetwattd_changed
#pragma weak jetwattd_handle_news
#pragma weak jetwattd_terms
#pragma weak jetwatt_profile_store_others
#pragma weak jetwatt_profile_store_prior
#pragma weak jetwattd_corunners
#pragma weak jetwattd_quick_check
#pragma weak jetwattd_store_reading
#pragma weak jetwattd_ramp_end
#pragma weak jetwattd_measure
#pragma weak jetwattd_minibatch_forget
#pragma weak jetwattd_minibatch_deviates
#pragma weak jetwattd_sleep
#pragma weak jetwattd_in_job
#pragma weak jetwattd_housekeeping
#pragma weak jetwattd_throttled
#include "../../user/daemon/job_hold.c"
/* With sleep() replaced. */
#include "../../user/daemon/actuator.c"

#include "board_tree.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"

#include "out/metrics.h"

static int notes, errors;

uint64_t test_now(void)
{
	return 1000000000000;
}

void jetwatt_notice(const char *text, ...)
{
	(void)text;
	notes++;
}

const char *jetwatt_error_advice(int err)
{
	(void)err;
	return NULL;
}

int jetwatt_error_board(int err, const struct jetwatt_error_text *e)
{
	(void)e;
	errors++;
	return err;
}

int jetwatt_error_report(int code, const char *why, const char *fix, const char *what, ...)
{
	(void)why;
	(void)fix;
	(void)what;
	return code;
}

int jetwatt_error_flush(FILE *f)
{
	return fflush(f) ? -errno : 0;
}

static struct tree *tree;
static int naps;

/* Stub of sleep(): after @naps calls, the knobs accept writes again. */
unsigned int test_sleep(unsigned int seconds)
{
	(void)seconds;
	if (!--naps)
		tree->fail_at = 0;
	return 0;
}

static const struct jetwatt_row *best;

const struct jetwatt_row *jetwattd_best_mode(struct jetwattd_run *r)
{
	(void)r;
	return best;
}

void jetwattd_doing(struct jetwattd_run *r, enum jetwattd_doing doing)
{
	r->d->doing = doing;
}

void jetwattd_terms(struct jetwattd_run *r, struct jetwattd_terms *terms)
{
	(void)r;
	(void)terms;
}

enum jetwattd_outcome jetwattd_search(struct jetwattd_run *r)
{
	(void)r;
	return JETWATTD_ENDED;
}

static const struct jetwatt_mode low = { 4, 729600, 420750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };

FIXTURE(restore) {
	struct tree t;
	struct jetwattd_policy policy;
	struct jetwattd d;
};

FIXTURE_VARIANT(restore) { int reassert; };
FIXTURE_VARIANT_ADD(restore, yield) { .reassert = 0 };
FIXTURE_VARIANT_ADD(restore, reassert) { .reassert = 1 };

FIXTURE_SETUP(restore)
{
	struct jetwatt_error_text e;
	struct jetwatt_board_roots roots;

	self->d.act.reassert = variant->reassert;
	self->policy = policy_defaults();
	self->d.policy = &self->policy;
	self->d.act.notify = jetwattd_on_event;
	self->d.act.to = &self->d;
	ASSERT_EQ(pthread_mutex_init(&self->d.lock, NULL), 0);
	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	ASSERT_EQ(jetwatt_board_open(&self->d.act.board, &roots, &e), 0) TH_LOG("%s", e.what);
	notes = errors = 0;
	ASSERT_EQ(jetwattd_apply(&self->d.act, &low), 0);
	self->d.doing = JETWATTD_IDLE;
}

FIXTURE_TEARDOWN(restore)
{
	jetwatt_board_close(self->d.act.board);
	pthread_mutex_destroy(&self->d.lock);
	tree_free(&self->t);
}

/* Let @n writes, from write number @nr on, fail like a CPU that refuses to switch. */
static void refuse(struct tree *t, int nr, int n)
{
	t->fail_at = t->writes + nr;
	t->fail_for = n;
	t->fail = EBUSY;
}

static int as_found(const struct tree *t)
{
	return tree_get(t, CPU "cpu4/online") == 1 && tree_get(t, CPU "cpu11/online") == 1 &&
	       tree_get(t, GPU "min_freq") == 114750000 && tree_get(t, GPU "max_freq") == 1300500000;
}

/* One write of the restore is refused: in the first run the first write, then the second, and so
 * on. */
TEST_F(restore, restore_is_retried_after_one_refusal)
{
	struct jetwattd *d = &self->d;
	int refused = 0;

	for (int nr = 1; nr <= 60; nr++) {
		self->t.fail_at = 0;
		ASSERT_EQ(jetwattd_apply(&d->act, &low), 0);
		d->doing = JETWATTD_IDLE;
		refuse(&self->t, nr, 1);
		/* A restore writes some knobs twice, so a single refusal may have no effect. */
		if (!jetwattd_restore(&d->act))
			continue;
		refused++;
		EXPECT_EQ(d->doing, JETWATTD_RESTORING);
		EXPECT_EQ(d->act.unrestored, refused);
		EXPECT_TRUE(tree_saved(&self->t));
		/* The next check of the knobs, one or two seconds later, repeats the restore, which
		 * then succeeds. */
		EXPECT_EQ(jetwattd_check_knobs(&d->act), 0);
		EXPECT_EQ(d->act.others, 0);
		EXPECT_EQ(d->doing, JETWATTD_IDLE);
		EXPECT_FALSE(d->act.applied);
		EXPECT_TRUE(as_found(&self->t));
		EXPECT_FALSE(tree_saved(&self->t));
	}
	EXPECT_GT(refused, 5);
}

TEST_F(restore, restore_is_retried_for_a_long_time)
{
	struct jetwattd *d = &self->d;
	char text[4096] = "";
	FILE *f;

	refuse(&self->t, 1, 1000);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(i ? jetwattd_check_knobs(&d->act) : jetwattd_restore(&d->act), -EIO);
	/* The refused restore is reported once and counted each time; the saved state stays on
	 * disk. */
	EXPECT_EQ(errors, 1);
	EXPECT_EQ(d->act.unrestored, 4);
	EXPECT_EQ(d->act.others, 0);
	EXPECT_TRUE(tree_saved(&self->t));
	f = fmemopen(text, sizeof(text), "w");
	jetwattd_status(d, 1, f);
	fclose(f);
	EXPECT_NE(strstr(text, "\"doing\": \"restoring\""), NULL) TH_LOG("%s", text);
	EXPECT_NE(strstr(text, "\"restores_refused\": 4"), NULL);

	/* If a pause command arrives before the restore has succeeded, jetwattd pauses only after
	 * the restore. */
	d->pause = 1;
	self->t.fail_at = 0;
	EXPECT_EQ(jetwattd_check_knobs(&d->act), 0);
	EXPECT_EQ(d->doing, JETWATTD_PAUSED);
	EXPECT_TRUE(as_found(&self->t));
}

/* A job that begins while a restore is being retried gets its mode, whatever the state of the
 * knobs. */
TEST_F(restore, job_gets_its_mode_during_retries)
{
	struct jetwattd *d = &self->d;
	struct jetwatt_error_text e;

	refuse(&self->t, 6, 1);
	ASSERT_EQ(jetwattd_restore(&d->act), -EIO);
	d->doing = JETWATTD_LEARNING;
	EXPECT_EQ(jetwattd_check_knobs(&d->act), 0);
	ASSERT_EQ(jetwattd_apply(&d->act, &mid), 0);
	EXPECT_EQ(jetwatt_board_verify(d->act.board, &mid, &e), 0);
	EXPECT_EQ(d->act.others, 0);
	/* After the job's mode is applied, a change by another process counts as foreign again. */
	tree_put(&self->t, GPU "max_freq", "1300500000\n");
	jetwattd_check_knobs(&d->act);
	EXPECT_EQ(d->act.others, 1);
	d->act.applied = 1;
	d->doing = JETWATTD_IDLE;
	jetwattd_restore(&d->act);
	EXPECT_TRUE(as_found(&self->t) || !variant->reassert);
}

/* The mode that was applied before the refused restore is applied again: its knobs must be
 * written again. */
TEST_F(restore, same_mode_is_applied_again_during_retries)
{
	const struct jetwatt_row row = { .mode = low };
	struct jetwattd_run r = { .d = &self->d };
	struct jetwattd *d = &self->d;
	struct jetwatt_error_text e;

	r.learner.known.mode = calloc(1, sizeof(low));
	ASSERT_NE(NULL, r.learner.known.mode);
	r.learner.known.mode[r.learner.known.nr_modes++] = low;
	ASSERT_EQ(0, jetwattd_learner_open(&r.learner));
	best = &row;
	for (int nr = 1; nr <= 12; nr++) {
		self->t.fail_at = 0;
		ASSERT_EQ(jetwattd_apply(&d->act, &low), 0);
		refuse(&self->t, nr, 1);
		if (!jetwattd_restore(&d->act))
			continue;
		EXPECT_EQ(jetwattd_learn_and_hold(&r), JETWATTD_ENDED);
		EXPECT_EQ(d->doing, JETWATTD_LEARNING);
		EXPECT_TRUE(jetwattd_is_applied(&d->act, &low));
		EXPECT_EQ(jetwatt_board_verify(d->act.board, &low, &e), 0) TH_LOG("write %d: %s", nr, e.what);
	}
	jetwattd_learner_close(&r.learner);
	EXPECT_LT(0, d->act.unrestored);
	EXPECT_EQ(d->act.others, 0);
}

/* A switch fails halfway, and jetwattd ends. Its final restore is refused at first. It is retried
 * three times, one second apart, and fails with -EIO if every retry is refused. */
TEST_F(restore, restore_at_the_end_after_a_torn_switch)
{
	struct jetwattd *d = &self->d;

	ASSERT_EQ(jetwattd_restore(&d->act), 0);
	for (int times = 1; times < 6; times++) {
		ASSERT_EQ(d->act.applied, 0);
		refuse(&self->t, 4, 1000);
		ASSERT_EQ(jetwattd_apply(&d->act, &low), -ENOTRECOVERABLE);
		ASSERT_EQ(d->act.applied, 0);
		refuse(&self->t, 1, 1000);
		tree = &self->t;
		naps = times == 5 ? 99 : times;
		EXPECT_EQ(jetwattd_restore_at_end(&d->act), times < 4 ? 0 : -EIO);
		self->t.fail_at = 0;
		EXPECT_EQ(jetwattd_restore_at_end(&d->act), 0);
		EXPECT_TRUE(as_found(&self->t));
		EXPECT_FALSE(tree_saved(&self->t));
	}
}

/* A mode that was applied after the refused restore is not undone by the retry. */
TEST_F(restore, new_mode_is_not_undone_by_a_retry)
{
	struct jetwattd *d = &self->d;
	struct jetwatt_error_text e;

	for (int pause = 0; pause < 2; pause++) {
		refuse(&self->t, 1, 1000);
		ASSERT_EQ(jetwattd_restore(&d->act), -EIO);
		self->t.fail_at = 0;
		d->pause = pause;
		EXPECT_EQ(jetwattd_apply(&d->act, &mid), 0);
		EXPECT_EQ(d->doing, pause ? JETWATTD_PAUSED : JETWATTD_IDLE);
		EXPECT_EQ(jetwattd_check_knobs(&d->act), 0);
		EXPECT_EQ(jetwatt_board_verify(d->act.board, &mid, &e), 0) TH_LOG("%s", e.what);
	}
}

/* A switch that could not be rolled back is not taken for another process's change. */
TEST_F(restore, torn_switch_is_not_a_foreign_change)
{
	struct jetwattd *d = &self->d;

	d->doing = JETWATTD_HOLDING;
	refuse(&self->t, 4, 1000);
	ASSERT_EQ(jetwattd_apply(&d->act, &mid), -ENOTRECOVERABLE);
	EXPECT_EQ(jetwattd_check_knobs(&d->act), 0);
	EXPECT_EQ(d->act.others, 0);
	EXPECT_TRUE(tree_saved(&self->t));
	self->t.fail_at = 0;
	d->doing = JETWATTD_IDLE;
	EXPECT_EQ(jetwattd_restore(&d->act), 0);
	EXPECT_TRUE(as_found(&self->t));
}

/* jetwattd uses the predictor that the policy names, and reports an error for a predictor that it
 * cannot use. */
TEST(predictor_is_that_of_the_policy)
{
	struct jetwattd_policy p = policy_defaults();
	const struct jetwatt_predictor *by;

	EXPECT_EQ(jetwattd_method(&p, &by), 0);
	EXPECT_EQ(by, NULL);
	strcpy(p.method, "linreg");
	EXPECT_EQ(jetwattd_method(&p, &by), 0);
	ASSERT_NE(by, NULL);
	EXPECT_STREQ(by->name, "linreg");
	for (const char *const *no = (const char *const[]){ "oracle", "maxn", "powertrain", "nn", NULL };
	     *no; no++) {
		strcpy(p.method, *no);
		EXPECT_EQ(jetwattd_method(&p, &by), JETWATT_EXIT_USAGE) TH_LOG("%s", *no);
	}
}

TEST_HARNESS_MAIN
