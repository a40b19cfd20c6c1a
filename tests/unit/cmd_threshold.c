// SPDX-License-Identifier: GPL-2.0-only
/* Expressions of --fail-if: which ones are true, and which ones are refused. */
#include <stdio.h>

#include "kselftest_harness.h"

#include "../../user/cmd/stat/threshold.c"

static int figure(const char *name, size_t len, double *v, void *arg)
{
	static const struct { const char *name; double v; } known[] = {
		{ "J/minibatch", 1.25 }, { "J/minibatch.p95", 1.5 }, { "W", 30 },
	};

	(void)arg;
	for (size_t i = 0; i < 3; i++)
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len)) {
			*v = known[i].v;
			return 0;
		}
	return len == 7 && !memcmp(name, "unknown", 7) ? -ENODATA : -ENOENT;
}

TEST(expressions_are_evaluated)
{
	static const struct { const char *rule; int yes; } t[] = {
		{ "J/minibatch.p95 > 1.4", 1 },
		{ "J/minibatch.p95>1.6", 0 },
		{ "J/minibatch < 1.4 && W >= 30", 1 },
		{ "J/minibatch > 1.4 || W == 30", 1 },
		{ "J/minibatch > 1.4 || W != 30", 0 },
		{ "1 < 2 && 2 < 1 || 3 <= 3", 1 },
		{ "1 < 2 && (2 < 1 || 3 <= 3)", 1 },
		{ "2 < 1 && (2 < 1 || 3 <= 3)", 0 },
		{ "((W > -1))", 1 },
		{ "+1e1 < W", 1 },
		{ "J/minibatch > J/minibatch.p95", 0 },
		/* A comparison with an unknown value is ignored if the other comparisons decide the
		 * expression. */
		{ "unknown > 1", -ENODATA },
		{ "unknown > 1 || W > 1", 1 },
		{ "unknown > 1 && W < 1", 0 },
		{ "unknown > 1 && W > 1", -ENODATA },
	};
	size_t at, i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		EXPECT_EQ(t[i].yes, jetwatt_threshold_eval(t[i].rule, figure, NULL, &at)) {
			TH_LOG("%s", t[i].rule);
		}
}

TEST(malformed_expressions_are_refused)
{
	static const struct { const char *rule; int err; size_t at; } t[] = {
		{ "", -EINVAL, 0 },
		{ "W", -EINVAL, 1 },
		{ "W >", -EINVAL, 3 },
		{ "W > 1 W", -EINVAL, 6 },
		{ "W > 1 &", -EINVAL, 6 },
		{ "(W > 1", -EINVAL, 6 },
		{ "W > 1)", -EINVAL, 5 },
		{ "watts > 1", -ENOENT, 0 },
		{ "W > 1 || watts > 1", -ENOENT, 9 },
		{ "W > ;", -EINVAL, 4 },
		{ ". > 1", -EINVAL, 0 },
	};
	char deep[JETWATT_THRESHOLD_LEN + 8];
	size_t at, i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		EXPECT_EQ(t[i].err, jetwatt_threshold_eval(t[i].rule, figure, NULL, &at)) {
			TH_LOG("%s", t[i].rule);
		}
		EXPECT_EQ(t[i].at, at) {
			TH_LOG("%s", t[i].rule);
		}
	}
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	EXPECT_EQ(-E2BIG, jetwatt_threshold_eval(deep, figure, NULL, &at));
	deep[100] = '\0';
	EXPECT_EQ(-E2BIG, jetwatt_threshold_eval(deep, figure, NULL, &at));
}

TEST_HARNESS_MAIN
