// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "out/report.h"
#include "out/run_page.h"

#define DEPTH 32

/* Check that all tags of a page are closed in order and all attributes are quoted; style sheets are
 * not checked. Return: 0; the offset of the error; -1: a tag is never closed. */
static long unbalanced(const char *page)
{
	char open[DEPTH][16];
	const char *s = page;
	int depth = 0;

	while ((s = strchr(s, '<'))) {
		const char *end = s, *name = s + 1 + (s[1] == '/');
		int len = 0, quote = 0;

		if (s[1] == '!') {
			s = strchr(s, '>');
			continue;
		}
		while (isalnum((unsigned char)name[len]))
			len++;
		if (!len || len > 15)
			return s - page;
		for (end = name + len; *end && (quote || *end != '>'); end++) {
			if (*end == '\'')
				quote = !quote;
			if (*end == '<' || (!quote && *end == '=' && end[1] != '\''))
				return end - page;
		}
		if (!*end)
			return s - page;
		if (s[1] == '/') {
			if (!depth-- || strlen(open[depth]) != (size_t)len ||
			    strncmp(open[depth], name, len))
				return s - page;
		} else if (end[-1] != '/') {
			if (depth == DEPTH)
				return s - page;
			snprintf(open[depth++], 16, "%.*s", len, name);
		}
		s = end;
	}
	return depth ? -1 : 0;
}

static int count(const char *page, const char *what)
{
	int n = 0;

	while ((page = strstr(page, what))) {
		n++;
		page++;
	}
	return n;
}

static char *render(const struct jetwatt_report *r, int *err)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	*err = jetwatt_report_html(f, r);
	fclose(f);
	return text;
}

#define NR 500

static void fill(struct jetwatt_report *r, struct jetwatt_prediction *p, struct jetwatt_row *row,
		 double *t, double *w)
{
	static const struct jetwatt_report_mark mark[] = { { 1, "1" }, { 2, NULL }, { 3, "<3>" } };
	static const struct jetwatt_report_fact fact[] = { { "a & b", "\"1 < 2\"" } };
	static const struct jetwatt_report_preset preset[] = { { "<MAXN>", 60, 40 }, { "", 300, 12 } };

	for (int i = 0; i < NR; i++) {
		p[i] = (struct jetwatt_prediction){ 50 + 3 * i, 10 + 9000.0 / (50 + 3 * i), .1, .1 };
		t[i] = i * 0.01;
		w[i] = 20 + 5 * sin(i * 0.1);
	}
	for (int i = 0; i < 20; i++)
		row[i] = (struct jetwatt_row){ { 4, 729600, 306000000, 2133000000 }, 60 + 10 * i,
					       30 - i, .01, .01 };
	*r = (struct jetwatt_report){
		.title = "<script>alert('x')</script>", .board = "A & B", .kernel = "6.1",
		.workload = "w", .budget_w = 25, .predicted = p, .nr_predicted = NR,
		.measured = row, .nr_measured = 20, .chosen = &row[6], .promise = &p[6],
		.t_s = t, .w = w, .nr_samples = NR, .bound_s = t, .nr_bounds = NR,
		.mark = mark, .nr_marks = 3, .fact = fact, .nr_facts = 1,
		.preset = preset, .nr_presets = 2, .note = "simulated <b>",
	};
}

TEST(page_has_every_section)
{
	static struct jetwatt_prediction p[NR];
	static struct jetwatt_row row[20];
	static double t[NR], w[NR];
	struct jetwatt_report r;
	char *page;
	int err;

	fill(&r, p, row, t, w);
	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, unbalanced(page));
	EXPECT_EQ(NULL, strstr(page, "<script"));
	EXPECT_NE(NULL, strstr(page, "&lt;script&gt;"));
	EXPECT_NE(NULL, strstr(page, "A &amp; B"));
	EXPECT_NE(NULL, strstr(page, "&lt;MAXN&gt;"));
	EXPECT_EQ(2, count(page, "class='preset'"));
	EXPECT_NE(NULL, strstr(page, "&lt;3&gt;"));
	EXPECT_NE(NULL, strstr(page, "&quot;1 &lt; 2&quot;"));
	EXPECT_EQ(2, count(page, "<svg"));
	EXPECT_EQ(20, count(page, "<circle class='measured'"));
	EXPECT_EQ(2, count(page, "budget 25 W</text>"));
	/* the page contains nothing that a browser would download */
	EXPECT_EQ(NULL, strstr(page, "http"));
	EXPECT_EQ(NULL, strstr(page, "src="));
	EXPECT_EQ(NULL, strstr(page, "url("));
	EXPECT_EQ(NULL, strstr(page, "nan"));
	EXPECT_EQ(NULL, strstr(page, "inf"));
	free(page);
}

TEST(page_without_data_is_valid)
{
	struct jetwatt_report r = { 0 };
	char *page;
	int err;

	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, unbalanced(page));
	EXPECT_EQ(0, count(page, "<svg"));
	EXPECT_NE(NULL, strstr(page, "No mode was chosen"));
	free(page);
}

/* A strict decoder of the page rejects bytes that are not UTF-8, such as those of a command in Latin-1. */
TEST(texts_are_utf8)
{
	struct jetwatt_report r = { .title = "caf\xe9 caf\u00e9", .note = "cut \xe2\x82" };
	char *page;
	int err;

	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_NE(NULL, strstr(page, "<h1>caf\ufffd caf\u00e9</h1>"));
	EXPECT_NE(NULL, strstr(page, "<p>cut \ufffd\ufffd</p>"));
	free(page);
}

TEST(page_with_one_of_each)
{
	struct jetwatt_prediction p = { 100, 20, .1, .1 };
	struct jetwatt_row row = { { 2, 1, 1, 1 }, 100, 20, .6, .6 };
	double t[2] = { 5, 5 }, w[2] = { 20, 20 };
	struct jetwatt_report r = {
		.predicted = &p, .nr_predicted = 1, .measured = &row, .nr_measured = 1,
		.chosen = &row, .t_s = t, .w = w, .nr_samples = 2,
	};
	char *page;
	int err;

	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, unbalanced(page));
	EXPECT_EQ(2, count(page, "<svg"));
	EXPECT_EQ(NULL, strstr(page, "nan"));
	EXPECT_EQ(NULL, strstr(page, "inf"));
	EXPECT_NE(NULL, strstr(page, "<b>20.00 W</b>measured"));
	free(page);
}

TEST(chosen_mode_that_was_not_measured_is_predicted)
{
	struct jetwatt_row row = { { 2, 1, 1, 1 }, 100, 20, .6, .6 }, chosen = { { 4, 1, 1, 1 }, 60, 30, .1, .1 };
	struct jetwatt_report r = { .measured = &row, .nr_measured = 1, .chosen = &chosen };
	char *page;
	int err;

	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_NE(NULL, strstr(page, "<b>30.00 W</b>predicted"));
	free(page);
}

/* Up to 400 minibatches have a tick each; of more, not all are shown. */
TEST(ticks_of_minibatches)
{
	static const struct jetwatt_page_column column = { .w = { 20 }, .hi = 20, .n = 1 };
	double t[401], w[401];
	char *page = NULL;
	size_t len;
	int err;

	for (int i = 0; i < 401; i++) {
		t[i] = i;
		w[i] = 20;
	}
	for (size_t n = 400; n <= 401; n++) {
		const struct jetwatt_report r = { .t_s = t, .w = w, .nr_samples = 401,
						  .bound_s = t, .nr_bounds = n };
		const struct jetwatt_page run = { .rail = { "VDD_IN" }, .nr_rails = 1, .column = &column,
						  .nr_columns = 1, .column_s = 401, .bound_s = t,
						  .nr_bounds = n };
		FILE *f;

		page = render(&r, &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(n == 400 ? 400 : 201, count(page, "v-6"));
		EXPECT_EQ(n > 400, count(page, "not all shown"));
		free(page);
		f = open_memstream(&page, &len);
		ASSERT_NE(NULL, f);
		ASSERT_EQ(0, jetwatt_page_write(f, &run));
		fclose(f);
		EXPECT_EQ(n == 400 ? 400 : 201, count(page, "v-7"));
		EXPECT_EQ(n > 400, count(page, "not all shown"));
		free(page);
	}
}

/* unbalanced() must report an error for every broken page. */
TEST(check_detects_broken_pages)
{
	EXPECT_EQ(0, unbalanced("<a b='c'><d/></a>"));
	EXPECT_NE(0, unbalanced("<a><b></a></b>"));
	EXPECT_NE(0, unbalanced("<a>"));
	EXPECT_NE(0, unbalanced("<a b=c></a>"));
	EXPECT_NE(0, unbalanced("<a b='<'></a>"));
}

/* The report of jetwatt eval has no chosen mode, and the page must not report one as missing. */
TEST(page_of_an_evaluation_lacks_no_mode)
{
	static const struct jetwatt_report_fit fit[] = { { { 50, 20 }, { 55, 21 } }, { { 90, 9 }, { 80, 9 } } };
	static const struct jetwatt_report_curve curve[] = {
		{ 10, { 5, 4 }, { 4, 3 }, { 6, 5 } }, { 50, { 2, 2 }, { 1, 1 }, { 3, 3 } },
	};
	struct jetwatt_report r = { .title = "auto", .fit = fit, .nr_fit = 2, .curve = curve,
				    .nr_curve = 2 };
	char *page;
	int err;

	page = render(&r, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, unbalanced(page));
	EXPECT_EQ(3, count(page, "<svg"));
	EXPECT_EQ(2, count(page, "class='band'"));
	EXPECT_EQ(2, count(page, "class='dots'"));
	EXPECT_EQ(NULL, strstr(page, "was chosen"));
	free(page);
}

TEST_HARNESS_MAIN
