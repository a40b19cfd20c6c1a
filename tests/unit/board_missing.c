// SPDX-License-Identifier: GPL-2.0-only
/*
 * A board that lacks a knob still works: telemetry needs no knob, and modes vary the knobs that
 * exist.
 */
#include "board_tree.h"
#include "board/preset.h"
#include "kselftest_harness.h"

FIXTURE(lacks) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

FIXTURE_SETUP(lacks) {
	memset(&self->err, 0, sizeof(self->err));
	self->b = NULL;
	tree_orin(&self->t);
}

FIXTURE_TEARDOWN(lacks) {
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

static int look(struct tree *t, struct jetwatt_board **b, struct jetwatt_error_text *err)
{
	struct jetwatt_board_roots roots = tree_roots(t);

	jetwatt_board_close(*b);
	*b = NULL;
	return jetwatt_board_open(b, &roots, err);
}

static void drop(const struct tree *t, const char *path)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	nftw(name, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Check that of the required knobs, only @knob is reported as missing, with a reason and a fix. */
static bool only(const struct jetwatt_board *b, enum jetwatt_knob knob, const char *what)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *e = jetwatt_board_lacks(b, k);

		if (jetwatt_knob_row(k)->optional)
			continue;
		if (k != knob ? e != NULL : !e || !strstr(e->what, what) || !e->why[0] || !e->fix[0])
			return false;
	}
	return true;
}

/* Apply a mode, then restore the board from the saved state on disk. Return: whether all knobs are
 * as before. */
static bool there_and_back(struct tree *t, struct jetwatt_board **b, const struct jetwatt_mode *m,
			   struct jetwatt_error_text *err)
{
	char before[512], after[512], text[96];
	struct jetwatt_mode is;

	tree_state(t, before, sizeof(before));
	if (jetwatt_board_mode_format(m, text, sizeof(text)) ||
	    jetwatt_board_mode_parse(*b, text, &is) || memcmp(m, &is, sizeof(is)) ||
	    jetwatt_board_apply(*b, m, err) || jetwatt_board_verify(*b, m, err) ||
	    jetwatt_board_read(*b, &is) || memcmp(m, &is, sizeof(is)) || !tree_saved(t))
		return false;
	tree_state(t, after, sizeof(after));
	if (!strcmp(before, after) || look(t, b, err) || jetwatt_board_restore(*b, err))
		return false;
	tree_state(t, after, sizeof(after));
	return !strcmp(before, after) && !tree_saved(t) && !t->bad[0];
}

/* According to a user's report, an Orin Nano with L4T 39.2.1 has neither nvpmodel_clk_cap nor
 * bwmgr/max_freq. */
TEST_F(lacks, missing_memory_cap)
{
	struct jetwatt_mode m = { 4, 729600, 420750000, 3199000000 }, *all;
	const uint64_t *emc;

	drop(&self->t, EMC6);
	tree_put(&self->t, "sys/class/devfreq/bwmgr/cur_freq", "3199000000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_TRUE(only(self->b, JETWATT_KNOB_EMC, "memory clock"));
	/* If no cap can be set, the highest clock is the only level. */
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &emc), 1);
	EXPECT_EQ(emc[0], 3199000000);
	EXPECT_EQ(jetwatt_board_modes(self->b, &all), 12 * 7 * 4);
	free(all);
	EXPECT_TRUE(there_and_back(&self->t, &self->b, &m, &self->err)) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_find(&self->t, "emc", 0), -1);
	/* A mode that needs the missing knob is refused, and the knob is named. */
	self->t.writes = 0;
	m.emc_hz = 2133000000;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.what, "no memory clock"), NULL) TH_LOG("%s", self->err.what);
	EXPECT_NE(self->err.fix[0], 0);
	EXPECT_EQ(self->t.writes, 0);
}

/* If neither a cap nor the levels of the memory clock are known, the only level of the memory clock
 * is the placeholder JETWATT_BOARD_NO_CLOCK. */
TEST_F(lacks, missing_memory_cap_and_levels)
{
	struct jetwatt_mode m = { 4, 729600, 420750000, JETWATT_BOARD_NO_CLOCK };

	drop(&self->t, EMC6);
	drop(&self->t, BPMP);
	tree_put(&self->t, "proc/device-tree/compatible", "acme,toaster");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(only(self->b, JETWATT_KNOB_EMC, "memory clock"));
	EXPECT_TRUE(there_and_back(&self->t, &self->b, &m, &self->err)) TH_LOG("%s", self->err.what);
}

/* The driver nvgpu is not loaded, so the GPU has no devfreq device. */
TEST_F(lacks, missing_gpu_clock)
{
	struct jetwatt_mode m = { 4, 729600, JETWATT_BOARD_NO_CLOCK, 2133000000 }, *all;
	char params[256];

	drop(&self->t, "sys/class/devfreq");
	tree_put(&self->t, CPU "cpufreq/policy0/scaling_governor", "schedutil\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(only(self->b, JETWATT_KNOB_GPU, "GPU"));
	EXPECT_EQ(jetwatt_board_modes(self->b, &all), 12 * 7 * 4);
	free(all);
	EXPECT_TRUE(there_and_back(&self->t, &self->b, &m, &self->err)) TH_LOG("%s", self->err.what);
	m.gpu_hz = 420750000;
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.what, "GPU"), NULL);
	jetwatt_board_params(self->b, params, sizeof(params));
	EXPECT_STREQ(params, "cpu_governor=schedutil");
}

TEST_F(lacks, missing_cpu_clock)
{
	struct jetwatt_mode m = { 4, JETWATT_BOARD_NO_CLOCK, 420750000, 2133000000 }, *all;

	drop(&self->t, CPU "cpufreq");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(only(self->b, JETWATT_KNOB_CPU, "CPU clock"));
	EXPECT_EQ(jetwatt_board_modes(self->b, &all), 12 * 4 * 4);
	free(all);
	EXPECT_TRUE(there_and_back(&self->t, &self->b, &m, &self->err)) TH_LOG("%s", self->err.what);
}

/* Without a clock that every policy lists, the levels are the lowest and the highest clock of a
 * policy. */
TEST_F(lacks, common_cpu_clock)
{
	const uint64_t *cpu;

	tree_put(&self->t, "proc/device-tree/compatible", "acme,toaster");
	tree_put(&self->t, CPU "cpufreq/policy0/scaling_available_frequencies", "729600 1113600\n");
	tree_put(&self->t, CPU "cpufreq/policy0/cpuinfo_min_freq", "729600\n");
	tree_put(&self->t, CPU "cpufreq/policy0/cpuinfo_max_freq", "1113600\n");
	tree_put(&self->t, CPU "cpufreq/policy4/scaling_available_frequencies", "1497600 1728000\n");
	tree_put(&self->t, CPU "cpufreq/policy8/scaling_available_frequencies", "1728000 2201600\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_CPU, &cpu), 2);
	EXPECT_EQ(cpu[0], 729600);
	EXPECT_EQ(cpu[1], 1113600);
}

TEST_F(lacks, missing_cpu_hotplug)
{
	struct jetwatt_mode m = { 12, 729600, 420750000, 2133000000 }, *all;

	for (int c = 1; c < 12; c++) {
		char path[64];

		snprintf(path, sizeof(path), CPU "cpu%d/online", c);
		drop(&self->t, path);
	}
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(only(self->b, JETWATT_KNOB_CORES, "core"));
	EXPECT_EQ(jetwatt_board_modes(self->b, &all), 7 * 4 * 4);
	free(all);
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
}

/* On a board without any clock knob, the name, the total and everything else that telemetry needs
 * still work. */
TEST_F(lacks, missing_every_clock)
{
	struct jetwatt_rail rail = { .enabled = 1, .shunt_uohm = 2000, .label = "VDD_GPU_SOC" };
	struct jetwatt_mode is;
	const char *scope;
	int total[1];

	drop(&self->t, EMC6);
	drop(&self->t, "sys/class/devfreq");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_EQ(jetwatt_board_switchable(self->b, &self->err), 0);
	drop(&self->t, CPU "cpufreq");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_STREQ(jetwatt_board_name(self->b), "Jetson AGX Orin");
	EXPECT_EQ(jetwatt_board_total(self->b, &rail, 1, total, &scope), 1);
	ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
	EXPECT_EQ(is.cores, 12);
	EXPECT_EQ(is.cpu_khz, JETWATT_BOARD_NO_CLOCK);
	EXPECT_EQ(jetwatt_board_switchable(self->b, &self->err), -ENODEV);
	EXPECT_NE(strstr(self->err.what, "CPU clock"), NULL);
}

/* The GPU driver is unloaded or loaded while a mode is applied. A driver that is unloaded loses its
 * settings; the settings of a driver that is loaded later were not made by jetwatt. A restore must
 * succeed in both cases, and leave the new driver's settings unchanged. */
TEST_F(lacks, knobs_of_a_driver_that_is_unloaded_or_loaded)
{
	struct jetwatt_mode m = { 4, 729600, 420750000, 2133000000 };

	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	drop(&self->t, "sys/class/devfreq");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CPU "cpu11/online"), 1);
	EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000);

	m.gpu_hz = JETWATT_BOARD_NO_CLOCK;
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	tree_put(&self->t, GPU "available_frequencies", "114750000 420750000\n");
	tree_put(&self->t, GPU "min_freq", "114750000\n");
	tree_put(&self->t, GPU "max_freq", "420750000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, GPU "min_freq"), 114750000);
	EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000);
}

/* JetPack 7 on Orin: a devfreq device caps the memory clock; nvpmodel_clk_cap may cap it too. */
TEST_F(lacks, two_caps_of_the_memory_clock)
{
	const char *bwmgr = "sys/class/devfreq/bwmgr/max_freq";
	struct jetwatt_mode m = { 12, 2201600, 1300500000, 665600000 }, is;
	const uint64_t *emc;

	tree_put(&self->t, "sys/class/devfreq/bwmgr/available_frequencies",
		 "204000000 665600000 2133000000 3199000000\n");
	tree_put(&self->t, bwmgr, "3199000000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &emc), 4);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, bwmgr), 665600000);
	EXPECT_EQ(tree_get(&self->t, EMC6), 665600000);
	/* The lowest cap is in force, and a change of either cap is detected. */
	tree_put(&self->t, EMC6, "204000000\n");
	ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
	EXPECT_EQ(is.emc_hz, 204000000);
	EXPECT_EQ(jetwatt_board_verify(self->b, &m, &self->err), -ESTALE);
	tree_put(&self->t, EMC6, "665600000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	tree_put(&self->t, bwmgr, "2133000000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &m, &self->err), -ESTALE);
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, bwmgr), 3199000000);
	EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000);

	drop(&self->t, EMC6);
	tree_put(&self->t, BPMP "clk/emc/rate", "665600000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &emc), 4);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, bwmgr), 665600000);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
}

/* Any machine with a CPU can be opened, but only a Jetson counts as a board. */
TEST_F(lacks, other_machine_is_not_a_board)
{
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(jetwatt_board_is_jetson(self->b));

	/* If no clock driver is loaded, the device tree still identifies the board. */
	drop(&self->t, "sys/devices/system/cpu/cpufreq");
	drop(&self->t, "sys/class/devfreq");
	drop(&self->t, EMC6);
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(jetwatt_board_is_jetson(self->b));
	tree_put(&self->t, "proc/device-tree/compatible", "nvidia,tegra186");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(jetwatt_board_is_jetson(self->b));

	/* A board of another vendor, with a GPU but without NVIDIA's caps of the memory clock, is
	 * not a Jetson. */
	tree_free(&self->t);
	tree_orin(&self->t);
	tree_put(&self->t, "proc/device-tree/compatible", "acme,toaster");
	drop(&self->t, EMC6);
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_FALSE(jetwatt_board_is_jetson(self->b));

	/* A PC has no device tree. */
	drop(&self->t, "proc/device-tree");
	drop(&self->t, "sys/class/devfreq");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_FALSE(jetwatt_board_is_jetson(self->b));

	/* A machine with every knob of a Jetson counts as a Jetson, whatever its name. */
	tree_free(&self->t);
	tree_orin(&self->t);
	drop(&self->t, "proc/device-tree");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_TRUE(jetwatt_board_is_jetson(self->b));
}

/* The firmware lists a memory clock of 3200 MHz, but the cap reads back as 3199 MHz: verify accepts
 * the rounded value. */
TEST_F(lacks, rounded_cap_verifies)
{
	struct jetwatt_mode m = { 12, 2201600, 1300500000, 3200000000 }, is;

	tree_put(&self->t, BPMP "emc/possible_rates", "204000 665600 2133000 3200000 \n");
	tree_put(&self->t, EMC6, "2133000000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000);
	ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
	EXPECT_EQ(is.emc_hz, 3200000000);
	EXPECT_EQ(jetwatt_board_verify(self->b, &m, &self->err), 0);
	/* A cap at another level is not a rounded value: verify reports that the knob has
	 * changed. */
	tree_put(&self->t, EMC6, "2133000000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &m, &self->err), -ESTALE);
	tree_put(&self->t, EMC6, "3199000000\n");
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, EMC6), 2133000000);
}

TEST_HARNESS_MAIN
