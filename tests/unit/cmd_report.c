// SPDX-License-Identifier: GPL-2.0-only
/* The text of a trace, which may come from another machine, does not control the terminal. */
#include "kselftest_harness.h"

#include "../../user/cmd/report/report.c"

/* The heading needs neither the page nor the figures. */
void jetwatt_page_gather(struct jetwatt_page_data *d, struct jetwatt_replay *r)
{
	(void)d;
	(void)r;
}

int jetwatt_page_make(FILE *f, const struct jetwatt_page_data *d, const struct jetwatt_replay *r,
		      const struct jetwatt_summary *s)
{
	(void)f;
	(void)d;
	(void)r;
	(void)s;
	return 0;
}

int jetwatt_run_figures(const struct jetwatt_replay *r, const struct jetwatt_run_energy *m, int json,
			const struct jetwatt_args *a)
{
	(void)r;
	(void)m;
	(void)json;
	(void)a;
	return 0;
}

TEST(heading)
{
	static struct jetwatt_replay r = { .board = "a\033]0;b\007", .kernel = "6.8\r",
					   .version = "1\n", .command = "sh -c x\n\033[2Jy" };
	FILE *saved = stdout, *f;
	char text[400] = "";

	f = fmemopen(text, sizeof(text), "w");
	ASSERT_NE(NULL, f);
	stdout = f;
	report_print_heading(&r);
	stdout = saved;
	fclose(f);
	EXPECT_STREQ(" a?]0;b?, kernel 6.8?, jetwatt 1?\n sh -c x??[2Jy\n", text);
}

TEST_HARNESS_MAIN
