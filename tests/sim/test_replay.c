// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=6 modules="governor_simpleondemand" timeout=300 alone
/*
 * Self-test of the replay plant: the power modes in the rows of a file become those of the board,
 * and its true power and the minibatches must have the power and time of these rows.
 */
#include "test_board.h"

#include "kselftest_harness.h"

#define FILE_NAME	"/tmp/modes.csv"
#define HEADER		"cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n"

static const struct row {
	int cores;
	const char *cpu_khz, *gpu_hz, *emc_hz;
	double ms, w;
} rows[] = {
	{ 6, "2000000", "1300500000", "3199000000", 61.25, 48.123 },
	{ 4, "2000000", "1300500000", "2133000000", 83.5, 31.4 },
	{ 2, "1000000", "600000000", "2133000000", 210.75, 15.875 },
	{ 2, "500000", "300000000", "204000000", 790.0, 9.25 },
};

static int write_file(const char *text)
{
	FILE *f = fopen(FILE_NAME, "we");

	if (!f)
		return -errno;
	fputs(text, f);
	return fclose(f) ? -errno : 0;
}

static const char *rows_text(void)
{
	static char text[1024];
	size_t i, n = snprintf(text, sizeof(text), "%s", HEADER);

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		n += snprintf(text + n, sizeof(text) - n, "%d,%s,%s,%s,%g,%g\n", rows[i].cores,
			      rows[i].cpu_khz, rows[i].gpu_hz, rows[i].emc_hz, rows[i].ms, rows[i].w);
	return text;
}

static int replay(const char *more)
{
	char params[256];

	snprintf(params, sizeof(params), "plant=replay csv=" FILE_NAME " %s", more);
	return load("jetwatt-sim", params);
}

/*
 * Read the list of power modes in debugfs file truth/modes, without its header. Return: number of
 * lines.
 */
static int modes(char *text, size_t size)
{
	FILE *f = fopen(SIM "truth/modes", "re");
	char line[128];
	int n = -1;

	text[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (n++ >= 0 && strlen(text) + strlen(line) < size)
			strcat(text, line);
	if (f)
		fclose(f);
	return n;
}

static void set_mode(const struct row *r)
{
	char path[96];
	int i;

	for (i = 1; i < 6; i++) {
		snprintf(path, sizeof(path), CPU "cpu%d/online", i);
		put(path, i < r->cores ? "1" : "0");
	}
	put(CPU "cpufreq/policy0/scaling_max_freq", r->cpu_khz);
	put(CPU "cpufreq/policy4/scaling_max_freq", r->cpu_khz);
	put(GPU "max_freq", r->gpu_hz);
	put(EMC, r->emc_hz);
}

FIXTURE(replay) { };

FIXTURE_SETUP(replay)
{
}

FIXTURE_TEARDOWN(replay)
{
	static const struct row all = { .cores = 6, .cpu_khz = "9999999", .gpu_hz = "9999999999",
					.emc_hz = "9223372036854775807" };

	set_mode(&all);
	unload("jetwatt_sim");
	unlink(FILE_NAME);
}

TEST_F_TIMEOUT(replay, rows_are_reproduced, 120)
{
	char *train[] = { "/bin/train", NULL }, text[1024];
	size_t i;
	pid_t pid;

	ASSERT_EQ(0, write_file(rows_text()));
	ASSERT_EQ(0, replay(""));
	EXPECT_EQ(4, modes(text, sizeof(text)));
	EXPECT_EQ(0, strncmp(text, "2,500000,300000000,204000000,790.000000,9.250\n", 46));
	pid = start(train);
	sleep_us(1000000);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double t, e = 0, w;
		struct minibatches m;

		set_mode(&rows[i]);
		sleep_us(5000000);
		t = 0;
		truth_power(&t, &e);
		EXPECT_LT(fabs(truth("mode_time_ns") / 1e6 - rows[i].ms), 1e-6);
		EXPECT_LT(fabs(truth("mode_power_uw") / 1e6 - rows[i].w), 1e-4);
		sleep_us(15000000);
		m = minibatches_since(t);
		w = truth_power(&t, &e);
		EXPECT_LT(fabs(m.mean_ns / 1e6 / rows[i].ms - 1), 0.012) {
			TH_LOG("%.3f ms, should be %.3f", m.mean_ns / 1e6, rows[i].ms);
		}
		EXPECT_LT(fabs(w / rows[i].w - 1), 0.01) {
			TH_LOG("%.3f W, should be %.3f", w, rows[i].w);
		}
	}
	EXPECT_EQ(0, end(pid, SIGTERM));
}

TEST_F(replay, steps_are_those_of_the_rows)
{
	char s[256];

	ASSERT_EQ(0, write_file(rows_text()));
	ASSERT_EQ(0, replay(""));
	ASSERT_EQ(0, get_line(CPU "cpufreq/policy0/scaling_available_frequencies", s, sizeof(s)));
	EXPECT_STREQ("500000 1000000 2000000 ", s);
	ASSERT_EQ(0, get_line(GPU "available_frequencies", s, sizeof(s)));
	EXPECT_STREQ("300000000 600000000 1300500000", s);
	ASSERT_EQ(0, get_line(BPMP "emc/possible_rates", s, sizeof(s)));
	EXPECT_STREQ("204000 2133000 3199000", s);
}

TEST_F(replay, a_mode_that_is_no_row_takes_the_nearest)
{
	static const struct row between = { 3, "2000000", "1300500000", "2133000000", 0, 0 };

	ASSERT_EQ(0, write_file(rows_text()));
	ASSERT_EQ(0, replay(""));
	set_mode(&between);
	sleep_us(100000);
	EXPECT_EQ(3, truth("cores"));
	EXPECT_LT(fabs(truth("mode_time_ns") - 83.5e6), 1);
}

TEST_F(replay, time_can_be_scaled)
{
	char text[1024];

	ASSERT_EQ(0, write_file(rows_text()));
	ASSERT_EQ(0, replay("time_scale=10000"));
	modes(text, sizeof(text));
	EXPECT_EQ(0, strncmp(text, "2,500000,300000000,204000000,79.000000,9.250\n", 45));
}

TEST_F(replay, columns_are_found_by_name_and_batches_selected)
{
	static const char text[] =
		"\xef\xbb\xbfpower_w, batch,time_ms,emc_hz,note,gpu_hz,cpu_khz,cores\r\n"
		"10.5,1,20,204000000,a,300000000,500000,2\r\n"
		"\r\n"
		"# remark\n"
		"11.5, 64 ,30.25,204000000,b,\"300000000\",500000,2\n"
		"12,64,40,204000000,c,300000000,500000,4\n"
		"12,64,40,204000000,c,300000000,500000,12";
	char out[1024];

	ASSERT_EQ(0, write_file(text));
	ASSERT_EQ(0, replay(""));
	/* By default, the plant uses the rows of the largest minibatch size, here 64; it omits the
	 * row with 12 cores, because the machine has fewer. */
	EXPECT_EQ(2, modes(out, sizeof(out)));
	EXPECT_STREQ("2,500000,300000000,204000000,30.250000,11.500\n"
		     "4,500000,300000000,204000000,40.000000,12.000\n", out);
	ASSERT_EQ(0, unload("jetwatt_sim"));
	ASSERT_EQ(0, replay("batch=1"));
	EXPECT_EQ(1, modes(out, sizeof(out)));
	EXPECT_STREQ("2,500000,300000000,204000000,20.000000,10.500\n", out);
}

TEST_F(replay, bad_files_are_refused)
{
	static const char *const bad[] = {
		"",
		"cores,cpu_khz,gpu_hz,emc_hz,time_ms\n2,500000,300000000,204000000,20\n",
		HEADER,
		HEADER "2,500000,300000000,204000000,20\n",
		HEADER "2,500000,300000000,204000000,x,10\n",
		HEADER "2,500000,300000000,204000000,-20,10\n",
		HEADER "2,500000,300000000,204000000,0,10\n",
		HEADER "2,500000,300000000,204000000,1e3,10\n",
		HEADER "2,500000,300000000,204000000,20,99999\n",
		HEADER "2,99999999999999999999999,300000000,204000000,20,10\n",
		HEADER "2,0.5,300000000,204000000,20,10\n",
		HEADER "2.,.,.,.,.,.\n",
		HEADER "13,500000,300000000,204000000,20,10\n",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ASSERT_EQ(0, write_file(bad[i]));
		EXPECT_EQ(-EINVAL, replay("")) {
			TH_LOG("file %zu", i);
		}
	}
	ASSERT_EQ(0, write_file(rows_text()));
	EXPECT_EQ(-EINVAL, replay("batch=0 time_scale=0"));
	EXPECT_EQ(-EINVAL, load("jetwatt-sim", "plant=replay"));
	EXPECT_EQ(-EINVAL, load("jetwatt-sim", "plant=steam"));
	EXPECT_EQ(-EINVAL, load("jetwatt-sim", "workload=nothing"));
	EXPECT_EQ(-ENOENT, load("jetwatt-sim", "plant=replay csv=/nowhere"));
	/* Loading the module must still succeed after the failed attempts. */
	EXPECT_EQ(0, replay(""));
}

TEST_F(replay, too_many_rows_are_refused_and_20000_are_not)
{
	FILE *f = fopen(FILE_NAME, "we");
	uint64_t t;
	int i;

	ASSERT_NE(NULL, f);
	fputs(HEADER, f);
	for (i = 0; i < 20000; i++)
		fprintf(f, "%d,%d,%d,%d,%d.5,12\n", i % 6 + 1, (i / 6 % 50 + 1) * 40000,
			(i / 300 % 34 + 1) * 30000000, (i / 10200 + 1) * 204000000, i + 1);
	fclose(f);
	ASSERT_EQ(0, replay(""));
	t = now_ns();
	/* For a mode without a row, the plant uses the nearest row; finding it among 20,000 rows
	 * must take less than 100 ms. */
	put(EMC, "204000000");
	EXPECT_LT(now_ns() - t, 100000000U);
	ASSERT_EQ(0, unload("jetwatt_sim"));
	f = fopen(FILE_NAME, "ae");
	fputs("1,1,1,1,1,1\n", f);
	fclose(f);
	EXPECT_EQ(-EINVAL, replay(""));
}

TEST_F(replay, load_and_unload)
{
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, load("jetwatt-sim", ""));
		EXPECT_EQ(0, load("ina3221", ""));
		EXPECT_GT(truth("mode_time_ns"), 0);
		EXPECT_EQ(0, unload("jetwatt_sim"));
		EXPECT_EQ(0, load("jetwatt-sim", "bus_hz=400000"));
		EXPECT_EQ(400000, get(BUS "bus_clk_rate"));
		EXPECT_EQ(0, access("/sys/bus/i2c/drivers/ina3221/1-0040", F_OK));
		EXPECT_EQ(0, unload("ina3221"));
		EXPECT_EQ(0, unload("jetwatt_sim"));
		EXPECT_NE(0, access(GPU, F_OK));
		EXPECT_NE(0, access(EMC, F_OK));
	}
}

TEST_F(replay, a_job_holds_the_module)
{
	int fd;

	ASSERT_EQ(0, load("jetwatt-sim", ""));
	fd = open("/dev/jetwatt-sim-gpu", O_RDWR | O_CLOEXEC);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-EWOULDBLOCK, unload("jetwatt_sim"));
	close(fd);
	EXPECT_EQ(0, unload("jetwatt_sim"));
}

TEST_HARNESS_MAIN
