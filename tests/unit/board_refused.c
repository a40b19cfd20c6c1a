// SPDX-License-Identifier: GPL-2.0-only
/* After a knob was refused, or a state could not be saved: what the next attempt finds. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "board_tree.h"
#include "kselftest_harness.h"

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };
static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };

/*
 * The limits of the GPU: the kernel keeps the limit that was requested although the driver has refused it, shows the
 * one in force, and ignores a request for the limit that it keeps.
 */
FIXTURE(refused)
{
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
	char first[512];
	long long kept[2];
	const char *refuse;
};

static int put(const char *path, const char *text, void *arg)
{
	FIXTURE_DATA(refused) *self = arg;

	for (int i = 0; i < 2; i++) {
		if (!strstr(path, i ? GPU "max_freq" : GPU "min_freq"))
			continue;
		if (self->kept[i] == atoll(text))
			return 0;
		self->kept[i] = atoll(text);
		if (self->refuse && strstr(path, self->refuse))
			return -EINVAL;
	}
	return tree_write(path, text, &self->t);
}

/* Waits take no time. */
int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	return 0;
}

static struct jetwatt_board *another(FIXTURE_DATA(refused) *self)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	struct jetwatt_board *b;

	roots.write = put;
	roots.arg = self;
	if (jetwatt_board_open(&b, &roots, NULL))
		abort();
	return b;
}

/* Return the present state of the board. */
static const char *state(FIXTURE_DATA(refused) *self)
{
	static char now[512];

	tree_state(&self->t, now, sizeof(now));
	return now;
}

FIXTURE_SETUP(refused)
{
	tree_orin(&self->t);
	memset(&self->err, 0, sizeof(self->err));
	self->kept[0] = 114750000;
	self->kept[1] = 1300500000;
	self->refuse = NULL;
	self->b = another(self);
	tree_state(&self->t, self->first, sizeof(self->first));
}

FIXTURE_TEARDOWN(refused)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

TEST_F(refused, limit_is_restored_by_the_next_attempt)
{
	static const char *const limit[] = { GPU "min_freq", GPU "max_freq" };
	struct jetwatt_board *b;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(jetwatt_board_apply(self->b, i ? &low : &top, &self->err), 0) TH_LOG("%s", self->err.what);
		self->refuse = limit[i];
		EXPECT_EQ(jetwatt_board_restore(self->b, NULL), -EIO);
		/* Until then, no other process gets the board. */
		b = another(self);
		EXPECT_EQ(jetwatt_board_apply(b, &top, NULL), -EBUSY);
		jetwatt_board_close(b);
		self->refuse = NULL;
		EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
		EXPECT_STREQ(state(self), self->first);
	}
}

/* The process that applied a mode was killed. Another one cannot restore the board, and goes on with other work: the
 * next one finds the lease free. */
TEST_F(refused, a_failed_restore_of_another_keeps_no_lease)
{
	struct jetwatt_board *b = another(self);
	pid_t pid;
	int st;

	pid = fork();
	if (!pid)
		_exit(jetwatt_board_apply(b, &low, NULL) != 0);
	ASSERT_EQ(waitpid(pid, &st, 0), pid);
	ASSERT_EQ(st, 0);
	self->kept[0] = self->kept[1] = 420750000;
	self->refuse = GPU "max_freq";
	EXPECT_EQ(jetwatt_board_restore(b, NULL), -EIO);
	self->refuse = NULL;
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_STREQ(state(self), self->first);
	jetwatt_board_close(b);
}

/* A write of the roll-back has no effect: "rolled back" is said only if the board is as before. Otherwise the saved
 * state and the lease stay. */
TEST_F(refused, roll_back_is_verified)
{
	int failed = 0, k;

	for (k = 6; k < 100; k += 2) {
		int rc;

		self->t.writes = 0;
		self->t.fail_at = 5;
		self->t.fail_for = 1;
		self->t.fail = EINVAL;
		self->t.lie_at = k;
		rc = jetwatt_board_apply(self->b, &low, &self->err);
		self->t.fail_at = self->t.lie_at = 0;
		if (self->t.writes < k)
			break;
		if (rc == -EIO) {
			ASSERT_STREQ(state(self), self->first) TH_LOG("write %d", k);
			continue;
		}
		ASSERT_EQ(rc, -ENOTRECOVERABLE) TH_LOG("write %d", k);
		failed++;
		EXPECT_TRUE(tree_saved(&self->t));
		ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
		ASSERT_STREQ(state(self), self->first) TH_LOG("write %d", k);
	}
	EXPECT_LT(k, 100);
	EXPECT_LT(0, failed);
}

/* Whichever write is refused: a cluster that the switch has brought online goes back offline, with its own clocks. */
TEST_F(refused, cluster_brought_online_is_rolled_back)
{
	struct jetwatt_board *b;
	char path[160];
	int rc = -EIO;

	for (int c = 8; c < 12; c++) {
		snprintf(path, sizeof(path), CPU "cpu%d/online", c);
		tree_put(&self->t, path, "0\n");
	}
	tree_put(&self->t, CPU "cpufreq/policy8/scaling_max_freq", "1497600\n");
	tree_cluster(&self->t, 8);
	tree_state(&self->t, self->first, sizeof(self->first));
	b = another(self);
	for (int k = 1; k < 100 && rc; k++) {
		self->t.writes = 0;
		self->t.fail_at = k;
		self->t.fail_for = 1;
		self->t.fail = EINVAL;
		rc = jetwatt_board_apply(b, &top, &self->err);
		self->t.fail_at = 0;
		if (!rc)
			break;
		ASSERT_EQ(rc, -EIO) TH_LOG("write %d: %s", k, self->err.what);
		ASSERT_STREQ(state(self), self->first) TH_LOG("write %d: %s", k, self->err.what);
		ASSERT_EQ(tree_get(&self->t, CPU "cpufreq/policy8/.scaling_max_freq"), 1497600) TH_LOG("write %d", k);
		ASSERT_EQ(tree_get(&self->t, CPU "cpufreq/policy8/.scaling_min_freq"), 729600) TH_LOG("write %d", k);
	}
	EXPECT_EQ(rc, 0);
	EXPECT_EQ(jetwatt_board_restore(b, NULL), 0);
	jetwatt_board_close(b);
}

/* A write of a restore has no effect: the saved state is deleted only if the board has it. */
TEST_F(refused, restore_is_verified)
{
	int failed = 0, k;

	for (k = 1; k < 100; k += 3) {
		int rc;

		ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
		self->t.writes = 0;
		self->t.lie_at = k;
		rc = jetwatt_board_restore(self->b, NULL);
		self->t.lie_at = 0;
		if (rc) {
			ASSERT_EQ(rc, -EIO) TH_LOG("write %d", k);
			failed++;
			EXPECT_TRUE(tree_saved(&self->t));
			ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
		}
		ASSERT_STREQ(state(self), self->first) TH_LOG("write %d", k);
		EXPECT_FALSE(tree_saved(&self->t));
		if (self->t.writes < k)
			break;
	}
	EXPECT_LT(k, 100);
	EXPECT_LT(0, failed);
}

/* The first mode of this process saves the state; the second one does not save that of the first one in its place. */
TEST_F(refused, a_deleted_saved_state_is_not_replaced)
{
	char path[PATH_MAX];

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	snprintf(path, sizeof(path), "%s/saved", self->t.state);
	ASSERT_EQ(unlink(path), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), 0);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_STREQ(state(self), self->first);
}

/* On a full disk, jetwatt applies no mode, since nobody could restore the board after a crash. The process that was
 * refused does not keep the lease. */
TEST_F(refused, no_mode_without_a_saved_state)
{
	struct jetwatt_board *b = another(self);
	struct rlimit full;

	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &full), 0);
	full.rlim_cur = 0;
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_NE(jetwatt_board_save(self->b, NULL), 0);
	EXPECT_NE(jetwatt_board_apply(self->b, &low, NULL), 0);
	EXPECT_EQ(self->t.writes, 0);
	full.rlim_cur = full.rlim_max;
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
	EXPECT_EQ(jetwatt_board_apply(b, &low, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_restore(b, NULL), 0);
	jetwatt_board_close(b);
}

TEST_F(refused, a_mode_without_a_clock_is_none)
{
	for (int i = 0; i < 4; i++) {
		struct jetwatt_mode m = low;

		if (i == 0)
			m.cores = 0;
		if (i == 1)
			m.cpu_khz = 0;
		if (i == 2)
			m.gpu_hz = 0;
		if (i == 3)
			m.emc_hz = 0;
		EXPECT_EQ(jetwatt_board_apply(self->b, &m, NULL), -EINVAL) TH_LOG("knob %d", i);
	}
	EXPECT_EQ(self->t.writes, 0);
	EXPECT_FALSE(tree_saved(&self->t));
}

TEST_HARNESS_MAIN
