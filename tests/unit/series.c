// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of series: names that do not collide, metrics that Prometheus takes; files of
 * hwmon to samples, to a trace and back; an old value is no value; counters.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib/join.h"
#include "measure/telemetry.h"
#include "out/metrics.h"

#define NONE	JETWATT_TELEMETRY_NONE
#define S	1000000000ull

TEST(rows)
{
	char a[JETWATT_TELEMETRY_NAME_LEN], b[JETWATT_TELEMETRY_NAME_LEN];
	unsigned int channel, slots = 0;

	EXPECT_EQ(NULL, jetwatt_series_row(__JETWATT_SERIES_KINDS));
	for (uint32_t k = 0; k < __JETWATT_SERIES_KINDS; k++) {
		const struct jetwatt_series_row *row = jetwatt_series_row(k);

		EXPECT_EQ(k, row->kind);
		EXPECT_GT(row->per, 0);
		EXPECT_EQ(slots, row->first);
		slots += row->channels;
		for (uint32_t other = 0; other < k; other++)
			EXPECT_STRNE(row->name, jetwatt_series_row(other)->name);
		/* What is read from files has names of files, and only that. */
		EXPECT_EQ(row->reader == JETWATT_SERIES_READER_SYSFS, *row->files != '\0');
		/* Channels need something that tells them apart. */
		EXPECT_EQ(row->channels > 1, strchr(row->name, '#') != NULL);
		EXPECT_EQ(row->channels > 1, *row->label != '\0');
		EXPECT_EQ(row->channels > 0, *row->metric != '\0');
		EXPECT_EQ(row->channels > 0, *row->help != '\0');
		if (row->type == JETWATT_SERIES_TYPE_COUNTER)
			EXPECT_EQ(NULL, strstr(row->metric, "_total"));
	}
	EXPECT_EQ(JETWATT_TELEMETRY_SLOTS, slots);
	EXPECT_LE(slots, 64);	/* bits of jetwatt_export::tracks */
	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, &channel);

		EXPECT_EQ(s, jetwatt_telemetry_slot(row->kind, channel));
		EXPECT_EQ(-1, jetwatt_telemetry_slot(row->kind, row->channels + 1));
		EXPECT_EQ(-1, jetwatt_telemetry_slot(row->kind, 0));
		EXPECT_EQ(NULL, strchr(jetwatt_telemetry_name(s, a), '#'));
		for (unsigned int t = 0; t < s; t++)
			EXPECT_STRNE(a, jetwatt_telemetry_name(t, b));
	}
}

/* [a-z_][a-z0-9_]*, with our prefix, each used once; the same of labels. */
TEST(metric_names)
{
	for (uint32_t k = 0; k < __JETWATT_SERIES_KINDS; k++) {
		const struct jetwatt_series_row *row = jetwatt_series_row(k);

		if (!row->channels)
			continue;
		EXPECT_EQ(0, strncmp(row->metric, "jetwatt_", 8));
		for (const char *c = row->metric; *c; c++)
			EXPECT_TRUE(islower(*c) || isdigit(*c) || *c == '_') TH_LOG("%s", row->metric);
		for (const char *c = row->label; *c; c++)
			EXPECT_TRUE(islower(*c)) TH_LOG("%s", row->label);
		for (uint32_t other = 0; other < k; other++)
			EXPECT_STRNE(row->metric, jetwatt_series_row(other)->metric);
	}
}

static const struct jetwatt_rail rails[] = {
	{ .id = 1, .shunt_uohm = 2000, .enabled = 1, .label = "VDD_IN" },
};

/* One sample at @t_ns with a temperature of two zones and a load. */
static void sample(struct jetwatt_power_state *st, uint64_t t_ns, int32_t temp, int32_t load,
		   struct jetwatt_power *p)
{
	int32_t value[5] = { 2000, 5000000, temp, temp == JETWATT_VALUE_NONE ? temp : temp - 1, load };
	struct jetwatt_series_view view[5] = {
		{ JETWATT_SERIES_SHUNT_UV, 1, &value[0] }, { JETWATT_SERIES_BUS_UV, 1, &value[1] },
		{ JETWATT_SERIES_TEMP_MC, 0, &value[2] }, { JETWATT_SERIES_TEMP_MC, 1, &value[3] },
		{ JETWATT_SERIES_GPU_LOAD_PERMILLE, 0, &value[4] },
	};
	struct jetwatt_samples s = { .seq = 1, .count = 1, .nr_series = 5, .time_ns = &t_ns,
				     .series = view };

	if (!jetwatt_power_sample(st, &s, 0, p))
		abort();
}

/* Three seconds without a new value: it is not known any more. */
TEST(held_and_let_go)
{
	struct jetwatt_power_state st;
	struct jetwatt_power p;

	jetwatt_power_init(&st, rails, 1);
	sample(&st, 10 * S, JETWATT_VALUE_NONE, JETWATT_VALUE_NONE, &p);
	EXPECT_EQ(NONE, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
	sample(&st, 11 * S, 45000, 250, &p);
	EXPECT_EQ(45000, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
	EXPECT_EQ(250, p.telemetry.value[JETWATT_TELEMETRY_GPU_LOAD_PERMILLE]);
	sample(&st, 14 * S, JETWATT_VALUE_NONE, 300, &p);
	EXPECT_EQ(45000, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
	sample(&st, 14 * S + 1, JETWATT_VALUE_NONE, JETWATT_VALUE_NONE, &p);
	EXPECT_EQ(NONE, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
	EXPECT_EQ(300, p.telemetry.value[JETWATT_TELEMETRY_GPU_LOAD_PERMILLE]);
	/* What there was before keeps its meaning. */
	EXPECT_EQ(45000, p.temp_mc);
	sample(&st, 15 * S, -5000, JETWATT_VALUE_NONE, &p);
	EXPECT_EQ(-5000, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
}

/* A counter that begins anew counts on; what is not known counts as nothing. */
TEST(sums)
{
	static const int64_t seen[] = { 40, NONE, 42, 42, 3, 5 };
	struct jetwatt_telemetry_sums t = { 0 };
	struct jetwatt_telemetry now;

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		jetwatt_telemetry_clear(&now);
		now.value[0] = seen[i];
		jetwatt_telemetry_add(&t, &now);
	}
	EXPECT_EQ(5, t.slot[0].n);
	EXPECT_EQ(42, t.slot[0].max);
	EXPECT_EQ(5, t.slot[0].last);
	EXPECT_EQ(2 + 3 + 2, t.slot[0].counted);
	EXPECT_EQ(132, t.slot[0].sum);
	EXPECT_EQ(0, t.slot[1].n);
}

TEST_HARNESS_MAIN
