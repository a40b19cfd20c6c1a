// SPDX-License-Identifier: GPL-2.0-only
/* Files of a board and counts of waits that go into a report. */
#include "board_tree.h"
#include "kselftest_harness.h"

#include "../../user/cmd/doctor/report_private.c"
#include "../../user/cmd/doctor/report_files.c"
#include "../../user/cmd/doctor/report_tree.c"
#include "../../user/cmd/doctor/report_cuda.c"
#include "store/report.h"

#define DT	"proc/device-tree/"
/* The path of the sensors' I2C bus in tegra234-p3701-0000.dtsi of L4T 36.4 (OE4T/t23x-public-dts,
 * l4t-r36.4). */
#define BUS	DT "bus@0/i2c@c240000/"

FIXTURE(board) {
	struct tree t;
	struct jetwatt_gather g;
	char *json;
	size_t len;
	struct jetwatt_board_report *r;
};

static void bytes(const struct tree *t, const char *path, const void *p, size_t len)
{
	char name[PATH_MAX];
	FILE *f;

	tree_put(t, path, "%s", "");
	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	f = fopen(name, "w");
	if (!f || fwrite(p, 1, len, f) != len || fclose(f))
		abort();
}

#define STRING(path, text)	bytes(&self->t, path, text, sizeof(text))
#define CELL(path, v)		bytes(&self->t, path, "\0\0" v, 4)

FIXTURE_SETUP(board) {
	const char *why;
	unsigned int line;
	FILE *f;

	memset(&self->g, 0, sizeof(self->g));
	tree_orin(&self->t);
	STRING(DT "serial-number", "1421123029384");
	STRING(DT "chosen/bootargs", "androidboot.serialno=1421123029384");
	STRING(DT "aliases/i2c1", "/bus@0/i2c@c240000");
	STRING(BUS "compatible", "nvidia,tegra194-i2c");
	bytes(&self->t, BUS "clock-frequency", "\0\1\x86\xa0", 4);
	STRING(BUS "ina3221@40/compatible", "ti,ina3221");
	CELL(BUS "ina3221@40/reg", "\0\x40");
	CELL(BUS "ina3221@40/phandle", "\0\x77");
	CELL(BUS "ina3221@40/channel@0/reg", "\0\0");
	STRING(BUS "ina3221@40/channel@0/label", "VDD_GPU_SOC");
	CELL(BUS "ina3221@40/channel@0/shunt-resistor-micro-ohms", "\x7\xd0");
	CELL(BUS "ina3221@40/channel@1/reg", "\0\1");
	STRING(BUS "ina3221@40/channel@1/status", "disabled");
	STRING(BUS "eeprom@50/compatible", "atmel,24c02");
	STRING(DT "nvpmodel/clock-names", "emc");
	STRING(DT "thermal-zones/cpu-thermal/trips/hot/type", "passive");
	tree_put(&self->t, "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon2/in1_label", "VDD_GPU_SOC\n");
	tree_put(&self->t, "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon2/curr1_crit_alarm", "1\n");
	tree_put(&self->t, "sys/class/hwmon/hwmon4/oc3_event_cnt", "37\n");
	tree_put(&self->t, "sys/class/hwmon/hwmon5/rpm", "1500\n");
	tree_put(&self->t, "sys/class/net/eth0/address", "48:b0:2d:7a:11:05\n");
	self->g.root = self->t.root;
	f = open_memstream(&self->json, &self->len);
	jetwatt_json_init(&self->g.j, f, 1);
	jetwatt_json_object(&self->g.j, NULL);
	jetwatt_json_string(&self->g.j, "schema", JETWATT_REPORT_SCHEMA);
	jetwatt_json_array(&self->g.j, "files");
	jetwatt_gather_files(&self->g);
	jetwatt_gather_tree(&self->g);
	jetwatt_json_end(&self->g.j);
	jetwatt_json_end(&self->g.j);
	fclose(f);
	ASSERT_EQ(0, jetwatt_report_parse(self->json, self->len, &self->r, &line, &why)) {
		TH_LOG("line %u: %s", line, why);
	}
}

FIXTURE_TEARDOWN(board) {
	jetwatt_report_free(self->r);
	for (size_t i = 0; i < self->g.nr_seen; i++)
		free(self->g.seen[i]);
	free(self->g.seen);
	free(self->json);
	tree_free(&self->t);
}

TEST_F(board, files_of_a_report)
{
	const struct jetwatt_report_file *f;

	f = jetwatt_report_find(self->r, "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon2/in1_label");
	ASSERT_NE(NULL, f);
	EXPECT_EQ(0, memcmp(f->data, "VDD_GPU_SOC\n", f->len));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, EMC6));
	/* The files of the series follow from JETWATT_SERIES_ROWS(). */
	EXPECT_NE(NULL, jetwatt_report_find(self->r, "sys/class/hwmon/hwmon4/oc3_event_cnt"));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, "sys/class/hwmon/hwmon5/rpm"));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, CPU "cpufreq/policy4/scaling_available_frequencies"));
	f = jetwatt_report_find(self->r, BUS "ina3221@40/channel@0/shunt-resistor-micro-ohms");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(4, f->len);
	EXPECT_EQ(0, memcmp(f->data, "\0\0\x7\xd0", 4));
	f = jetwatt_report_find(self->r, DT "compatible");
	ASSERT_NE(NULL, f);
	EXPECT_EQ(0, memcmp(f->data, "nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234", f->len));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, BUS "clock-frequency"));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, DT "nvpmodel/clock-names"));
	EXPECT_NE(NULL, jetwatt_report_find(self->r, DT "thermal-zones/cpu-thermal/trips/hot/type"));
}

TEST_F(board, other_files_are_left_out)
{
	EXPECT_EQ(NULL, strstr(self->json, "1421123029384"));
	EXPECT_EQ(NULL, strstr(self->json, "48:b0:2d"));
	EXPECT_EQ(NULL, strstr(self->json, "alarm"));
	EXPECT_EQ(NULL, strstr(self->json, "eeprom"));
	EXPECT_EQ(NULL, strstr(self->json, "bootargs"));
}

TEST(all_kinds_of_waits_are_counted)
{
	struct counts c = { .probe = NULL, .waits = { [JETWATT_SYNC_CONTEXT] = 7,
		[JETWATT_SYNC_HELPER] = 10, [JETWATT_SYNC_COPY] = 20, [JETWATT_SYNC_QUERY] = 30,
		[JETWATT_SYNC_CALLBACK] = 40 } };
	struct jetwatt_gather g = { .root = "" };
	char *json, *text;
	size_t len, text_len;
	FILE *f = open_memstream(&json, &len);

	g.text = open_memstream(&text, &text_len);
	jetwatt_json_init(&g.j, f, 0);
	report_backend(&g, "uprobe", &c);
	fclose(f);
	fclose(g.text);
	EXPECT_NE(NULL, strstr(text, " 107 waits seen")) TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(json, "\"query\":30")) TH_LOG("%s", json);
	free(json);
	free(text);
}

/* A report without a CUDA loop states why there is none. */
TEST_F(board, missing_loop_has_a_reason)
{
	char *json, *text;
	size_t len, text_len;
	FILE *f = open_memstream(&json, &len);

	self->g.text = open_memstream(&text, &text_len);
	jetwatt_json_init(&self->g.j, f, 0);
	jetwatt_json_object(&self->g.j, NULL);
	ASSERT_EQ(0, setenv("PATH", "/nonexistent", 1));
	report_loop(&self->g, self->t.root, NULL);
	jetwatt_json_end(&self->g.j);
	fclose(f);
	fclose(self->g.text);
	ASSERT_NE(NULL, self->g.no_loop);
	EXPECT_NE(NULL, strstr(self->g.no_loop, "nvcc"));
	EXPECT_NE(NULL, strstr(text, self->g.no_loop));
	free(json);
	free(text);
}

TEST_HARNESS_MAIN
