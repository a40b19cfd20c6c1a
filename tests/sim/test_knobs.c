// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=6 modules="governor_simpleondemand;jetwatt-sim;ina3221" timeout=240
/*
 * Self-test of the simulated board as user space sees it: its device tree, clocks, cores, limits
 * and sensors, and injected faults.
 */
#include "test_board.h"

#include "kselftest_harness.h"

#define POLICY	CPU "cpufreq/policy0/"

static void core(int cpu, const char *online)
{
	char path[64];

	snprintf(path, sizeof(path), CPU "cpu%d/online", cpu);
	put(path, online);
}

/* Wait until a written cpufreq limit has taken effect. */
static void settle(void)
{
	sleep_us(50000);
}

FIXTURE(knobs) { };

FIXTURE_SETUP(knobs)
{
}

FIXTURE_TEARDOWN(knobs)
{
	static const char *const faults[] = { "fail_cpufreq", "fail_devfreq", "fail_emc", "lie_emc",
					      "fail_hotplug", "fail_i2c_nak" };
	char path[96];
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		snprintf(path, sizeof(path), SIM "%s", faults[i]);
		put(path, "0");
	}
	for (i = 1; i < 6; i++)
		core(i, "1");
	put(CPU "cpufreq/policy0/scaling_max_freq", "2201600");
	put(CPU "cpufreq/policy4/scaling_max_freq", "2201600");
	put(GPU "min_freq", "0");
	put(GPU "max_freq", "1300500000");
	put(EMC, "9223372036854775807");
	settle();
}

TEST_F(knobs, device_tree_is_that_of_an_orin)
{
	char s[128];

	ASSERT_EQ(0, get_line("/sys/firmware/devicetree/base/compatible", s, sizeof(s)));
	EXPECT_STREQ("nvidia,p3737-0000+p3701-0000", s);
	EXPECT_STREQ("nvidia,p3701-0000", s + strlen(s) + 1);
}

/* Read an hwmon attribute of a chip, which the kernel's own driver provides. */
static int hwmon(const char *chip, const char *name, char *s, size_t size)
{
	char path[160];
	int i;

	for (i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/bus/i2c/devices/%s/hwmon/hwmon%d/%s", chip, i,
			 name);
		if (!access(path, R_OK))
			return get_line(path, s, size);
	}
	return -ENOENT;
}

static double rail_w(const char *chip, int channel)
{
	char name[32], mv[32], ma[32];

	snprintf(name, sizeof(name), "in%d_input", channel);
	if (hwmon(chip, name, mv, sizeof(mv)))
		return NAN;
	snprintf(name, sizeof(name), "curr%d_input", channel);
	if (hwmon(chip, name, ma, sizeof(ma)))
		return NAN;
	return atof(mv) * atof(ma) / 1e6;
}

TEST_F(knobs, the_kernels_own_driver_reads_the_rails)
{
	static const struct { const char *chip, *name, *label; } labels[] = {
		{ "1-0040", "in1_label", "VDD_GPU_SOC" }, { "1-0040", "in2_label", "VDD_CPU_CV" },
		{ "1-0040", "in3_label", "VIN_SYS_5V0" }, { "1-0041", "in2_label", "VDDQ_VDD2_1V8AO" },
	};
	char s[64];
	double sum = 0;
	size_t i;

	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		ASSERT_EQ(0, hwmon(labels[i].chip, labels[i].name, s, sizeof(s)));
		EXPECT_STREQ(labels[i].label, s);
	}
	EXPECT_EQ(-ENODATA, hwmon("1-0041", "in1_input", s, sizeof(s)));
	sum = rail_w("1-0040", 1) + rail_w("1-0040", 2) + rail_w("1-0040", 3);
	/* The sum is that of one reading per rail, and two rails have an LSB of 0.38 W, so permit
	 * an error of 1.5 W. */
	EXPECT_LT(fabs(sum - (truth("power_uw_VDD_GPU_SOC") + truth("power_uw_VDD_CPU_CV") +
			      truth("power_uw_VIN_SYS_5V0")) / 1e6), 1.5);
	EXPECT_LT(fabs(rail_w("1-0041", 2) - truth("power_uw_VDDQ_VDD2_1V8AO") / 1e6), 0.2);
}

TEST_F(knobs, cpu_clock_follows_its_limit)
{
	char s[512];

	ASSERT_EQ(0, get_line(POLICY "scaling_available_frequencies", s, sizeof(s)));
	EXPECT_EQ(0, strncmp(s, "115200 192000 268800 ", 21));
	ASSERT_EQ(0, put(POLICY "scaling_max_freq", "1113600"));
	ASSERT_EQ(0, put(CPU "cpufreq/policy4/scaling_max_freq", "1113600"));
	settle();
	EXPECT_EQ(1113600, get(POLICY "scaling_cur_freq"));
	EXPECT_EQ(1113600, truth("cpu_khz"));
	/* A limit between two levels has the effect of the lower level. */
	ASSERT_EQ(0, put(POLICY "scaling_max_freq", "1150000"));
	settle();
	EXPECT_EQ(1113600, get(POLICY "scaling_cur_freq"));
}

TEST_F(knobs, clusters_may_differ_and_count_by_their_cores)
{
	ASSERT_EQ(0, put(CPU "cpufreq/policy4/scaling_max_freq", "729600"));
	settle();
	EXPECT_EQ(729600, get(CPU "cpufreq/policy4/scaling_cur_freq"));
	EXPECT_EQ(2201600, get(POLICY "scaling_cur_freq"));
	EXPECT_EQ((4 * 2201600 + 2 * 729600) / 6, truth("cpu_khz"));
}

TEST_F(knobs, a_policy_can_refuse)
{
	ASSERT_EQ(0, put(SIM "fail_cpufreq", "1"));
	put(POLICY "scaling_max_freq", "729600");
	settle();
	EXPECT_EQ(0, get(SIM "fail_cpufreq"));
	EXPECT_EQ(2201600, get(POLICY "scaling_max_freq"));
	EXPECT_EQ(2201600, get(POLICY "scaling_cur_freq"));
	put(POLICY "scaling_max_freq", "806400");
	settle();
	EXPECT_EQ(806400, get(POLICY "scaling_cur_freq"));
}

TEST_F(knobs, gpu_clock_follows_its_limits)
{
	char s[512];

	ASSERT_EQ(0, get_line(GPU "available_frequencies", s, sizeof(s)));
	EXPECT_EQ(0, strncmp(s, "114750000 216750000 ", 20));
	EXPECT_EQ(1300500000, get(GPU "cur_freq"));
	ASSERT_EQ(0, put(GPU "max_freq", "624750000"));
	EXPECT_EQ(624750000, get(GPU "cur_freq"));
	EXPECT_EQ(624750000, truth("gpu_hz"));
	ASSERT_EQ(0, put(GPU "min_freq", "624750000"));
	EXPECT_EQ(624750000, get(GPU "min_freq"));
	ASSERT_EQ(0, put(GPU "max_freq", "1300500000"));
	EXPECT_EQ(1300500000, get(GPU "cur_freq"));
	/* A limit between two levels has the effect of the lower level. */
	ASSERT_EQ(0, put(GPU "min_freq", "0"));
	ASSERT_EQ(0, put(GPU "max_freq", "400000000"));
	EXPECT_EQ(318750000, get(GPU "cur_freq"));
}

TEST_F(knobs, the_gpu_can_refuse)
{
	ASSERT_EQ(0, put(SIM "fail_devfreq", "1"));
	put(GPU "max_freq", "624750000");
	EXPECT_EQ(1300500000, get(GPU "cur_freq"));
	EXPECT_EQ(1300500000, truth("gpu_hz"));
	put(GPU "max_freq", "522750000");
	EXPECT_EQ(522750000, get(GPU "cur_freq"));
}

TEST_F(knobs, memory_runs_at_its_cap)
{
	char s[128];

	/* If no cap is set, the cap file shows the highest level of the memory clock. */
	EXPECT_EQ(3199000000, get(EMC));
	EXPECT_EQ(-ENOENT, get_line(EMC5, s, sizeof(s)));
	ASSERT_EQ(0, put(EMC, "2133000000"));
	EXPECT_EQ(2133000000, get(EMC));
	EXPECT_EQ(2133000000, get(BPMP "clk/emc/rate"));
	EXPECT_EQ(2133000000, truth("emc_hz"));
	/* A cap that is not a level of the clock must be rounded down without an error. */
	ASSERT_EQ(0, put(EMC, "2132999999"));
	EXPECT_EQ(665600000, get(EMC));
	/* A cap of 0 is valid, and selects the lowest level. */
	ASSERT_EQ(0, put(EMC, "0"));
	EXPECT_EQ(204000000, get(EMC));
	EXPECT_EQ(204000000, get(BPMP "clk/emc/rate"));
	ASSERT_EQ(0, put(EMC, "9223372036854775807"));
	EXPECT_EQ(3199000000, get(EMC));
	EXPECT_EQ(3199000000, get(BPMP "clk/emc/rate"));
	EXPECT_EQ(204000000, get(BPMP "clk/emc/min_rate"));
	EXPECT_EQ(3199000000, get(BPMP "clk/emc/max_rate"));
	ASSERT_EQ(0, get_line(BPMP "emc/possible_rates", s, sizeof(s)));
	EXPECT_STREQ("204000 665600 2133000 3199000", s);
	EXPECT_EQ(-EINVAL, put(EMC, "-1"));
	EXPECT_EQ(-EINVAL, put(EMC, "fast"));
}

/*
 * The cap file of JetPack 5 must read back as written. If both releases' caps are set, the lower
 * one applies.
 */
TEST_F(knobs, memory_caps_of_both_releases)
{
	unload("jetwatt_sim");
	ASSERT_EQ(0, load("jetwatt-sim", "emc_cap=both"));
	EXPECT_EQ(0, get(EMC5));
	ASSERT_EQ(0, put(EMC5, "2132999999"));
	EXPECT_EQ(2132999999, get(EMC5));
	EXPECT_EQ(3199000000, get(EMC));
	EXPECT_EQ(665600000, get(BPMP "clk/emc/rate"));
	ASSERT_EQ(0, put(EMC, "204000000"));
	EXPECT_EQ(204000000, get(BPMP "clk/emc/rate"));
	ASSERT_EQ(0, put(EMC, "9223372036854775807"));
	ASSERT_EQ(0, put(EMC5, "0"));
	EXPECT_EQ(3199000000, get(BPMP "clk/emc/rate"));
	EXPECT_EQ(-EINVAL, put(EMC5, "fast"));
}

TEST_F(knobs, memory_cap_can_fail_or_be_ignored)
{
	ASSERT_EQ(0, put(SIM "fail_emc", "1"));
	EXPECT_EQ(-EIO, put(EMC, "2133000000"));
	EXPECT_EQ(3199000000, truth("emc_hz"));
	ASSERT_EQ(0, put(SIM "lie_emc", "1"));
	EXPECT_EQ(0, put(EMC, "2133000000"));
	EXPECT_EQ(3199000000, get(EMC));
	EXPECT_EQ(3199000000, truth("emc_hz"));
	EXPECT_EQ(0, put(EMC, "2133000000"));
	EXPECT_EQ(2133000000, truth("emc_hz"));
}

TEST_F(knobs, cores_come_and_go)
{
	EXPECT_EQ(6, truth("cores"));
	core(5, "0");
	core(2, "0");
	EXPECT_EQ(4, truth("cores"));
	core(4, "0");
	EXPECT_EQ(3, truth("cores"));
	core(2, "1");
	core(4, "1");
	core(5, "1");
	EXPECT_EQ(6, truth("cores"));
	/* A CPU cluster that comes online again must have its previous settings. */
	EXPECT_EQ(2201600, get(CPU "cpufreq/policy4/scaling_cur_freq"));
}

TEST_F(knobs, a_core_can_refuse)
{
	ASSERT_EQ(0, put(SIM "fail_hotplug", "1"));
	EXPECT_EQ(-EIO, put(CPU "cpu3/online", "0"));
	EXPECT_EQ(1, get(CPU "cpu3/online"));
	EXPECT_EQ(6, truth("cores"));
	EXPECT_EQ(0, put(CPU "cpu3/online", "0"));
	EXPECT_EQ(5, truth("cores"));
	ASSERT_EQ(0, put(SIM "fail_hotplug", "1"));
	EXPECT_EQ(-EIO, put(CPU "cpu3/online", "1"));
	EXPECT_EQ(0, get(CPU "cpu3/online"));
	EXPECT_EQ(5, truth("cores"));
	EXPECT_EQ(0, put(CPU "cpu3/online", "1"));
	EXPECT_EQ(6, truth("cores"));
}

TEST_F(knobs, the_die_gets_warm_under_load)
{
	char *train[] = { "/bin/train", NULL };
	double before, after;
	char zone[64];
	pid_t pid;

	ASSERT_EQ(0, get_line("/sys/class/thermal/thermal_zone1/type", zone, sizeof(zone)));
	before = get("/sys/class/thermal/thermal_zone1/temp");
	pid = start(train);
	sleep_us(15000000);
	after = get("/sys/class/thermal/thermal_zone1/temp");
	EXPECT_EQ(0, end(pid, SIGTERM));
	EXPECT_GT(before, 30000);
	EXPECT_GT(after, before + 8000);
	EXPECT_LT(after, 100000);
}

TEST_HARNESS_MAIN
