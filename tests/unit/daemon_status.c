// SPDX-License-Identifier: GPL-2.0-only
/* The status: the keys in JSON are those that jetwatt-daemon(1) describes; the text fits into 80 columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "daemon/jetwattd.h"
#include "util/json_read.h"

/* Write the key of each member of an object to @f, one a line; @in: keys of the objects that
 * contain the members, each with a dot. */
static void print_keys(const struct jetwatt_json_value *v, const char *in, FILE *f)
{
	char path[128];

	for (v = v->first; v; v = v->next) {
		fprintf(f, "%s%s\n", in, v->key);
		snprintf(path, sizeof(path), "%s%s.", in, v->key);
		if (v->type == JETWATT_JSON_OBJECT)
			print_keys(v, path, f);
	}
}

/* Write the entries of the section JSON of the manual to @f, one a line. */
static void print_manual(FILE *f)
{
	FILE *man = fopen("man/jetwatt-daemon.1", "re");
	char line[1024];
	int in = 0;

	while (man && fgets(line, sizeof(line), man)) {
		if (!strncmp(line, ".SH", 3))
			in = !strcmp(line, ".SH JSON\n");
		if (in && !strncmp(line, ".B ", 3))
			fputs(line + 3, f);
	}
	if (man)
		fclose(man);
}

TEST(manual_has_the_keys)
{
	static struct jetwattd d = { .pid = 1, .timeshare.on = 1 };
	char *status, *keys, *manual;
	size_t status_len, keys_len, manual_len;
	struct jetwatt_json_doc *doc;
	unsigned int line;
	const char *why;
	FILE *f;

	f = open_memstream(&status, &status_len);
	jetwattd_status(&d, 1, f);
	fclose(f);
	ASSERT_EQ(0, jetwatt_json_parse(status, status_len, &doc, &line, &why)) TH_LOG("%s", status);
	f = open_memstream(&keys, &keys_len);
	print_keys(jetwatt_json_top(doc), "", f);
	fclose(f);
	f = open_memstream(&manual, &manual_len);
	print_manual(f);
	fclose(f);
	EXPECT_NE(NULL, strstr(keys, "\ncount.samples_lost\n"));
	EXPECT_STREQ(keys, manual);
	jetwatt_json_free(doc);
	free(manual);
	free(keys);
	free(status);
}

/* The reasons are those of user/lib/probe_uprobe.c and probe_callback.c. */
TEST(text_fits_into_80_columns)
{
	static struct jetwattd d = { .pid = 1, .command = "train", .timeshare.on = 1, .why = "started",
		.unseen = "jobs that spin inside libcuda: uprobes in libcuda.so.1: need CAP_SYS_ADMIN, or Linux 6.6" };
	char *status, *save, *line;
	size_t len;
	FILE *f;

	f = open_memstream(&status, &len);
	jetwattd_status(&d, 0, f);
	fclose(f);
	EXPECT_NE(NULL, strstr(status, "\nunseen    jobs that spin inside libcuda:\n"
				       "          uprobes in libcuda.so.1: need CAP_SYS_ADMIN, or Linux 6.6\nlast "));
	free(status);
	strcpy(d.unseen, "jobs that wait for callbacks, as JAX does: "
			 "process 4194303: callbacks: need CAP_SYS_PTRACE and CAP_SYS_ADMIN");
	f = open_memstream(&status, &len);
	jetwattd_status(&d, 0, f);
	fclose(f);
	EXPECT_NE(NULL, strstr(status, " need CAP_SYS_PTRACE and CAP_SYS_ADMIN\n"));
	for (line = strtok_r(status, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		EXPECT_GE(80, strlen(line)) TH_LOG("%s", line);
	free(status);
}

/* Any user can start a job, and root reads its command line on a terminal. */
TEST(command_cannot_control_the_terminal_or_forge_a_line)
{
	static struct jetwattd d = { .pid = 7, .command = "train \033[2J\nboard     fine", .why = "started" };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	jetwattd_status(&d, 0, f);
	fclose(f);
	EXPECT_NE(NULL, strstr(text, "\njob       7 train ?[2J?board     fine\n"));
	free(text);
}

TEST_HARNESS_MAIN
