// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
/*
 * Test which chips, rails and clocks the module finds on the board, and which attributes it reports
 * for them.
 */
#include "family.h"

#include "kselftest_harness.h"

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(board)
{
	family_close(&self->f);
}

static void note_text(struct nlmsghdr *nlh, void *arg)
{
	snprintf(arg, 64, "%s", text_of(nlh, JETWATT_A_INFO_BOARD));
}

TEST_F(board, info_describes_the_board)
{
	char board[64];

	ASSERT_EQ(0, call(&self->f, request(&self->f, JETWATT_CMD_INFO_GET), note_text, board));
	EXPECT_STREQ("nvidia,p3737-0000+p3701-0000", board);
	EXPECT_EQ(2, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_CHIPS));
	EXPECT_EQ(4, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RAILS));
	EXPECT_EQ(8192, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RING));
	EXPECT_EQ(0, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RUNNING));
}

TEST_F(board, both_chips_are_listed)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0x40 + i, chip_of(&self->f, i, JETWATT_A_CHIP_ADDR));
		EXPECT_EQ(1, chip_of(&self->f, i, JETWATT_A_CHIP_BUS));
		EXPECT_EQ(100000, chip_of(&self->f, i, JETWATT_A_CHIP_BUS_HZ));
		EXPECT_EQ(0, chip_of(&self->f, i, JETWATT_A_CHIP_LOST));
		EXPECT_EQ(0, chip_of(&self->f, i, JETWATT_A_CHIP_ERRORS));
	}
	/* The first chip has three channels enabled and the second has one, both with the default
	 * conversion time of 1.1 ms. */
	EXPECT_EQ(0x7127, chip_of(&self->f, 0, JETWATT_A_CHIP_CONFIG));
	EXPECT_EQ(151515, chip_of(&self->f, 0, JETWATT_A_CHIP_REFRESH_MHZ));
	EXPECT_EQ(0x2127, chip_of(&self->f, 1, JETWATT_A_CHIP_CONFIG));
	EXPECT_EQ(454545, chip_of(&self->f, 1, JETWATT_A_CHIP_REFRESH_MHZ));
	EXPECT_EQ(UINT64_MAX, chip_of(&self->f, 2, JETWATT_A_CHIP_ADDR));
}

struct rails {
	uint32_t n;
	struct {
		char label[48];
		uint32_t chip, channel, shunt, enabled;
	} rail[8];
};

static void note_rail(struct nlmsghdr *nlh, void *arg)
{
	struct rails *rails = arg;
	uint32_t id = u32_of(nlh, JETWATT_A_RAIL_ID);

	if (id >= 8)
		return;
	rails->n++;
	snprintf(rails->rail[id].label, 48, "%s", text_of(nlh, JETWATT_A_RAIL_LABEL));
	rails->rail[id].chip = u32_of(nlh, JETWATT_A_RAIL_CHIP);
	rails->rail[id].channel = u32_of(nlh, JETWATT_A_RAIL_CHANNEL);
	rails->rail[id].shunt = u32_of(nlh, JETWATT_A_RAIL_SHUNT_UOHM);
	rails->rail[id].enabled = u32_of(nlh, JETWATT_A_RAIL_ENABLED);
}

/*
 * Channels 0 and 2 of the second chip are disabled in the device tree, so the module must not
 * report them as rails.
 */
TEST_F(board, only_enabled_channels_are_rails)
{
	static const struct {
		const char *label;
		uint32_t chip, channel;
	} want[] = {
		{ "VDD_GPU_SOC", 0, 0 }, { "VDD_CPU_CV", 0, 1 }, { "VIN_SYS_5V0", 0, 2 },
		{ "VDDQ_VDD2_1V8AO", 1, 1 },
	};
	struct rails rails = {};
	uint32_t i;

	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_RAIL_GET), note_rail, &rails));
	ASSERT_EQ(4, rails.n);
	for (i = 0; i < 4; i++) {
		EXPECT_STREQ(want[i].label, rails.rail[i].label);
		EXPECT_EQ(want[i].chip, rails.rail[i].chip);
		EXPECT_EQ(want[i].channel, rails.rail[i].channel);
		EXPECT_EQ(2000, rails.rail[i].shunt);
		EXPECT_EQ(1, rails.rail[i].enabled);
	}
}

struct clocks {
	int cpu0, gpu, load, emc, cores, gpu_zone;
	char gpu_label[48];
};

static void note_clock(struct nlmsghdr *nlh, void *arg)
{
	int32_t value = u32_of(nlh, JETWATT_A_CLOCK_VALUE);
	const char *label = text_of(nlh, JETWATT_A_CLOCK_LABEL);
	struct clocks *c = arg;

	switch (u32_of(nlh, JETWATT_A_CLOCK_KIND)) {
	case JETWATT_SERIES_CPU_KHZ:
		if (u32_of(nlh, JETWATT_A_CLOCK_INDEX) == 0)
			c->cpu0 = value;
		break;
	case JETWATT_SERIES_GPU_KHZ:
		c->gpu = value;
		snprintf(c->gpu_label, sizeof(c->gpu_label), "%s", label);
		break;
	case JETWATT_SERIES_GPU_LOAD_PERMILLE:
		c->load = value;
		break;
	case JETWATT_SERIES_EMC_KHZ:
		c->emc = value;
		break;
	case JETWATT_SERIES_CORES:
		c->cores = value;
		break;
	case JETWATT_SERIES_TEMP_MC:
		if (!strcmp(label, "gpu-thermal"))
			c->gpu_zone = value;
		break;
	}
}

#define CPUFREQ	"/sys/devices/system/cpu/cpu0/cpufreq/"
#define DEVFREQ	"/sys/class/devfreq/17000000.gpu/"

TEST_F(board, clocks_are_those_of_sysfs)
{
	struct clocks c = {};

	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_CLOCK_GET), note_clock, &c));
	EXPECT_EQ(read_number(CPUFREQ "scaling_cur_freq"), c.cpu0);
	EXPECT_STREQ("17000000.gpu", c.gpu_label);
	EXPECT_EQ(read_number(DEVFREQ "cur_freq") / 1000, c.gpu);
	EXPECT_EQ(read_number("/sys/kernel/debug/bpmp/debug/clk/emc/rate") / 1000, c.emc);
	EXPECT_EQ(2, c.cores);
	EXPECT_LT(20000, c.gpu_zone);
	EXPECT_GT(100000, c.gpu_zone);
}

static bool set_caps(const char *cpu_khz, const char *gpu_hz)
{
	return !write_file(CPUFREQ "scaling_max_freq", cpu_khz) &&
	       !write_file(DEVFREQ "max_freq", gpu_hz);
}

/*
 * A change of the CPU or GPU clock must appear in the samples, so the module must not cache clocks.
 */
TEST_F(board, clock_changes_appear_in_samples)
{
	char cpu[32], gpu[32];
	struct clocks c = {};
	const int32_t *v;
	struct batch b;
	int i;

	ASSERT_EQ(0, read_file(CPUFREQ "scaling_max_freq", cpu, sizeof(cpu)));
	ASSERT_EQ(0, read_file(DEVFREQ "max_freq", gpu, sizeof(gpu)));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ASSERT_TRUE(next_batch(&self->f, 2000, &b));
	ASSERT_TRUE(set_caps("1113600", "420750000"));
	sleep_ms(300);
	for (i = 0; i < 8; i++)
		ASSERT_TRUE(next_batch(&self->f, 2000, &b));
	v = series_of(&b, JETWATT_SERIES_CPU_KHZ, 0);
	ASSERT_NE(NULL, v);
	EXPECT_EQ(1113600, v[b.count - 1]);
	v = series_of(&b, JETWATT_SERIES_GPU_KHZ, 0);
	ASSERT_NE(NULL, v);
	EXPECT_EQ(420750, v[b.count - 1]);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_TRUE(set_caps(cpu, gpu));
	EXPECT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_CLOCK_GET), note_clock, &c));
}

#define LOAD	"/sys/module/jetwatt_sim/parameters/gpu_load"

/* devfreq may use a deferrable timer, which does not wake an idle CPU: keep a CPU busy. */
static void stay_awake(int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (now_ns() < end)
		;
}

/*
 * Return: the GPU load in permille that the module reports, once it is @permille or after devfreq's
 * governor has had time to poll.
 */
static int load_becomes(struct family *f, int permille)
{
	struct clocks c = {};
	int i;

	for (i = 0; i < 100 && c.load != permille; i++) {
		sleep_ms(60);
		stay_awake(40);
		if (dump(f, request(f, JETWATT_CMD_CLOCK_GET), note_clock, &c))
			return -1;
	}
	return c.load;
}

TEST_F(board, gpu_load_is_that_of_the_driver)
{
	static const int loads[] = { 437, 0, 999, 1000 };
	char interval[32];
	const int32_t *v;
	int32_t load = 0;
	struct batch b;
	uint64_t end;
	size_t i;

	ASSERT_EQ(0, read_file(DEVFREQ "polling_interval", interval, sizeof(interval)));
	EXPECT_EQ(1000, load_becomes(&self->f, 1000));
	/* With a polling interval of 0, devfreq does not poll: the module must still report the
	 * previous load and must not ask the driver itself. */
	ASSERT_EQ(0, write_number(LOAD, 250));
	EXPECT_EQ(1000, load_becomes(&self->f, 250));
	ASSERT_EQ(0, write_file(DEVFREQ "polling_interval", "20"));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, write_number(LOAD, loads[i]));
		EXPECT_EQ(loads[i], load_becomes(&self->f, loads[i]));
	}
	/* The samples contain the GPU's load too. */
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	EXPECT_EQ(0, write_number(LOAD, 950));
	for (end = now_ns() + 20000000000ULL; load != 950 && now_ns() < end;) {
		stay_awake(40);
		ASSERT_TRUE(next_batch(&self->f, 2000, &b));
		v = series_of(&b, JETWATT_SERIES_GPU_LOAD_PERMILLE, 0);
		ASSERT_NE(NULL, v);
		for (uint32_t k = 0; k < b.count; k++)
			if (v[k] != JETWATT_VALUE_NONE)
				load = v[k];
	}
	EXPECT_EQ(950, load);
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
	EXPECT_EQ(0, write_number(LOAD, 1000));
	EXPECT_EQ(1000, load_becomes(&self->f, 1000));
	EXPECT_EQ(0, write_file(DEVFREQ "polling_interval", interval));
}

TEST_HARNESS_MAIN
