// SPDX-License-Identifier: GPL-2.0-only
/* If a knob fails during a switch of the power mode, all knobs are restored: a switch is complete
 * or has no effect, unless a knob refuses the restore too. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "board_tree.h"
#include "kselftest_harness.h"

static const struct jetwatt_mode low = { 4, 422400, 420750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };
static const struct jetwatt_mode top = { 12, 2201600, 1300500000, 3199000000 };
/* Switches to and from the mode "mixed" raise some knobs and lower others. */
static const struct jetwatt_mode mixed = { 10, 115200, 1300500000, 204000000 };

FIXTURE(board) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
	char first[512];
};

FIXTURE_SETUP(board) {
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	roots = tree_roots(&self->t);
	memset(&self->err, 0, sizeof(self->err));
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0)
		TH_LOG("%s: %s", self->err.what, self->err.why);
	tree_state(&self->t, self->first, sizeof(self->first));
}

FIXTURE_TEARDOWN(board) {
	EXPECT_STREQ(self->t.bad, "");
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

static struct jetwatt_board *another(struct tree *t)
{
	struct jetwatt_board_roots roots = tree_roots(t);
	struct jetwatt_board *b = NULL;

	return jetwatt_board_open(&b, &roots, NULL) ? NULL : b;
}

TEST_F(board, apply_verifies_and_restore_restores_all)
{
	const struct jetwatt_mode *m[] = { &low, &top, &mid, &mixed, &low, &mid, &top };
	struct jetwatt_mode is;
	char now[512];

	for (size_t i = 0; i < sizeof(m) / sizeof(m[0]); i++) {
		ASSERT_EQ(jetwatt_board_apply(self->b, m[i], &self->err), 0)
			TH_LOG("%s: %s", self->err.what, self->err.why);
		ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
		EXPECT_EQ(memcmp(&is, m[i], sizeof(is)), 0);
		EXPECT_EQ(jetwatt_board_verify(self->b, m[i], &self->err), 0);
	}
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
	EXPECT_FALSE(tree_saved(&self->t));
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -ENOENT);
	EXPECT_NE(self->err.why[0], 0);
}

/* Return the index of the first write whose log line contains @what; -1: none. */
static int at(const struct tree *t, const char *what)
{
	return tree_find(t, what, 0);
}

TEST_F(board, writes_are_in_a_safe_order)
{
	struct tree *t = &self->t;

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	EXPECT_LT(at(t, "17000000.gpu/max_freq=420750000"), at(t, "clk_cap/emc=665600000"));
	EXPECT_LT(at(t, "policy0/scaling_max_freq=422400"), at(t, "cpu11/online=0"));
	EXPECT_LT(at(t, "policy8/scaling_max_freq=422400"), at(t, "cpu11/online=0"));
	EXPECT_EQ(at(t, "cpu3/online"), -1);
	t->writes = 0;
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), 0);
	EXPECT_LT(at(t, "cpu11/online=1"), at(t, "clk_cap/emc=3199000000"));
	EXPECT_LT(at(t, "clk_cap/emc=3199000000"), at(t, "17000000.gpu/max_freq=1300500000"));
	EXPECT_LT(at(t, "17000000.gpu/max_freq=1300500000"), at(t, "17000000.gpu/min_freq=1300500000"));
	EXPECT_LT(at(t, "17000000.gpu/min_freq=1300500000"), at(t, "policy0/scaling_max_freq=2201600"));
	t->writes = 0;
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), 0);
	EXPECT_EQ(t->writes, 0);
}

TEST_F(board, a_mode_of_another_board_is_refused)
{
	struct jetwatt_mode m = mid;

	m.emc_hz = 3100000000;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.why, "2133000000 and 3199000000"), NULL) TH_LOG("%s", self->err.why);
	m = mid;
	m.cores = 13;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.why, "12"), NULL);
	m.cores = 0;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	m = mid;
	m.cpu_khz = 1;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	m = mid;
	m.gpu_hz = 2000000000;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	EXPECT_EQ(self->t.writes, 0);
	EXPECT_FALSE(tree_saved(&self->t));
}

/* Each write of each switch is refused once, with one of the errors that a driver may return, in
 * turn. */
TEST_F(board, every_refused_write_is_rolled_back)
{
	static const int errors[] = { EIO, EBUSY, EINVAL, EPERM };
	const struct jetwatt_mode *from[] = { &top, &low, &mixed }, *to[] = { &low, &top, &mid };
	char before[512], after[512];
	int failed = 0;

	for (int pair = 0; pair < 3; pair++) {
		ASSERT_EQ(jetwatt_board_apply(self->b, from[pair], NULL), 0);
		tree_state(&self->t, before, sizeof(before));
		for (int k = 1; k < 200; k++) {
			int rc;

			self->t.writes = 0;
			self->t.fail_at = k;
			self->t.fail_for = 1;
			self->t.fail = errors[k % 4];
			rc = jetwatt_board_apply(self->b, to[pair], &self->err);
			self->t.fail_at = 0;
			if (!rc)
				break;
			failed++;
			EXPECT_EQ(rc, self->t.fail == EPERM ? -EPERM : -EIO);
			EXPECT_NE(strstr(self->err.what, "rolled back"), NULL)
				TH_LOG("%s", self->err.what);
			EXPECT_NE(self->err.why[0], 0);
			EXPECT_NE(self->err.fix[0], 0);
			tree_state(&self->t, after, sizeof(after));
			ASSERT_STREQ(after, before) TH_LOG("write %d: %s", k, self->err.what);
		}
	}
	EXPECT_GT(failed, 40);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, self->first);
}

TEST_F(board, wrong_read_back_is_rolled_back)
{
	char before[512], after[512];
	int lied = 0;

	ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), 0);
	tree_state(&self->t, before, sizeof(before));
	for (int k = 1; k < 100; k++) {
		int rc;

		self->t.writes = 0;
		self->t.lie_at = k;
		rc = jetwatt_board_apply(self->b, &low, &self->err);
		self->t.lie_at = 0;
		if (self->t.writes < k)
			break;
		if (!rc) {
			/* The write without effect was to the clock of a cluster that the switch
			 * takes offline. That clock has no effect, so the switch succeeds. */
			ASSERT_EQ(jetwatt_board_verify(self->b, &low, NULL), 0);
			ASSERT_EQ(jetwatt_board_apply(self->b, &top, NULL), 0);
			tree_state(&self->t, before, sizeof(before));
			continue;
		}
		lied++;
		EXPECT_EQ(rc, -EIO);
		EXPECT_NE(self->err.why[0], 0);
		tree_state(&self->t, after, sizeof(after));
		ASSERT_STREQ(after, before) TH_LOG("write %d: %s", k, self->err.what);
	}
	EXPECT_GT(lied, 8);
}

/* A clock limit that cpufreq has accepted but does not show yet is rolled back like any other
 * limit. */
TEST_F(board, delayed_limit_is_rolled_back)
{
	char before[512], after[512];
	int writes;

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	self->t.writes = 0;
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, NULL), 0);
	writes = self->t.writes;
	EXPECT_GT(writes, 8);
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	tree_state(&self->t, before, sizeof(before));
	for (int k = 1; k <= writes; k++) {
		self->t.writes = 0;
		self->t.fail_at = k;
		self->t.fail_for = 1;
		self->t.fail = EBUSY;
		self->t.lazy = true;
		EXPECT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), -EIO);
		self->t.lazy = false;
		self->t.fail_at = 0;
		tree_flush(&self->t);
		tree_state(&self->t, after, sizeof(after));
		ASSERT_STREQ(after, before) TH_LOG("write %d: %s", k, self->err.what);
	}
}

TEST_F(board, emc_above_its_cap_is_detected)
{
	char after[512];

	/* The test's write hook sets the actual EMC rate to the cap, so raise the rate above the
	 * cap here. */
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, NULL), 0);
	tree_put(&self->t, BPMP "clk/emc/rate", "3199000000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
	EXPECT_NE(strstr(self->err.what, "EMC"), NULL);
	tree_put(&self->t, BPMP "clk/emc/rate", "204000000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0);
	tree_put(&self->t, GPU "cur_freq", "1300500000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
	tree_put(&self->t, GPU "cur_freq", "624750000\n");
	tree_put(&self->t, CPU "cpufreq/policy4/scaling_cur_freq", "2201600\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
	tree_put(&self->t, CPU "cpufreq/policy4/scaling_cur_freq", "1113600\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, self->first);
}

TEST_F(board, delayed_value_is_waited_for)
{
	char name[PATH_MAX];
	pid_t pid;
	int st;

	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, NULL), 0);
	snprintf(name, sizeof(name), "%s/" GPU "max_freq", self->t.root);
	tree_put(&self->t, GPU "max_freq", "1300500000\n");
	pid = fork();
	if (!pid) {
		usleep(20000);
		tree_put(&self->t, GPU "max_freq.new", "624750000\n");
		snprintf(name, sizeof(name), "%s/" GPU "max_freq.new", self->t.root);
		_exit(rename(name, strcat(strcpy(self->t.bad, self->t.root), "/" GPU "max_freq")) != 0);
	}
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0);
	ASSERT_EQ(waitpid(pid, &st, 0), pid);
	EXPECT_EQ(st, 0);
}

TEST_F(board, failed_roll_back_keeps_the_saved_state)
{
	struct jetwatt_board *b;
	char after[512];
	int rc, owner;

	self->t.fail_at = 5;
	self->t.fail_for = 1000;
	self->t.fail = EIO;
	rc = jetwatt_board_apply(self->b, &low, &self->err);
	EXPECT_EQ(rc, -ENOTRECOVERABLE);
	EXPECT_NE(strstr(self->err.fix, "restore"), NULL);
	EXPECT_TRUE(tree_saved(&self->t));
	/* The lease stays, too: no other process switches a board that is between two modes. */
	EXPECT_EQ(jetwatt_board_saved_owner(self->b, &owner), 1);
	EXPECT_EQ(owner, getpid());
	b = another(&self->t);
	ASSERT_NE(b, NULL);
	EXPECT_EQ(jetwatt_board_apply(b, &low, NULL), -EBUSY);
	jetwatt_board_close(b);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -EIO);
	EXPECT_TRUE(tree_saved(&self->t));
	self->t.fail_at = 0;
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, self->first);
}

TEST_F(board, failed_first_switch_releases_lease_and_saved_state)
{
	struct jetwatt_board *b;
	int owner;

	self->t.fail_at = 3;
	self->t.fail_for = 1;
	self->t.fail = EINVAL;
	EXPECT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EIO);
	EXPECT_FALSE(tree_saved(&self->t));
	EXPECT_EQ(jetwatt_board_saved_owner(self->b, &owner), 0);
	self->t.fail_at = 0;
	b = another(&self->t);
	ASSERT_NE(b, NULL);
	EXPECT_EQ(jetwatt_board_apply(b, &low, &self->err), 0);
	EXPECT_EQ(jetwatt_board_restore(b, &self->err), 0);
	jetwatt_board_close(b);
}

TEST_F(board, state_in_memory_replaces_a_deleted_file)
{
	char path[PATH_MAX], now[512];

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0);
	snprintf(path, sizeof(path), "%s/saved", self->t.state);
	ASSERT_EQ(unlink(path), 0);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
	/* Once restored, there is nothing to restore. */
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -ENOENT);
}

/* After a restore, cores that were offline before the switch are offline again, with their former
 * clock limits. */
TEST_F(board, offline_cluster_gets_its_clocks_back)
{
	struct jetwatt_board *b;
	char first[512], now[512];

	for (int c = 8; c < 12; c++) {
		char name[64];

		snprintf(name, sizeof(name), CPU "cpu%d/online", c);
		tree_put(&self->t, name, "0\n");
	}
	tree_put(&self->t, CPU "cpufreq/policy8/scaling_max_freq", "1497600\n");
	tree_cluster(&self->t, 8);
	tree_state(&self->t, first, sizeof(first));
	b = another(&self->t);
	ASSERT_NE(b, NULL);
	ASSERT_EQ(jetwatt_board_apply(b, &mid, &self->err), 0) TH_LOG("%s", self->err.what);
	ASSERT_EQ(jetwatt_board_apply(b, &top, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy8/scaling_min_freq"), 2201600);
	ASSERT_EQ(jetwatt_board_apply(b, &low, &self->err), 0) TH_LOG("%s", self->err.what);
	jetwatt_board_close(b);
	/* The saved state on disk includes the clocks of the cluster that the switch brought
	 * online. */
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, first);
	EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy8/.scaling_max_freq"), 1497600);
	EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy8/.scaling_min_freq"), 729600);
}

/* The GPU's driver is removed while a mode is applied: the other knobs are restored at once, the GPU
 * when its driver is back. */
TEST_F(board, a_knob_that_cannot_be_read_does_not_stop_a_restore)
{
	char path[PATH_MAX], now[512];

	snprintf(path, sizeof(path), "%s/" GPU "min_freq", self->t.root);
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0);
	ASSERT_EQ(unlink(path), 0);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -EIO);
	EXPECT_NE(strstr(self->err.what, "min_freq"), NULL) TH_LOG("%s", self->err.what);
	EXPECT_TRUE(tree_saved(&self->t));
	EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000);
	for (int c = 0; c < 12; c++)
		EXPECT_EQ(tree_get(&self->t, CPU "cpu%d/online", c), 1);
	for (int p = 0; p < 12; p += 4)
		EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy%d/scaling_max_freq", p), 2201600);
	tree_put(&self->t, GPU "min_freq", "420750000\n");
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
}

/* A knob refuses its saved value: the restore gives all other knobs theirs, and names the cause. */
TEST_F(board, refused_knob_does_not_stop_the_restore_of_the_others)
{
	static const char *const knob[] = { CPU "cpu4/online", EMC6, GPU "max_freq", GPU "min_freq", CPU "cpu11/online",
					    CPU "cpufreq/policy0/scaling_max_freq" };
	enum { KNOBS = sizeof(knob) / sizeof(knob[0]) };
	char after[512];

	for (int k = 0; k < 2; k++) {
		long long was[KNOBS];

		for (int i = 0; i < KNOBS; i++)
			was[i] = tree_get(&self->t, knob[i]);
		ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
		if (tree_get(&self->t, knob[k]) == was[k]) {
			ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
			continue;
		}
		self->t.sticks = knob[k];
		self->t.fail = k % 2 ? EPERM : EBUSY;
		EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), k % 2 ? -EPERM : -EIO);
		EXPECT_NE(strstr(self->err.what, knob[k] + 4), NULL) TH_LOG("%s", self->err.what);
		EXPECT_TRUE(tree_saved(&self->t));
		for (int i = 0; i < KNOBS; i++)
			if (i != k)
				EXPECT_EQ(tree_get(&self->t, knob[i]), was[i]) TH_LOG("%s refused", knob[k]);
		self->t.sticks = NULL;
		ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
		tree_state(&self->t, after, sizeof(after));
		EXPECT_STREQ(after, self->first);
	}
}

/* A process that can open the lease can keep all others from the board, and a link in its place must not
 * make jetwatt truncate another file. */
TEST_F(board, lease_is_a_private_file)
{
	char path[PATH_MAX], other[PATH_MAX];
	struct stat st;
	mode_t mask = umask(0);

	ASSERT_EQ(jetwatt_board_apply(self->b, &low, NULL), 0);
	umask(mask);
	snprintf(path, sizeof(path), "%s/lease", self->t.state);
	ASSERT_EQ(stat(path, &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0600);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	tree_put(&self->t, "other", "precious");
	snprintf(other, sizeof(other), "%s/other", self->t.root);
	ASSERT_EQ(unlink(path), 0);
	ASSERT_EQ(symlink(other, path), 0);
	EXPECT_NE(jetwatt_board_apply(self->b, &low, &self->err), 0);
	ASSERT_EQ(stat(other, &st), 0);
	EXPECT_EQ(st.st_size, 8);
}

TEST_F(board, only_the_lease_holder_may_write)
{
	struct jetwatt_board *b = another(&self->t);
	int owner = 0, st;
	pid_t pid;

	ASSERT_NE(b, NULL);
	ASSERT_EQ(jetwatt_board_save(self->b, &self->err), 0);
	EXPECT_EQ(jetwatt_board_apply(b, &low, &self->err), -EBUSY);
	EXPECT_NE(strstr(self->err.why, "holds the lease"), NULL);
	EXPECT_EQ(jetwatt_board_restore(b, &self->err), -EBUSY);
	EXPECT_EQ(jetwatt_board_save(b, &self->err), -EBUSY);
	/* A process without the lease cannot remove the saved state of the process that holds the
	 * lease. */
	pid = fork();
	if (!pid)
		_exit(jetwatt_board_forget(b) != -ENOENT);
	ASSERT_EQ(waitpid(pid, &st, 0), pid);
	EXPECT_EQ(st, 0);
	EXPECT_EQ(jetwatt_board_saved_owner(b, &owner), 1);
	EXPECT_EQ(owner, getpid());
	EXPECT_EQ(self->t.writes, 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_EQ(jetwatt_board_saved_owner(b, &owner), 0);

	/* A process is killed after it has applied a mode: its lease ends, its saved state
	 * stays. */
	pid = fork();
	if (!pid) {
		self->t.fail_at = 0;
		jetwatt_board_apply(b, &low, NULL);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(waitpid(pid, &st, 0), pid);
	EXPECT_TRUE(WIFSIGNALED(st));
	EXPECT_EQ(jetwatt_board_saved_owner(b, &owner), 1);
	EXPECT_EQ(owner, 0);
	EXPECT_EQ(jetwatt_board_restore(b, &self->err), 0);
	jetwatt_board_close(b);
	{
		char now[512];

		tree_state(&self->t, now, sizeof(now));
		EXPECT_STREQ(now, self->first);
	}
}

/* Files cannot grow, as on a full disk, until the first write to a knob: a sysfs file needs no
 * space. */
static int full_disk_write(const char *path, const char *text, void *arg)
{
	struct rlimit any;

	if (!getrlimit(RLIMIT_FSIZE, &any)) {
		any.rlim_cur = any.rlim_max;
		setrlimit(RLIMIT_FSIZE, &any);
	}
	return tree_write(path, text, arg);
}

TEST_F(board, a_full_disk_does_not_prevent_a_restore)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	struct jetwatt_board *b;
	struct rlimit full;
	char now[512];
	int st;
	pid_t pid;

	roots.write = full_disk_write;
	ASSERT_EQ(jetwatt_board_open(&b, &roots, NULL), 0);
	/* The process that has applied the mode ends without a restore. */
	pid = fork();
	if (!pid)
		_exit(jetwatt_board_apply(b, &low, NULL) != 0);
	ASSERT_EQ(waitpid(pid, &st, 0), pid);
	ASSERT_EQ(st, 0);
	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &full), 0);
	full.rlim_cur = 0;
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
	EXPECT_EQ(jetwatt_board_restore(b, &self->err), 0) TH_LOG("%s: %s", self->err.what, self->err.why);
	full.rlim_cur = full.rlim_max;
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
	jetwatt_board_close(b);
	tree_state(&self->t, now, sizeof(now));
	EXPECT_STREQ(now, self->first);
	EXPECT_FALSE(tree_saved(&self->t));
}

/* The process ends at the first, second, ... write of a switch; the saved state restores all
 * knobs. */
TEST_F(board, crash_at_every_write_is_restored)
{
	char now[512];
	int k;

	for (k = 1; k < 100; k++) {
		int st;
		pid_t pid = fork();

		if (!pid) {
			struct jetwatt_board *b = another(&self->t);

			self->t.writes = 0;
			self->t.fail_at = k;
			self->t.fail_for = 1;
			self->t.fail = TREE_DIE;
			_exit(!b || jetwatt_board_apply(b, k % 2 ? &low : &mixed, NULL) ? 1 : 3);
		}
		ASSERT_EQ(waitpid(pid, &st, 0), pid);
		ASSERT_TRUE(WIFEXITED(st));
		ASSERT_NE(WEXITSTATUS(st), 1) TH_LOG("write %d", k);
		ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0)
			TH_LOG("write %d: %s: %s", k, self->err.what, self->err.why);
		tree_state(&self->t, now, sizeof(now));
		ASSERT_STREQ(now, self->first) TH_LOG("write %d", k);
		if (WEXITSTATUS(st) == 3)
			break;
	}
	EXPECT_GT(k, 10);
}

TEST_HARNESS_MAIN
