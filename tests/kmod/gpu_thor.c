// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount overlay=tests/sim/boards/whole/thor.dtso modules="governor_simpleondemand;governor_userspace?;jetwatt-sim;ina3221;jetwatt" timeout=120
/*
 * Test the GPU of Thor, a PCI device whose devfreq devices have neither a bus nor a device tree
 * node: clock and load while the GPU is suspended or active, and that the module never prevents
 * unbinding of its driver.
 */
#include "family.h"

#include "kselftest_harness.h"

#define PCI	"/sys/bus/pci/devices/0001:00:00.0/"
#define DRIVER	"/sys/bus/pci/drivers/jetwatt-sim-nvidia/"
#define GPC	"/sys/class/devfreq/gpu-gpc-0/"
#define LOAD	"/sys/module/jetwatt_sim/parameters/gpu_load"

struct gpu {
	int32_t khz, load;
	int clocks, loads;
	char label[48];
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	struct gpu *g = arg;

	switch (u32_of(nlh, JETWATT_A_CLOCK_KIND)) {
	case JETWATT_SERIES_GPU_KHZ:
		g->khz = u32_of(nlh, JETWATT_A_CLOCK_VALUE);
		g->clocks++;
		snprintf(g->label, sizeof(g->label), "%s", text_of(nlh, JETWATT_A_CLOCK_LABEL));
		break;
	case JETWATT_SERIES_GPU_LOAD_PERMILLE:
		g->load = u32_of(nlh, JETWATT_A_CLOCK_VALUE);
		g->loads++;
		break;
	}
}

FIXTURE(thor) {
	struct family f;
};

FIXTURE_SETUP(thor)
{
	if (access("/sys/bus/pci", F_OK))
		SKIP(return, "this kernel has no PCI");
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(thor)
{
	if (!access(DRIVER "unbind", F_OK) && access(PCI "driver", F_OK))
		write_file(DRIVER "bind", "0001:00:00.0");
	write_file(PCI "power/control", "on");
	write_file(GPC "max_freq", "1575000000");
	write_number(LOAD, 1000);
	family_close(&self->f);
}

static struct gpu read_gpu(struct family *f)
{
	struct gpu g = { .khz = -1, .load = -1 };

	dump(f, request(f, JETWATT_CMD_CLOCK_GET), note, &g);
	return g;
}

/* devfreq may use a deferrable timer, which does not wake an idle CPU: keep a CPU busy. */
static void stay_awake(int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (now_ns() < end)
		;
}

/*
 * Return the GPU clock and load that the module reports, as soon as they are @khz and @load, or
 * after about twenty seconds. The driver updates the load only if the devfreq governor polls;
 * "performance", the driver's default, does not.
 */
static struct gpu becomes(struct family *f, int32_t khz, int32_t load)
{
	struct gpu g;
	int i;

	if (load != JETWATT_VALUE_NONE)
		write_file(GPC "governor", "simple_ondemand");
	g = read_gpu(f);
	for (i = 0; i < 200 && (g.khz != khz || g.load != load); i++) {
		sleep_ms(60);
		stay_awake(40);
		g = read_gpu(f);
	}
	return g;
}

/*
 * The module must report one GPU clock, that of the shaders (gpu-gpc-0), and not that of the video
 * unit; the clocks of the other GPCs follow the first.
 */
TEST_F(thor, only_the_shader_clock_is_reported)
{
	struct gpu g = becomes(&self->f, 1575000, 1000);

	EXPECT_EQ(1575000, g.khz);
	EXPECT_EQ(1000, g.load);
	EXPECT_EQ(1, g.clocks);
	EXPECT_EQ(1, g.loads);
	EXPECT_STREQ("gpu-gpc-0", g.label);
}

TEST_F(thor, clock_and_load_follow_the_driver)
{
	ASSERT_EQ(0, write_file(GPC "max_freq", "855000000"));
	EXPECT_EQ(855000, becomes(&self->f, 855000, 1000).khz);
	EXPECT_EQ(855000, read_number(GPC "cur_freq") / 1000);
	/* The driver reports the load in whole percent, so 437 permille read as 430. */
	ASSERT_EQ(0, write_number(LOAD, 437));
	EXPECT_EQ(430, becomes(&self->f, 855000, 430).load);
}

/* While the GPU is suspended, the module reports a clock of 0, and not an error. */
TEST_F(thor, suspended_gpu_has_clock_0)
{
	EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz);
	ASSERT_EQ(0, write_file(PCI "power/control", "auto"));
	EXPECT_EQ(0, becomes(&self->f, 0, 0).khz);
	EXPECT_EQ(0, read_number(GPC "cur_freq"));
	EXPECT_EQ(0, read_gpu(&self->f).load);
	ASSERT_EQ(0, write_file(PCI "power/control", "on"));
	EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz);
}

/*
 * Unbind and bind the GPU's driver while the module reads the GPU clock a hundred times a second.
 */
TEST_F(thor, clock_returns_when_the_driver_is_rebound)
{
	int i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz) TH_LOG("round %d", i);
		ASSERT_EQ(0, write_file(DRIVER "unbind", "0001:00:00.0"));
		EXPECT_EQ(JETWATT_VALUE_NONE, read_gpu(&self->f).khz);
		EXPECT_NE(0, access(GPC "cur_freq", F_OK));
		sleep_ms(50);
		ASSERT_EQ(0, write_file(DRIVER "bind", "0001:00:00.0"));
	}
	EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz);
	EXPECT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
}

/* Remove the PCI device of the GPU; a rescan of the PCI bus adds it again. */
TEST_F(thor, removed_gpu_has_no_clock)
{
	EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz);
	ASSERT_EQ(0, write_file(PCI "remove", "1"));
	EXPECT_EQ(JETWATT_VALUE_NONE, read_gpu(&self->f).khz);
	ASSERT_EQ(0, write_file("/sys/bus/pci/rescan", "1"));
	EXPECT_EQ(1575000, becomes(&self->f, 1575000, 1000).khz);
}

/*
 * While the devfreq governor does not poll, the module must report no load: neither after the start
 * of the driver, nor the last known load after a change of the governor. The driver starts with
 * "performance" if the kernel has it, as JetPack's kernel does.
 */
TEST_F(thor, no_load_without_polling_governor)
{
	char governors[128], *other;

	ASSERT_EQ(0, write_file(DRIVER "unbind", "0001:00:00.0"));
	ASSERT_EQ(0, write_file(DRIVER "bind", "0001:00:00.0"));
	ASSERT_EQ(0, read_file(GPC "available_governors", governors, sizeof(governors)));
	other = strstr(governors, "performance") ? "performance" : "userspace";
	if (!strstr(governors, other))
		SKIP(return, "this kernel has neither of the governors performance and userspace");
	if (!strcmp(other, "performance")) {
		EXPECT_EQ(JETWATT_VALUE_NONE, becomes(&self->f, 1575000, JETWATT_VALUE_NONE).load);
	}
	EXPECT_EQ(1000, becomes(&self->f, 1575000, 1000).load);
	ASSERT_EQ(0, write_file(GPC "governor", other));
	EXPECT_EQ(JETWATT_VALUE_NONE, becomes(&self->f, 1575000, JETWATT_VALUE_NONE).load);
	ASSERT_EQ(0, write_file(GPC "governor", "simple_ondemand"));
	EXPECT_EQ(1000, becomes(&self->f, 1575000, 1000).load);
}

TEST_HARNESS_MAIN
