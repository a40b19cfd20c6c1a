// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt schedule: the report has a number wherever it has a figure; its file has each setting once. */
#include "kselftest_harness.h"

#include "../../user/cmd/schedule.c"

/* Write the report to @text of @len. */
static void report(const struct jetwatt_timeshare *s, char *text, size_t len)
{
	FILE *f = fmemopen(text, len, "w");

	if (!f)
		return;
	schedule_print(s, f);
	fclose(f);
}

static const struct jetwatt_timeshare planned = {
	.planned = 1, .feasible = 1, .plan.tau = 3, .plan.requests = 2, .plan.window_ms = 50,
	.ns = { 1000000000, 500000000, 1000000 }, .minibatches = 7, .slices = 3,
};

TEST(no_window_of_the_plan_has_ended)
{
	struct jetwatt_timeshare s = planned;
	char text[1000] = "";

	report(&s, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "last plan: 3 minibatches per 2 requests"));
	EXPECT_NE(NULL, strstr(text, "the run ended in the first window of this plan"));
	EXPECT_EQ(NULL, strstr(text, "nan"));
	s.achieved = 2;
	report(&s, text, sizeof(text));
	EXPECT_EQ(NULL, strstr(text, "inf %"));
}

TEST(share_of_the_plan)
{
	struct jetwatt_timeshare s = planned;
	char text[1000] = "";

	s.planned_minibatches = 8;
	s.achieved = 6;
	report(&s, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, " 8 minibatches planned, 6 completed: 75.0 %\n"));
}

/* Of two commands, only the last one would be started. */
TEST(a_setting_that_is_given_twice_is_refused)
{
	static const char text[] = "train = a\ninfer = b\nlatency = 1s\ntrain = c\n";
	struct jetwatt_timeshare_conf c;
	struct jetwatt_conf_error e;

	EXPECT_EQ(0, jetwatt_timeshare_conf_parse(text, strlen(text) - strlen("train = c\n"), &c, &e));
	EXPECT_EQ(-EINVAL, jetwatt_timeshare_conf_parse(text, strlen(text), &c, &e));
	EXPECT_EQ(4, e.line);
	EXPECT_STREQ("there is another line train =", e.why);
}

TEST_HARNESS_MAIN
