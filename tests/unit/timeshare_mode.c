// SPDX-License-Identifier: GPL-2.0-only
/* The power mode of jetwatt schedule: its choice from the files of measured modes, and later switches. */
#include "timeshare/mode.h"

#define jetwatt_board_check_mode(board, mode, e)	((void)(board), (void)(mode), (void)(e), 0)
#define jetwatt_mode_guard_hold(guard, board)		((void)(guard), (void)(board), 0)
#define jetwatt_mode_guard_restore(guard)		((void)(guard), 0)
#define jetwatt_mode_guard_apply(guard, mode)		((void)(guard), test_apply(mode))
#define jetwatt_mode_guard_check(guard, mode)		((void)(guard), test_check(mode))
static int test_apply(const struct jetwatt_mode *mode);
static int test_check(const struct jetwatt_mode *mode);
#include "../../user/timeshare/mode.c"

#include <unistd.h>

#include "timeshare/conf.h"

#include "kselftest_harness.h"

FIXTURE(mode) {
	struct jetwatt_timeshare_conf conf;
	struct jetwatt_timeshare_mode m;
};

static struct jetwatt_mode applied;
static int refuse;	/* 1: the board refuses to switch */

static int test_apply(const struct jetwatt_mode *mode)
{
	if (refuse)
		return JETWATT_EXIT_FAILED;
	applied = *mode;
	return 0;
}

static int test_check(const struct jetwatt_mode *mode)
{
	return jetwatt_mode_same(&applied, mode) ? 0 : JETWATT_EXIT_FAILED;
}

static void write_file(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/jetwatt-modes-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

FIXTURE_SETUP(mode)
{
	self->conf = (struct jetwatt_timeshare_conf){ .power_w = 30, .latency_ms = 500, .arrival_hz = 100 };
	write_file(self->conf.infer_modes, "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w\n"
		   "4,1,1,1,16,40,20\n4,1,2,1,16,30,25\n");
}

FIXTURE_TEARDOWN(mode)
{
	jetwatt_timeshare_mode_close(&self->m);
	unlink(self->conf.infer_modes);
	unlink(self->conf.train_modes);
}

/* jetwatt optimize -o writes the first measurement of a mode and the longer one that verifies it. */
TEST_F(mode, measurements_of_a_mode_are_combined)
{
	write_file(self->conf.train_modes, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w,time_sd,power_sd\n"
		   "4,1,1,1,20,22,0.005,0.005\n4,1,2,1,10,29.8,0.01,0.01\n4,1,2,1,10,30.6,0.004,0.004\n");
	ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
	EXPECT_EQ(1, applied.gpu_hz);
	jetwatt_timeshare_mode_close(&self->m);
	self->conf.power_w = 31;
	ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
	EXPECT_EQ(2, applied.gpu_hz);
	EXPECT_LT(30.4, self->m.plan.power_w);
}

/* A reading far below those of the neighbouring clocks does not show that the mode is within the budget. */
TEST_F(mode, outlier_of_power_is_not_chosen)
{
	unlink(self->conf.infer_modes);
	write_file(self->conf.infer_modes, "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w\n"
		   "4,1,1,1,16,40,20\n4,1,2,1,16,30,25\n4,1,3,1,16,25,30\n4,1,4,1,16,20,35\n");
	write_file(self->conf.train_modes, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n"
		   "4,1,1,1,20,22\n4,1,2,1,14,28\n4,1,3,1,10,18\n4,1,4,1,8,40\n");
	ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
	EXPECT_EQ(2, applied.gpu_hz);
}

TEST_F(mode, board_stays_in_its_mode_if_a_switch_fails)
{
	write_file(self->conf.train_modes, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,1,1,20,22\n4,1,2,1,10,29\n");
	refuse = 0;
	self->conf.arrival_hz = 10;
	self->conf.latency_ms = 1700;
	ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
	self->m.held = 1;
	applied = self->m.files->mode[0];
	self->m.plan.mode = 0;
	refuse = 1;
	EXPECT_EQ(0, jetwatt_timeshare_mode_follow(&self->m, &self->conf, 100));
	EXPECT_EQ(0, self->m.plan.mode);
	EXPECT_EQ(1, self->m.switches);
	/* The roll-back failed too. */
	applied.gpu_hz = 3;
	EXPECT_EQ(-EIO, jetwatt_timeshare_mode_follow(&self->m, &self->conf, 50));
	refuse = 0;
	EXPECT_EQ(1, jetwatt_timeshare_mode_follow(&self->m, &self->conf, 50));
	EXPECT_EQ(2, applied.gpu_hz);
}

/* The server's power is that of the mode, and the mode is left only for one that is clearly better. */
TEST_F(mode, mode_is_kept_unless_another_is_clearly_better)
{
	static const struct {
		double train_ms, arrival_hz;
		uint64_t gpu_hz;
	} t[] = { { 19.6, 50, 1 }, { 15, 50, 2 }, { 15, 98, 1 } };

	refuse = 0;
	self->conf.arrival_hz = 100;
	self->conf.latency_ms = 1700;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[160];

		snprintf(text, sizeof(text), "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,1,1,20,22\n4,1,2,1,%g,29\n",
			 t[i].train_ms);
		if (*self->conf.train_modes)
			unlink(self->conf.train_modes);
		write_file(self->conf.train_modes, text);
		ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
		self->m.held = 1;
		applied = self->m.files->mode[0];
		self->m.plan.mode = 0;
		self->m.arrival_hz = 100;
		EXPECT_EQ(t[i].gpu_hz == 2, jetwatt_timeshare_mode_follow(&self->m, &self->conf, t[i].arrival_hz));
		EXPECT_EQ(t[i].gpu_hz, applied.gpu_hz) TH_LOG("case %zu", i);
		EXPECT_EQ(i < 2 ? 50 : 100, self->m.arrival_hz);
		jetwatt_timeshare_mode_close(&self->m);
		self->m = (struct jetwatt_timeshare_mode){ 0 };
	}
}

/* The present mode exceeds the budget while the server runs, so its throughput does not count. */
TEST_F(mode, present_mode_over_the_budget_is_left)
{
	unlink(self->conf.infer_modes);
	write_file(self->conf.infer_modes, "cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w\n"
		   "4,1,1,1,16,30,25\n4,1,2,1,16,30,35\n");
	write_file(self->conf.train_modes, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,1,1,20,22\n4,1,2,1,19.9,29\n");
	refuse = 0;
	ASSERT_EQ(0, jetwatt_timeshare_mode_open(&self->m, NULL, &self->conf));
	self->m.held = 1;
	applied = self->m.files->mode[1];
	self->m.plan.mode = 1;
	EXPECT_EQ(1, jetwatt_timeshare_mode_follow(&self->m, &self->conf, 50));
	EXPECT_EQ(1, applied.gpu_hz);
}

/* The units of the configuration, and their limits. */
TEST(values_of_the_configuration)
{
	static const char good[] = "train = a b\ninfer = c\nlatency = 100ms\narrival = 2kHz\nminibatches = 3\n";
	static const char *const bad[] = {
		"train = a\ninfer = c\nlatency = 0.05ms\n", "train = a\ninfer = c\nlatency = 10001s\n",
		"train = a\ninfer = c\nlatency = 1s\narrival = 0\n", "train = a\ninfer = c\nlatency = 1s\npower = 30W\n",
		"train = a\ninfer = c\n", "train = a\nlatency = 1s\n", "train = a\ntrain = b\ninfer = c\nlatency = 1s\n",
		"train = a\ninfer = c\nlatency = 1s\nminibatches = 0\n",
	};
	struct jetwatt_timeshare_conf c;
	struct jetwatt_conf_error e;

	ASSERT_EQ(0, jetwatt_timeshare_conf_parse(good, strlen(good), &c, &e));
	EXPECT_STREQ("a b", c.train);
	EXPECT_EQ(100, c.latency_ms);
	EXPECT_EQ(2000, c.arrival_hz);
	EXPECT_EQ(3, c.minibatches);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_NE(0, jetwatt_timeshare_conf_parse(bad[i], strlen(bad[i]), &c, &e)) TH_LOG("%s", bad[i]);
	}
}

TEST_HARNESS_MAIN
