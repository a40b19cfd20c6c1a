// SPDX-License-Identifier: GPL-2.0-only
/* Reading sources of counters (measure/unit_counter.h, measure/unit_reader.h). */
#include "measure/unit_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "util/http_get.h"

/* If a source cannot be read as one of its counters needs it, none of its counters has a value. */
TEST(a_source_with_an_error_has_no_value)
{
	static char buf[JETWATT_HTTP_REPLY_MAX];
	char path[] = "/tmp/jetwatt-unit.XXXXXX", option[64];
	struct jetwatt_unit_reading r;
	struct jetwatt_units u = { .nr = 0 };
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	ASSERT_EQ(4, write(fd, "m 5\n", 4));
	close(fd);
	snprintf(option, sizeof(option), "a=%s#m", path);
	jetwatt_units_option(&u, option);
	jetwatt_unit_read(&u, 0, buf, &r);
	EXPECT_EQ(0, r.err);
	EXPECT_EQ(5, r.value[0]);
	/* The whole file as a number. */
	snprintf(option, sizeof(option), "b=%s", path);
	jetwatt_units_option(&u, option);
	ASSERT_EQ(1, u.sources);
	jetwatt_unit_read(&u, 0, buf, &r);
	EXPECT_GT(0, r.err);
	EXPECT_TRUE(isnan(r.value[0]));
	EXPECT_TRUE(isnan(r.value[1]));
	unlink(path);
}

/* Read the counters of a run that writes @text to the descriptor @to. @value: receives the first and the last
 * count of the run. */
static void run_of(struct jetwatt_units *u, int to, const char *text, double value[2])
{
	static struct jetwatt_unit_reader r;
	struct jetwatt_unit_reading one = { .value = { NAN } };
	uint64_t busy;

	jetwatt_unit_reader_start(&r, u);
	while (!jetwatt_unit_reader_next(&r, &one, &busy))
		usleep(1000);
	value[0] = one.value[0];
	if (write(to, text, strlen(text)) < 0)
		return;
	jetwatt_unit_reader_stop(&r);
	while (!jetwatt_unit_reader_done(&r))
		usleep(1000);
	while (jetwatt_unit_reader_next(&r, &one, &busy))
		jetwatt_unit_reader_drop(&r);
	value[1] = one.value[0];
	jetwatt_unit_reader_free(&r);
}

/* stat -r: each run of the command counts from 0, and does not complete a line of the run before. */
TEST(a_run_does_not_begin_with_the_count_of_the_run_before)
{
	struct jetwatt_units u = { .nr = 0 };
	char option[16];
	double value[2];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	snprintf(option, sizeof(option), "a=fd:%d", p[0]);
	jetwatt_units_option(&u, option);
	run_of(&u, p[1], "1\n500\n50", value);
	EXPECT_TRUE(isnan(value[0]));
	EXPECT_EQ(500, value[1]);
	run_of(&u, p[1], "1\n", value);
	EXPECT_TRUE(isnan(value[0]));
	EXPECT_EQ(1, value[1]);
	close(p[0]);
	close(p[1]);
}

TEST_HARNESS_MAIN
