// SPDX-License-Identifier: GPL-2.0-only
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "out/json.h"

FIXTURE(doc) {
	struct jetwatt_json j;
	FILE *f;
	char *text;
	size_t len;
};

FIXTURE_SETUP(doc)
{
	self->f = open_memstream(&self->text, &self->len);
	ASSERT_NE(NULL, self->f);
	jetwatt_json_init(&self->j, self->f, 0);
}

FIXTURE_TEARDOWN(doc)
{
	fclose(self->f);
	free(self->text);
}

TEST_F(doc, commas_separate_nested_values)
{
	jetwatt_json_object(&self->j, NULL);
	jetwatt_json_int(&self->j, "a", -1);
	jetwatt_json_array(&self->j, "b");
	jetwatt_json_uint(&self->j, NULL, UINT64_MAX);
	jetwatt_json_object(&self->j, NULL);
	jetwatt_json_end(&self->j);
	jetwatt_json_bool(&self->j, NULL, 1);
	jetwatt_json_end(&self->j);
	jetwatt_json_null(&self->j, "c");
	jetwatt_json_end(&self->j);
	fflush(self->f);
	ASSERT_STREQ("{\"a\":-1,\"b\":[18446744073709551615,{},true],\"c\":null}\n", self->text);
}

TEST_F(doc, control_characters_are_escaped)
{
	jetwatt_json_string(&self->j, NULL, "\"\\\n\t\x01\x7f");
	fflush(self->f);
	ASSERT_STREQ("\"\\\"\\\\\\n\\t\\u0001\\u007f\"", self->text);
}

/* Invalid UTF-8 (truncated, overlong, surrogate and out-of-range sequences) is replaced byte by
 * byte; valid UTF-8 is unchanged. */
TEST_F(doc, invalid_utf8_is_replaced)
{
	jetwatt_json_string(&self->j, NULL,
			    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80");
	fflush(self->f);
	ASSERT_STREQ("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|\\ufffd|\\ufffd\\ufffd|"
		     "\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd\"", self->text);
}

TEST_F(doc, numbers_that_json_lacks_are_null)
{
	jetwatt_json_array(&self->j, NULL);
	jetwatt_json_real(&self->j, NULL, 0.1, 6);
	jetwatt_json_real(&self->j, NULL, NAN, 6);
	jetwatt_json_real(&self->j, NULL, -INFINITY, 6);
	jetwatt_json_real(&self->j, NULL, 1e300, 3);
	jetwatt_json_end(&self->j);
	fflush(self->f);
	ASSERT_STREQ("[0.1,null,null,1e+300]\n", self->text);
}

/* Build a locale with a decimal comma from the sources in package locales and select it. Return:
 * success. */
static bool comma(const char *dir)
{
	char command[256];

	snprintf(command, sizeof(command), "localedef -f UTF-8 -i de_DE %s/de_DE.UTF-8 > /dev/null 2>&1", dir);
	/* localedef also exits with a status other than 0 if it only warns. */
	if (system(command))
		fprintf(stderr, "# %s: exit status other than 0\n", command);
	return !setenv("LOCPATH", dir, 1) && setlocale(LC_NUMERIC, "de_DE.UTF-8");
}

TEST_F(doc, numbers_do_not_depend_on_the_locale)
{
	char dir[] = "/tmp/jetwatt-locale.XXXXXX", command[64];
	bool made;

	ASSERT_NE(NULL, mkdtemp(dir));
	made = comma(dir);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ASSERT_EQ(0, system(command));
	if (!made)
		SKIP(return, "no locale with a decimal comma: package locales is missing");
	ASSERT_STREQ(",", localeconv()->decimal_point);
	jetwatt_json_real(&self->j, NULL, 2.5, 6);
	fflush(self->f);
	ASSERT_STREQ("2.5", self->text);
}

TEST_F(doc, twenty_levels_nest)
{
	for (int i = 0; i < 20; i++)
		jetwatt_json_array(&self->j, NULL);
	for (int i = 0; i < 20; i++)
		jetwatt_json_end(&self->j);
	fflush(self->f);
	ASSERT_EQ(41, (int)strlen(self->text));
}

TEST_HARNESS_MAIN
