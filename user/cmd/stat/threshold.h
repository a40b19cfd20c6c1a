/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --fail-if: when is a result not good enough?
 *
 *	rule  = all { "||" all }
 *	all   = one { "&&" one }
 *	one   = "(" rule ")" | value ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) value
 *	value = number | figure
 */
#ifndef JETWATT_CMD_STAT_THRESHOLD_H
#define JETWATT_CMD_STAT_THRESHOLD_H

#include <stddef.h>

#define JETWATT_RULE_LEN	512
#define JETWATT_RULE_DEPTH	16

/* Value of a figure of @len characters. Return: 0; -ENOENT: there is no such
 * figure; -ENODATA: it is not known. */
typedef int (*jetwatt_rule_fn)(const char *name, size_t len, double *value, void *arg);

/**
 * jetwatt_rule_judge() - is it true?
 * @at: where the text makes no sense, if so
 *
 * Return: 0, 1; -EINVAL, -ENOENT: see @at; -ENODATA: it hangs on a figure that
 * is not known; -E2BIG: too long or too deep.
 */
int jetwatt_rule_judge(const char *text, jetwatt_rule_fn fn, void *arg, size_t *at);

#endif
