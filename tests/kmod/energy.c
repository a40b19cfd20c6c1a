// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=230
/*
 * Compare the energy counters, as read through netlink, with the true energy of the simulated
 * board, and those of hwmon and perf with those of netlink. Also test the time without readings.
 */
#include "family.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "skip.h"

#define RAILS	4
#define TOTAL	RAILS
#define PMU	"/sys/bus/event_source/devices/jetwatt/"
#define ADC_OFFSET	"/sys/module/jetwatt_sim/parameters/adc_offset_uv"
#define CPU0	"/sys/devices/system/cpu/cpu0/online"
#define CPU1	"/sys/devices/system/cpu/cpu1/online"

static const char *const truth_names[] = {
	"energy_uj_VDD_GPU_SOC", "energy_uj_VDD_CPU_CV", "energy_uj_VIN_SYS_5V0",
	"energy_uj_VDDQ_VDD2_1V8AO", "energy_uj",
};

/*
 * Get the true energy in uJ that the simulated board has drawn so far: one value per rail in the
 * order of rail ids, then the total.
 */
static void plant(double *uj)
{
	char line[128], key[64];
	double value;
	FILE *f = fopen("/sys/kernel/debug/jetwatt-sim/truth/now", "re");
	int i;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %lf", key, &value) != 2)
			continue;
		for (i = 0; i <= TOTAL; i++)
			if (!strcmp(key, truth_names[i]))
				uj[i] = value;
	}
	if (f)
		fclose(f);
}

struct counted {
	uint64_t uj[RAILS + 1], blind_ns[RAILS + 1], time_ns;
	int32_t uw;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	uint32_t rail = u32_of(nlh, JETWATT_A_ENERGY_RAIL);
	struct counted *c = arg;

	if (rail == UINT32_MAX) {
		rail = TOTAL;
		c->time_ns = u64_of(nlh, JETWATT_A_ENERGY_TIME_NS);
		c->uw = nla_get_s32(attr_of(nlh, JETWATT_A_ENERGY_UW));
	}
	c->uj[rail] = u64_of(nlh, JETWATT_A_ENERGY_UJ);
	c->blind_ns[rail] = u64_of(nlh, JETWATT_A_ENERGY_BLIND_NS);
}

static int counters(struct family *f, struct counted *c)
{
	memset(c, 0, sizeof(*c));
	return dump(f, request(f, JETWATT_CMD_ENERGY_GET), note, c);
}

static pid_t train(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/train", "train", "--seconds", "600", NULL);
		_exit(127);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int perf_open(uint64_t config, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config = config };

	attr.type = read_number(PMU "type");
	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t perf_read(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : UINT64_MAX;
}

FIXTURE(board) {
	struct family f;
	pid_t job;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
	self->job = train();
	sleep_ms(1000);
}

FIXTURE_TEARDOWN(board)
{
	stop(self->job);
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->f);
}

/*
 * Get the error of each energy counter over @ms milliseconds, in percent of the true energy.
 * Return: 0, or -1 if the counters cannot be read or have counted blind time.
 */
static int compare(struct family *f, unsigned int ms, double *percent)
{
	double before[RAILS + 1] = {}, after[RAILS + 1] = {};
	struct counted a, b;
	int i;

	plant(before);
	if (counters(f, &a))
		return -1;
	sleep_ms(ms);
	plant(after);
	if (counters(f, &b))
		return -1;
	for (i = 0; i <= TOTAL; i++) {
		percent[i] = 100 * ((b.uj[i] - a.uj[i]) / (after[i] - before[i]) - 1);
		if (b.blind_ns[i] != a.blind_ns[i])
			return -1;
	}
	return 0;
}

/* The power of a job changes within each minibatch; the counters must measure its energy all the
 * same. */
TEST_F(board, energy_is_that_of_the_plant)
{
	double percent[RAILS + 1];
	int i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 200));
	sleep_ms(100);
	ASSERT_EQ(0, compare(&self->f, 20000, percent));
	for (i = 0; i <= TOTAL; i++) {
		TH_LOG("%s: %+.3f %%", truth_names[i], percent[i]);
		/* The LSB of the first two rails is 380 mW, so noise and rounding permit an error
		 * of 1 % per rail. */
		EXPECT_GT(i == TOTAL ? 0.5 : 1.0, fabs(percent[i]));
	}
}

/*
 * Without a subscriber and without a configured sampling rate, the module still counts energy, at
 * the rate idle_hz.
 */
TEST_F(board, energy_is_counted_without_subscriber)
{
	double percent[RAILS + 1];
	struct counted c;

	EXPECT_EQ(0, number(&self->f, JETWATT_CMD_INFO_GET, JETWATT_A_INFO_RUNNING));
	ASSERT_EQ(0, compare(&self->f, 20000, percent));
	TH_LOG("total at idle rate: %+.3f %%", percent[TOTAL]);
	EXPECT_GT(5, fabs(percent[TOTAL]));
	ASSERT_EQ(0, counters(&self->f, &c));
	/* The longest interval between two readings at the idle rate is 150 ms. */
	EXPECT_GT(250000000, now_ns() - c.time_ns);
	EXPECT_LT(1000000, c.uw);
	EXPECT_EQ(0, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
}

/*
 * Without a subscriber, the intervals of the samples are random, 50 to 150 ms, so that a job whose
 * minibatches are as long as the mean interval is measured at all its phases.
 */
TEST_F(board, intervals_without_subscriber_are_random)
{
	uint64_t last = 0, interval, shortest = UINT64_MAX, longest = 0;
	struct counted c;
	int n = -1;

	while (n < 60) {
		ASSERT_EQ(0, counters(&self->f, &c));
		if (c.time_ns == last) {
			sleep_ms(2);
			continue;
		}
		if (++n) {
			interval = c.time_ns - last;
			shortest = interval < shortest ? interval : shortest;
			longest = interval > longest ? interval : longest;
		}
		last = c.time_ns;
	}
	TH_LOG("%.1f to %.1f ms", shortest / 1e6, longest / 1e6);
	EXPECT_LT(50000000, shortest);
	/* Of 60 intervals, none is shorter than 75 ms with a probability of 3e-8. */
	EXPECT_GT(75000000, shortest);
	EXPECT_LT(125000000, longest);
}

/* The rail graph of this board: the rail of the memory is fed by the 5 V input. */
TEST_F(board, memory_rail_is_fed_by_the_5_v_rail)
{
	EXPECT_EQ(JETWATT_SCOPE_MODULE, number(&self->f, JETWATT_CMD_INFO_GET,
					       JETWATT_A_INFO_TOTAL_SCOPE));
	EXPECT_EQ(2, rail_of(&self->f, 3, JETWATT_A_RAIL_PARENT));
	EXPECT_EQ(0, rail_of(&self->f, 3, JETWATT_A_RAIL_IN_TOTAL));
	EXPECT_EQ(UINT64_MAX, rail_of(&self->f, 0, JETWATT_A_RAIL_PARENT));
	EXPECT_EQ(1, rail_of(&self->f, 0, JETWATT_A_RAIL_IN_TOTAL));
	EXPECT_EQ(1, rail_of(&self->f, 2, JETWATT_A_RAIL_IN_TOTAL));
}

TEST_F(board, hwmon_agrees_with_netlink_at_10_hz)
{
	char dir[64], path[96], text[64];
	struct counted before, after;
	long first, value, mv;
	uint64_t start;
	int i, changes;

	ASSERT_TRUE(own_hwmon(dir, sizeof(dir)));
	snprintf(path, sizeof(path), "%s/energy1_label", dir);
	ASSERT_EQ(0, read_file(path, text, sizeof(text)));
	EXPECT_STREQ("module total", text);
	snprintf(path, sizeof(path), "%s/energy2_label", dir);
	ASSERT_EQ(0, read_file(path, text, sizeof(text)));
	EXPECT_STREQ("VDD_GPU_SOC", text);
	EXPECT_EQ(-1, shown(dir, "in0_input"));
	EXPECT_EQ(-1, shown(dir, "in1_input"));
	EXPECT_EQ(-1, shown(dir, "curr1_input"));
	EXPECT_EQ(-1, shown(dir, "energy6_input"));

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(200);
	for (i = 0; i < RAILS; i++) {
		ASSERT_EQ(0, counters(&self->f, &before));
		sleep_ms(110);
		snprintf(path, sizeof(path), "energy%d_input", i + 2);
		value = shown(dir, path);
		ASSERT_EQ(0, counters(&self->f, &after));
		EXPECT_LE(before.uj[i], value);
		EXPECT_GE(after.uj[i], value);
		snprintf(path, sizeof(path), "in%d_input", i + 2);
		mv = shown(dir, path);
		snprintf(path, sizeof(path), "curr%d_input", i + 2);
		value = shown(dir, path);
		snprintf(path, sizeof(path), "power%d_input", i + 2);
		EXPECT_LT(1000, mv);
		/* Voltage, current and power may come from two consecutive updates of the hwmon
		 * values; power changes by less than a factor of 4 between them. */
		EXPECT_LT(shown(dir, path) / 4, value * mv);
		EXPECT_GT(shown(dir, path) * 4, value * mv);
	}

	/* Any user may read the energy counter in hwmon, so a frequently updated one would be a
	 * side channel: the counter must change 5 to 10 times a second only. */
	start = now_ns();
	first = shown(dir, "energy1_input");
	for (changes = 0; now_ns() - start < 2000000000;) {
		value = shown(dir, "energy1_input");
		changes += value != first;
		EXPECT_LE(first, value);
		first = value;
	}
	TH_LOG("%d values in 2 s", changes);
	EXPECT_LE(10, changes);
	EXPECT_GE(20, changes);
}

/* sample_time_ns is the time of the newest sample that the energy counter of the total includes. */
TEST_F(board, hwmon_has_the_time_of_its_sample)
{
	static struct counted c[1000];
	unsigned int i, j, found = 0, same = 0;
	uint64_t time_ns, last = 0;
	double uj;
	char dir[64];

	ASSERT_TRUE(own_hwmon(dir, sizeof(dir)));
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, counters(&self->f, &c[i]));
		time_ns = shown(dir, "sample_time_ns");
		uj = shown(dir, "energy1_input");
		/* The values may be refreshed between the two reads: use only pairs with an
		 * unchanged time. */
		if (time_ns != last && time_ns == (uint64_t)shown(dir, "sample_time_ns")) {
			last = time_ns;
			EXPECT_GT(350000000, now_ns() - time_ns);
			for (j = 0; j <= i; j++) {
				if (c[j].time_ns != time_ns)
					continue;
				same += uj == c[j].uj[TOTAL];
				found++;
				break;
			}
		}
		sleep_ms(2);
	}
	TH_LOG("%u of %u samples", same, found);
	EXPECT_LE(10, found);
	/* One sample may have been read while the sampler was adding its energy, so one difference
	 * is permitted. */
	EXPECT_LE(found - 1, same);
}

/* Each perf event must have a name that the parser of perf accepts, a unit and a scale. */
TEST_F(board, perf_events_have_name_unit_and_scale)
{
	static const char *const want[] = {
		"energy_vdd_gpu_soc", "energy_vdd_cpu_cv", "energy_vin_sys_5v0",
		"energy_vddq_vdd2_1v8ao", "energy_total",
	};
	char path[128], text[64];
	struct dirent *e;
	DIR *dir;
	int i, n = 0;

	for (i = 0; i <= TOTAL; i++) {
		snprintf(path, sizeof(path), PMU "events/%s", want[i]);
		ASSERT_EQ(0, read_file(path, text, sizeof(text))) TH_LOG("%s", path);
		EXPECT_EQ(i == TOTAL ? 1 : 2 + i, strtol(text + strlen("event="), NULL, 0));
		snprintf(path, sizeof(path), PMU "events/%s.unit", want[i]);
		ASSERT_EQ(0, read_file(path, text, sizeof(text)));
		EXPECT_STREQ("Joules", text);
		snprintf(path, sizeof(path), PMU "events/%s.scale", want[i]);
		ASSERT_EQ(0, read_file(path, text, sizeof(text)));
		EXPECT_EQ(1e-6, strtod(text, NULL));
	}
	dir = opendir(PMU "events");
	ASSERT_NE(NULL, dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	EXPECT_EQ(3 * (RAILS + 1), n);
	ASSERT_EQ(0, read_file(PMU "format/event", text, sizeof(text)));
	EXPECT_STREQ("config:0-7", text);
}

/*
 * While a perf event is open, the sampler runs, and the event counts the same energy as the
 * counters in netlink.
 */
TEST_F(board, perf_events_count_the_energy_of_netlink)
{
	struct counted before, after;
	uint64_t total, gpu, then;
	int fd, fd2;

	fd = perf_open(1, 0);
	ASSERT_LE(0, fd) TH_LOG("%s", strerror(errno));
	fd2 = perf_open(2, 1);
	ASSERT_LE(0, fd2) TH_LOG("%s", strerror(errno));
	sleep_ms(300);
	EXPECT_LT(100, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
	total = perf_read(fd);
	gpu = perf_read(fd2);
	ASSERT_EQ(0, counters(&self->f, &before));
	sleep_ms(3000);
	/* When the CPU that counts the perf events goes offline, the events must continue on
	 * another CPU. */
	EXPECT_EQ(0, read_number(PMU "cpumask"));
	if (!write_number(CPU0, 0)) {
		EXPECT_EQ(1, read_number(PMU "cpumask"));
		then = perf_read(fd);
		sleep_ms(500);
		EXPECT_LT(then, perf_read(fd));
		ASSERT_EQ(0, write_number(CPU0, 1));
		EXPECT_EQ(1, read_number(PMU "cpumask"));
		then = perf_read(fd2);
		/* When CPU 1 then goes offline, the perf events must move from CPU 1 to CPU 0. */
		ASSERT_EQ(0, write_number(CPU1, 0));
		EXPECT_EQ(0, read_number(PMU "cpumask"));
		sleep_ms(500);
		EXPECT_LT(then, perf_read(fd2));
		ASSERT_EQ(0, write_number(CPU1, 1));
	} else {
		TH_LOG("CPU 0 of this machine stays online");
	}
	ASSERT_EQ(0, counters(&self->f, &after));
	total = perf_read(fd) - total;
	gpu = perf_read(fd2) - gpu;
	TH_LOG("perf %llu uJ, netlink %llu uJ", (unsigned long long)total,
	       (unsigned long long)(after.uj[TOTAL] - before.uj[TOTAL]));
	/* The perf and netlink counters are read one after the other, with some samples in between,
	 * so allow a difference of 2 %. */
	EXPECT_GT(2, 100 * fabs(total / (double)(after.uj[TOTAL] - before.uj[TOTAL]) - 1));
	EXPECT_GT(2, 100 * fabs(gpu / (double)(after.uj[0] - before.uj[0]) - 1));
	/* Each open event holds a reference to the module. */
	EXPECT_EQ(-EAGAIN, unload("jetwatt"));
	close(fd);
	close(fd2);
	sleep_ms(300);
	EXPECT_EQ(0, config_of(&self->f, JETWATT_A_CONFIG_ACTIVE_HZ));
}

TEST_F(board, perf_refuses_other_events)
{
	struct perf_event_attr sampling = { .size = sizeof(sampling), .config = 1,
					    .sample_period = 1000 };
	int status;
	pid_t pid;

	EXPECT_EQ(-1, perf_open(0, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, perf_open(2 + RAILS, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, perf_open((1ULL << 32) + 1, 0));
	EXPECT_EQ(EINVAL, errno);
	sampling.type = read_number(PMU "type");
	EXPECT_EQ(-1, syscall(SYS_perf_event_open, &sampling, -1, 0, -1, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
	sampling.sample_period = 0;
	/* Opening the event for one task must fail, because the power of the board cannot be
	 * attributed to a task. */
	EXPECT_EQ(-1, syscall(SYS_perf_event_open, &sampling, 0, -1, -1, 0));

	/* Even if perf_event_paranoid permits unprivileged events, the module requires a
	 * capability. */
	ASSERT_EQ(0, write_number("/proc/sys/kernel/perf_event_paranoid", -1));
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(perf_open(1, 0) >= 0 ? 2 : errno == EACCES ? 0 : 3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, write_number("/proc/sys/kernel/perf_event_paranoid", 2));
}

/* Set a sampling rate of 100 Hz, wait 300 ms and read the energy counters. */
static int counters_at_100hz(struct family *f, struct counted *c)
{
	int err = set_u32(f, JETWATT_A_CONFIG_RATE_HZ, 100);

	sleep_ms(300);
	return err ?: counters(f, c);
}

/*
 * Simulate a suspend of five seconds, which the module detects by the difference between the clocks
 * BOOTTIME and MONOTONIC. The injected fault adds five seconds to this difference.
 */
TEST_F(board, suspend_is_blind_time)
{
	struct counted start, before, after;
	int i;

	ASSERT_EQ(0, counters_at_100hz(&self->f, &start));
	sleep_ms(1000);
	ASSERT_EQ(0, counters(&self->f, &before));
	ASSERT_EQ(0, inject("fail_asleep", 1));
	sleep_ms(1000);
	ASSERT_EQ(0, counters(&self->f, &after));
	for (i = 0; i <= TOTAL; i++) {
		TH_LOG("%s: blind %llu us", truth_names[i],
		       (unsigned long long)(after.blind_ns[i] - before.blind_ns[i]) / 1000);
		EXPECT_LE(5000000000, after.blind_ns[i] - before.blind_ns[i]);
		EXPECT_GT(5200000000, after.blind_ns[i] - before.blind_ns[i]);
	}
	/* The counters must increase by the energy of one second, as in the interval before, and
	 * not by that of six seconds. */
	EXPECT_LT((before.uj[TOTAL] - start.uj[TOTAL]) / 2, after.uj[TOTAL] - before.uj[TOTAL]);
	EXPECT_GT((before.uj[TOTAL] - start.uj[TOTAL]) * 2, after.uj[TOTAL] - before.uj[TOTAL]);
}

/*
 * The kernel freezes all tasks and thaws them a second later, as it does around a suspend; this
 * second must count as blind time.
 */
TEST_F(board, freezing_is_blind_time)
{
	struct counted before, after;
	uint64_t frozen_ns;

	if (access("/sys/power/pm_test", W_OK))
		SKIP_TEST("this kernel has no CONFIG_PM_DEBUG");
	ASSERT_EQ(0, counters_at_100hz(&self->f, &before));
	ASSERT_EQ(0, write_number("/sys/module/suspend/parameters/pm_test_delay", 1));
	ASSERT_EQ(0, write_file("/sys/power/pm_test", "freezer"));
	frozen_ns = now_ns();
	EXPECT_EQ(0, write_file("/sys/power/state", "freeze"));
	frozen_ns = now_ns() - frozen_ns;
	ASSERT_EQ(0, write_file("/sys/power/pm_test", "none"));
	ASSERT_EQ(0, write_number("/sys/module/suspend/parameters/pm_test_delay", 5));
	sleep_ms(300);
	ASSERT_EQ(0, counters(&self->f, &after));
	TH_LOG("blind for %llu us, frozen for %llu us",
	       (unsigned long long)(after.blind_ns[TOTAL] - before.blind_ns[TOTAL]) / 1000,
	       (unsigned long long)frozen_ns / 1000);
	EXPECT_LE(1000000000, after.blind_ns[TOTAL] - before.blind_ns[TOTAL]);
	/* The blind time lasts at most from the last sample before the freeze to the first one
	 * after it. */
	EXPECT_GT(frozen_ns + 100000000, after.blind_ns[TOTAL] - before.blind_ns[TOTAL]);
	EXPECT_TRUE(ticks_reach(&self->f, stat_of(&self->f, JETWATT_A_STATS_TICKS) + 50));
}

/*
 * An ADC offset that reads as negative power for a long time must not be subtracted from energy
 * that is drawn afterwards.
 */
TEST_F(board, negative_readings_leave_no_debt)
{
	double percent[RAILS + 1];
	struct counted before, after;
	int i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	ASSERT_EQ(0, write_number(ADC_OFFSET, -50000));
	/* After 500 ms, all samples are negative, so the counters must not change. */
	sleep_ms(500);
	ASSERT_EQ(0, counters(&self->f, &before));
	sleep_ms(8000);
	ASSERT_EQ(0, counters(&self->f, &after));
	ASSERT_EQ(0, write_number(ADC_OFFSET, 0));
	for (i = 0; i <= TOTAL; i++)
		EXPECT_EQ(before.uj[i], after.uj[i]);
	/* The negative energy that the module still subtracts is limited to that of one LSB in one
	 * second. The smallest load is three LSB, so one second is enough to balance it. */
	sleep_ms(1000);
	ASSERT_EQ(0, compare(&self->f, 10000, percent));
	for (i = 0; i <= TOTAL; i++) {
		TH_LOG("%s: %+.3f %%", truth_names[i], percent[i]);
		EXPECT_GT(1.0, fabs(percent[i]));
	}
}

static int enable_rail(int channel, int on)
{
	char path[128];

	if (!hwmon(0x40, path, sizeof(path)))
		return -ENOENT;
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/in%d_enable", channel + 1);
	return write_number(path, on);
}

/*
 * A rail that was disabled and not read for some seconds has a longer blind time than the other
 * rails. The blind time of the total never decreases, even when the rail with the longer blind time
 * leaves the total again.
 */
TEST_F(board, blind_time_of_total_never_decreases)
{
	struct counted c[4];
	int i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	for (i = 0; i < 4; i++) {
		sleep_ms(i ? 5000 : 1000);
		ASSERT_EQ(0, counters(&self->f, &c[i]));
		EXPECT_EQ(i % 2 ? 0 : 1, rail_of(&self->f, 1, JETWATT_A_RAIL_IN_TOTAL));
		ASSERT_EQ(0, enable_rail(1, i % 2));
		TH_LOG("blind: rail %llu ms, total %llu ms",
		       (unsigned long long)c[i].blind_ns[1] / 1000000,
		       (unsigned long long)c[i].blind_ns[TOTAL] / 1000000);
	}
	/* Only the rail with index 1 was not read, so its blind time has grown by more than two
	 * seconds. */
	EXPECT_LT(2000000000, c[2].blind_ns[1] - c[0].blind_ns[1]);
	for (i = 1; i < 4; i++) {
		EXPECT_LE(c[i - 1].blind_ns[TOTAL], c[i].blind_ns[TOTAL]);
		/* The total was still known while rail 1 was not read, so the blind time of the
		 * total must hardly grow. */
		EXPECT_GT(500000000, c[i].blind_ns[TOTAL] - c[0].blind_ns[TOTAL]);
	}
}

/* While the chips do not respond for some seconds, the module must count blind time. */
TEST_F(board, time_without_chip_is_blind)
{
	struct counted before, after;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(200);
	ASSERT_EQ(0, counters(&self->f, &before));
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_nak"), 1000000));
	sleep_ms(4000);
	ASSERT_EQ(0, write_number(SIM_KNOB("i2c_nak"), 0));
	sleep_ms(1500);
	ASSERT_EQ(0, counters(&self->f, &after));
	TH_LOG("blind for %llu ms", (unsigned long long)after.blind_ns[TOTAL] / 1000000);
	EXPECT_LT(3900000000, after.blind_ns[TOTAL] - before.blind_ns[TOTAL]);
	EXPECT_GT(5600000000, after.blind_ns[TOTAL] - before.blind_ns[TOTAL]);
	EXPECT_LT(0, after.uj[TOTAL] - before.uj[TOTAL]);
}

TEST_HARNESS_MAIN
