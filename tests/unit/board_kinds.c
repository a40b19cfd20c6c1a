// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boards of the table (user/board/identity.c), simulated as their JetPack releases show them in
 * sysfs: CPU clusters, names of the GPU, caps of the memory clock, rails, and the rails of the
 * total. Also boards without a device tree.
 */
#include "board_tree.h"
#include "kselftest_harness.h"

/*
 * struct kind - sysfs files and expected results of a board
 * @compatible: text in the device tree; NULL: the board has no device tree
 * @name: name of the board; NULL: not checked
 * @cpus, @cluster: number of CPUs, and number of CPUs that share a clock
 * @gpu: its devfreq device
 * @emc: file of the memory cap
 * @uncapped: value of @emc without a cap
 * @steps: levels of the memory clock in kHz; "": only the lowest and the highest clock are known
 * @rails: labels of the board's rails
 * @sum: labels of the rails that the total power is the sum of
 * @scope: scope of the total power; NULL: not stated
 */
struct kind {
	const char *compatible, *name;
	int cpus, cluster;
	const char *gpu, *emc, *uncapped, *steps;
	const char *rails[8], *sum, *scope;
};

static const struct kind kinds[] = {
	{ "nvidia,p2822-0000+p2888-0001", "Jetson AGX Xavier", 8, 2, "17000000.gv11b", EMC5, "0",
	  "204000 1331200 2133000", { "GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V" },
	  "GPU CPU SOC CV VDDRQ SYS5V ", "module" },
	{ "nvidia,p3509-0000+p3668-0001", "Jetson Xavier NX", 6, 2, "17000000.gv11b", EMC5, "0",
	  "204000 1866000", { "VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC" }, "VDD_IN ", "module" },
	{ "nvidia,p3737-0000+p3701-0004", "Jetson AGX Orin", 8, 4, "17000000.ga10b", EMC5, "0",
	  "204000 3199000", { "VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO" },
	  "VDD_GPU_SOC VDD_CPU_CV VIN_SYS_5V0 ", "module" },
	{ "nvidia,p3768-0000+p3767-0000", "Jetson Orin NX", 8, 4, "17000000.gpu", EMC6,
	  "9223372036854775807", "204000 3199000", { "VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC" },
	  "VDD_IN ", "module" },
	{ "nvidia,p3768-0000+p3767-0005", "Jetson Orin Nano", 6, 4, "17000000.gpu", EMC6,
	  "9223372036854775807", "204000 2133000", { "VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC" },
	  "VDD_IN ", "module" },
	{ "nvidia,p3971-0000+p3834-0008", "Jetson AGX Thor", 14, 2, "gpu-gpc-0",
	  "sys/class/devfreq/bwmgr/max_freq", "4266000000", "",
	  { "VIN", "VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0" },
	  "VDD_GPU VDD_CPU_SOC_MSS VIN_SYS_5V0 ", "module" },
	/* The carrier board has no INA238, so only the three rails of the Jetson module exist. */
	{ "nvidia,p3971-0000+p3834-0008", "Jetson AGX Thor", 14, 2, "gpu-gpc-0",
	  "sys/class/devfreq/bwmgr/max_freq", "4266000000", "",
	  { "VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0" }, "VDD_GPU VDD_CPU_SOC_MSS VIN_SYS_5V0 ",
	  "module" },
	/* Without a device tree, the rails of the total follow from the labels of the rails. */
	{ NULL, NULL, 4, 4, "57000000.gpu", EMC5, "0", "204000 1600000",
	  { "POM_5V_IN", "POM_5V_GPU", "POM_5V_CPU" }, "POM_5V_IN ", NULL },
	{ NULL, NULL, 4, 4, "57000000.gpu", EMC5, "0", "204000 1600000",
	  { "VDD_MUX", "VDD_X" }, "VDD_MUX VDD_X ", NULL },
};

#define NR (sizeof(kinds) / sizeof(kinds[0]))

static void build(struct tree *t, const struct kind *k)
{
	char path[160];

	tree_empty(t);
	if (k->compatible)
		tree_put(t, "proc/device-tree/compatible", "%s", k->compatible);
	for (int c = 0; c < k->cpus; c++) {
		snprintf(path, sizeof(path), CPU "cpu%d/online", c);
		tree_put(t, path, "1\n");
		if (c % k->cluster)
			continue;
		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/related_cpus", c);
		tree_put(t, path, "%s", "");
		for (int i = c; i < c + k->cluster && i < k->cpus; i++) {
			char name[PATH_MAX];
			FILE *f;

			snprintf(name, sizeof(name), "%s/%s", t->root, path);
			f = fopen(name, "a");
			fprintf(f, "%d ", i);
			fclose(f);
		}
		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/scaling_available_frequencies", c);
		tree_put(t, path, "115200 729600 1113600\n");
		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/scaling_min_freq", c);
		tree_put(t, path, "115200\n");
		snprintf(path, sizeof(path), CPU "cpufreq/policy%d/scaling_max_freq", c);
		tree_put(t, path, "1113600\n");
	}
	snprintf(path, sizeof(path), "sys/class/devfreq/%s/available_frequencies", k->gpu);
	tree_put(t, path, "114750000 318750000 1032750000\n");
	snprintf(path, sizeof(path), "sys/class/devfreq/%s/min_freq", k->gpu);
	tree_put(t, path, "114750000\n");
	snprintf(path, sizeof(path), "sys/class/devfreq/%s/max_freq", k->gpu);
	tree_put(t, path, "1032750000\n");
	tree_put(t, k->emc, "%s\n", k->uncapped);
	if (*k->steps) {
		tree_put(t, BPMP "emc/possible_rates", "%s\n", k->steps);
		return;
	}
	tree_put(t, "sys/class/devfreq/gpu-nvd-0/max_freq", "999000000\n");
	tree_put(t, "sys/class/devfreq/bwmgr/available_frequencies", "665600000 4266000000\n");
	tree_put(t, "sys/class/devfreq/bwmgr/min_freq", "665600000\n");
}

/* Write a knob: a plain file stores the written text, as the knobs of these boards do. */
static int put(const char *path, const char *text, void *arg)
{
	FILE *f = fopen(path, "r+");
	int bad;

	(void)arg;
	if (!f)
		return -errno;
	bad = ftruncate(fileno(f), 0) || fputs(text, f) < 0;
	return fclose(f) || bad ? -EIO : 0;
}

static int open_tree(struct tree *t, struct jetwatt_board **b, struct jetwatt_error_text *err)
{
	struct jetwatt_board_roots roots = { .sys = t->sys, .proc = t->proc, .state = t->state,
					     .etc = t->root, .write = put };

	return jetwatt_board_open(b, &roots, err);
}

static const char *total(struct jetwatt_board *b, const struct kind *k, char *sum, const char **scope)
{
	struct jetwatt_rail rail[8];
	int index[8], n = 0, taken;

	memset(rail, 0, sizeof(rail));
	for (; n < 8 && k->rails[n]; n++) {
		snprintf(rail[n].label, sizeof(rail[n].label), "%s", k->rails[n]);
		rail[n].enabled = 1;
		rail[n].shunt_uohm = 2000;
	}
	taken = jetwatt_board_total(b, rail, n, index, scope);
	sum[0] = '\0';
	for (int i = 0; i < taken; i++)
		sprintf(sum + strlen(sum), "%s ", rail[index[i]].label);
	return sum;
}

TEST(every_board_is_identified_with_its_total)
{
	for (size_t i = 0; i < NR; i++) {
		struct jetwatt_error_text err = { "", "", "" };
		struct jetwatt_board *b = NULL;
		const char *scope = "";
		const uint64_t *v;
		char sum[128];
		struct tree t;

		build(&t, &kinds[i]);
		ASSERT_EQ(open_tree(&t, &b, &err), 0) TH_LOG("%zu: %s: %s", i, err.what, err.why);
		if (kinds[i].name) {
			EXPECT_STREQ(jetwatt_board_name(b), kinds[i].name);
		}
		EXPECT_NE(*jetwatt_board_name(b), 0);
		EXPECT_EQ(jetwatt_board_levels(b, JETWATT_KNOB_CORES, &v), kinds[i].cpus);
		EXPECT_EQ(jetwatt_board_levels(b, JETWATT_KNOB_GPU, &v), 3);
		EXPECT_EQ(jetwatt_board_levels(b, JETWATT_KNOB_EMC, &v), *kinds[i].steps == '2' && i == 0 ? 3 : 2);
		EXPECT_STREQ(total(b, &kinds[i], sum, &scope), kinds[i].sum);
		/* If the table states no scope for a board, the scope of the total must not be
		 * "module". */
		EXPECT_TRUE(kinds[i].scope ? !strcmp(scope, kinds[i].scope) : strcmp(scope, "module"))
			TH_LOG("%zu: %s", i, scope);
		jetwatt_board_close(b);
		tree_free(&t);
	}
}

/* Every board is switched to a low mode, which sets the clock of each CPU cluster, and restored. */
TEST(every_board_is_switched_and_restored)
{
	for (size_t i = 0; i < NR; i++) {
		const struct kind *k = &kinds[i];
		struct jetwatt_error_text err = { "", "", "" };
		struct jetwatt_mode low = { 3, 729600, 318750000, 0 }, is;
		struct jetwatt_board *b = NULL;
		const uint64_t *emc;
		char path[160];
		struct tree t;

		build(&t, k);
		ASSERT_EQ(open_tree(&t, &b, &err), 0);
		jetwatt_board_levels(b, JETWATT_KNOB_EMC, &emc);
		low.emc_hz = emc[0];
		ASSERT_EQ(jetwatt_board_apply(b, &low, &err), 0) TH_LOG("%zu: %s: %s", i, err.what, err.why);
		ASSERT_EQ(jetwatt_board_read(b, &is), 0);
		EXPECT_EQ(memcmp(&is, &low, sizeof(is)), 0);
		for (int c = 0; c < k->cpus; c++) {
			EXPECT_EQ(tree_get(&t, CPU "cpu%d/online", c), c < 3);
		}
		snprintf(path, sizeof(path), "sys/class/devfreq/%s/max_freq", k->gpu);
		EXPECT_EQ(tree_get(&t, path), 318750000);
		EXPECT_EQ(tree_get(&t, k->emc), (long long)emc[0]);
		/* The second clock of Thor's GPU is not a knob, so a switch does not change it. */
		EXPECT_TRUE(*k->steps || tree_get(&t, "sys/class/devfreq/gpu-nvd-0/max_freq") == 999000000);
		ASSERT_EQ(jetwatt_board_restore(b, &err), 0) TH_LOG("%zu: %s: %s", i, err.what, err.why);
		for (int c = 0; c < k->cpus; c++) {
			EXPECT_EQ(tree_get(&t, CPU "cpu%d/online", c), 1);
		}
		EXPECT_EQ(tree_get(&t, k->emc), atoll(k->uncapped));
		jetwatt_board_close(b);
		tree_free(&t);
	}
}

/* Read the release and the settings other than knobs that affect a mode's power. */
TEST(release_and_parameters_are_read)
{
	struct jetwatt_error_text err;
	struct jetwatt_board *b = NULL;
	char text[256];
	struct tree t;

	build(&t, &kinds[3]);
	tree_put(&t, "proc/sys/kernel/osrelease", "5.15.148-tegra\n");
	ASSERT_EQ(open_tree(&t, &b, &err), 0);
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "");
	jetwatt_board_release(b, text, sizeof(text));
	EXPECT_STREQ(text, "Linux 5.15.148-tegra");
	tree_put(&t, CPU "cpufreq/policy0/scaling_governor", "schedutil\n");
	tree_put(&t, "sys/class/devfreq/17000000.gpu/governor", "nvhost_podgov\n");
	tree_put(&t, "sys/devices/platform/gpu.0/tpc_pg_mask", "240\n");
	tree_put(&t, "nv_tegra_release", "# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic\n");
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "cpu_governor=schedutil gpu_governor=nvhost_podgov tpc_pg_mask=240");
	jetwatt_board_release(b, text, sizeof(text));
	EXPECT_STREQ(text, "L4T 36.4.3");
	jetwatt_board_params(b, text, 30);
	EXPECT_STREQ(text, "cpu_governor=schedutil");
	tree_put(&t, "nv_tegra_release", "# something else\n");
	jetwatt_board_release(b, text, sizeof(text));
	EXPECT_STREQ(text, "Linux 5.15.148-tegra");
	jetwatt_board_close(b);
	tree_free(&t);
}

/* On Thor, parts of the GPU are gated by a parameter of OpenRM, which /proc lists (JetPack 7.0 and
 * 7.1), or by nv-gpu-static-pg (JetPack 7.2). */
TEST(gpu_mask_of_thor_is_read)
{
	struct jetwatt_error_text err;
	struct jetwatt_board *b = NULL;
	char text[256];
	struct tree t;

	build(&t, &kinds[3]);
	tree_put(&t, "proc/driver/nvidia/params", "DynamicPowerManagement: 2\nTegraGpuPgMask: 512\n");
	ASSERT_EQ(open_tree(&t, &b, &err), 0);
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "gpu_pg_mask=512");
	/* The driver reports 4294967295 if the mask of disabled GPU parts is not set. */
	tree_put(&t, "proc/driver/nvidia/params", "TegraGpuPgMask: 4294967295\n");
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "");
	tree_put(&t, "sys/kernel/gpu_static_pg/gpu_pg_mask", "17353\n");
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "gpu_pg_mask=17353");
	tree_put(&t, "proc/driver/nvidia/params", "TegraGpuPgMask: 512\n");
	jetwatt_board_params(b, text, sizeof(text));
	EXPECT_STREQ(text, "gpu_pg_mask=512");
	jetwatt_board_close(b);
	tree_free(&t);
}

static void only_identity(struct tree *t, const char *compatible)
{
	char name[PATH_MAX];

	tree_orin(t);
	tree_put(t, "proc/device-tree/compatible", "%s", compatible);
	snprintf(name, sizeof(name), "%s/" GPU "available_frequencies", t->root);
	unlink(name);
	snprintf(name, sizeof(name), "%s/" BPMP "emc/possible_rates", t->root);
	unlink(name);
	for (int p = 0; p < 12; p += 4) {
		snprintf(name, sizeof(name), "%s/" CPU "cpufreq/policy%d/scaling_available_frequencies",
			 t->root, p);
		unlink(name);
	}
}

/* For an Orin NX or Orin Nano whose sysfs lists no levels, the table's levels end at the clocks of
 * MAXN_SUPER in JetPack 6.2. p3767-0002 is an Orin NX: it uses the power modes of p3767-0000
 * (LineageOS/android_device_nvidia_concord, init/init_concord.cpp). */
TEST(table_has_the_maxn_super_clocks)
{
	static const struct {
		const char *compatible, *name;
		uint32_t cpu_khz;
		uint64_t gpu_hz, emc_hz;
	} c[] = {
		{ "nvidia,p3768-0000+p3767-0000-super", "Jetson Orin NX", 1984000, 1173000000, 3199000000 },
		{ "nvidia,p3768-0000+p3767-0002", "Jetson Orin NX", 1984000, 1173000000, 3199000000 },
		{ "nvidia,p3768-0000+p3767-0005-super", "Jetson Orin Nano", 1728000, 1020000000,
		  3199000000 },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct jetwatt_error_text err;
		struct jetwatt_board *b = NULL;
		struct jetwatt_mode top;
		struct tree t;

		only_identity(&t, c[i].compatible);
		ASSERT_EQ(open_tree(&t, &b, &err), 0) TH_LOG("%s", err.what);
		EXPECT_STREQ(jetwatt_board_name(b), c[i].name);
		ASSERT_EQ(jetwatt_board_mode_parse(b, "MAXN", &top), 0);
		EXPECT_EQ(top.cpu_khz, c[i].cpu_khz);
		EXPECT_EQ(top.gpu_hz, c[i].gpu_hz);
		EXPECT_EQ(top.emc_hz, c[i].emc_hz);
		jetwatt_board_close(b);
		tree_free(&t);
	}
}

TEST_HARNESS_MAIN
