/* SPDX-License-Identifier: GPL-2.0-only */
/* The option --fail-if RULE of jetwatt stat and compare: checks the rule, and reports its result. */
#ifndef JETWATT_CMD_STAT_FAIL_IF_H
#define JETWATT_CMD_STAT_FAIL_IF_H

#include "cmd/stat/threshold.h"

/* Store the value @arg of the option in @rule. If the option is given twice, end the process with
 * status 2: the second rule must not silently replace the first. */
void jetwatt_fail_if_option(const char **rule, const char *arg);
/* Check the expression @rule with the metrics of @fn. If it is invalid, end the process with status 2.
 * @name: returns the name of metric i, 0 <= i < @n; the error message for an unknown metric lists
 * these names. */
void jetwatt_fail_if_check(const char *rule, jetwatt_threshold_fn fn, void *arg, const char *(*name)(int),
			   int n);
/* Evaluate the expression @rule, and print an error if it is true or cannot be evaluated. Return:
 * 0, exit code. */
int jetwatt_fail_if(const char *rule, jetwatt_threshold_fn fn, void *arg);

#endif
