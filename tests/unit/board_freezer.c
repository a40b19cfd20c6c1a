// SPDX-License-Identifier: GPL-2.0-only
/* A cgroup is recorded on disk before a process gets its freezer, so that a later process can thaw
 * the cgroup. */
#include <signal.h>
#include <sys/wait.h>

#include "board_tree.h"
#include "kselftest_harness.h"

#define BATCH	"sys/fs/cgroup/batch.slice/cgroup.freeze"
#define SERVE	"sys/fs/cgroup/unified/system.slice/serve.service/cgroup.freeze"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

static struct jetwatt_board *another(struct tree *t)
{
	struct jetwatt_board_roots roots = tree_roots(t);
	struct jetwatt_board *b = NULL;

	return jetwatt_board_open(&b, &roots, NULL) ? NULL : b;
}

FIXTURE_SETUP(board) {
	tree_orin(&self->t);
	tree_put(&self->t, BATCH, "0");
	tree_put(&self->t, SERVE, "0");
	self->b = another(&self->t);
	ASSERT_NE(self->b, NULL);
}

FIXTURE_TEARDOWN(board) {
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

static int on_disk(const struct tree *t)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/held", t->state);
	return !access(path, F_OK);
}

/* Freeze the jobs of a cgroup through the freezer's descriptor, as jetwattd does. */
static int hold(struct jetwatt_board *b, const char *cgroup)
{
	int fd = jetwatt_board_freezer(b, cgroup, NULL);

	if (fd < 0 || pwrite(fd, "1", 1, 0) != 1)
		return -1;
	close(fd);
	return 0;
}

/* A cgroup of another user, and a process without the capability to write it. */
TEST_F(board, the_owner_of_a_cgroup_is_named_as_the_reason)
{
	char path[PATH_MAX];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/" BATCH, self->t.root);
	ASSERT_EQ(chmod(path, 0444), 0);
	ASSERT_EQ(chmod(self->t.root, 0755), 0);
	pid = fork();
	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(1);
		if (jetwatt_board_freezer(self->b, "/batch.slice", &self->err) >= 0)
			_exit(2);
		_exit(strstr(self->err.fix, "give a cgroup of root") ? 0 : 3);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(board, recorded_cgroups_are_thawed)
{
	struct jetwatt_board *next;

	EXPECT_EQ(on_disk(&self->t), 0);
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	ASSERT_EQ(hold(self->b, "/system.slice/serve.service"), 0);
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	EXPECT_EQ(on_disk(&self->t), 1);
	EXPECT_EQ(tree_get(&self->t, BATCH), 1);
	EXPECT_EQ(tree_get(&self->t, SERVE), 1);
	/* A new handle of this process finds the record on disk and thaws both cgroups. */
	next = another(&self->t);
	ASSERT_NE(next, NULL);
	EXPECT_EQ(jetwatt_board_thaw_all(next), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(tree_get(&self->t, SERVE), 0);
	EXPECT_EQ(on_disk(&self->t), 0);
	EXPECT_EQ(jetwatt_board_thaw_all(next), 0);
	jetwatt_board_close(next);
}

/* While a process holds cgroups frozen, another jetwatt process must neither thaw them nor
 * overwrite the record. */
TEST_F(board, cgroups_of_a_live_process_stay_frozen)
{
	int ready[2], status;
	pid_t pid;
	char c;

	ASSERT_EQ(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct jetwatt_board *its = another(&self->t);

		if (its && !hold(its, "/batch.slice") && write(ready[1], "1", 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 1);
	EXPECT_EQ(on_disk(&self->t), 1);
	/* Another process gets no freezer, because it would overwrite the record of the frozen
	 * cgroups. */
	EXPECT_EQ(jetwatt_board_freezer(self->b, "/system.slice/serve.service", &self->err), -EBUSY);
	EXPECT_TRUE(*self->err.why && *self->err.fix);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(on_disk(&self->t), 0);
	close(ready[0]);
	close(ready[1]);
}

/* The owner of the record counts as dead if its PID now belongs to a process with another start
 * time, or to a zombie. */
TEST_F(board, reused_pid_counts_as_dead)
{
	static const char *const now[] = {
		"%d (a) S (b) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4712 9",
		"%d (a) S (b) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9",
	};
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	char path[64];

	for (int i = 0; i < 2; i++) {
		int ready[2], status;
		pid_t pid;
		char c;

		ASSERT_EQ(pipe(ready), 0);
		pid = fork();
		if (!pid) {
			struct jetwatt_board *its = NULL;

			tree_put(&self->t, (snprintf(path, sizeof(path), "proc/%d/stat", getpid()), path),
				 "%d (a) S (b) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9", getpid());
			if (!jetwatt_board_open(&its, &roots, NULL) && !hold(its, "/batch.slice") &&
			    write(ready[1], "1", 1) == 1)
				pause();
			_exit(1);
		}
		ASSERT_EQ(read(ready[0], &c, 1), 1);
		EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
		EXPECT_EQ(tree_get(&self->t, BATCH), 1);
		snprintf(path, sizeof(path), "proc/%d/stat", pid);
		tree_put(&self->t, path, now[i], pid);
		EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
		EXPECT_EQ(tree_get(&self->t, BATCH), 0) TH_LOG("case %d", i);
		EXPECT_EQ(on_disk(&self->t), 0);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		close(ready[0]);
		close(ready[1]);
	}
}

/* A process that holds two frozen cgroups thaws one after the other. */
TEST_F(board, one_of_two_cgroups_is_thawed)
{
	struct jetwatt_board *next = another(&self->t);

	ASSERT_NE(next, NULL);
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	ASSERT_EQ(hold(self->b, "/system.slice/serve.service"), 0);
	EXPECT_EQ(jetwatt_board_thaw_cgroup(self->b, "/batch.slice", 1), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(tree_get(&self->t, SERVE), 1);
	EXPECT_EQ(jetwatt_board_thaw_cgroup(self->b, "/system.slice/serve.service", 0), 0);
	EXPECT_EQ(tree_get(&self->t, SERVE), 0);
	/* The cgroup that was thawed with @keep is still in the record on disk. */
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	EXPECT_EQ(on_disk(&self->t), 1);
	EXPECT_EQ(jetwatt_board_thaw_cgroup(self->b, "/batch.slice", 0), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(on_disk(&self->t), 0);
	jetwatt_board_close(next);
}

/* The file of the first cgroup cannot be opened. The second cgroup is thawed nevertheless, and the
 * first one stays in the record for the next attempt, also if another cgroup is recorded meanwhile. */
TEST_F(board, record_stays_if_a_thaw_fails)
{
	char file[PATH_MAX], aside[PATH_MAX];

	snprintf(file, sizeof(file), "%s/" BATCH, self->t.root);
	snprintf(aside, sizeof(aside), "%s/" BATCH ".aside", self->t.root);
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	ASSERT_EQ(hold(self->b, "/system.slice/serve.service"), 0);
	ASSERT_EQ(rename(file, aside), 0);
	ASSERT_EQ(symlink(aside, file), 0);
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), -ELOOP);
	EXPECT_EQ(tree_get(&self->t, BATCH), 1);
	EXPECT_EQ(tree_get(&self->t, SERVE), 0);
	EXPECT_EQ(on_disk(&self->t), 1);
	ASSERT_EQ(hold(self->b, "/system.slice/serve.service"), 0);
	ASSERT_EQ(rename(aside, file), 0);
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(on_disk(&self->t), 0);
}

TEST_F(board, damaged_record_is_thawed_as_far_as_readable)
{
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	tree_put(&self->t, "sys/fs/cgroup/escape/cgroup.freeze", "1");
	tree_put(&self->t, "var/lib/jetwatt/held", "jetwatt-held 1\ncgroup /x/../escape\n"
		 "cgroup /batch.slice\ncgroup /gone\ncgr");
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 0);
	EXPECT_EQ(tree_get(&self->t, "sys/fs/cgroup/escape/cgroup.freeze"), 1);
	EXPECT_EQ(on_disk(&self->t), 0);
}

TEST_F(board, record_of_an_earlier_boot_is_ignored)
{
	ASSERT_EQ(hold(self->b, "/batch.slice"), 0);
	/* The machine has rebooted, and another process has frozen the jobs: the record of the
	 * earlier boot must not thaw them. */
	tree_put(&self->t, "proc/sys/kernel/random/boot_id", "6f0d2c1e-0000-4000-8000-000000000002\n");
	EXPECT_EQ(jetwatt_board_thaw_all(self->b), 0);
	EXPECT_EQ(tree_get(&self->t, BATCH), 1);
	EXPECT_EQ(on_disk(&self->t), 0);
}

TEST_F(board, invalid_path_is_refused)
{
	static const char *const bad[] = { "", "/", "batch.slice", "/a/../b", "/a b", "/a\nb" };
	char longest[JETWATT_BOARD_CGROUP_LEN + 1];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(jetwatt_board_freezer(self->b, bad[i], &self->err), -EINVAL);
	EXPECT_NE(self->err.fix[0], 0);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	EXPECT_EQ(jetwatt_board_freezer(self->b, longest, &self->err), -EINVAL);
	EXPECT_EQ(jetwatt_board_freezer(self->b, "/gone", &self->err), -ENOENT);
	EXPECT_EQ(on_disk(&self->t), 0);
}

/* A cgroup that contains jetwatt itself is refused, because a frozen process could not thaw it. */
TEST_F(board, own_cgroup_is_refused)
{
	tree_put(&self->t, "proc/self/cgroup", "1:name=systemd:/x\n0::/batch.slice/jetwattd.service\n");
	EXPECT_EQ(jetwatt_board_freezer(self->b, "/batch.slice", &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.why, "jetwatt itself"), NULL);
	tree_put(&self->t, "proc/self/cgroup", "0::/batch.slices/jetwattd.service\n");
	tree_put(&self->t, "proc/1/cgroup", "0::/batch.slice\n");
	EXPECT_EQ(jetwatt_board_freezer(self->b, "/batch.slice", &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.why, "process 1"), NULL);
	tree_put(&self->t, "proc/1/cgroup", "0::/init.scope\n");
	EXPECT_EQ(hold(self->b, "/batch.slice"), 0);
}

/* If the record of frozen cgroups cannot be written, no descriptor of the freezer is returned. */
TEST_F(board, unrecorded_cgroup_gets_no_descriptor)
{
	tree_put(&self->t, "var/lib/jetwatt/held.new/x", "\n");
	tree_put(&self->t, "var/lib/jetwatt/held/x", "\n");
	EXPECT_LT(jetwatt_board_freezer(self->b, "/batch.slice", &self->err), 0);
	EXPECT_NE(self->err.what[0], 0);
}

TEST_HARNESS_MAIN
