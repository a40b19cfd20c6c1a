// SPDX-License-Identifier: GPL-2.0-only
/* Workload keys: which runs of programs count as the same workload, and which do not. */
#include "store/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "util/utf8.h"

#define WORDS_MAX 32

/* Split a line into words at spaces. The words are on the heap, so that a sanitizer detects reads
 * beyond their end. */
static int split(const char *line, char **arg)
{
	char *copy = strdup(line), *save, *word;
	int n = 0;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		arg[n++] = strdup(word);
	free(copy);
	return n;
}

static void command(const char *line, char *buf, size_t len, uint32_t *batch)
{
	char *arg[WORDS_MAX];
	int n = split(line, arg);

	jetwatt_workload_command((const char *const *)arg, n, buf, len);
	*batch = jetwatt_workload_batch((const char *const *)arg, n);
	for (int i = 0; i < n; i++)
		free(arg[i]);
}

TEST(command_lines_are_normalised)
{
	static const struct {
		const char *line, *is;
		uint32_t batch;
	} t[] = {
		{ "/usr/bin/python3 train.py", "python3 train.py", 0 },
		{ "python3 train.py --batch-size 16", "python3 train.py --batch-size 16", 16 },
		{ "python3 train.py --batch-size=16", "python3 train.py --batch-size 16", 16 },
		{ "./bin/train --batch_size=8 --epochs 90 --lr 0.1", "train --batch_size 8 --lr 0.1", 8 },
		{ "train -b 32 --log-dir=/tmp/x --resume", "train -b 32", 32 },
		{ "train --resume -b 32", "train -b 32", 32 },
		{ "yolo train model=yolov8n.yaml batch=4 epochs=100", "yolo train model=yolov8n.yaml batch=4", 4 },
		{ "train --api-key sk-12345 x", "train x", 0 },
		{ "train --token=sk-12345 x", "train x", 0 },
		{ "train --batch-size none", "train --batch-size none", 0 },
		{ "train --batch-size 0", "train --batch-size 0", 0 },
		{ "train --batch-size 99999999999999999999", "train --batch-size 99999999999999999999", 0 },
		{ "train --batch-size", "train --batch-size", 0 },
		{ "train it's;rm", "train 'it'\\''s;rm'", 0 },
		{ "train --batch-size 16 -- --", "train --batch-size 16 -- --", 16 },
		{ "/", "/", 0 },
		/* not JETWATT_WORKLOAD_CALIBRATION */
		{ "[calibration] compute", "'[calibration]' compute", 0 },
	};
	char is[JETWATT_WORKLOAD_TEXT];
	uint32_t batch;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		command(t[i].line, is, sizeof(is), &batch);
		EXPECT_STREQ(is, t[i].is);
		EXPECT_EQ(batch, t[i].batch) TH_LOG("%s", t[i].line);
	}
	jetwatt_workload_command(NULL, 0, is, sizeof(is));
	EXPECT_STREQ(is, "");
}

/* Two commands that differ only beyond the maximum stored length must have different texts. */
TEST(rest_of_a_long_command_is_hashed)
{
	static char word[5000];
	const char *arg[] = { "train", word };
	char is[2][JETWATT_WORKLOAD_TEXT];

	memset(word, 'x', sizeof(word) - 1);
	jetwatt_workload_command(arg, 2, is[0], sizeof(is[0]));
	EXPECT_TRUE(strlen(is[0]) < sizeof(is[0]) && strstr(is[0], " ...") && !strncmp(is[0], "train", 5));
	word[4990] = 'y';
	jetwatt_workload_command(arg, 2, is[1], sizeof(is[1]));
	EXPECT_TRUE(strcmp(is[0], is[1]));
	word[4990] = 'x';
	jetwatt_workload_command(arg, 2, is[1], sizeof(is[1]));
	EXPECT_STREQ(is[0], is[1]);
}

/* JSON and PostgreSQL accept no part of a character: the text that other devices get would differ. */
TEST(long_command_is_not_cut_within_a_character)
{
	const char *arg[] = { NULL, "x", "", NULL };
	char first[8] = "", prompt[3 * 400 + 1], is[JETWATT_WORKLOAD_TEXT];

	for (size_t i = 0; i < sizeof(prompt) - 1; i++)
		prompt[i] = "\u4f60"[i % 3];
	prompt[sizeof(prompt) - 1] = '\0';
	arg[0] = first;
	arg[2] = prompt;
	for (int length = 1; length <= 3; length++) {
		const char *s = is;
		int n;

		memset(first, 'a', (size_t)length);
		jetwatt_workload_command(arg, 3, is, sizeof(is));
		while ((n = jetwatt_utf8_length(s)) > 0 && *s)
			s += n;
		EXPECT_EQ(*s, '\0') TH_LOG("%d: %s", length, s);
		EXPECT_TRUE(strstr(is, " ...") && strlen(is) > sizeof(is) - 16);
	}
}

TEST(cgroups_are_normalised)
{
	static const char * const t[][2] = {
		{ "0::/system.slice/train.service\n", "system.slice/train.service" },
		{ "0::/user.slice/user-1000.slice/session-3.scope\n", "user.slice" },
		{ "0::/system.slice/docker-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.scope",
		  "system.slice/docker-*.scope" },
		{ "0::/system.slice/run-r7d81e2a9b2a04c1f8e4b1f.scope", "system.slice/run-*.scope" },
		{ "0::/system.slice/run-1234.scope", "system.slice/run-*.scope" },
		{ "0::/", "" }, { "", "" }, { "12:cpu,cpuacct:/a\n11:memory:/b\n", "b" },
	};
	char is[256];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		jetwatt_workload_cgroup(t[i][0], is, sizeof(is));
		EXPECT_STREQ(is, t[i][1]);
	}
}

/* The key of a workload depends on every field, and a text moved from one field to the next changes
 * the key. */
TEST(keys_depend_on_every_field)
{
	struct jetwatt_workload w[8];
	char key[8][JETWATT_WORKLOAD_KEY];

	for (int i = 0; i < 8; i++)
		w[i] = (struct jetwatt_workload){ "train x", 16, "a", "Orin", "L4T 36.4", "p=1" };
	strcpy(w[1].command, "train y");
	w[2].batch = 32;
	strcpy(w[3].cgroup, "b");
	strcpy(w[4].board, "Nano");
	strcpy(w[5].release, "L4T 36.5");
	strcpy(w[6].params, "p=2");
	strcpy(w[7].cgroup, "aOrin");
	strcpy(w[7].board, "");
	for (int i = 0; i < 8; i++) {
		jetwatt_workload_key(&w[i], key[i]);
		EXPECT_EQ(strlen(key[i]), 64);
		for (int j = 0; j < i; j++) {
			EXPECT_TRUE(strcmp(key[i], key[j])) TH_LOG("%d %d", i, j);
		}
	}
	w[1] = w[0];
	jetwatt_workload_key(&w[1], key[1]);
	EXPECT_STREQ(key[0], key[1]);
}

TEST_HARNESS_MAIN
