// SPDX-License-Identifier: GPL-2.0-only
/*
 * Telemetry series: the table has distinct names and valid Prometheus metrics; values from hwmon
 * files reach samples and a trace and are read back; old values expire; counters are summed.
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

TEST(rows_of_the_series_table_are_consistent)
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
		/* A series has file names if and only if it is read from files in sysfs. */
		EXPECT_EQ(row->reader == JETWATT_SERIES_READER_SYSFS, *row->files != '\0');
		/* A series with several channels needs a label that distinguishes the channels. */
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

/* Metric names match [a-z_][a-z0-9_]*, begin with jetwatt_, and are unique. Label names consist of
 * lower-case letters. */
TEST(metric_names_are_valid_and_unique)
{
	for (uint32_t k = 0; k < __JETWATT_SERIES_KINDS; k++) {
		const struct jetwatt_series_row *row = jetwatt_series_row(k);

		if (!row->channels)
			continue;
		EXPECT_EQ(0, strncmp(row->metric, "jetwatt_", 8));
		for (const char *c = row->metric; *c; c++)
			EXPECT_TRUE(islower(*c) || isdigit(*c) || *c == '_')
				TH_LOG("%s", row->metric);
		for (const char *c = row->label; *c; c++)
			EXPECT_TRUE(islower(*c)) TH_LOG("%s", row->label);
		for (uint32_t other = 0; other < k; other++)
			EXPECT_STRNE(row->metric, jetwatt_series_row(other)->metric);
	}
}

static const struct jetwatt_rail rails[] = {
	{ .id = 1, .shunt_uohm = 2000, .enabled = 1, .label = "VDD_IN" },
};

/* Compute a power sample at @t_ns with the temperature of two zones and the GPU load. */
static void sample(struct jetwatt_power_state *st, uint64_t t_ns, int32_t temp, int32_t load,
		   struct jetwatt_power *p)
{
	int32_t cooler = temp == JETWATT_VALUE_NONE ? temp : temp - 1;
	int32_t value[5] = { 2000, 5000000, temp, cooler, load };
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

/* A telemetry value becomes unknown three seconds after it was last received. */
TEST(old_values_expire)
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
	/* Members of the sample that existed before the telemetry table, such as temp_mc, keep
	 * their meaning. */
	EXPECT_EQ(45000, p.temp_mc);
	sample(&st, 15 * S, -5000, JETWATT_VALUE_NONE, &p);
	EXPECT_EQ(-5000, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
}

/* --- files ---------------------------------------------------------------- */

static void put(const char *root, const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/hwmon/%s", root, file);
	for (char *c = path + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = '\0';
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void drop(const char *root, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class/hwmon/%s", root, file);
	if (unlink(path))
		abort();
}

#define FAN(n)	(JETWATT_TELEMETRY_FAN_RPM + (n) - 1)
#define OC(n)	(JETWATT_TELEMETRY_OC_EVENTS + (n) - 1)

TEST(hwmon_files_are_read)
{
	char root[] = "/tmp/series.XXXXXX", rm[64];
	struct jetwatt_sysfs *fs;
	struct jetwatt_reading r;

	ASSERT_TRUE(mkdtemp(root) != NULL);
	ASSERT_EQ(0, jetwatt_sysfs_open(&fs, root));
	EXPECT_EQ(0, jetwatt_sysfs_read(fs, &r));	/* the hwmon directory does not exist */
	jetwatt_sysfs_close(fs);

	/* Devices are used in the order of their hwmon numbers. If a fan has two tachometers, the
	 * value of NVIDIA's driver (pwm_tach) is used, not that of the mainline driver (pwmfan). */
	put(root, "hwmon10/name", "pwm_tach\n");
	put(root, "hwmon10/rpm", "2000\n");
	put(root, "hwmon2/name", "pwm_tach\n");
	put(root, "hwmon2/rpm", "1000\n");
	put(root, "hwmon3/name", "pwmfan\n");
	put(root, "hwmon3/fan1_input", "1\n");
	put(root, "hwmon4/name", "soctherm_oc\n");
	put(root, "hwmon4/oc1_event_cnt", "4294967295\n");
	put(root, "hwmon4/oc3_event_cnt", "37\n");
	put(root, "hwmon4/oc4_event_cnt", "refused\n");
	put(root, "hwmon5/name", "soctherm_ocean\n");
	put(root, "hwmon5/oc2_event_cnt", "2\n");
	ASSERT_EQ(0, jetwatt_sysfs_open(&fs, root));
	EXPECT_EQ(4, jetwatt_sysfs_read(fs, &r));
	EXPECT_EQ(1000, r.of.value[FAN(1)]);
	EXPECT_EQ(2000, r.of.value[FAN(2)]);
	EXPECT_EQ(4294967295, r.of.value[OC(1)]);
	EXPECT_EQ(NONE, r.of.value[OC(2)]);
	EXPECT_EQ(37, r.of.value[OC(3)]);
	EXPECT_EQ(NONE, r.of.value[OC(4)]);
	EXPECT_EQ(NONE, r.of.value[JETWATT_TELEMETRY_TEMP_MC]);
	EXPECT_GT(r.time_ns, 0);

	/* A file that disappears affects only its own series, and is found again when it
	 * returns. */
	drop(root, "hwmon4/oc3_event_cnt");
	EXPECT_EQ(3, jetwatt_sysfs_read(fs, &r));
	EXPECT_EQ(NONE, r.of.value[OC(3)]);
	EXPECT_EQ(1000, r.of.value[FAN(1)]);
	put(root, "hwmon4/oc3_event_cnt", "38\n");
	EXPECT_EQ(4, jetwatt_sysfs_read(fs, &r));
	EXPECT_EQ(38, r.of.value[OC(3)]);

	/* hwmon attributes such as temperatures may be negative, or larger than 32 bits. */
	put(root, "hwmon2/rpm", "-1500\n");
	put(root, "hwmon10/rpm", "5000000000\n");
	EXPECT_EQ(4, jetwatt_sysfs_read(fs, &r));
	EXPECT_EQ(-1500, r.of.value[FAN(1)]);
	EXPECT_EQ(5000000000, r.of.value[FAN(2)]);

	/* Files with the names of Xavier are read, and the mainline tachometer is used if NVIDIA's
	 * does not exist. */
	drop(root, "hwmon4/oc1_event_cnt");
	drop(root, "hwmon4/oc3_event_cnt");
	drop(root, "hwmon2/name");
	drop(root, "hwmon10/name");
	put(root, "hwmon4/oc6_irq_cnt", "6\n");
	jetwatt_sysfs_read(fs, &r);
	EXPECT_EQ(2, jetwatt_sysfs_read(fs, &r));
	EXPECT_EQ(1, r.of.value[FAN(1)]);
	EXPECT_EQ(6, r.of.value[OC(6)]);
	jetwatt_sysfs_close(fs);
	snprintf(rm, sizeof(rm), "rm -rf %s", root);
	EXPECT_EQ(0, system(rm));
}

/* A file that a driver adds is found by the next search. */
TEST(hwmon_files_are_searched_again)
{
	char root[] = "/tmp/series.XXXXXX", rm[64];
	struct jetwatt_sysfs *fs;
	struct jetwatt_reading r;
	int calls = 1;

	ASSERT_TRUE(mkdtemp(root) != NULL);
	put(root, "hwmon3/name", "pwmfan\n");
	put(root, "hwmon3/fan1_input", "1\n");
	ASSERT_EQ(0, jetwatt_sysfs_open(&fs, root));
	EXPECT_EQ(1, jetwatt_sysfs_read(fs, &r));
	put(root, "hwmon4/name", "soctherm_oc\n");
	put(root, "hwmon4/oc1_event_cnt", "5\n");
	while (calls < 1000 && jetwatt_sysfs_read(fs, &r) == 1)
		calls++;
	EXPECT_EQ(JETWATT_SYSFS_SEARCH_CALLS, calls);
	EXPECT_EQ(5, r.of.value[OC(1)]);
	jetwatt_sysfs_close(fs);
	snprintf(rm, sizeof(rm), "rm -rf %s", root);
	EXPECT_EQ(0, system(rm));
}

/* --- traces --------------------------------------------------------------- */

struct back {
	struct jetwatt_reading r[8];
	int n;
};

static void on_reading(const struct jetwatt_reading *r, void *arg)
{
	struct back *b = arg;

	b->r[b->n++ % 8] = *r;
}

static void write_reading(struct jetwatt_trace_writer *w, uint64_t t, int64_t fan, int64_t oc)
{
	struct jetwatt_reading r = { .time_ns = t };

	jetwatt_telemetry_clear(&r.of);
	r.of.value[FAN(1)] = fan;
	r.of.value[OC(3)] = oc;
	jetwatt_trace_write_reading(&r, w);
}

TEST(series_read_back_from_a_trace)
{
	static const struct jetwatt_trace_calls none;
	struct jetwatt_trace_writer *w;
	struct jetwatt_trace_reader *r;
	struct jetwatt_trace_state st;
	struct back b = { .n = 0 };
	int fd = memfd_create("jwt", MFD_CLOEXEC);

	ASSERT_EQ(0, jetwatt_trace_writer_new(&w, fd));
	write_reading(w, 100 * S, NONE, NONE);	/* not written: no value, nor any before */
	write_reading(w, 101 * S, 1500, 3000000000);
	write_reading(w, 102 * S, 0, NONE);
	write_reading(w, 103 * S, NONE, NONE);
	write_reading(w, 104 * S, NONE, NONE);
	ASSERT_EQ(0, jetwatt_trace_finish(w, &(struct jetwatt_trace_end){ .ended_ns = 105 * S }));
	jetwatt_trace_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	ASSERT_EQ(0, jetwatt_trace_reader_new(&r, fd, &none, &b));
	jetwatt_trace_reader_reading(r, on_reading);
	while (jetwatt_trace_read(r) > 0)
		;
	jetwatt_trace_state(r, &st);
	EXPECT_EQ(0, st.damaged + st.unknown);
	ASSERT_EQ(3, b.n);
	EXPECT_EQ(101 * S, b.r[0].time_ns);
	EXPECT_EQ(1500, b.r[0].of.value[FAN(1)]);
	EXPECT_EQ(3000000000, b.r[0].of.value[OC(3)]);
	EXPECT_EQ(NONE, b.r[0].of.value[OC(1)]);
	EXPECT_EQ(0, b.r[1].of.value[FAN(1)]);
	EXPECT_EQ(NONE, b.r[1].of.value[OC(3)]);
	EXPECT_EQ(103 * S, b.r[2].time_ns);
	EXPECT_EQ(NONE, b.r[2].of.value[FAN(1)]);
	jetwatt_trace_reader_free(r);
	close(fd);
}

/* A reading's values apply to the samples of the next three seconds. */
TEST(reading_applies_to_following_samples)
{
	struct jetwatt_reading r = { .time_ns = 10 * S };
	struct jetwatt_power_state st;
	struct jetwatt_power p;

	jetwatt_power_init(&st, rails, 1);
	sample(&st, 9 * S, 45000, 0, &p);
	EXPECT_EQ(NONE, p.telemetry.value[OC(1)]);
	jetwatt_telemetry_clear(&r.of);
	r.of.value[OC(1)] = 7;
	jetwatt_power_reading(&st, &r);
	sample(&st, 10 * S - 1, 45000, 0, &p);
	EXPECT_EQ(7, p.telemetry.value[OC(1)]);
	EXPECT_EQ(45000, p.telemetry.value[JETWATT_TELEMETRY_TEMP_MC]);
	sample(&st, 13 * S, 45000, 0, &p);
	EXPECT_EQ(7, p.telemetry.value[OC(1)]);
	sample(&st, 13 * S + 1, 45000, 0, &p);
	EXPECT_EQ(NONE, p.telemetry.value[OC(1)]);
	r.time_ns = 14 * S;
	r.of.value[OC(1)] = NONE;
	jetwatt_power_reading(&st, &r);
	sample(&st, 14 * S, 45000, 0, &p);
	EXPECT_EQ(NONE, p.telemetry.value[OC(1)]);
}

/* If the driver's counter restarts at 0, the reported total does not fall. An unknown value adds
 * nothing to the total of the counter. */
TEST(totals_never_fall)
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
