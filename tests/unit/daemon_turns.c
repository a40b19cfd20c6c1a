// SPDX-License-Identifier: GPL-2.0-only
/* Reloads of the policy's line "turns", each with other cgroups. */
#include "daemon/loop.h"
#include "job/cgroup.h"
#include "timeshare/timeshare.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Both cgroups contain processes, and the thread of the time slicing ends at once. */
#define jetwatt_cgroup_mount(dir) (strcpy(dir, "/none"), 0)
#define jetwatt_cgroup_open(c, name) ((void)(name), strcpy((c)->path, "/there"), 0)
#define jetwatt_cgroup_empty(c) ((void)(c), 0)
#define jetwatt_cgroup_close(c) ((c)->path[0] = '\0')
#define jetwatt_corunner_adopt(t, path, freeze) ((void)(t), (void)(path), close(freeze))
#define jetwatt_corunner_stop(t) ((void)(t))
#define jetwatt_timeshare_run(s) ((void)(s))
#include "../../user/daemon/timeshare.c"

#include "board_tree.h"
#include "kselftest_harness.h"
#include "policy_defaults.h"

TEST(time_slicing_starts_after_any_number_of_reloads)
{
	struct jetwatt_board_roots roots;
	static struct jetwattd_run run;
	struct jetwattd_policy policy;
	static struct jetwattd d;
	char file[96];
	struct tree t;

	tree_orin(&t);
	roots = tree_roots(&t);
	ASSERT_EQ(0, jetwatt_board_open(&d.act.board, &roots, NULL));
	ASSERT_EQ(0, pthread_mutex_init(&d.lock, NULL));
	policy = policy_defaults();
	d.policy = &policy;
	run.d = &d;
	for (int i = 0; i < 2 * JETWATT_BOARD_FREEZERS_MAX; i++) {
		policy.timeshare.latency_ms = 100;
		snprintf(policy.timeshare.train, sizeof(policy.timeshare.train), "/train%d", i);
		snprintf(policy.timeshare.serve, sizeof(policy.timeshare.serve), "/serve%d", i);
		tree_put(&t, (snprintf(file, sizeof(file), "sys/fs/cgroup/train%d/cgroup.freeze", i), file), "0");
		tree_put(&t, (snprintf(file, sizeof(file), "sys/fs/cgroup/serve%d/cgroup.freeze", i), file), "0");
		jetwattd_timeshare(&run);
		ASSERT_NE(NULL, run.timeshare);
		EXPECT_EQ(1, run.timeshare->begun) TH_LOG("reload %d", i);
	}
	jetwattd_timeshare_end(&run);
	jetwatt_board_close(d.act.board);
	tree_free(&t);
}

/* A reload may raise the latency limit: modes that were too slow for the server may be tried again. */
TEST(changed_line_allows_all_modes_again)
{
	static struct jetwattd_run run;
	struct jetwattd_policy policy = policy_defaults();
	unsigned char misses[4] = { 1, 0, 1, 1 };
	struct jetwatt_board_roots roots;
	static struct jetwattd d;
	struct tree t;

	tree_orin(&t);
	roots = tree_roots(&t);
	ASSERT_EQ(0, jetwatt_board_open(&d.act.board, &roots, NULL));
	ASSERT_EQ(0, pthread_mutex_init(&d.lock, NULL));
	d.policy = &policy;
	run.d = &d;
	run.learner.known.nr_modes = sizeof(misses);
	run.learner.misses_deadline = misses;
	strcpy(policy.timeshare.train, "/train");
	strcpy(policy.timeshare.serve, "/serve");
	policy.timeshare.latency_ms = 80;
	jetwattd_timeshare(&run);
	run.learner.deadline_hz = 10;
	atomic_store(&d.invalidate, 0);
	jetwattd_timeshare(&run);
	EXPECT_EQ(1, misses[0]);
	EXPECT_EQ(0, atomic_load(&d.invalidate));
	policy.timeshare.latency_ms = 500;
	jetwattd_timeshare(&run);
	for (size_t i = 0; i < sizeof(misses); i++)
		EXPECT_EQ(0, misses[i]);
	EXPECT_EQ(1, atomic_load(&d.invalidate));
	jetwattd_timeshare_end(&run);
	jetwatt_board_close(d.act.board);
	tree_free(&t);
}

TEST_HARNESS_MAIN
