// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt top: the order of the jobs, and the clocks and telemetry over the window. */
#include "kselftest_harness.h"

#include "../../user/cmd/top/collect.c"
#include "../../user/cmd/top/history.c"

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

TEST_HARNESS_MAIN
