// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rails with the same label: the library gives each a label of its own, in the list of the module's
 * rails and in traces; the board's table still applies to them. The test builds the netlink
 * messages.
 */
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../user/lib/info.c"
#include "board_tree.h"
#include "kselftest_harness.h"
#include "lib/parse.h"
#include "lib/trace.h"

static const char *const *labels;	/* of the rails of the module; the last one is NULL */
static uint32_t first_id;		/* id of the first rail */

int jetwatt_error_set(struct jetwatt *jw, int err, const char *fmt, ...)
{
	(void)jw;
	(void)fmt;
	return err;
}

struct nl_msg *jetwatt_request_new(struct jetwatt *jw, int cmd, int flags)
{
	(void)jw;
	(void)cmd;
	(void)flags;
	return nlmsg_alloc();
}

/* Answer the request with one message per rail. */
int jetwatt_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg,
			const char *what, jetwatt_reply_fn reply, void *arg)
{
	int err = 0;

	(void)sk;
	(void)what;
	nlmsg_free(msg);
	for (uint32_t i = 0; labels[i] && !err; i++) {
		msg = nlmsg_alloc();
		nlmsg_put(msg, 0, 0, 0x20, 0, 0);
		nla_put_u32(msg, JETWATT_A_RAIL_ID, first_id + i);
		nla_put_u32(msg, JETWATT_A_RAIL_SHUNT_UOHM, 2000);
		nla_put_u32(msg, JETWATT_A_RAIL_ENABLED, 1);
		nla_put_string(msg, JETWATT_A_RAIL_LABEL, labels[i]);
		err = reply(jw, nlmsg_attrdata(nlmsg_hdr(msg), 0), nlmsg_attrlen(nlmsg_hdr(msg), 0), arg);
		nlmsg_free(msg);
	}
	return err;
}

static int list(const char *const *of, struct jetwatt_rail *rail)
{
	struct jetwatt jw = { 0 };

	labels = of;
	return jetwatt_rails(&jw, rail, JETWATT_RAILS_MAX);
}

static const char *const unlabelled[] = { "in1", "in2", "in1", "in2", "in1", NULL };
static const char *const unique[] = { "in1", "in2", "in1 (2)", "in2 (3)", "in1 (4)" };

TEST(labels_of_the_list_are_unique)
{
	static const char x[] = "12345678901234567890123456789012345678901234567";
	static const char *const longest[] = { x, x, NULL };
	struct jetwatt_rail rail[JETWATT_RAILS_MAX], two[2];
	struct jetwatt jw = { 0 };

	ASSERT_EQ(5, list(unlabelled, rail));
	for (int i = 0; i < 5; i++)
		EXPECT_STREQ(unique[i], rail[i].label);
	ASSERT_EQ(5, jetwatt_rails(&jw, two, 2));
	EXPECT_STREQ("in2", two[1].label);
	EXPECT_EQ(5, jetwatt_rails(&jw, NULL, 0));
	ASSERT_EQ(JETWATT_LABEL_LEN - 1, strlen(x));
	ASSERT_EQ(2, list(longest, rail));
	EXPECT_STREQ(x, rail[0].label);
	EXPECT_STREQ("1234567890123456789012345678901234567890123 (1)", rail[1].label);
}

struct read_back {
	struct jetwatt_rail rail[16];
	int n;
};

static void got_rail(const struct jetwatt_rail *rail, void *arg)
{
	struct read_back *r = arg;

	if (r->n < 16)
		r->rail[r->n++] = *rail;
}

/* Older versions wrote traces with the labels of the module. A rail is written again when its
 * rates are known. */
TEST(labels_of_an_old_trace_are_unique)
{
	struct jetwatt_trace_calls calls = { .rail = got_rail };
	struct jetwatt_trace_reader *reader;
	struct jetwatt_trace_writer *w;
	struct read_back r = { 0 };
	FILE *f = tmpfile();

	ASSERT_NE(NULL, f);
	ASSERT_EQ(0, jetwatt_trace_writer_new(&w, fileno(f)));
	for (uint32_t i = 0; i < 7; i++) {
		struct jetwatt_rail rail = { .id = i % 5, .enabled = 1, .shunt_uohm = 2000 };

		rail.fresh_mhz = i;
		strcpy(rail.label, unlabelled[i % 5]);
		ASSERT_EQ(0, jetwatt_trace_write_rail(w, &rail));
		if (i == 4)
			jetwatt_trace_flush(w, 0, 1);
	}
	jetwatt_trace_flush(w, 0, 1);
	jetwatt_trace_writer_free(w);
	lseek(fileno(f), 0, SEEK_SET);
	ASSERT_EQ(0, jetwatt_trace_reader_new(&reader, fileno(f), &calls, &r));
	while (jetwatt_trace_read(reader) > 0)
		;
	ASSERT_LE(7, r.n);
	for (int i = 0; i < r.n; i++)
		EXPECT_STREQ(unique[r.rail[i].id], r.rail[i].label);
	jetwatt_trace_reader_free(reader);
	fclose(f);
}

/* Make a simulated board of this kind. Return: the board; NULL: it cannot be opened. */
static struct jetwatt_board *open_board(struct tree *t, const char *compatible)
{
	struct jetwatt_board_roots roots;
	struct jetwatt_error_text err;
	struct jetwatt_board *b = NULL;

	tree_orin(t);
	tree_put(t, "proc/device-tree/compatible", compatible);
	roots = tree_roots(t);
	return jetwatt_board_open(&b, &roots, &err) ? NULL : b;
}

/* The table of a board has one rail per label: the total includes the first measured one, and the
 * feeder of each is known. */
TEST(table_of_the_board_applies)
{
	static const char *const nano[] = { "VDD_IN", "VDD_SOC", "VDD_IN", "VDD_SOC", NULL };
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_board *b;
	int total[JETWATT_RAILS_MAX], n;
	const char *scope;
	struct tree t;

	b = open_board(&t, "nvidia,p3768-0000+p3767-0005");
	ASSERT_NE(NULL, b);
	first_id = 7;
	n = list(nano, rail);
	ASSERT_EQ(4, n);
	EXPECT_STREQ("VDD_IN (9)", rail[2].label);
	ASSERT_EQ(1, jetwatt_board_total(b, rail, n, total, &scope));
	EXPECT_EQ(0, total[0]);
	EXPECT_STREQ("module", scope);
	EXPECT_STREQ("VDD_IN", jetwatt_board_parent(b, "VDD_SOC"));
	EXPECT_STREQ("VDD_IN", jetwatt_board_parent(b, rail[3].label));
	/* The first rail with the label is disabled. */
	rail[0].enabled = 0;
	ASSERT_EQ(1, jetwatt_board_total(b, rail, n, total, &scope));
	EXPECT_EQ(2, total[0]);
	jetwatt_board_close(b);
	tree_free(&t);
}

/* On a board that is not in the table the total has the rails that the module names, also two without a label. */
TEST(total_of_an_unknown_board_has_all_rails)
{
	static const char *const chips[] = { "in1", "in2", "in1", NULL };
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_board *b;
	int total[JETWATT_RAILS_MAX], n;
	const char *scope;
	struct tree t;

	b = open_board(&t, "example,board");
	ASSERT_NE(NULL, b);
	n = list(chips, rail);
	ASSERT_EQ(3, n);
	for (int i = 0; i < n; i++)
		rail[i].in_total = 1;
	rail[1].enabled = 0;
	ASSERT_EQ(2, jetwatt_board_total(b, rail, n, total, &scope));
	EXPECT_EQ(0, total[0]);
	EXPECT_EQ(2, total[1]);
	jetwatt_board_close(b);
	tree_free(&t);
}

TEST_HARNESS_MAIN
