// SPDX-License-Identifier: GPL-2.0-only
/* The clock of the DLA is an optional knob: a mode without a DLA clock does not change the clock, a
 * mode with one sets it. */
#include "kselftest_harness.h"

#include "board_tree.h"

#include "board/preset.h"

#define DLA	"sys/bus/platform/devices/"
#define CORE0	DLA "15880000.nvdla0/clk_cap/dla0_core"
#define CORE1	DLA "158c0000.nvdla1/clk_cap/dla1_core"
#define FALCON0	DLA "15880000.nvdla0/clk_cap/dla0_falcon"
#define ACM0	DLA "15880000.nvdla0/acm/clk_cap/"
#define XAVIER0	"sys/devices/platform/13e10000.host1x/15880000.nvdla0/acm/clk_cap"

static const struct jetwatt_mode four = { 8, 1728000, 624750000, 2133000000 };
static const struct jetwatt_mode five = {
	.cores = 8, .cpu_khz = 1728000, .gpu_hz = 624750000, .emc_hz = 2133000000, .dla_hz = 614400000,
};

/* Create the files of the two accelerators (DLA) as in JetPack 6, or as in JetPack 5 if @acm is
 * true. */
static void tree_dla(struct tree *t, bool acm)
{
	for (int i = 0; i < 2; i++) {
		char path[96];

		for (int falcon = 0; falcon < 2; falcon++) {
			snprintf(path, sizeof(path), DLA "%s/%sclk_cap/dla%d_%s",
				 i ? "158c0000.nvdla1" : "15880000.nvdla0", acm ? "acm/" : "", i,
				 falcon ? "falcon" : "core");
			tree_put(t, path, "%s\n", falcon ? "844800000" : "1600000000");
		}
	}
	tree_put(t, BPMP "clk/nafll_dla0_core/max_rate", "1600000000\n");
}

static int open_tree(struct tree *t, struct jetwatt_board **b, struct jetwatt_error_text *err)
{
	struct jetwatt_board_roots roots = { .sys = t->sys, .proc = t->proc, .state = t->state,
					     .etc = t->root, .write = tree_write, .arg = t };

	memset(err, 0, sizeof(*err));
	return jetwatt_board_open(b, &roots, err);
}

/* Return the number of writes to the accelerators' clock files so far. */
static int writes(const struct tree *t)
{
	int n = 0;

	for (int i = tree_find(t, "nvdla", 0); i >= 0; i = tree_find(t, "nvdla", i + 1))
		n++;
	return n;
}

FIXTURE(dla) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

FIXTURE_SETUP(dla)
{
	tree_orin(&self->t);
	tree_dla(&self->t, false);
	ASSERT_EQ(open_tree(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
}

FIXTURE_TEARDOWN(dla)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
}

TEST_F(dla, levels_are_vendor_caps_and_the_highest_clock)
{
	const uint64_t *v;

	EXPECT_EQ(jetwatt_board_lacks(self->b, JETWATT_KNOB_DLA), NULL);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_DLA, &v), 6);
	EXPECT_TRUE(v[0] == 153600000 && v[1] == 614400000 && v[5] == 1600000000);
	/* An accelerator (DLA) with a lower highest clock has no levels above that clock. */
	jetwatt_board_close(self->b);
	tree_put(&self->t, BPMP "clk/nafll_dla0_core/max_rate", "614400000\n");
	ASSERT_EQ(open_tree(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_DLA, &v), 2);
	EXPECT_EQ(v[1], 614400000);
}

/* The power modes of Xavier have other caps than those of Orin, and its accelerators another
 * clock. */
TEST(levels_of_xavier_are_its_vendor_caps)
{
	static const char conf[] =
		"< PARAM TYPE=CLOCK NAME=DLA0_CORE >\n"
		"MAX_FREQ /sys/devices/platform/13e10000.host1x/15880000.nvdla0/acm/clk_cap/dla0_core\n"
		"< POWER_MODEL ID=1 NAME=MODE_10W >\nDLA0_CORE MAX_FREQ 550000000\n"
		"< POWER_MODEL ID=0 NAME=MAXN >\nDLA0_CORE MAX_FREQ -1\n";
	struct jetwatt_error_text err;
	struct jetwatt_presets *p;
	struct jetwatt_board *b;
	struct jetwatt_mode mode;
	char name[PATH_MAX];
	unsigned int line;
	const uint64_t *v;
	const char *why;
	struct tree t;

	tree_orin(&t);
	tree_dla(&t, true);
	tree_put(&t, "proc/device-tree/compatible", "nvidia,p2822-0000+p2888-0001");
	snprintf(name, sizeof(name), "%s/" BPMP "clk/nafll_dla0_core/max_rate", t.root);
	unlink(name);
	tree_put(&t, BPMP "clk/nafll_dla/max_rate", "1395200000\n");
	ASSERT_EQ(open_tree(&t, &b, &err), 0) TH_LOG("%s", err.what);
	ASSERT_EQ(jetwatt_board_levels(b, JETWATT_KNOB_DLA, &v), 5);
	EXPECT_TRUE(v[0] == 115200000 && v[1] == 550000000 && v[4] == 1395200000);
	ASSERT_EQ(jetwatt_presets_parse(conf, sizeof(conf) - 1, &p, &line, &why), 0) TH_LOG("%s", why);
	EXPECT_EQ(jetwatt_board_grid_include(b, JETWATT_KNOB_DLA), 0);
	EXPECT_EQ(jetwatt_preset_mode(b, &p->preset[0], &mode) & 1u << JETWATT_KNOB_DLA, 0);
	EXPECT_EQ(mode.dla_hz, 550000000);
	jetwatt_preset_mode(b, &p->preset[1], &mode);
	EXPECT_EQ(mode.dla_hz, 1395200000);
	jetwatt_presets_free(p);
	jetwatt_board_close(b);
	tree_put(&t, "proc/device-tree/compatible", "nvidia,p3449-0000+p3668-0000");
	ASSERT_EQ(open_tree(&t, &b, &err), 0) TH_LOG("%s", err.what);
	ASSERT_EQ(jetwatt_board_levels(b, JETWATT_KNOB_DLA, &v), 3);
	EXPECT_TRUE(v[0] == 896000000 && v[1] == 1100800000 && v[2] == 1395200000);
	jetwatt_board_close(b);
	tree_free(&t);
}

/* On Xavier, a mode also sets the cap of the clock that feeds both accelerators, as NVIDIA's power
 * modes do: paths and caps as in LineageOS/android_device_nvidia_galen,
 * nvpmodel/nvpmodel_t194_p3668.conf. */
TEST(source_of_xavier_is_capped_too)
{
	static const char conf[] =
		"< PARAM TYPE=FILE NAME=CPU_ONLINE >\nCORE_0 /" CPU "cpu0/online\n"
		"< PARAM TYPE=CLOCK NAME=NAFLL_DLA >\nMAX_FREQ /" XAVIER0 "/nafll_dla\n"
		"< PARAM TYPE=CLOCK NAME=NAFLL_DLA_FALCON >\nMAX_FREQ /" XAVIER0 "/nafll_dla_falcon\n"
		"< PARAM TYPE=CLOCK NAME=DLA0_CORE >\nMAX_FREQ /" XAVIER0 "/dla0_core\n"
		"< POWER_MODEL ID=3 NAME=MODE_10W_2CORE >\nCPU_ONLINE CORE_0 1\n"
		"NAFLL_DLA MAX_FREQ 896000000\nNAFLL_DLA_FALCON MAX_FREQ 524800000\n"
		"DLA0_CORE MAX_FREQ 896000000\n";
	struct jetwatt_mode is, mode = { .cores = 1, .dla_hz = 1100800000 };
	struct jetwatt_mode top = four;
	struct jetwatt_error_text err;
	struct jetwatt_presets *p;
	struct jetwatt_board *b;
	char text[512] = "";
	unsigned int line;
	const char *why;
	struct tree t;
	FILE *f;

	tree_orin(&t);
	tree_dla(&t, true);
	tree_put(&t, "proc/device-tree/compatible", "nvidia,p3449-0000+p3668-0000");
	tree_put(&t, ACM0 "nafll_dla", "896000000\n");
	tree_put(&t, ACM0 "nafll_dla_falcon", "524800000\n");
	ASSERT_EQ(open_tree(&t, &b, &err), 0) TH_LOG("%s", err.what);
	ASSERT_EQ(jetwatt_board_grid_include(b, JETWATT_KNOB_DLA), 0);
	ASSERT_EQ(jetwatt_board_read(b, &is), 0);
	EXPECT_EQ(is.dla_hz, 896000000);
	top.dla_hz = 1100800000;
	ASSERT_EQ(jetwatt_board_apply(b, &top, &err), 0) TH_LOG("%s", err.what);
	EXPECT_EQ(tree_get(&t, ACM0 "nafll_dla"), 1100800000);
	EXPECT_EQ(tree_get(&t, ACM0 "nafll_dla_falcon"), 524800000);
	ASSERT_EQ(jetwatt_board_restore(b, &err), 0) TH_LOG("%s", err.what);
	EXPECT_EQ(tree_get(&t, ACM0 "nafll_dla"), 896000000);

	ASSERT_EQ(jetwatt_presets_parse(conf, sizeof(conf) - 1, &p, &line, &why), 0) TH_LOG("%s", why);
	f = fmemopen(text, sizeof(text), "w");
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 9, "mine", &mode, 0), 0);
	fclose(f);
	EXPECT_NE(strstr(text, "NAFLL_DLA MAX_FREQ 1100800000\n"), NULL) TH_LOG("%s", text);
	EXPECT_NE(strstr(text, "NAFLL_DLA_FALCON MAX_FREQ 524800000\n"), NULL);
	jetwatt_presets_free(p);
	jetwatt_board_close(b);
	tree_free(&t);
}

TEST_F(dla, mode_without_dla_leaves_it_alone)
{
	struct jetwatt_mode is, *all;
	char name[96];

	/* Another program has capped the DLA: a mode without the DLA clock leaves that cap. */
	tree_put(&self->t, CORE0, "908800000\n");
	ASSERT_EQ(jetwatt_board_apply(self->b, &four, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_verify(self->b, &four, &self->err), 0);
	ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
	EXPECT_EQ(is.dla_hz, 0);
	ASSERT_EQ(jetwatt_board_mode_format(&is, name, sizeof(name)), 0);
	EXPECT_STREQ(name, "c8-1728000-g624750000-e2133000000");
	ASSERT_EQ(jetwatt_board_mode_parse(self->b, "MAXN", &is), 0);
	EXPECT_EQ(is.dla_hz, 0);
	EXPECT_EQ(jetwatt_board_modes(self->b, &all), 12 * 7 * 4 * 4);
	for (int i = 0; i < 12 * 7 * 4 * 4; i++)
		ASSERT_EQ(all[i].dla_hz, 0);
	free(all);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(writes(&self->t), 0);
	EXPECT_EQ(tree_get(&self->t, CORE0), 908800000);
}

TEST_F(dla, mode_with_dla_caps_both_accelerators)
{
	struct jetwatt_mode mode, *all;
	char name[96];
	int n;

	ASSERT_EQ(jetwatt_board_mode_format(&five, name, sizeof(name)), 0);
	EXPECT_STREQ(name, "c8-1728000-g624750000-e2133000000-d614400000");
	ASSERT_EQ(jetwatt_board_mode_parse(self->b, name, &mode), 0);
	EXPECT_TRUE(jetwatt_mode_same(&mode, &five) && !jetwatt_mode_same(&mode, &four));
	EXPECT_EQ(jetwatt_board_mode_parse(self->b, "c8-1728000-g624750000-e2133000000-d0", &mode), -EINVAL);

	ASSERT_EQ(jetwatt_board_apply(self->b, &five, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CORE0), 614400000);
	EXPECT_EQ(tree_get(&self->t, CORE1), 614400000);
	EXPECT_EQ(tree_get(&self->t, FALCON0), 844800000);
	EXPECT_EQ(writes(&self->t), 2);
	/* The DLA clock is lowered before the memory clock. */
	EXPECT_LT(tree_find(&self->t, "dla1_core", 0), tree_find(&self->t, "nvpmodel_clk_cap/emc", 0));
	EXPECT_EQ(jetwatt_board_verify(self->b, &five, &self->err), 0);
	tree_put(&self->t, CORE1, "1369600000\n");
	EXPECT_EQ(jetwatt_board_verify(self->b, &five, &self->err), -ESTALE);
	EXPECT_NE(strstr(self->err.what, "DLA's cap"), NULL);
	EXPECT_EQ(jetwatt_board_verify(self->b, &four, &self->err), 0);

	/* After jetwatt_board_grid_include(), the DLA knob is part of the grid and of the mode that
	 * is read. */
	ASSERT_EQ(jetwatt_board_grid_include(self->b, JETWATT_KNOB_DLA), 0);
	n = jetwatt_board_modes(self->b, &all);
	ASSERT_EQ(n, 12 * 7 * 4 * 4 * 6);
	EXPECT_TRUE(all[0].dla_hz == 153600000 && all[5].dla_hz == 1600000000 &&
		    all[5].emc_hz == 204000000 && all[6].emc_hz == 665600000);
	free(all);
	ASSERT_EQ(jetwatt_board_read(self->b, &mode), 0);
	EXPECT_EQ(mode.dla_hz, 614400000);

	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CORE0), 1600000000);
	EXPECT_EQ(tree_get(&self->t, CORE1), 1600000000);
	EXPECT_STREQ(self->t.bad, "");
}

/* Each write of a switch is refused in turn; after each refusal, the clocks of DLA and memory
 * must be as before. */
TEST_F(dla, refused_write_is_rolled_back)
{
	int n;

	ASSERT_EQ(jetwatt_board_apply(self->b, &five, &self->err), 0);
	n = self->t.writes;
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	for (int at = 1; at <= n; at++) {
		self->t.writes = 0;
		self->t.fail_at = at;
		self->t.fail_for = 1;
		self->t.fail = EIO;
		EXPECT_EQ(jetwatt_board_apply(self->b, &five, &self->err), -EIO) TH_LOG("write %d", at);
		self->t.fail_at = 0;
		EXPECT_EQ(tree_get(&self->t, CORE0), 1600000000) TH_LOG("write %d", at);
		EXPECT_EQ(tree_get(&self->t, CORE1), 1600000000) TH_LOG("write %d", at);
		EXPECT_EQ(tree_get(&self->t, EMC6), 3199000000) TH_LOG("write %d", at);
	}
}

TEST_F(dla, unknown_level_is_refused)
{
	struct jetwatt_mode mode = five;

	mode.dla_hz = 700000000;
	ASSERT_EQ(jetwatt_board_apply(self->b, &mode, &self->err), -EINVAL);
	EXPECT_STREQ(self->err.what, "DLA has no level 700000000 Hz");
	EXPECT_STREQ(self->err.why, "the nearest levels are 614400000 and 908800000");
	EXPECT_EQ(self->t.writes, 0);
}

/* The saved state contains the DLA clocks, and the board, opened again, restores them from it. */
TEST_F(dla, saved_state_includes_dla)
{
	char path[PATH_MAX], text[4096] = "";
	FILE *f;

	ASSERT_EQ(jetwatt_board_apply(self->b, &five, &self->err), 0);
	snprintf(path, sizeof(path), "%s/saved", self->t.state);
	f = fopen(path, "r");
	ASSERT_NE(f, NULL);
	ASSERT_GT(fread(text, 1, sizeof(text) - 1, f), 0);
	fclose(f);
	EXPECT_NE(strstr(text, "\ndla bus/platform/devices/15880000.nvdla0/clk_cap/dla0_core 1600000000\n"), NULL);
	EXPECT_NE(strstr(text, "\ndla bus/platform/devices/158c0000.nvdla1/clk_cap/dla1_core 1600000000\n"), NULL);
	EXPECT_EQ(strstr(text, "falcon"), NULL);
	jetwatt_board_close(self->b);
	ASSERT_EQ(open_tree(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, CORE1), 1600000000);
}

TEST_F(dla, dla_of_jetpack_5_is_found)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
	tree_orin(&self->t);
	tree_dla(&self->t, true);
	ASSERT_EQ(open_tree(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &five, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, DLA "158c0000.nvdla1/acm/clk_cap/dla1_core"), 614400000);
}

/* A board without a DLA works: it only lacks an optional knob. */
TEST_F(dla, board_without_dla)
{
	jetwatt_board_close(self->b);
	tree_free(&self->t);
	tree_orin(&self->t);
	ASSERT_EQ(open_tree(&self->t, &self->b, &self->err), 0);
	ASSERT_NE(jetwatt_board_lacks(self->b, JETWATT_KNOB_DLA), NULL);
	EXPECT_EQ(jetwatt_board_grid_include(self->b, JETWATT_KNOB_DLA), -ENODEV);
	ASSERT_EQ(jetwatt_board_apply(self->b, &five, &self->err), -EINVAL);
	EXPECT_NE(strstr(self->err.what, "no DLA clock to control"), NULL);
	EXPECT_EQ(jetwatt_board_apply(self->b, &four, &self->err), 0) TH_LOG("%s", self->err.what);
}

/* The paths and caps are those of LineageOS/android_device_nvidia_concord,
 * nvpmodel/nvpmodel_p3767_0000_super.conf. Its mode 15W uses one accelerator, and caps the other at
 * its lowest clock. */
TEST_F(dla, presets_set_the_dla_clock)
{
	static const char conf[] =
		"< PARAM TYPE=FILE NAME=CPU_ONLINE >\nCORE_0 /sys/devices/system/cpu/cpu0/online\n"
		"< PARAM TYPE=CLOCK NAME=DLA0_CORE >\n"
		"MAX_FREQ /sys/devices/platform/13e40000.host1x/15880000.nvdla0/acm/clk_cap/dla0_core\n"
		"MAX_FREQ_KNEXT /sys/devices/platform/bus@0/13e00000.host1x/15880000.nvdla0/clk_cap/dla0_core\n"
		"< PARAM TYPE=CLOCK NAME=DLA1_CORE >\n"
		"MAX_FREQ /sys/devices/platform/13e40000.host1x/158c0000.nvdla1/acm/clk_cap/dla1_core\n"
		"< PARAM TYPE=CLOCK NAME=DLA0_FALCON >\n"
		"MAX_FREQ /sys/devices/platform/13e40000.host1x/15880000.nvdla0/acm/clk_cap/dla0_falcon\n"
		"< POWER_MODEL ID=0 NAME=MAXN_SUPER >\nCPU_ONLINE CORE_0 1\nDLA0_CORE MAX_FREQ -1\n"
		"DLA1_CORE MAX_FREQ -1\n"
		"< POWER_MODEL ID=2 NAME=15W >\nCPU_ONLINE CORE_0 1\nDLA0_CORE MAX_FREQ 614400000\n"
		"DLA1_CORE MAX_FREQ 115000000\nDLA0_FALCON MAX_FREQ 294400000\n"
		"< POWER_MODEL ID=5 NAME=mine >\nCPU_ONLINE CORE_0 1\nDLA0_CORE MAX_FREQ 614400000\n"
		"DLA1_CORE MAX_FREQ -1\n";
	struct jetwatt_presets *p;
	struct jetwatt_mode m;
	unsigned int line;
	const char *why;

	ASSERT_EQ(jetwatt_presets_parse(conf, sizeof(conf) - 1, &p, &line, &why), 0) TH_LOG("%s", why);
	EXPECT_EQ(p->preset[0].cap[JETWATT_KNOB_DLA], JETWATT_PRESET_UNCAPPED);
	EXPECT_EQ(p->preset[1].cap[JETWATT_KNOB_DLA], 614400000);
	EXPECT_EQ(p->preset[2].cap[JETWATT_KNOB_DLA], JETWATT_PRESET_UNCAPPED);
	/* The mode that corresponds to the preset has a DLA clock only if the grid has one. */
	jetwatt_preset_mode(self->b, &p->preset[1], &m);
	EXPECT_EQ(m.dla_hz, 0);
	ASSERT_EQ(jetwatt_board_grid_include(self->b, JETWATT_KNOB_DLA), 0);
	jetwatt_preset_mode(self->b, &p->preset[1], &m);
	EXPECT_EQ(m.dla_hz, 614400000);
	jetwatt_preset_mode(self->b, &p->preset[0], &m);
	EXPECT_EQ(m.dla_hz, 1600000000);
	jetwatt_presets_free(p);
}

TEST_HARNESS_MAIN
