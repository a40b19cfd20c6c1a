// SPDX-License-Identifier: GPL-2.0-only
/* Presets: every dialect of nvpmodel.conf, conversion to modes, and new blocks. */
#include "board_tree.h"
#include "board/preset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define CORES4 \
	"< PARAM TYPE=FILE NAME=CPU_ONLINE >\n" \
	"CORE_0 /" CPU "cpu0/online\nCORE_1 /" CPU "cpu1/online\n" \
	"CORE_2 /" CPU "cpu2/online\nCORE_3 /" CPU "cpu3/online\n"
#define ON2 "CPU_ONLINE CORE_0 1\nCPU_ONLINE CORE_1 1\nCPU_ONLINE CORE_2 0\nCPU_ONLINE CORE_3 0\n"
#define ON4 "CPU_ONLINE CORE_0 1\nCPU_ONLINE CORE_1 1\nCPU_ONLINE CORE_2 1\nCPU_ONLINE CORE_3 1\n"

/* nvpmodel.conf of JetPack 4: one CPU clock, the GPU named by its address, and the memory cap in Hz
 * (0: no cap). */
static const char nano[] =
	"# a comment\n\n" CORES4
	"< PARAM TYPE=CLOCK NAME=CPU_A57 >\n"
	"FREQ_TABLE /" CPU "cpu0/cpufreq/scaling_available_frequencies\n"
	"MAX_FREQ /" CPU "cpu0/cpufreq/scaling_max_freq\n"
	"MIN_FREQ /" CPU "cpu0/cpufreq/scaling_min_freq\n"
	"< PARAM TYPE=FILE NAME=GPU_POWER_CONTROL_ENABLE >\n"
	"GPU_PWR_CNTL_EN /sys/devices/57000000.gpu/power/control\n"
	"< PARAM TYPE=CLOCK NAME=GPU >\n"
	"MAX_FREQ /sys/devices/57000000.gpu/devfreq/57000000.gpu/max_freq\n"
	"MIN_FREQ /sys/devices/57000000.gpu/devfreq/57000000.gpu/min_freq\n"
	"< PARAM TYPE=CLOCK NAME=EMC >\n"
	"MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap\n"
	"< POWER_MODEL ID=0 NAME=MAXN >\n" ON4
	"CPU_A57 MIN_FREQ 0\nCPU_A57 MAX_FREQ -1\nGPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on\n"
	"GPU MIN_FREQ 0\nGPU MAX_FREQ -1\nEMC MAX_FREQ 0\n"
	"< POWER_MODEL ID=1 NAME=5W >\n" ON2
	"CPU_A57 MIN_FREQ 0\nCPU_A57 MAX_FREQ 918000\nGPU MIN_FREQ 0\nGPU MAX_FREQ 640000000\n"
	"EMC MAX_FREQ 1600000000\n"
	"< PM_CONFIG DEFAULT=0 >\n";

/* nvpmodel.conf of JetPack 5: clocks of CPU clusters, masks that disable GPU parts, variants for
 * the next kernel, and a fan. */
static const char orin[] =
	CORES4
	"< PARAM TYPE=FILE NAME=TPC_POWER_GATING >\nTPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask\n"
	"< PARAM TYPE=CLOCK NAME=CPU_A78_0 >\n"
	"FREQ_TABLE /" CPU "cpu0/cpufreq/scaling_available_frequencies\n"
	"MAX_FREQ /" CPU "cpu0/cpufreq/scaling_max_freq\nMIN_FREQ /" CPU "cpu0/cpufreq/scaling_min_freq\n"
	"FREQ_TABLE_KNEXT /" CPU "cpufreq/policy0/scaling_available_frequencies\n"
	"MAX_FREQ_KNEXT /" CPU "cpufreq/policy0/scaling_max_freq\n"
	"MIN_FREQ_KNEXT /" CPU "cpufreq/policy0/scaling_min_freq\n"
	"< PARAM TYPE=CLOCK NAME=CPU_A78_1 >\n"
	"MAX_FREQ /" CPU "cpu4/cpufreq/scaling_max_freq\nMIN_FREQ /" CPU "cpu4/cpufreq/scaling_min_freq\n"
	"< PARAM TYPE=CLOCK NAME=GPU >\n"
	"MAX_FREQ_KNEXT /sys/devices/platform/17000000.ga10b/devfreq_dev/max_freq\n"
	"MIN_FREQ_KNEXT /sys/devices/platform/17000000.ga10b/devfreq_dev/min_freq\n"
	"< PARAM TYPE=CLOCK NAME=EMC >\n"
	"MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap\n"
	"MAX_FREQ_KNEXT /sys/kernel/nvpmodel_clk_cap/emc\n"
	"< PARAM TYPE=CLOCK NAME=DLA0_CORE >\nMAX_FREQ /sys/kernel/nvpmodel_clk_cap/dla0_core\n"
	"< POWER_MODEL ID=0 NAME=MAXN >\n" ON4
	"TPC_POWER_GATING TPC_PG_MASK 0\nCPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ -1\n"
	"CPU_A78_1 MIN_FREQ 729600\nCPU_A78_1 MAX_FREQ -1\nGPU MIN_FREQ 0\nGPU MAX_FREQ -1\n"
	"EMC MAX_FREQ 0\nDLA0_CORE MAX_FREQ -1\n"
	"< POWER_MODEL ID=1 NAME=MODE_15W >\r\n" ON2
	"TPC_POWER_GATING TPC_PG_MASK 248\nCPU_A78_0 MAX_FREQ 1113600\nCPU_A78_1 MAX_FREQ 1036800\n"
	"GPU MIN_FREQ 0\nGPU MAX_FREQ 408000000\nEMC MAX_FREQ 2133000000\n"
	"< PM_CONFIG DEFAULT=1 >\n< FAN_CONFIG DEFAULT=quiet >\n";

/* nvpmodel.conf of JetPack 6: one file for two kernels, with ARG_KNEXT for the newer one; paths of
 * platform devices; no space after a "<"; -1, never 0, for "no cap" of the memory clock. The masks
 * of GPU parts are the same in all presets except the smallest ones, because parts of this Jetson
 * module's GPU are always off. As in LineageOS/android_device_nvidia_concord,
 * nvpmodel/nvpmodel_p3767_0000_super.conf. */
#define MASKS(tpc) \
	"FBP_POWER_GATING FBP_PG_MASK 2\nTPC_POWER_GATING TPC_PG_MASK " tpc "\n" \
	"GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on\n"
static const char super[] =
	CORES4
	"< PARAM TYPE=FILE NAME=FBP_POWER_GATING >\nFBP_PG_MASK /sys/devices/gpu.0/fbp_pg_mask\n"
	"FBP_PG_MASK_KNEXT /sys/devices/platform/gpu.0/fbp_pg_mask\n"
	"< PARAM TYPE=FILE NAME=TPC_POWER_GATING >\nTPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask\n"
	"TPC_PG_MASK_KNEXT /sys/devices/platform/gpu.0/tpc_pg_mask\n"
	"< PARAM TYPE=FILE NAME=GPU_POWER_CONTROL_ENABLE >\n"
	"GPU_PWR_CNTL_EN /sys/devices/gpu.0/power/control\n"
	"GPU_PWR_CNTL_EN_KNEXT /sys/devices/platform/gpu.0/power/control\n"
	"< PARAM TYPE=CLOCK NAME=CPU_A78_0 >\n"
	"MAX_FREQ /" CPU "cpu0/cpufreq/scaling_max_freq\nMIN_FREQ /" CPU "cpu0/cpufreq/scaling_min_freq\n"
	"< PARAM TYPE=CLOCK NAME=GPU >\n"
	"MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq\n"
	"MIN_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/min_freq\n"
	"MAX_FREQ_KNEXT /sys/devices/platform/17000000.gpu/devfreq_dev/max_freq\n"
	"MIN_FREQ_KNEXT /sys/devices/platform/17000000.gpu/devfreq_dev/min_freq\n"
	"<PARAM TYPE=CLOCK NAME=EMC >\nMAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap\n"
	"MAX_FREQ_KNEXT /sys/kernel/nvpmodel_clk_cap/emc\n"
	"< PARAM TYPE=CLOCK NAME=PVA0_VPS >\n"
	"MAX_FREQ /sys/devices/platform/13e40000.host1x/16000000.pva0/acm/clk_cap/pva0_vps\n"
	"MAX_FREQ_KNEXT /sys/devices/platform/bus@0/13e00000.host1x/16000000.pva0/clk_cap/pva0_vps\n"
	"< POWER_MODEL ID=0 NAME=MAXN_SUPER >\n" ON4 MASKS("240")
	"CPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ -1\n"
	"GPU MIN_FREQ 0\nGPU MAX_FREQ -1\nEMC MAX_FREQ -1\nPVA0_VPS MAX_FREQ -1\n"
	"< POWER_MODEL ID=4 NAME=40W >\n" ON4 MASKS("240")
	"CPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ 1497600\n"
	"GPU MIN_FREQ 0\nGPU MAX_FREQ 1173000000\nEMC MAX_FREQ -1\nPVA0_VPS MAX_FREQ 704000000\n"
	"< POWER_MODEL ID=1 NAME=10W >\n" ON2 MASKS("252")
	"CPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ 1190400\n"
	"GPU MIN_FREQ 0\nGPU MAX_FREQ 612000000\nEMC MAX_FREQ 2133000000\n"
	"PVA0_VPS MAX_FREQ 115000000\n"
	"# mandatory section to configure the default power mode\n"
	"< PM_CONFIG DEFAULT=4 >\n";

/* nvpmodel.conf of JetPack 7 on Thor: paths of device classes, and two GPU clocks. */
static const char thor[] =
	CORES4
	"< PARAM TYPE=CLOCK NAME=CPU >\nMAX_FREQ /" CPU "cpufreq/policy0/scaling_max_freq\n"
	"< PARAM TYPE=CLOCK NAME=GPC >\nMAX_FREQ /sys/class/devfreq/gpu-gpc-0/max_freq\n"
	"< PARAM TYPE=CLOCK NAME=NVD >\nMAX_FREQ /sys/class/devfreq/gpu-nvd-0/max_freq\n"
	"< PARAM TYPE=CLOCK NAME=EMC >\nMAX_FREQ /sys/class/devfreq/bwmgr/max_freq\n"
	"< POWER_MODEL ID=2 NAME=90W >\n" ON4
	"CPU MAX_FREQ 2601000\nGPC MAX_FREQ 1386000000\nNVD MAX_FREQ 999000000\nEMC MAX_FREQ 4266000000\n";

static int parse(const char *text, struct jetwatt_presets **p, unsigned int *line, const char **why)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);	/* exact size: ASan finds reads beyond it */
	int rc;

	memcpy(exact, text, len);
	rc = jetwatt_presets_parse(exact, len, p, line, why);
	free(exact);
	return rc;
}

static bool caps(const struct jetwatt_preset *p, long long cores, long long cpu, long long gpu,
		 long long emc)
{
	return p->cap[JETWATT_KNOB_CORES] == cores && p->cap[JETWATT_KNOB_CPU] == cpu &&
	       p->cap[JETWATT_KNOB_GPU] == gpu && p->cap[JETWATT_KNOB_EMC] == emc;
}

TEST(every_dialect_is_parsed)
{
	struct jetwatt_presets *p;
	unsigned int line;
	const char *why;

	ASSERT_EQ(parse(nano, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_TRUE(p->nr == 2 && p->chosen == 0 && !strcmp(p->preset[1].name, "5W"));
	EXPECT_TRUE(caps(&p->preset[0], 4, -1, -1, -1));
	EXPECT_TRUE(caps(&p->preset[1], 2, 918000, 640000000, 1600000000));
	jetwatt_presets_free(p);

	ASSERT_EQ(parse(orin, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_TRUE(p->nr == 2 && p->chosen == 1 && p->preset[1].mask == 248 && !p->preset[0].mask);
	/* The preset caps two CPU clusters differently; the lower cap counts. */
	EXPECT_TRUE(caps(&p->preset[1], 2, 1036800, 408000000, 2133000000));
	jetwatt_presets_free(p);

	ASSERT_EQ(parse(super, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_TRUE(p->nr == 3 && p->chosen == 4 && p->preset[1].id == 4);
	EXPECT_TRUE(caps(&p->preset[0], 4, -1, -1, -1));
	EXPECT_TRUE(caps(&p->preset[1], 4, 1497600, 1173000000, -1));
	EXPECT_TRUE(caps(&p->preset[2], 2, 1190400, 612000000, 2133000000) && p->preset[2].mask == (252 | 2));
	jetwatt_presets_free(p);

	ASSERT_EQ(parse(thor, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_TRUE(p->nr == 1 && p->chosen == -1 && p->preset[0].id == 2);
	EXPECT_TRUE(caps(&p->preset[0], 4, 2601000, 1386000000, 4266000000));
	jetwatt_presets_free(p);
}

TEST(malformed_file_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		unsigned int line;
	} t[] = {
		{ "", 0 }, { "# nothing\n", 0 }, { "just words\n", 0 },
		{ "< POWER_MODEL NAME=A >\n", 1 }, { "\n< POWER_MODEL ID=x NAME=A >\n", 2 },
		{ "< POWER_MODEL ID=-1 NAME=A >\n", 1 }, { "< POWER_MODEL ID=1 >\n", 1 },
		{ "< POWER_MODEL ID=1 NAME=A\n", 1 },
		{ "< POWER_MODEL ID=1 NAME=A >\n< POWER_MODEL ID=1 NAME=B >\n", 2 },
		{ "< POWER_MODEL ID=1 NAME=A >\nGPU MAX_FREQ\n", 2 },
		{ "< PARAM TYPE=FILE >\n", 1 }, { "< PARAM NAME=A >\nCORE_0\n", 2 },
		{ CORES4 "< POWER_MODEL ID=1 NAME=A >\nCPU_ONLINE CORE_0 many\n", 7 },
		{ "< PM_CONFIG DEFAULT=first >\n", 1 },
	};
	struct jetwatt_presets *p;
	unsigned int line;
	const char *why;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(parse(t[i].text, &p, &line, &why), -EINVAL) TH_LOG("%zu", i);
		EXPECT_EQ(line, t[i].line) TH_LOG("%zu: %s", i, why);
		EXPECT_TRUE(*why);
	}
	ASSERT_EQ(jetwatt_presets_parse("< POWER\0_MODEL >", 16, &p, &line, &why), -EINVAL);
}

/* A file beyond the limits of the parser is refused; one at the limits is read. */
TEST(endless_file_is_refused)
{
	static const struct {
		const char *head, *line;
		int most;
	} t[] = {
		{ CORES4 "< POWER_MODEL ID=1 NAME=A >\n", "CPU_ONLINE CORE_0 1\n", 256 },
		{ "< POWER_MODEL ID=100000 NAME=A >\n", "< POWER_MODEL ID=%d NAME=A >\n", 127 },
		{ "< POWER_MODEL ID=1 NAME=A >\n< PARAM NAME=A >\n", "CORE_0 /sys/a\n", 512 },
	};
	char *text = malloc(1 << 16);
	struct jetwatt_presets *p;
	unsigned int line;
	const char *why;

	ASSERT_NE(NULL, text);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (int more = 0; more < 2; more++) {
			int n = sprintf(text, "%s", t[i].head), rc;

			for (int k = 0; k < t[i].most + more; k++)
				n += sprintf(text + n, t[i].line, k);
			rc = parse(text, &p, &line, &why);
			EXPECT_EQ(more ? -EINVAL : 0, rc) TH_LOG("%zu: %s", i, why);
			if (!rc)
				jetwatt_presets_free(p);
			else
				EXPECT_NE(NULL, strstr(why, "too many")) TH_LOG("%s", why);
		}
	free(text);
}

/* The modes of a small board to which presets are converted. */
static const struct jetwatt_mode grid[] = {
	{ 1, 115200, 114750000, 204000000 }, { 2, 1036800, 318750000, 665600000 },
	{ 3, 1113600, 420750000, 2133000000 }, { 4, 2201600, 1300500000, 3199000000 },
};

TEST(caps_are_rounded_as_the_kernel_does)
{
	struct jetwatt_preset p = { .cap = { 2, 1113600, 408000000, 2133000000 } };
	struct jetwatt_mode m;

	EXPECT_EQ(jetwatt_preset_mode_of(grid, 4, &p, &m), 1u << JETWATT_KNOB_GPU);
	EXPECT_TRUE(m.cores == 2 && m.cpu_khz == 1113600 && m.gpu_hz == 420750000 && m.emc_hz == 2133000000);
	p = (struct jetwatt_preset){ .cap = { 9, 1100000, -1, 1600000000 } };
	EXPECT_EQ(jetwatt_preset_mode_of(grid, 4, &p, &m),
		  1u << JETWATT_KNOB_CORES | 1u << JETWATT_KNOB_CPU | 1u << JETWATT_KNOB_EMC);
	EXPECT_TRUE(m.cores == 4 && m.cpu_khz == 1036800 && m.gpu_hz == 1300500000 && m.emc_hz == 665600000);
	/* A cap below the lowest level of a clock gives the lowest level; a cap above the highest
	 * level of a clock counts as no cap. */
	p = (struct jetwatt_preset){ .cap = { -1, 9999999, 1, 1 } };
	EXPECT_EQ(jetwatt_preset_mode_of(grid, 4, &p, &m), 1u << JETWATT_KNOB_GPU | 1u << JETWATT_KNOB_EMC);
	EXPECT_TRUE(m.cores == 4 && m.cpu_khz == 2201600 && m.gpu_hz == 114750000 && m.emc_hz == 204000000);
}

/* A block that is printed for a mode and appended to the template's file is parsed as the same
 * mode. */
TEST(printed_block_reads_back_as_the_mode)
{
	static const char * const file[] = { nano, orin, thor, super };
	static const char * const top[] = {
		"EMC MAX_FREQ 0\n", "EMC MAX_FREQ 0\n", "EMC MAX_FREQ 3199000000\n", "EMC MAX_FREQ -1\n",
	};

	for (int i = 0; i < 4; i++) {
		struct jetwatt_presets *p, *again;
		struct jetwatt_mode mode = grid[2], back;
		char *text, whole[8192];
		unsigned int line;
		const char *why;
		size_t len;
		FILE *f;

		ASSERT_EQ(parse(file[i], &p, &line, &why), 0);
		f = open_memstream(&text, &len);
		EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "MINE", &mode, 3199000000), 0);
		fclose(f);
		snprintf(whole, sizeof(whole), "%s%s", file[i], text);
		ASSERT_EQ(parse(whole, &again, &line, &why), 0) TH_LOG("%d %u: %s", i, line, why);
		ASSERT_EQ(again->nr, p->nr + 1);
		EXPECT_EQ(again->preset[p->nr].id, 7);
		EXPECT_EQ(again->preset[p->nr].nr_lines, p->preset[0].nr_lines);
		EXPECT_EQ(again->preset[p->nr].mask, p->preset[0].mask);
		EXPECT_EQ(jetwatt_preset_mode_of(grid, 4, &again->preset[p->nr], &back), 0);
		EXPECT_EQ(memcmp(&mode, &back, sizeof(mode)), 0);
		/* The block keeps the template's lowest clocks, unless they exceed the mode's
		 * cap. */
		EXPECT_TRUE(i != 1 || strstr(text, "CPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ 1113600\n"));
		EXPECT_TRUE(i != 1 || strstr(text, "DLA0_CORE MAX_FREQ -1\n"));
		EXPECT_TRUE(i != 2 || strstr(text, "NVD MAX_FREQ 999000000\n"));
		jetwatt_presets_free(again);
		free(text);

		mode = (struct jetwatt_mode){ 1, 115200, 114750000, 3199000000 };
		f = open_memstream(&text, &len);
		EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 8, "LOW", &mode, 3199000000), 0);
		fclose(f);
		EXPECT_TRUE(i != 1 || strstr(text, "CPU_A78_0 MIN_FREQ 115200\n"));
		EXPECT_TRUE(strstr(text, top[i]));
		free(text);
		jetwatt_presets_free(p);
	}
}

/* CPU 0 cannot be switched off, so a file need not name it: cores, names and numbers of
 * LineageOS/android_device_nvidia_quill, nvpmodel/nvpmodel_t186.conf (Jetson TX2). */
TEST(unnamed_cpu_0_is_online)
{
	static const char conf[] =
		CORES4 "CORE_4 /" CPU "cpu4/online\nCORE_5 /" CPU "cpu5/online\n"
		"< POWER_MODEL ID=0 NAME=MAXN >\nCPU_ONLINE CORE_1 1\nCPU_ONLINE CORE_2 1\n"
		"CPU_ONLINE CORE_3 1\nCPU_ONLINE CORE_4 1\nCPU_ONLINE CORE_5 1\n"
		"< POWER_MODEL ID=3 NAME=MAXP_CORE_ARM >\nCPU_ONLINE CORE_1 0\nCPU_ONLINE CORE_2 0\n"
		"CPU_ONLINE CORE_3 1\nCPU_ONLINE CORE_4 1\nCPU_ONLINE CORE_5 1\n"
		"< POWER_MODEL ID=4 NAME=ONE >\nCPU_ONLINE CORE_1 0\nCPU_ONLINE CORE_2 0\n";
	struct jetwatt_mode mode = { .cores = 6 };
	struct jetwatt_presets *p;
	char text[256] = "";
	unsigned int line;
	const char *why;
	FILE *f;

	ASSERT_EQ(parse(conf, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_EQ(p->preset[0].cap[JETWATT_KNOB_CORES], 6);
	EXPECT_EQ(p->preset[1].cap[JETWATT_KNOB_CORES], 4);
	EXPECT_EQ(p->preset[2].cap[JETWATT_KNOB_CORES], 1);
	f = fmemopen(text, sizeof(text), "w");
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "ALL", &mode, 0), 0);
	mode.cores = 2;
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[2], 8, "TWO", &mode, 0), 0);
	mode.cores = 4;
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[2], 9, "FOUR", &mode, 0), -EINVAL);
	fclose(f);
	EXPECT_NE(strstr(text, "CPU_ONLINE CORE_5 1\n"), NULL);
	EXPECT_NE(strstr(text, "< POWER_MODEL ID=8 NAME=TWO >\nCPU_ONLINE CORE_1 1\nCPU_ONLINE CORE_2 0\n"),
		  NULL) TH_LOG("%s", text);
	jetwatt_presets_free(p);
}

TEST(impossible_block_is_refused)
{
	struct jetwatt_mode five = { 5, 9, 9, 9 }, one = { 1, 9, 9, 9 };
	struct jetwatt_presets *p;
	unsigned int line;
	const char *why;
	FILE *f = fopen("/dev/null", "w");

	ASSERT_EQ(parse(orin, &p, &line, &why), 0);
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "A", &five, 1), -EINVAL);
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "A B", &one, 1), -EINVAL);
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "A >\nGPU", &one, 1), -EINVAL);
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "", &one, 1), -EINVAL);
	p->preset[0].nr_lines = 2;
	EXPECT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "A", &one, 1), -EINVAL);
	jetwatt_presets_free(p);
	fclose(f);
}

/* For a knob that the board lacks, the printed block has the value of the template preset. */
TEST(missing_knob_keeps_the_template)
{
	struct jetwatt_mode no_gpu = { 2, 1113600, JETWATT_BOARD_NO_CLOCK, 2133000000 };
	struct jetwatt_presets *p;
	unsigned int line;
	const char *why;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ASSERT_EQ(parse(orin, &p, &line, &why), 0);
	ASSERT_EQ(jetwatt_preset_print(f, &p->preset[0], 7, "A", &no_gpu, 3199000000), 0);
	fclose(f);
	EXPECT_NE(strstr(text, "MAX_FREQ 2133000000\n"), NULL) TH_LOG("%s", text);
	for (size_t i = 0; i < p->preset[0].nr_lines; i++) {
		const struct jetwatt_preset_line *l = &p->preset[0].line[i];
		char same[3 * JETWATT_PRESET_NAME + 4];

		if (l->knob != JETWATT_KNOB_GPU)
			continue;
		snprintf(same, sizeof(same), "%s %s %s\n", l->param, l->arg, l->value);
		EXPECT_NE(strstr(text, same), NULL) TH_LOG("%s", same);
	}
	free(text);
	jetwatt_presets_free(p);
}

/* A preset needs a reboot only if its mask of GPU parts differs from the current mask, or if the
 * current mask is not known. */
TEST(preset_with_another_mask_needs_a_reboot)
{
	struct jetwatt_error_text err = { "", "", "" };
	struct jetwatt_board_roots roots;
	struct jetwatt_presets *p;
	struct jetwatt_board *b;
	unsigned int line;
	const char *why;
	struct tree t;

	ASSERT_EQ(parse(super, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	ASSERT_EQ(p->nr, 3);
	/* Without a board, the current mask is unknown, so a reboot is reported as needed. */
	EXPECT_EQ(jetwatt_preset_reboot(NULL, &p->preset[0]), 1);
	tree_orin(&t);
	roots = tree_roots(&t);
	ASSERT_EQ(jetwatt_board_open(&b, &roots, &err), 0);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 1);
	tree_put(&t, "sys/devices/platform/gpu.0/fbp_pg_mask", "2");
	tree_put(&t, "sys/devices/platform/gpu.0/tpc_pg_mask", "240\n");
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 0);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[1]), 0);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[2]), 1);
	tree_put(&t, "sys/devices/platform/gpu.0/tpc_pg_mask", "252\n");
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 1);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[2]), 0);
	jetwatt_presets_free(p);

	/* With the presets of JetPack 5 and a current mask of 0, a preset with the mask 0 needs no
	 * reboot, and a preset with another mask needs one. */
	ASSERT_EQ(parse(orin, &p, &line, &why), 0);
	tree_put(&t, "sys/devices/platform/gpu.0/tpc_pg_mask", "0\n");
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 0);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[1]), 1);
	jetwatt_presets_free(p);

	/* On Thor, the mask of disabled GPU parts is a parameter of the kernel module nvidia. */
	ASSERT_EQ(parse("< PARAM TYPE=FILE NAME=GPU_POWER_GATING >\n"
			"GPU_PG_MASK /etc/modprobe.d/NVreg_TegraGpuPgMask.conf\n"
			"< POWER_MODEL ID=1 NAME=120W >\nGPU_POWER_GATING GPU_PG_MASK 512\n",
			&p, &line, &why), 0) TH_LOG("%u: %s", line, why);
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 1);
	tree_put(&t, "proc/driver/nvidia/params", "TegraGpuPgMask: 512\n");
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 0);
	/* JetPack 7.2 sets it in another module. */
	tree_put(&t, "proc/driver/nvidia/params", "TegraGpuPgMask: 4294967295\n");
	tree_put(&t, "sys/kernel/gpu_static_pg/gpu_pg_mask", "512\n");
	EXPECT_EQ(jetwatt_preset_reboot(b, &p->preset[0]), 0);
	jetwatt_presets_free(p);
	jetwatt_board_close(b);
	tree_free(&t);
}

/* "No cap" of the memory clock is written as the template writes it, because 0 would cap
 * nvpmodel_clk_cap at the lowest clock. */
TEST(no_cap_is_written_as_in_the_template)
{
	static const struct {
		const char *file, *emc;
		size_t like;
	} c[] = {
		{ orin, "\nEMC MAX_FREQ 0\n", 0 }, { super, "\nEMC MAX_FREQ -1\n", 0 },
		{ super, "\nEMC MAX_FREQ 3199000000\n", 2 },
	};
	struct jetwatt_mode top = { 2, 1113600, 306000000, 3199000000 };

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct jetwatt_presets *p;
		unsigned int line;
		const char *why;
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		ASSERT_EQ(parse(c[i].file, &p, &line, &why), 0) TH_LOG("%u: %s", line, why);
		ASSERT_EQ(jetwatt_preset_print(f, &p->preset[c[i].like], 9, "A", &top, 3199000000), 0);
		fclose(f);
		EXPECT_NE(strstr(text, c[i].emc), NULL) TH_LOG("case %zu: %s", i, text);
		free(text);
		jetwatt_presets_free(p);
	}
}

TEST_HARNESS_MAIN
