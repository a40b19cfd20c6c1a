// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=200 alone
/*
 * The module at its default rate, and the hwmon driver without pauses, read the same chips for a
 * minute. The values, limits and alarms of hwmon are the same as without the module.
 */
#include "family.h"

#include "kselftest_harness.h"

#define SECONDS	60

static char dir40[128];

static long sensor(const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir40, name);
	return read_number(path);
}

static int set_sensor(const char *name, long value)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir40, name);
	return write_number(path, value);
}

/*
 * Set the critical limit of channel 1 so low that the current exceeds it for 40 ms, then restore
 * limit @crit. The alarm flag of the chip stays set until a program reads it.
 */
static int raise_alarm(long crit)
{
	int err = set_sensor("curr1_crit", 20);

	sleep_ms(40);
	err = err ?: set_sensor("curr1_crit", crit);
	sleep_ms(300);
	return err;
}

/*
 * Test whether reading a value through hwmon clears the alarm flags. Up to Linux 6.0, reading a
 * value does clear the flags, because the ina3221 driver reads Mask/Enable before each value, to
 * check for a finished conversion. No other process reads the chip at this point.
 */
static bool values_clear_alarms(long crit)
{
	raise_alarm(crit);
	sensor("curr1_input");
	return sensor("curr1_crit_alarm") != 1;
}

/*
 * Run in a child process: read limits and measured values through hwmon for a minute, but no values
 * if reading them clears alarms. Exit with status 1 if a read fails.
 */
static void read_all(bool values)
{
	static const char *const names[] = {
		"curr1_max", "curr1_crit", "update_interval",
		"in1_input", "in2_input", "in3_input", "curr1_input", "curr2_input", "curr3_input",
		"in4_input", "in5_input", "in6_input",
	};
	uint64_t end = now_ns() + SECONDS * 1000000000ULL;
	unsigned int i, n = values ? sizeof(names) / sizeof(names[0]) : 3;

	while (now_ns() < end)
		for (i = 0; i < n; i++)
			if (sensor(names[i]) < 0)
				_exit(1);
	_exit(0);
}

struct means {
	double mv, ma;
};

static struct means mean_of_hwmon(void)
{
	struct means m = { 0, 0 };
	int i;

	for (i = 0; i < 100; i++) {
		m.mv += sensor("in1_input") / 100.0;
		m.ma += sensor("curr1_input") / 100.0;
		sleep_ms(7);
	}
	return m;
}

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	ASSERT_TRUE(hwmon(0x40, dir40, sizeof(dir40)));
}

FIXTURE_TEARDOWN(board)
{
	family_close(&self->f);
}

TEST_F_TIMEOUT(board, hwmon_is_not_disturbed, 180)
{
	long crit = sensor("curr1_crit"), interval = sensor("update_interval"), samples = sensor("samples");
	unsigned int raised = 0, seen = 0, still = 0;
	uint64_t ticks, end;
	struct means before, during;
	struct batch b;
	int status = -1;
	bool clears;
	pid_t pid;

	clears = values_clear_alarms(crit);
	before = mean_of_hwmon();
	sensor("curr1_crit_alarm");
	sensor("curr1_crit_alarm");
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS);
	during = mean_of_hwmon();
	pid = fork();
	if (!pid)
		read_all(!clears);
	end = now_ns() + SECONDS * 1000000000ULL;
	while (now_ns() < end - 2000000000ULL) {
		ASSERT_EQ(0, raise_alarm(crit));
		raised++;
		seen += sensor("curr1_crit_alarm") == 1;
		still += sensor("curr1_crit_alarm") != 0;
		while (next_batch(&self->f, 10, &b))
			;
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ticks = stat_of(&self->f, JETWATT_A_STATS_TICKS) - ticks;
	TH_LOG("%llu ticks; hwmon, %s, saw %u of %u alarms; %.1f mV %.1f mA before, %.1f mV %.1f mA beside the module",
	       (unsigned long long)ticks, clears ? "read for limits alone" : "read all the time",
	       seen, raised, before.mv, before.ma, during.mv, during.ma);
	EXPECT_LT(100, raised);
	EXPECT_EQ(raised, seen);
	EXPECT_EQ(0, still);
	/* The module samples at more than 50 Hz, even if hwmon uses half of the bus. */
	EXPECT_LT(SECONDS * 50, ticks);
	EXPECT_EQ(0, stat_of(&self->f, JETWATT_A_STATS_I2C_ERRORS));
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_ERRORS));
	EXPECT_EQ(crit, sensor("curr1_crit"));
	EXPECT_EQ(interval, sensor("update_interval"));
	EXPECT_EQ(samples, sensor("samples"));
	/* hwmon's values change by at most one LSB: 8 mV, or 20 mA with this shunt. */
	EXPECT_GE(8, during.mv - before.mv);
	EXPECT_LE(-8, during.mv - before.mv);
	EXPECT_GE(20, during.ma - before.ma);
	EXPECT_LE(-20, during.ma - before.ma);
}

TEST_HARNESS_MAIN
