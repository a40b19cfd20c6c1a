// SPDX-License-Identifier: GPL-2.0-only
/* Reading a trace into a session: its texts, and the energy of a short one. */
#include <linux/jetwatt.h>
#include <math.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "../../user/measure/replay.c"

#define BEGUN_NS	5000000000ull

/* The texts of a trace that messages and tables contain do not control the terminal: the trace may come
 * from another machine. */
TEST(texts_without_control_characters)
{
	struct jetwatt_rail rail = { .label = "VDD\033[2J\n_GPU", .id = 3, .in_total = 1 };
	static struct jetwatt_replay r;

	on_rail(&rail, &r);
	on_text("scope", "module\033[31m", &r);
	on_text("library", "/lib/\rlibcuda.so.1", &r);
	on_text("mark.1", "step\007", &r);
	ASSERT_EQ(1, r.session.nr_rails);
	EXPECT_STREQ("VDD?[2J?_GPU", r.session.rail[0].label);
	EXPECT_EQ(3, r.session.rail[0].id);
	EXPECT_STREQ("module?[31m", r.scope);
	EXPECT_STREQ("/lib/?libcuda.so.1", r.session.trace_state.library);
	EXPECT_STREQ("step?", r.session.trace_state.mark[1]);
}

/* Write @n samples at 1 kHz from the start of the job on, of two rails with 5 W each, whose bus voltages are
 * read in rotation. */
static void write_short_trace(int fd, uint32_t n)
{
	static int32_t value[4][1000];
	static uint64_t time_ns[1000];
	struct jetwatt_series_view series[4];
	struct jetwatt_samples s = { .seq = 1, .count = n, .nr_series = 4, .time_ns = time_ns, .series = series };
	struct jetwatt_trace_job job = { .begun_ns = BEGUN_NS };
	struct jetwatt_trace_end end = { .ended_ns = BEGUN_NS + (n - 1) * 1000000ull, .status = -1 };
	struct jetwatt_chip chip = { .id = 5, .model = "ina3221", .refresh_mhz = 100000, .shunt_us = 1000,
				     .averages = 1, .step_pv = 40000000 };
	struct jetwatt_trace_writer *w;

	for (uint32_t i = 0; i < n; i++) {
		time_ns[i] = BEGUN_NS + i * 1000000ull;
		for (uint32_t k = 0; k < 4; k++)
			value[k][i] = k < 2 ? 5000 : i % 2 == k % 2 ? 5000000 : JETWATT_VALUE_NONE;
	}
	jetwatt_trace_writer_new(&w, fd);
	jetwatt_trace_write_chip(w, &chip);
	for (uint32_t k = 0; k < 4; k++) {
		struct jetwatt_rail rail = { .id = k, .chip = 5, .shunt_uohm = 5000, .enabled = 1, .in_total = 1, .parent = UINT32_MAX };

		series[k] = (struct jetwatt_series_view){
			k < 2 ? JETWATT_SERIES_SHUNT_UV : JETWATT_SERIES_BUS_UV, k % 2, value[k]
		};
		if (k < 2)
			jetwatt_trace_write_rail(w, &rail);
	}
	jetwatt_trace_write_job(w, &job);
	jetwatt_trace_write_samples(&s, w);
	jetwatt_trace_finish(w, &end);
	jetwatt_trace_writer_free(w);
}

/* The first samples do not contain every rail, and the join delivers none before the trace has ended, because it
 * waits for waits. */
TEST(short_trace_without_waits_has_energy)
{
	static struct jetwatt_replay r;
	static struct jetwatt_run_energy m;
	char path[32];
	int fd = memfd_create("jwt", MFD_CLOEXEC);

	ASSERT_LE(0, fd);
	write_short_trace(fd, 600);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ASSERT_EQ(0, jetwatt_replay_open(&r, path));
	ASSERT_EQ(0, jetwatt_replay_run(&r, &m));
	EXPECT_LT(fabs(m.uj - 10e6 * 0.598), 1000);
	/* The trace describes the chip: 10 ms between two values, and 1 ms for a conversion. */
	EXPECT_LT(fabs(m.error.sensor[0].fresh_hz - 100), 0.1);
	EXPECT_LT(fabs(m.error.sensor[0].age_ns - 5.5e6), 1);
	EXPECT_LT(fabs(m.error.sensor[1].quantum_uw - 40000), 1);
	EXPECT_EQ(BEGUN_NS + 599 * 1000000ull, m.at_ns);
	jetwatt_run_energy_free(&m);
	jetwatt_replay_close(&r);
	close(fd);
}

/* Write 100 samples of two rails with 5 W each. */
static void write_second_of_samples(struct jetwatt_trace_writer *w, uint32_t second)
{
	static int32_t value[4][100];
	static uint64_t time_ns[100];
	struct jetwatt_series_view series[4];
	struct jetwatt_samples s = { .seq = 1 + second * 100, .count = 100, .nr_series = 4,
				     .time_ns = time_ns, .series = series };

	for (uint32_t i = 0; i < 100; i++)
		time_ns[i] = BEGUN_NS + second * 1000000000ull + i * 10000000ull;
	for (uint32_t k = 0; k < 4; k++) {
		series[k] = (struct jetwatt_series_view){
			k < 2 ? JETWATT_SERIES_SHUNT_UV : JETWATT_SERIES_BUS_UV, k % 2, value[k]
		};
		for (uint32_t i = 0; i < 100; i++)
			value[k][i] = k < 2 ? 5000 : 5000000;
	}
	jetwatt_trace_write_samples(&s, w);
}

static void write_second_of_waits(struct jetwatt_trace_writer *w, uint32_t second)
{
	struct jetwatt_sync s = { .tgid = 100, .tid = 100 };

	for (uint32_t i = 1; i <= 10; i++) {
		s.exit_ns = BEGUN_NS + second * 1000000000ull + i * 100000000ull - 3000000;
		s.enter_ns = s.exit_ns - 50000000;
		jetwatt_trace_write_sync(&s, w);
	}
}

/* Write 5 seconds of samples and waits. @late: the recorder was stopped for the last 4 seconds: the waits of
 * this time precede the samples. */
static void write_trace_of_waits(int fd, int late)
{
	struct jetwatt_trace_job job = { .begun_ns = BEGUN_NS, .pid = 100 };
	struct jetwatt_trace_end end = { .ended_ns = BEGUN_NS + 5000000000ull, .status = -1 };
	struct jetwatt_trace_writer *w;

	jetwatt_trace_writer_new(&w, fd);
	for (uint32_t k = 0; k < 2; k++) {
		struct jetwatt_rail rail = { .id = k, .shunt_uohm = 5000, .enabled = 1, .in_total = 1, .parent = UINT32_MAX };

		jetwatt_trace_write_rail(w, &rail);
	}
	jetwatt_trace_write_job(w, &job);
	jetwatt_trace_flush(w, 0, 1);
	write_second_of_samples(w, 0);
	jetwatt_trace_flush(w, 0, 1);
	write_second_of_waits(w, 0);
	for (uint32_t i = 1; i < 5; i++) {
		write_second_of_waits(w, i);
		if (!late)
			write_second_of_samples(w, i);
	}
	for (uint32_t i = 1; i < 5 && late; i++)
		write_second_of_samples(w, i);
	jetwatt_trace_finish(w, &end);
	jetwatt_trace_writer_free(w);
}

/* A slow disk stops the recorder for seconds; then it reads the waits of this time, and after them the
 * samples. */
TEST(trace_of_a_late_recorder_is_complete)
{
	for (int late = 0; late < 2; late++) {
		static struct jetwatt_replay r;
		char path[32];
		int fd = memfd_create("jwt", MFD_CLOEXEC), n;

		ASSERT_LE(0, fd);
		write_trace_of_waits(fd, late);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ASSERT_EQ(0, jetwatt_replay_open(&r, path));
		while ((n = jetwatt_replay_step(&r)) > 0)
			;
		EXPECT_EQ(0, n);
		jetwatt_replay_finish(&r);
		EXPECT_EQ(0, jetwatt_session_waits_lost(&r.session));
		EXPECT_EQ(500, r.session.nr_power);
		EXPECT_EQ(50, r.session.nr_sync);
		jetwatt_replay_close(&r);
		close(fd);
	}
}

TEST_HARNESS_MAIN
