// SPDX-License-Identifier: GPL-2.0-only
/* Parser of board reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "store/report.h"

#define HEAD	"{\"schema\": \"" JETWATT_REPORT_SCHEMA "\", "

static int parse(const char *text, struct jetwatt_board_report **r, unsigned int *line,
		 const char **why)
{
	*r = NULL;
	return jetwatt_report_parse(text, strlen(text), r, line, why);
}

TEST(report_is_parsed)
{
	static const char text[] = HEAD "\"future\": [1.5e-3, null, {\"a\": true}],\n"
		"\"files\": [{\"path\": \"sys/b\", \"text\": \"caf\\u00e9 \\ud83d\\ude00\\n\"},\n"
		" {\"path\": \"proc/device-tree/compatible\", \"strings\": [\"nvidia,p3701\", \"x\"]},\n"
		" {\"path\": \"sys/a/reg\", \"hex\": \"0000ff\"}, {\"path\": \"sys/c\", \"error\": \"denied\"}],\n"
		"\"chips\": [{\"id\": 0, \"model\": \"ina3221\", \"bus\": 1, \"addr\": 64}],\n"
		"\"rails\": [{\"id\": 3, \"label\": \"VDD\", \"chip\": 0, \"channel\": 2, \"shunt_uohm\": 2000,"
		" \"enabled\": true, \"in_total\": false}]}\n";
	const struct jetwatt_report_file *f;
	struct jetwatt_board_report *r;
	unsigned int line;
	const char *why;

	ASSERT_EQ(0, parse(text, &r, &line, &why)) TH_LOG("line %u: %s", line, why);
	ASSERT_EQ(4, r->nr_files);
	f = jetwatt_report_find(r, "sys/b");
	ASSERT_NE(NULL, f);
	EXPECT_EQ(0, strncmp((const char *)f->data, "caf\xc3\xa9 \xf0\x9f\x98\x80\n", f->len));
	EXPECT_EQ(11, f->len);
	f = jetwatt_report_find(r, "proc/device-tree/compatible");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(15, f->len);
	EXPECT_EQ(0, memcmp(f->data, "nvidia,p3701\0x", 15));
	f = jetwatt_report_find(r, "sys/a/reg");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(3, f->len);
	EXPECT_EQ(0xff, f->data[2]);
	EXPECT_EQ(NULL, jetwatt_report_find(r, "sys/c"));
	EXPECT_EQ(NULL, jetwatt_report_find(r, "sys/d"));
	ASSERT_EQ(1, r->nr_rails);
	EXPECT_STREQ("VDD", r->rail[0].label);
	EXPECT_EQ(2000, r->rail[0].shunt_uohm);
	EXPECT_EQ(1, r->rail[0].enabled);
	ASSERT_EQ(1, r->nr_chips);
	EXPECT_EQ(64, r->chip[0].addr);
	jetwatt_report_free(r);
}

TEST(malformed_report_is_refused)
{
	static const struct { const char *text, *why; } t[] = {
		{ "", "ends" },
		{ "[1, 2", "without its end" },
		{ "{\"a\": 01}", "not a value" },
		{ "{\"a\": 1,}", "comma" },
		{ "{\"a\" 1}", "colon" },
		{ "{} {}", "behind its end" },
		{ "{\"a\": \"\\u0000\"}", "escape" },
		{ "{\"a\": \"\\ud800x\"}", "escape" },
		{ "{\"a\": \"\x01\"}", "control" },
		{ "{\"a\": -}", "not a value" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "too deep" },
		{ "{}", "\"schema\" is missing" },
		{ "{\"schema\": \"jetwatt-report/2\"}", "another version" },
		{ HEAD "\"x\": 1}", "\"files\" is missing" },
		{ HEAD "\"files\": [{}]}", "without a path" },
		{ HEAD "\"files\": [{\"path\": \"sys/a\"}]}", "without contents" },
		{ HEAD "\"files\": [{\"path\": \"/sys/a\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"root/a\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"sys/../../a\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"sys//a\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"sys/a/\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"sys/a b\", \"text\": \"\"}]}", "outside" },
		{ HEAD "\"files\": [{\"path\": \"sys/a\", \"hex\": \"0\"}]}", "hexadecimal" },
		{ HEAD "\"files\": [{\"path\": \"sys/a\", \"strings\": [1]}]}", "something else" },
		{ HEAD "\"files\": [{\"path\": \"sys/a\", \"text\": \"\"}, "
		  "{\"path\": \"sys/a\", \"text\": \"\"}]}", "twice" },
		{ HEAD "\"files\": [], \"rails\": [{\"label\": \"a\", \"enabled\": true}]}", "lacks a number" },
		{ HEAD "\"files\": [], \"rails\": [{\"enabled\": true}]}", "without \"label\"" },
		{ HEAD "\"files\": [], \"chips\": 1}", "is not a list" },
		{ HEAD "\"files\": [], \"chips\": [{\"model\": \"m\", \"id\": -1}]}", "lacks a number" },
	};
	struct jetwatt_board_report *r;
	unsigned int line;
	const char *why;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(-EINVAL, parse(t[i].text, &r, &line, &why)) TH_LOG("%s", t[i].text);
		EXPECT_EQ(NULL, r);
		EXPECT_NE(NULL, strstr(why, t[i].why)) TH_LOG("%s: %s", t[i].text, why);
		jetwatt_report_free(r);
	}
	EXPECT_EQ(-EINVAL, parse("{\n\"a\": 1,\n\"b\": x}", &r, &line, &why));
	EXPECT_EQ(3, line);
}

/* Every truncated report is refused. */
TEST(truncated_report_is_refused)
{
	static const char text[] = HEAD "\"files\": [{\"path\": \"sys/b\", \"text\": \"\\u00e9\"}], \"n\": -1.5e3}";
	struct jetwatt_board_report *r;
	unsigned int line;
	const char *why;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		/* the copy has exactly n bytes, so that a sanitizer detects reads beyond its end */
		char *part = malloc(n ? n : 1);

		memcpy(part, text, n);
		r = NULL;
		EXPECT_EQ(-EINVAL, jetwatt_report_parse(part, n, &r, &line, &why));
		free(part);
	}
}

TEST_HARNESS_MAIN
