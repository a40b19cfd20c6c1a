// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stat/fail_if.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

void jetwatt_fail_if_option(const char **rule, const char *arg)
{
	if (*rule)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "only one rule can be evaluated",
				       "join the rules by ||: --fail-if 'RULE || RULE'",
				       "--fail-if is given twice"));
	*rule = arg;
}

void jetwatt_fail_if_check(const char *rule, jetwatt_threshold_fn fn, void *arg, const char *(*name)(int),
			   int n)
{
	char names[1600] = "one of";
	size_t at = 0;
	int err = jetwatt_threshold_eval(rule, fn, arg, &at);

	if (err >= 0 || err == -ENODATA)
		return;
	for (int i = 0; i < n && err == -ENOENT; i++)
		if (*name(i))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", name(i));
	exit(jetwatt_error_report(JETWATT_EXIT_USAGE, err == -E2BIG ?
			       "the expression is too long or too deeply nested" : NULL,
			       err == -ENOENT ? names :
			       "for example 'J/minibatch.p95 > 1.4 || ms/minibatch > 80'",
			       err == -ENOENT ? "--fail-if: unknown metric: %.40s" :
			       "--fail-if: syntax error at \"%.40s\"",
			       at < strlen(rule) ? rule + at : ""));
}

int jetwatt_fail_if(const char *rule, jetwatt_threshold_fn fn, void *arg)
{
	size_t at;
	int yes = jetwatt_threshold_eval(rule, fn, arg, &at);

	if (!yes)
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_FAILED,
				 yes == -ENODATA ?
				 "a metric in the expression is unknown for this run" : NULL, NULL,
				 yes == 1 ? "--fail-if condition is true: %s" :
				 "--fail-if cannot be evaluated: %s", rule);
}
