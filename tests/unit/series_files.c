// SPDX-License-Identifier: GPL-2.0-only
/*
 * The column "files" of a series: the parser, and a made-up series of files that are not of a hwmon
 * driver, which the library reads and which a report contains.
 */
#include "board_tree.h"
#include "kselftest_harness.h"

#include "../../user/lib/sysfs.c"
#include "../../user/cmd/doctor/report_files.c"

#define VIC	"sys/bus/platform/devices/"

static const struct {
	const char *entry;
	unsigned int channel;
	const char *driver, *pattern;
} entries[] = {
	{ "pwm_tach/rpm pwmfan/fan1_input", 1, "pwm_tach", "/class/hwmon/hwmon*/rpm" },
	{ " pwmfan/fan1_input", 0, "pwmfan", "/class/hwmon/hwmon*/fan1_input" },
	{ "soctherm_oc/oc#_irq_cnt", 6, "soctherm_oc", "/class/hwmon/hwmon*/oc6_irq_cnt" },
	{ "soctherm_oc/oc# pwmfan/fan1_input", 12, "soctherm_oc", "/class/hwmon/hwmon*/oc12" },
	{ "soctherm_oc/oc#", 0, "soctherm_oc", "/class/hwmon/hwmon*/oc[0-9]*" },
	{ "/bus/platform/devices/*.vic/load", 1, "", "/bus/platform/devices/*.vic/load" },
	{ "/devices/gpu.#/load a/b", 0, "", "/devices/gpu.[0-9]*/load" },
	{ "/devices/gpu.0/load_# a/b", 2, "", "/devices/gpu.0/load_2" },
	{ "", 1, NULL, NULL }, { "  ", 1, NULL, NULL }, { "rpm", 1, NULL, NULL },
	{ "rpm a/b", 1, NULL, NULL }, { "fan#/rpm", 1, NULL, NULL },
};

TEST(entries_of_the_column)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const char *entry = entries[i].entry, *end;
		struct jetwatt_series_files f;

		end = jetwatt_series_files(entry, entries[i].channel, &f);
		ASSERT_EQ(entries[i].pattern != NULL, end != NULL) TH_LOG("%s", entry);
		if (!end)
			continue;
		EXPECT_STREQ(entries[i].driver, f.driver) TH_LOG("%s", entry);
		EXPECT_STREQ(entries[i].pattern, f.pattern) TH_LOG("%s", entry);
		EXPECT_TRUE(*end == ' ' || *end == '\0');
		EXPECT_EQ(memchr(entry, '#', (size_t)(end - entry)) != NULL, f.numbered);
	}
}

/* The report copies what the rows match, so each row must stay below /sys. */
TEST(entries_of_the_rows_are_below_sysfs)
{
	for (uint32_t kind = 0; kind < __JETWATT_SERIES_KINDS; kind++) {
		const struct jetwatt_series_row *row = jetwatt_series_row(kind);
		const char *entry = row->files, *end = entry;
		struct jetwatt_series_files f;

		for (; (end = jetwatt_series_files(entry, 0, &f)); entry = end) {
			EXPECT_EQ(NULL, strstr(f.pattern, "..")) TH_LOG("%s", row->files);
			EXPECT_LT(strlen(f.pattern), sizeof(f.pattern) - 1);
			EXPECT_LT(strlen(f.driver), sizeof(f.driver) - 1);
		}
		EXPECT_STREQ("", entry) TH_LOG("all entries are valid: %s", row->files);
	}
}

FIXTURE(board) {
	struct tree t;
	struct jetwatt_sysfs *fs;
	struct jetwatt_series_row row;
};

FIXTURE_SETUP(board) {
	tree_empty(&self->t);
	ASSERT_EQ(0, jetwatt_sysfs_open(&self->fs, self->t.sys));
	self->row = *jetwatt_series_row(JETWATT_SERIES_FAN_RPM);
	self->row.files = "/bus/platform/devices/*.vic/load /devices/vic#/load";
	tree_put(&self->t, VIC "9000000.vic/load", "250\n");
	tree_put(&self->t, VIC "15340000.vic/load", "750\n");
	tree_put(&self->t, VIC "15340000.vic/load_serial", "1\n");
	tree_put(&self->t, VIC "15480000.nvdec/load", "3\n");
	tree_put(&self->t, "sys/devices/vic2/load", "20\n");
	tree_put(&self->t, "sys/devices/vicious/load", "4\n");
}

FIXTURE_TEARDOWN(board) {
	jetwatt_sysfs_close(self->fs);
	tree_free(&self->t);
}

#define PATH(channel)	(self->fs->path[self->row.first + (channel) - 1] + strlen(self->t.root) + 1)
#define NO_PATH(channel)	EXPECT_EQ('\0', self->fs->path[self->row.first + (channel) - 1][0])

TEST_F(board, files_outside_hwmon_are_read)
{
	int64_t v = 0;

	ASSERT_EQ(2, self->row.channels);
	find_channels(self->fs, &self->row);
	EXPECT_STREQ(VIC "9000000.vic/load", PATH(1));
	EXPECT_STREQ(VIC "15340000.vic/load", PATH(2));
	EXPECT_EQ(0, read_number(self->fs->path[self->row.first + 1], &v));
	EXPECT_EQ(750, v);

	/* The driver of one device has no value: the other one is the only channel. */
	memset(self->fs->path, 0, sizeof(self->fs->path));
	tree_put(&self->t, VIC "9000000.vic/load", "\n");
	find_channels(self->fs, &self->row);
	EXPECT_STREQ(VIC "15340000.vic/load", PATH(1));
	NO_PATH(2);

	/* Neither has: the second entry is used, of which each channel has its own number. */
	memset(self->fs->path, 0, sizeof(self->fs->path));
	tree_put(&self->t, VIC "15340000.vic/load", "\n");
	find_channels(self->fs, &self->row);
	NO_PATH(1);
	EXPECT_STREQ("sys/devices/vic2/load", PATH(2));
}

/* The files of all entries are in the report, and no others. */
TEST_F(board, files_outside_hwmon_are_reported)
{
	struct jetwatt_gather g = { .root = self->t.root };
	char *json;
	size_t len;
	FILE *f = open_memstream(&json, &len);

	jetwatt_json_init(&g.j, f, 0);
	jetwatt_json_array(&g.j, NULL);
	gather_series(&g, &self->row);
	jetwatt_json_end(&g.j);
	fclose(f);
	EXPECT_NE(NULL, strstr(json, VIC "9000000.vic/load\",\"text\":\"250\\n\"")) TH_LOG("%s", json);
	EXPECT_NE(NULL, strstr(json, VIC "15340000.vic/load\""));
	EXPECT_NE(NULL, strstr(json, "sys/devices/vic2/load\""));
	EXPECT_EQ(3, g.nr_seen) TH_LOG("%s", json);
	for (size_t i = 0; i < g.nr_seen; i++)
		free(g.seen[i]);
	free(g.seen);
	free(json);
}

TEST_HARNESS_MAIN
