// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switching and restoring modes during thermal throttling. While the board is throttled, each GPU
 * limit in sysfs reads as the lower of the user's limit and the thermal limit, as with devfreq.
 */
#include "board_tree.h"
#include "kselftest_harness.h"
#include "tune/mode_guard.h"

#define COOLING	"sys/class/thermal/cooling_device"
#define HOT	420750000
#define FULL	1300500000

static const struct jetwatt_mode low = { 4, 422400, 114750000, 665600000 };
static const struct jetwatt_mode mid = { 6, 1113600, 624750000, 2133000000 };
static const struct jetwatt_mode top = { 12, 2201600, FULL, 3199000000 };

FIXTURE(heat) {
	struct tree t;
	long long min, max, limit;	/* user's limits; thermal limit */
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

static void show(FIXTURE_DATA(heat) *h)
{
	long long max = h->max < h->limit ? h->max : h->limit;

	tree_put(&h->t, GPU "max_freq", "%lld\n", max);
	tree_put(&h->t, GPU "min_freq", "%lld\n", h->min < max ? h->min : max);
}

static void get_hot(FIXTURE_DATA(heat) *h, long long limit)
{
	h->limit = limit;
	tree_put(&h->t, COOLING "1/cur_state", "%d\n", limit < FULL ? 2 : 0);
	show(h);
}

static int put(const char *path, const char *text, void *arg)
{
	FIXTURE_DATA(heat) *h = arg;
	const char *leaf = path + strlen(h->t.root) + 1;
	int err = tree_write(path, text, &h->t);

	if (!strcmp(leaf, GPU "max_freq"))
		h->max = atoll(text);
	if (!strcmp(leaf, GPU "min_freq"))
		h->min = atoll(text);
	show(h);
	return err;
}

FIXTURE_SETUP(heat) {
	struct jetwatt_board_roots roots;

	tree_orin(&self->t);
	tree_put(&self->t, COOLING "0/type", "pwm-fan\n");
	tree_put(&self->t, COOLING "0/cur_state", "3\n");
	tree_put(&self->t, COOLING "1/type", "devfreq-17000000.gpu\n");
	self->min = 114750000;
	self->max = FULL;
	get_hot(self, FULL);
	roots = tree_roots(&self->t);
	roots.write = put;
	roots.arg = self;
	memset(&self->err, 0, sizeof(self->err));
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0)
		TH_LOG("%s: %s", self->err.what, self->err.why);
}

FIXTURE_TEARDOWN(heat) {
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

TEST_F(heat, running_fan_is_not_throttling)
{
	EXPECT_EQ(jetwatt_board_throttled(self->b), 0);
	get_hot(self, HOT);
	EXPECT_EQ(jetwatt_board_throttled(self->b), 1);
}

TEST_F(heat, throttled_clock_still_verifies)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	get_hot(self, HOT);
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0) TH_LOG("%s", self->err.what);
	get_hot(self, FULL);
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0);
	/* A GPU limit that another program has written is detected, with and without throttling. */
	tree_put(&self->t, GPU "max_freq", "1300500000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
	get_hot(self, HOT);
	tree_put(&self->t, GPU "min_freq", "114750000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
}

/* Without throttling, a lower GPU limit is a change by another program. */
TEST_F(heat, low_clock_without_throttling_is_a_foreign_change)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	get_hot(self, HOT);
	tree_put(&self->t, COOLING "1/cur_state", "0\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), -ESTALE);
}

/* A mode that is applied during throttling is in force after the board has cooled. */
TEST_F(heat, switch_while_throttled_writes_every_clock)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	get_hot(self, HOT);
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(self->max, FULL);
	EXPECT_EQ(self->min, FULL);
	/* A clock limit is written even if it already reads as the wanted value: during throttling,
	 * the file shows the thermal limit, not the limit that was set. */
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0);
	get_hot(self, 114750000);
	ASSERT_EQ(jetwatt_board_apply(self->b, &top, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0);
	EXPECT_EQ(self->max, 114750000);
	get_hot(self, FULL);
	EXPECT_EQ(jetwatt_board_verify(self->b, &low, &self->err), 0) TH_LOG("%s", self->err.what);
}

TEST_F(heat, restore_while_throttled)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	get_hot(self, HOT);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(self->min, 114750000);
	EXPECT_EQ(self->max, FULL);
	EXPECT_FALSE(tree_saved(&self->t));
}

/* During throttling, the limit that was set cannot be read, so a state must not be saved. */
TEST_F(heat, save_is_refused_while_throttled)
{
	get_hot(self, HOT);
	EXPECT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EAGAIN);
	EXPECT_NE(strstr(self->err.fix, "cool"), NULL);
	EXPECT_EQ(self->t.writes, 0);
	EXPECT_FALSE(tree_saved(&self->t));
	get_hot(self, FULL);
	EXPECT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0);
}

/* A saved state that a power failure has left from an earlier boot is not restored in this boot. */
TEST_F(heat, saved_state_of_an_earlier_boot_is_not_used)
{
	static const char boot[] = "boot aaaa2c1e-0000-4000-8000-000000000002\n";
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	char path[PATH_MAX], text[1024] = "";
	FILE *f;

	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	jetwatt_board_close(self->b);
	tree_put(&self->t, "proc/sys/kernel/random/boot_id", "%s", boot + 5);
	/* In the new boot, the GPU's limits differ from those in the saved file. */
	get_hot(self, FULL);
	self->min = 318750000;
	self->max = 1032750000;
	roots.write = put;
	roots.arg = self;
	get_hot(self, HOT);
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EAGAIN);
	/* During throttling no state can be saved, and there is no saved state of this boot to
	 * restore. */
	EXPECT_EQ(jetwatt_board_save(self->b, &self->err), -EAGAIN);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -ENOENT);
	EXPECT_EQ(self->max, 1032750000);

	get_hot(self, FULL);
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), 0) TH_LOG("%s", self->err.what);
	snprintf(path, sizeof(path), "%s/saved", self->t.state);
	f = fopen(path, "r");
	ASSERT_NE(f, NULL);
	ASSERT_GT(fread(text, 1, sizeof(text) - 1, f), 0);
	fclose(f);
	EXPECT_NE(strstr(text, boot), NULL) TH_LOG("%s", text);
	EXPECT_NE(strstr(text, " 318750000 1032750000\n"), NULL) TH_LOG("%s", text);
	/* The board, opened again, is restored from the saved file, as by jetwatt restore. */
	jetwatt_board_close(self->b);
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(self->min, 318750000);
	EXPECT_EQ(self->max, 1032750000);
}

/* A switch fails while a clock is throttled: the clock goes back to the limit that was set, not to
 * the lower one that its file shows. */
TEST_F(heat, roll_back_while_throttled)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	get_hot(self, HOT);
	/* The first two writes are those of the GPU's limits. */
	self->t.fail_at = self->t.writes + 3;
	self->t.fail_for = 1;
	self->t.fail = EINVAL;
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EIO) TH_LOG("%s", self->err.what);
	EXPECT_EQ(self->max, 624750000);
	EXPECT_EQ(self->min, 624750000);
	get_hot(self, FULL);
	EXPECT_EQ(jetwatt_board_verify(self->b, &mid, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
}

/* The same with a cluster of CPUs. */
TEST_F(heat, roll_back_while_a_cluster_is_throttled)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &mid, &self->err), 0);
	tree_put(&self->t, COOLING "1/cur_state", "1\n");
	tree_put(&self->t, CPU "cpufreq/policy0/scaling_min_freq", "729600\n");
	tree_put(&self->t, CPU "cpufreq/policy0/scaling_max_freq", "729600\n");
	self->t.fail_at = self->t.writes + 3;
	self->t.fail_for = 1;
	self->t.fail = EINVAL;
	ASSERT_EQ(jetwatt_board_apply(self->b, &low, &self->err), -EIO) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy0/scaling_min_freq"), 1113600);
	EXPECT_EQ(tree_get(&self->t, CPU "cpufreq/policy0/scaling_max_freq"), 1113600);
}

/* A command that is to go back to the mode that was applied before it does not start while
 * throttling hides that mode. */
TEST_F(heat, an_applied_mode_is_not_guarded_while_throttled)
{
	struct jetwatt_mode_guard guard;

	ASSERT_EQ(jetwatt_board_apply(self->b, &top, &self->err), 0);
	get_hot(self, HOT);
	EXPECT_EQ(jetwatt_board_refuse_throttled(self->b, &self->err), -EAGAIN);
	EXPECT_EQ(jetwatt_mode_guard_hold(&guard, self->b), JETWATT_EXIT_FAILED);
	get_hot(self, FULL);
	EXPECT_EQ(jetwatt_mode_guard_hold(&guard, self->b), 0);
	EXPECT_EQ(jetwatt_mode_guard_apply(&guard, &low), 0);
	EXPECT_EQ(jetwatt_mode_guard_restore(&guard), 0);
	EXPECT_EQ(self->max, FULL);
}

TEST_HARNESS_MAIN
