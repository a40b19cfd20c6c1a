// SPDX-License-Identifier: GPL-2.0-only
/* The table of jetwattd's states and of the states that may follow each. The manual jetwattd(8)
 * must have the same table. */
#include "daemon/state.h"

#include <errno.h>

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

static const enum jetwattd_doing standing_back[] = { JETWATTD_YIELDING, JETWATTD_PAUSED, JETWATTD_BLIND };
static const enum jetwattd_doing working[] = { JETWATTD_LEARNING, JETWATTD_HOLDING, JETWATTD_BACKING_OFF };

TEST(states_of_a_running_job)
{
	struct jetwattd d = { .doing = JETWATTD_IDLE };

	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_LEARNING));
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_HOLDING));
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_BACKING_OFF));
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_HOLDING));
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_HOLDING));
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_LEARNING));
	EXPECT_EQ(JETWATTD_LEARNING, d.doing);
}

/* Another thread enters yielding, paused or blind just before the loop reports its own state. */
TEST(loop_cannot_end_yielding)
{
	for (int s = 0; s < 3; s++)
		for (int w = 0; w < 3; w++) {
			struct jetwattd d = { .doing = standing_back[s] };

			EXPECT_EQ(-EPERM, jetwattd_enter(&d, working[w]));
			EXPECT_EQ(standing_back[s], d.doing);
		}
}

TEST(missing_samples_cannot_end_yielding)
{
	struct jetwattd d = { .doing = JETWATTD_YIELDING };

	EXPECT_EQ(-EPERM, jetwattd_enter(&d, JETWATTD_BLIND));
	EXPECT_EQ(JETWATTD_YIELDING, d.doing);
	d.doing = JETWATTD_HOLDING;
	EXPECT_EQ(0, jetwattd_enter(&d, JETWATTD_BLIND));
}

TEST(holding_requires_learning)
{
	struct jetwattd d = { .doing = JETWATTD_IDLE };

	EXPECT_EQ(-EPERM, jetwattd_enter(&d, JETWATTD_HOLDING));
	EXPECT_EQ(-EPERM, jetwattd_enter(&d, JETWATTD_BACKING_OFF));
}

TEST(every_state_can_be_entered_and_left)
{
	for (int s = 0; s < JETWATTD_DOINGS; s++) {
		int out = 0;

		EXPECT_NE(0, jetwattd_state[s].from & ~(1u << s));
		for (int to = 0; to < JETWATTD_DOINGS; to++)
			out |= to != s && (jetwattd_state[to].from & (1u << s));
		EXPECT_NE(0, out);
	}
}

/* Return the section of the manual that lists the states, with its lines joined. */
static char *section(void)
{
	char *text = calloc(1, 1 << 16), line[1024], *p = text;
	FILE *f = fopen("man/jetwattd.8", "re");
	int in = 0;

	while (text && f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, ".S", 2))
			in = !strncmp(line, ".SS States", 10);
		if (in && p - text + strlen(line) < 1 << 16)
			p = stpcpy(p, line);
	}
	if (f)
		fclose(f);
	for (p = text; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	return text;
}

TEST(manual_has_the_same_table)
{
	char *man = section(), *at = man, row[1024];

	ASSERT_NE(NULL, man);
	for (int i = 0; i < JETWATTD_DOINGS; i++) {
		const struct jetwattd_state *s = &jetwattd_state[i];

		snprintf(row, sizeof(row), ".TP .B %s Entered: %s. Left: %s. Applied: %s. ", s->name,
			 s->entered, s->left, s->applied);
		at = strstr(at, row);
		ASSERT_NE(NULL, at) {
			TH_LOG("row of a state not in its place in man/jetwattd.8: %s", row);
		}
		at += strlen(row);
	}
	/* After the last state, the section of the manual has no further entry. */
	EXPECT_EQ(NULL, strstr(at, ".TP"));
	free(man);
}

TEST_HARNESS_MAIN
