// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt top: the order of the jobs, and the clocks and telemetry over the window. */
#include "kselftest_harness.h"

#include "../../user/cmd/top/collect.c"
#include "../../user/cmd/top/history.c"
#include "../../user/cmd/top/units.c"

#define SAMPLES	41
#define STEP_NS	100000000ull	/* 10 Hz: fewer samples than the chart has values */

static struct jetwatt_top top;

static void jobs(void)
{
	static const struct jetwatt_top_job job[] = {
		{ .pid = 30, .watt = 5, .phases = 1, .phase = { { .joule = 1, .ms = 50 } } },
		{ .pid = 20, .watt = 3, .phases = 0 },
		{ .pid = 40, .watt = 1, .phases = 2, .phase = { { .joule = 3, .ms = 10 }, { .joule = 9, .ms = 99 } } },
	};

	memset(&top, 0, sizeof(top));
	memcpy(top.job, job, sizeof(job));
	top.nr_jobs = 3;
}

TEST(jobs_are_sorted_by_the_chosen_order)
{
	static const unsigned int pid[JETWATT_TOP_ORDERS][3] = {
		[JETWATT_TOP_BY_POWER] = { 30, 20, 40 },
		[JETWATT_TOP_BY_ENERGY] = { 40, 30, 20 },
		[JETWATT_TOP_BY_TIME] = { 30, 40, 20 },
		[JETWATT_TOP_BY_PID] = { 20, 30, 40 },
	};

	jobs();
	for (int order = JETWATT_TOP_ORDERS - 1; order >= 0; order--) {
		jetwatt_top_sort(&top, (enum jetwatt_top_order)order);
		for (int i = 0; i < 3; i++)
			EXPECT_EQ(pid[order][i], top.job[i].pid);
	}
}

/* Ten samples a second for four seconds: the clock of the GPU steps after 1.5 s, the temperature is
 * known after one second, and there are no samples from second 2 to 3. */
static size_t samples(struct jetwatt_power *p)
{
	size_t n = 0;

	for (int i = 0; i < SAMPLES; i++) {
		if (i >= 20 && i < 30)
			continue;
		p[n].time_ns = 1 + i * STEP_NS;
		p[n].clock.gpu_hz = i < 15 ? 500000000 : 1300000000;
		jetwatt_telemetry_clear(&p[n].telemetry);
		if (i >= 10)
			p[n].telemetry.value[JETWATT_TELEMETRY_TEMP_MC] = 40000 + 100 * i;
		n++;
	}
	return n;
}

static const struct jetwatt_top_series *find(const char *title)
{
	for (int i = 0; i < top.nr_series; i++)
		if (!strcmp(top.series[i].title, title))
			return &top.series[i];
	return NULL;
}

TEST(history_shows_steps_and_gaps)
{
	static struct jetwatt_power power[SAMPLES];
	struct jetwatt_session w = { .power = power };
	const struct jetwatt_top_series *gpu, *hot;

	memset(&top, 0, sizeof(top));
	w.nr_power = samples(power);
	top.window_s = 4;
	top.nr_columns = 70;
	top.hz = 10;
	top.now_ns = power[w.nr_power - 1].time_ns;
	jetwatt_top_history(&top, &w);
	EXPECT_EQ(2, top.nr_series);
	gpu = find("GPU");
	hot = find("temperature");
	ASSERT_TRUE(gpu && hot);
	EXPECT_STREQ("MHz", gpu->unit);
	EXPECT_EQ(1300, gpu->now);
	EXPECT_EQ(500, gpu->least);
	EXPECT_EQ(1300, gpu->most);
	EXPECT_STREQ("C", hot->unit);
	EXPECT_EQ(44, hot->now);
	EXPECT_EQ(41, hot->least);
	/* The clock steps after 1.5 s of 4 s, at value 52 of 140. A value holds until the next sample
	 * is due, but not over the gap and not before the first one. */
	for (int k = 0; k < 70; k++)
		EXPECT_EQ(k < 52 ? 500 : 1300, gpu->value[k]);
	EXPECT_TRUE(isnan(gpu->value[90]));
	EXPECT_EQ(1300, gpu->value[139]);
	EXPECT_TRUE(isnan(hot->value[20]));
	EXPECT_FALSE(isnan(hot->value[60]));
}

TEST(series_without_values_are_not_shown)
{
	struct jetwatt_power power = { .time_ns = 1 };
	struct jetwatt_session w = { .power = &power, .nr_power = 1 };

	memset(&top, 0, sizeof(top));
	jetwatt_telemetry_clear(&power.telemetry);
	top.window_s = 4;
	top.nr_columns = 70;
	top.now_ns = 1;
	jetwatt_top_history(&top, &w);
	EXPECT_EQ(0, top.nr_series);
}

static struct jetwatt_units units = { .unit = { { .name = "token" }, { .name = "other", .source = 1 } }, .nr = 2,
				      .sources = 2 };
static struct jetwatt_top_counters counters;

/* Read the counter "token" at a time in s after the first sample. */
static void reading(double s, double value)
{
	uint64_t ns = 1 + (uint64_t)(s * 1e9);

	jetwatt_top_count(&counters, &units, &(struct jetwatt_unit_reading){
		.begin_ns = ns - 1000, .end_ns = ns + 1000, .value = { value, 1e9 } });
}

/* 20 W for 10 s. */
static void powered(struct jetwatt_session *w, struct jetwatt_power *p, double window_s)
{
	for (int i = 0; i <= 100; i++)
		p[i] = (struct jetwatt_power){ .time_ns = 1 + i * STEP_NS, .nr = 1, .uw = { 20000000 }, .valid = 1 };
	w->power = p;
	w->nr_power = 101;
	w->nr_total = 1;
	memset(&top, 0, sizeof(top));
	top.now_ns = p[100].time_ns;
	top.window_s = window_s;
	jetwatt_top_units(&top, w, &counters, &units);
}

TEST(energy_per_unit_between_the_readings_in_the_window)
{
	static struct jetwatt_power power[101];
	static struct jetwatt_session w;

	memset(&counters, 0, sizeof(counters));
	for (int s = 1; s < 10; s++)
		reading(s, s < 6 ? 1000 + 10 * s : 50 * s);
	/* A value that is missing, and a reading after the last sample. */
	reading(9.5, NAN);
	reading(10.5, 1e6);
	powered(&w, power, 4);
	EXPECT_EQ(2, top.nr_units);
	EXPECT_STREQ("token", top.unit[0].name);
	/* Readings at 6, 7, 8 and 9 s: 150 units in 3 s. */
	EXPECT_GT(1e-3, fabs(top.unit[0].cost.joule - 60.0 / 150));
	EXPECT_GT(1e-3, fabs(top.unit[0].cost.ms - 20));
	EXPECT_GT(1e-3, fabs(top.unit[0].cost.per_s - 50));
	/* The other counter has no reading: its source was not read. */
	EXPECT_STREQ("other", top.unit[1].name);
	EXPECT_EQ(0, top.unit[1].cost.ms);
	/* One reading. */
	powered(&w, power, 1.5);
	EXPECT_EQ(0, top.unit[0].cost.ms);
	/* The program restarts after 5 s: 40 units before, 300 after, and 150 more. */
	powered(&w, power, 64);
	EXPECT_GT(1e-3, fabs(top.unit[0].cost.per_s - (40 + 300 + 150) / 8.0));
}

TEST(counter_that_stands_still_has_no_figures)
{
	static struct jetwatt_power power[101];
	static struct jetwatt_session w;

	memset(&counters, 0, sizeof(counters));
	for (int s = 1; s < 10; s++)
		reading(s, 70);
	powered(&w, power, 64);
	EXPECT_EQ(0, top.unit[0].cost.joule);
	EXPECT_EQ(0, top.unit[0].cost.ms);
}

TEST(latest_readings_are_kept)
{
	memset(&counters, 0, sizeof(counters));
	for (int s = 0; s < 1000; s++)
		reading(s, s);
	EXPECT_LE(JETWATT_TOP_READINGS / 2, counters.of[0].n);
	EXPECT_EQ(999, counters.of[0].units[counters.of[0].n - 1]);
	EXPECT_EQ(998, counters.of[0].units[counters.of[0].n - 2]);
}

TEST_HARNESS_MAIN
