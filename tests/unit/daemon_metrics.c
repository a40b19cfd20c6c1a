// SPDX-License-Identifier: GPL-2.0-only
/* Growth of jetwattd's metrics. */
#include "daemon/jetwattd.h"

#include <string.h>

#include "kselftest_harness.h"

#define MODES	500
#define LABEL	"jetwatt_mode_info{mode=\""

uint64_t jetwatt_clock_ns(void)
{
	return 1;
}

static struct jetwattd d = { .lock = PTHREAD_MUTEX_INITIALIZER, .act = { .applied = 1 }, .cap = { .budget_w = 20 } };

/* Read jetwattd's metrics and add the label of the mode to @name if it is new. Return: number of
 * labels; -1 if the metrics have no label of a mode or several. */
static int scrape(char name[MODES][96], int nr)
{
	static char text[65536];
	FILE *f = fmemopen(text, sizeof(text), "w");
	char *at;
	int i = 0;

	jetwattd_metrics(&d, 0, f);
	fclose(f);
	at = strstr(text, LABEL);
	if (!at || strstr(at + 1, LABEL))
		return -1;
	at += strlen(LABEL);
	*strchr(at, '"') = '\0';
	while (i < nr && strcmp(name[i], at))
		i++;
	snprintf(name[i], 96, "%s", at);
	return i == nr ? nr + 1 : nr;
}

TEST(only_held_modes_have_a_series)
{
	static char name[MODES][96];
	int nr = 0;

	/* Modes that are only measured during learning share one metric series. */
	d.doing = JETWATTD_LEARNING;
	for (int i = 0; i < MODES; i++) {
		d.act.mode = (struct jetwatt_mode){ 1 + i % 12, 729600, 114750000 + 1000000ull * i, 3199000000 };
		nr = scrape(name, nr);
	}
	ASSERT_EQ(1, nr);
	EXPECT_STREQ("other", name[0]);
	d.doing = JETWATTD_HOLDING;
	for (int i = 0; i < MODES; i++) {
		d.act.mode.gpu_hz = 114750000 + 1000000ull * i;
		nr = scrape(name, nr);
	}
	EXPECT_EQ(1 + JETWATTD_MODES, nr);
	/* A mode that already has a metric series gets no second one. */
	d.act.mode.gpu_hz = 114750000;
	EXPECT_EQ(nr, scrape(name, nr));
	d.act.applied = 0;
	EXPECT_EQ(nr + 1, scrape(name, nr));
	EXPECT_STREQ("as found", name[nr]);
}

TEST_HARNESS_MAIN
