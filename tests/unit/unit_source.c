// SPDX-License-Identifier: GPL-2.0-only
/* Reading a source of several counters (measure/unit_counter.h). */
#include "measure/unit_counter.h"

#include <math.h>
#include <stdlib.h>
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

TEST_HARNESS_MAIN
