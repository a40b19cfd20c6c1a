// SPDX-License-Identifier: GPL-2.0-only
/* The device-tree overlay generated from the sensors of a report. */
#include "kselftest_harness.h"

#include "../../user/cmd/doctor/replay_overlay.c"

/* NODE() is one file of a report's device tree; @how: "strings", "hex" or "text". */
#define DT	"proc/device-tree/"
#define HEAD	"{\"schema\": \"" JETWATT_REPORT_SCHEMA "\", \"files\": ["
#define NODE(path, how, what) "{\"path\": \"" DT path "\", \"" how "\": " what "}"
/* The path of the sensors' I2C bus in tegra234-p3701-0000.dtsi of L4T 36.4 (OE4T/t23x-public-dts,
 * l4t-r36.4). */
#define BUS	"bus@0/i2c@c240000"

static char *overlay_of(const char *json)
{
	struct jetwatt_board_report *r = NULL;
	unsigned int line;
	const char *why;
	char *text = NULL;
	size_t len;
	FILE *f;

	if (jetwatt_report_parse(json, strlen(json), &r, &line, &why)) {
		printf("# line %u: %s\n", line, why);
		return NULL;
	}
	f = open_memstream(&text, &len);
	if (jetwatt_replay_overlay(r, f))
		fputs("none", f);
	fclose(f);
	jetwatt_report_free(r);
	return text;
}

static int has(const char *text, const char *part)
{
	if (strstr(text, part))
		return 1;
	printf("# lacks %s\n", part);
	return 0;
}

TEST(overlay_has_every_sensor)
{
	char *text = overlay_of(HEAD
		NODE("model", "strings", "[\"Jetson AGX Orin\"]") ","
		NODE("aliases/i2c0", "strings", "[\"/bus@0/i2c@3160000\"]") ","
		NODE("aliases/i2c1", "strings", "[\"/" BUS "\"]") ","
		NODE(BUS "/compatible", "strings", "[\"nvidia,tegra194-i2c\"]") ","
		NODE(BUS "/clock-frequency", "hex", "\"000186a0\"") ","
		NODE(BUS "/ina3221@40/compatible", "strings", "[\"ti,ina3221\"]") ","
		NODE(BUS "/ina3221@40/phandle", "hex", "\"00000077\"") ","
		NODE(BUS "/ina3221@40/channel@0/label", "strings", "[\"VDD_GPU_SOC\"]") ","
		NODE(BUS "/ina3221@40/channel@0/shunt-resistor-micro-ohms", "hex", "\"000007d0\"") ","
		NODE(BUS "/ina3221@40/channel@2/ti,summation-disable", "text", "\"\"") ","
		NODE(BUS "/ina3221@40/channel@1/status", "strings", "[\"disabled\"]") "]}");

	ASSERT_NE(NULL, text);
	EXPECT_TRUE(has(text, "i2c1 = \"/i2c@c240000\";"));
	EXPECT_TRUE(has(text, "reg = <0x0 0xc240000 0x0 0x100>;"));
	EXPECT_TRUE(has(text, "\t\tclock-frequency = <0x186a0>;"));
	EXPECT_TRUE(has(text, "\t\tina3221@40 {\n\t\t\tcompatible = \"ti,ina3221\";"));
	EXPECT_TRUE(has(text, "\t\t\tchannel@0 {\n\t\t\t\tlabel = \"VDD_GPU_SOC\";"));
	EXPECT_TRUE(has(text, "shunt-resistor-micro-ohms = <0x7d0>;"));
	EXPECT_TRUE(has(text, "channel@1 {\n\t\t\t\tstatus = \"disabled\";"));
	EXPECT_TRUE(has(text, "\t\t\t\tti,summation-disable;"));
	EXPECT_EQ(NULL, strstr(text, "phandle"));
	EXPECT_EQ(NULL, strstr(text, "3160000"));
	free(text);
}

TEST(report_without_sensors_has_no_overlay)
{
	char *text = overlay_of(HEAD NODE("model", "strings", "[\"x\"]") "]}");

	EXPECT_STREQ("none", text);
	free(text);
}

/* Texts and names that would end a string or a node of the overlay early are left out. */
TEST(hostile_texts_are_left_out)
{
	char *text = overlay_of(HEAD
		NODE("model", "strings", "[\"a\\\"; }; /include/ \\\"/etc/passwd\"]") ","
		NODE("i2c@1/ina@40/compatible", "strings", "[\"ti,ina3221\"]") ","
		NODE("i2c@1/ina@40/a{b", "strings", "[\"x\"]") ","
		NODE("i2c@1/ina@40/n\\\"ode/reg", "hex", "\"00\"") ","
		NODE("ina@41/compatible", "strings", "[\"ti,ina3221\"]") "]}");

	ASSERT_NE(NULL, text);
	EXPECT_EQ(NULL, strstr(text, "include"));
	EXPECT_EQ(NULL, strstr(text, "a{b"));
	EXPECT_EQ(NULL, strstr(text, "n\"ode"));
	EXPECT_EQ(NULL, strstr(text, "ina@41"));
	EXPECT_TRUE(has(text, "ina@40"));
	free(text);
}

TEST_HARNESS_MAIN
