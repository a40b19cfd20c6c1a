// SPDX-License-Identifier: GPL-2.0-only
/* The message about a job in which too few minibatches were found. */
#include "measure/mode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "util/error.h"

/* Return the message for @limits. The caller frees it. */
static char *timed_out(const struct jetwatt_measure_limits *limits)
{
	struct jetwatt_session w = { .pid = 4711 };
	FILE *was = stderr;
	char *text = NULL;
	size_t len;

	stderr = open_memstream(&text, &len);
	if (!stderr || jetwatt_measure_why(&w, -ETIMEDOUT, limits) != JETWATT_EXIT_FAILED)
		abort();
	fclose(stderr);
	stderr = was;
	return text;
}

/* The time that has passed is four times max_s, or that of --wait if it is longer. */
TEST(message_names_the_time_that_has_passed)
{
	struct jetwatt_measure_limits limits = { .max_s = 20, .idle_s = 30 };
	char *text = timed_out(&limits);

	EXPECT_NE(NULL, strstr(text, "in 80 s (process 4711)"));
	free(text);
	limits.idle_s = 120;
	text = timed_out(&limits);
	EXPECT_NE(NULL, strstr(text, "in 120 s (process 4711)"));
	free(text);
}

TEST_HARNESS_MAIN
