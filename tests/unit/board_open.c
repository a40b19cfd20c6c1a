// SPDX-License-Identifier: GPL-2.0-only
/* Identification of a board and its knobs; errors name what is missing; damaged state is
 * refused. */
#include "board_tree.h"
#include "kselftest_harness.h"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

FIXTURE_SETUP(board) {
	memset(&self->err, 0, sizeof(self->err));
	self->b = NULL;
	tree_orin(&self->t);
}

FIXTURE_TEARDOWN(board) {
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

static void compatible(const struct tree *t, const char *board)
{
	tree_put(t, "proc/device-tree/compatible", "%s", board);
}

TEST_F(board, agx_orin)
{
	struct jetwatt_mode *modes, m;
	const uint64_t *cores, *cpu;
	const uint64_t *gpu, *emc;

	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_STREQ(jetwatt_board_name(self->b), "Jetson AGX Orin");
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_CORES, &cores), 12);
	EXPECT_EQ(cores[0], 1);
	EXPECT_EQ(cores[11], 12);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_CPU, &cpu), 7);
	EXPECT_EQ(cpu[6], 2201600);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_GPU, &gpu), 4);
	EXPECT_EQ(gpu[0], 114750000);
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &emc), 4);
	EXPECT_EQ(emc[1], 665600000);
	ASSERT_EQ(jetwatt_board_modes(self->b, &modes), 12 * 7 * 4 * 4);
	EXPECT_EQ(modes[12 * 7 * 4 * 4 - 1].emc_hz, 3199000000);
	free(modes);
	ASSERT_EQ(jetwatt_board_read(self->b, &m), 0);
	EXPECT_EQ(m.cores, 12);
	EXPECT_EQ(m.cpu_khz, 2201600);
	EXPECT_EQ(m.gpu_hz, 1300500000);
	EXPECT_EQ(m.emc_hz, 3199000000);
}

TEST_F(board, levels_come_from_the_table_without_sysfs)
{
	const uint64_t *cpu;
	const uint64_t *v;

	drop(&self->t, GPU "available_frequencies");
	drop(&self->t, BPMP "emc/possible_rates");
	for (int p = 0; p < 12; p += 4) {
		char path[96];

		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/scaling_available_frequencies", p);
		drop(&self->t, path);
	}
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_CPU, &cpu), 29);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_GPU, &v), 13);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &v), 4);
	EXPECT_EQ(v[3], 3199000000);

	/* On an unknown board, the lowest and the highest level of each knob come from the
	 * drivers. */
	compatible(&self->t, "acme,toaster");
	tree_put(&self->t, "proc/device-tree/model", "ACME Toaster");
	tree_put(&self->t, CPU "cpufreq/policy0/cpuinfo_min_freq", "100000\n");
	tree_put(&self->t, CPU "cpufreq/policy0/cpuinfo_max_freq", "900000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_NE(jetwatt_board_lacks(self->b, JETWATT_KNOB_EMC), NULL);
	EXPECT_NE(strstr(jetwatt_board_lacks(self->b, JETWATT_KNOB_EMC)->what, "memory"), NULL);
	EXPECT_NE(strstr(jetwatt_board_lacks(self->b, JETWATT_KNOB_EMC)->fix, "debugfs"), NULL);
	tree_put(&self->t, BPMP "clk/emc/min_rate", "204000000\n");
	tree_put(&self->t, BPMP "clk/emc/max_rate", "1600000000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_STREQ(jetwatt_board_name(self->b), "ACME Toaster");
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_CPU, &cpu), 2);
	EXPECT_EQ(cpu[1], 900000);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_GPU, &v), 2);
	EXPECT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_EMC, &v), 2);
	EXPECT_EQ(v[1], 1600000000);
}

TEST_F(board, no_cpu_is_an_error)
{
	drop(&self->t, "sys");
	EXPECT_LT(look(&self->t, &self->b, &self->err), 0);
	EXPECT_EQ(look(&self->t, &self->b, NULL), -ENOENT);
}

/* In JetPack 5, a memory cap of 0 means no cap; jetwatt restores such a cap as 0. */
TEST_F(board, jetpack_5_memory_cap)
{
	struct jetwatt_mode m = { 12, 2201600, 1300500000, 2133000000 }, is;

	drop(&self->t, EMC6);
	tree_put(&self->t, EMC5, "0\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_read(self->b, &is), 0);
	EXPECT_EQ(is.emc_hz, 3199000000);
	tree_put(&self->t, BPMP "clk/emc/rate", "2133000000\n");
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, EMC5), 2133000000);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	EXPECT_EQ(tree_get(&self->t, EMC5), 0);
}

/* Thor's memory controller is a devfreq device, and its GPU has two devfreq devices. */
TEST_F(board, thor)
{
	struct jetwatt_mode m;
	const uint64_t *v;

	drop(&self->t, EMC6);
	drop(&self->t, "sys/class/devfreq");
	compatible(&self->t, "nvidia,p3971-0089+p3834-0008");
	for (int i = 0; i < 2; i++) {
		const char *name[] = { "gpu-nvd-0", "gpu-gpc-0" };
		char path[96];

		snprintf(path, sizeof(path), "sys/class/devfreq/%s/available_frequencies", name[i]);
		tree_put(&self->t, path, i ? "315000000 1575000000\n" : "1 2 3\n");
		snprintf(path, sizeof(path), "sys/class/devfreq/%s/min_freq", name[i]);
		tree_put(&self->t, path, "315000000\n");
		snprintf(path, sizeof(path), "sys/class/devfreq/%s/max_freq", name[i]);
		tree_put(&self->t, path, "1575000000\n");
	}
	tree_put(&self->t, "sys/class/devfreq/bwmgr/available_frequencies", "665600000 4266000000\n");
	tree_put(&self->t, "sys/class/devfreq/bwmgr/max_freq", "4266000000\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_STREQ(jetwatt_board_name(self->b), "Jetson AGX Thor");
	ASSERT_EQ(jetwatt_board_levels(self->b, JETWATT_KNOB_GPU, &v), 2);
	EXPECT_EQ(v[1], 1575000000);
	m = (struct jetwatt_mode){ 8, 1113600, 315000000, 665600000 };
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, "sys/class/devfreq/bwmgr/max_freq"), 665600000);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	EXPECT_EQ(tree_get(&self->t, "sys/class/devfreq/bwmgr/max_freq"), 4266000000);
}

static int total(struct jetwatt_board *b, const char *labels, char *out, const char **scope)
{
	struct jetwatt_rail r[16];
	int rail[16], n = 0, taken;
	char text[256], *save, *p;

	memset(r, 0, sizeof(r));
	snprintf(text, sizeof(text), "%s", labels);
	for (p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		/* "-": disabled; "?": shunt not known; "+": the kernel module counts the rail in
		 * its total */
		r[n].enabled = *p != '-';
		r[n].shunt_uohm = *p == '?' ? 0 : 2000;
		r[n].in_total = *p == '+';
		snprintf(r[n++].label, sizeof(r[0].label), "%s", p + !!strchr("-?+", *p));
	}
	taken = jetwatt_board_total(b, r, n, rail, scope);
	out[0] = '\0';
	for (int i = 0; i < taken; i++)
		sprintf(out + strlen(out), "%s%s", i ? "+" : "", r[rail[i]].label);
	return taken;
}

TEST_F(board, rails_of_the_total_and_scope)
{
	static const struct {
		const char *board, *rails, *total, *scope;
	} c[] = {
		{ "nvidia,p3701-0000", "VDD_GPU_SOC VDD_CPU_CV VIN_SYS_5V0 VDDQ_VDD2_1V8AO",
		  "VDD_GPU_SOC+VDD_CPU_CV+VIN_SYS_5V0", "module" },
		{ "nvidia,p3701-0005", "VDD_GPU_SOC VDD_CPU_CV -VIN_SYS_5V0 VDDQ_VDD2_1V8AO",
		  "VDD_GPU_SOC+VDD_CPU_CV+VDDQ_VDD2_1V8AO", "partial sum" },
		{ "nvidia,p3701-0000", "VDD_GPU_SOC VDD_CPU_CV VIN_SYS_5V0 CVB_ATX_12V",
		  "VDD_GPU_SOC+VDD_CPU_CV+VIN_SYS_5V0", "module" },
		{ "nvidia,p3701-0000", "VDD_GPU_SOC VDD_GPU_SOC VDD_CPU_CV VIN_SYS_5V0",
		  "VDD_GPU_SOC+VDD_CPU_CV+VIN_SYS_5V0", "module" },
		{ "nvidia,p3509-0000+p3767-0000", "VDD_IN VDD_CPU_GPU_CV VDD_SOC", "VDD_IN", "module" },
		{ "nvidia,p3768-0000+p3767-0005", "-VDD_IN VDD_CPU_GPU_CV VDD_SOC",
		  "VDD_CPU_GPU_CV+VDD_SOC", "partial sum" },
		{ "nvidia,p2972-0000\0nvidia,p2888-0001", "GPU CPU SOC CV VDDRQ SYS5V",
		  "GPU+CPU+SOC+CV+VDDRQ+SYS5V", "module" },
		{ "nvidia,p3668-0000", "VDD_IN VDD_CPU_GPU_CV VDD_SOC", "VDD_IN", "module" },
		{ "nvidia,p3834-0008", "VDD_GPU VDD_CPU_SOC_MSS VIN_SYS_5V0",
		  "VDD_GPU+VDD_CPU_SOC_MSS+VIN_SYS_5V0", "module" },
		{ "nvidia,p3834-0008", "VDD_GPU VDD_CPU_SOC_MSS VIN_SYS_5V0 VIN",
		  "VDD_GPU+VDD_CPU_SOC_MSS+VIN_SYS_5V0", "module" },
		{ "nvidia,p3834-0008", "VIN", "VIN", "board" },
		{ "acme,toaster", "HEATER FAN", "HEATER+FAN", "partial sum" },
		{ "acme,toaster", "VDD_IN HEATER VDD_SOC", "VDD_IN", "partial sum" },
		{ "acme,toaster", "VIN_SYS_5V0 VDDQ_VDD2_1V8AO", "VIN_SYS_5V0", "partial sum" },
		{ "nvidia,p3701-0000", "-VDD_GPU_SOC", "", "partial sum" },
		{ "nvidia,p3701-0000", "VDD_GPU_SOC ?VDD_CPU_CV VIN_SYS_5V0",
		  "VDD_GPU_SOC+VIN_SYS_5V0", "partial sum" },
		{ "nvidia,p2972-0000", "GPU CPU SOC CV VDDRQ SYS5V", "GPU+CPU+SOC+CV+VDDRQ+SYS5V", "module" },
		{ "nvidia,jetson-xavier-industrial", "GPU CPU SOC CV VDDRQ SYS5V",
		  "GPU+CPU+SOC+CV+VDDRQ+SYS5V", "module" },
		{ "nvidia,galen-0006", "GPU CPU SOC CV VDDRQ SYS5V", "GPU+CPU+SOC+CV+VDDRQ+SYS5V", "module" },
		{ "acme,toaster", "+VDD_GPU +VDD_CPU_SOC_MSS +VIN_SYS_5V0 VIN",
		  "VDD_GPU+VDD_CPU_SOC_MSS+VIN_SYS_5V0", "partial sum" },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const char *scope;
		char sum[256];

		compatible(&self->t, i == 6 ? "nvidia,p2888-0001" : c[i].board);
		ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
		total(self->b, c[i].rails, sum, &scope);
		EXPECT_STREQ(sum, c[i].total) TH_LOG("case %zu", i);
		EXPECT_STREQ(scope, c[i].scope) TH_LOG("case %zu", i);
	}
	compatible(&self->t, "nvidia,p3701-0000");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_STREQ(jetwatt_board_parent(self->b, "VDDQ_VDD2_1V8AO"), "VIN_SYS_5V0");
	EXPECT_EQ(jetwatt_board_parent(self->b, "VDD_GPU_SOC"), NULL);
	EXPECT_EQ(jetwatt_board_parent(self->b, "?"), NULL);
}

TEST_F(board, modes_to_text_and_back)
{
	static const char * const bad[] = {
		"", "c8", "c8-1728000", "c8-1728000-g624750000", "8-1728000-g624750000-e3199000000",
		"c8-1728000-g624750000-e3199000000 ", "c8-1728000-g624750000-e3199000000x",
		"c-1-g1-e1", "c0-1-g1-e1", "c-8-1-g1-e1", "c99999999999-1-g1-e1",
		"c8-1728000-g99999999999999999999-e1", "MAXNX", "c8-+1-g1-e1", "c8- 1-g1-e1",
	};
	struct jetwatt_mode m = { 8, 1728000, 624750000, 3199000000 }, back;
	char text[64];

	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_mode_format(&m, text, sizeof(text)), 0);
	EXPECT_STREQ(text, "c8-1728000-g624750000-e3199000000");
	ASSERT_EQ(jetwatt_board_mode_parse(self->b, text, &back), 0);
	EXPECT_EQ(memcmp(&m, &back, sizeof(m)), 0);
	EXPECT_EQ(jetwatt_board_mode_format(&m, text, 8), -ENOSPC);
	ASSERT_EQ(jetwatt_board_mode_parse(self->b, "maxn", &back), 0);
	EXPECT_EQ(back.gpu_hz, 1300500000);
	EXPECT_EQ(back.cores, 12);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(jetwatt_board_mode_parse(self->b, bad[i], &back), -EINVAL)
			TH_LOG("\"%s\"", bad[i]);
	}
}

static size_t slurp(const struct tree *t, char *buf, size_t len)
{
	char name[PATH_MAX];
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "%s/saved", t->state);
	f = fopen(name, "r");
	n = f ? fread(buf, 1, len, f) : 0;
	if (f)
		fclose(f);
	return n;
}

static void spit(const struct tree *t, const char *buf, size_t len)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof(name), "%s/saved", t->state);
	f = fopen(name, "w");
	if (!f || fwrite(buf, 1, len, f) != len)
		abort();
	fclose(f);
}

/* A saved state that is truncated or has a flipped bit is refused, and no knob is written. */
TEST_F(board, damaged_saved_state_is_refused)
{
	struct jetwatt_mode m = { 4, 422400, 420750000, 665600000 };
	char good[4096], bad[4096], before[512], after[512];
	size_t len;

	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0);
	len = slurp(&self->t, good, sizeof(good));
	ASSERT_GT(len, 100);
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	tree_state(&self->t, before, sizeof(before));
	self->t.writes = 0;
	for (size_t i = 0; i < len; i += 3) {
		spit(&self->t, good, i);
		EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -EBADMSG) TH_LOG("cut at %zu", i);
		memcpy(bad, good, len);
		bad[i] ^= 1 << i % 7;
		spit(&self->t, bad, len);
		EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -EBADMSG) TH_LOG("byte %zu", i);
		EXPECT_NE(self->err.fix[0], 0);
	}
	/* A damaged saved state is not overwritten by a new one. */
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EBADMSG);
	EXPECT_EQ(jetwatt_board_save(self->b, &self->err), -EBADMSG);
	EXPECT_EQ(self->t.writes, 0);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, before);
	spit(&self->t, good, len);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
}

TEST_F(board, saved_state_of_an_earlier_boot_is_replaced)
{
	struct jetwatt_mode m = { 4, 422400, 420750000, 665600000 };
	char now[512], again[512];
	int owner;

	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0);
	/* After a reboot, the knobs have the values that the firmware sets, not the saved
	 * values. */
	for (int p = 0; p < 12; p += 4) {
		char path[96];

		for (int c = p; c < p + 4; c++) {
			snprintf(path, sizeof(path), CPU "cpu%d/online", c);
			tree_put(&self->t, path, "1\n");
		}
		tree_cluster(&self->t, p);
		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/scaling_max_freq", p);
		tree_put(&self->t, path, "1728000\n");
	}
	tree_put(&self->t, "proc/sys/kernel/random/boot_id", "another\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	tree_state(&self->t, now, sizeof(now));
	/* The saved state of the earlier boot is not restored, because jetwatt has changed no
	 * knob in this boot. */
	self->t.writes = 0;
	EXPECT_EQ(jetwatt_board_saved_owner(self->b, &owner), 0);
	EXPECT_EQ(jetwatt_board_restore(self->b, &self->err), -ENOENT);
	EXPECT_EQ(self->t.writes, 0);
	m.cores = 8;
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	tree_state(&self->t, again, sizeof(again));
	EXPECT_STREQ(again, now);
}

/* If the state directory cannot be written, no knob is written. */
TEST_F(board, no_write_without_a_saved_state)
{
	struct jetwatt_mode m = { 4, 422400, 420750000, 665600000 };

	tree_put(&self->t, "var/lib/jetwatt", "a file where the directory should be\n");
	ASSERT_EQ(look(&self->t, &self->b, &self->err), 0);
	EXPECT_LT(jetwatt_board_apply(self->b, &m, &self->err), 0);
	EXPECT_NE(self->err.what[0], 0);
	EXPECT_NE(self->err.why[0], 0);
	EXPECT_EQ(self->t.writes, 0);
	drop(&self->t, "var/lib/jetwatt");
	tree_put(&self->t, "var/lib/jetwatt/saved.new/in/the/way", "\n");
	EXPECT_LT(jetwatt_board_apply(self->b, &m, &self->err), 0);
	EXPECT_EQ(self->t.writes, 0);
}

/* Without the write hook of the other tests, jetwatt writes to plain files; one file is
 * read-only. */
TEST_F(board, writes_to_real_files)
{
	struct jetwatt_board_roots roots = tree_roots(&self->t);
	struct jetwatt_mode m = { 12, 422400, 420750000, 2133000000 };
	char name[PATH_MAX], before[512], after[512];

	roots.write = NULL;
	tree_put(&self->t, BPMP "clk/emc/rate", "204000000\n");
	ASSERT_EQ(jetwatt_board_open(&self->b, &roots, &self->err), 0);
	tree_state(&self->t, before, sizeof(before));
	ASSERT_EQ(jetwatt_board_apply(self->b, &m, &self->err), 0) TH_LOG("%s", self->err.what);
	EXPECT_EQ(tree_get(&self->t, GPU "max_freq"), 420750000);
	ASSERT_EQ(jetwatt_board_restore(self->b, &self->err), 0);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, before);
	if (!geteuid())
		return;		/* root may write any file */
	snprintf(name, sizeof(name), "%s/" EMC6, self->t.root);
	chmod(name, 0444);
	EXPECT_EQ(jetwatt_board_apply(self->b, &m, &self->err), -EPERM);
	EXPECT_NE(strstr(self->err.fix, "root"), NULL);
	tree_state(&self->t, after, sizeof(after));
	EXPECT_STREQ(after, before);
}

TEST_HARNESS_MAIN
