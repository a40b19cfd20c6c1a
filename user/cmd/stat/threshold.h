/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threshold expressions of --fail-if:
 *
 *	rule  = all { "||" all }
 *	all   = one { "&&" one }
 *	one   = "(" rule ")" | value ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) value
 *	value = number | metric
 */
#ifndef JETWATT_CMD_STAT_THRESHOLD_H
#define JETWATT_CMD_STAT_THRESHOLD_H

#include <stddef.h>

#define JETWATT_THRESHOLD_LEN	512
#define JETWATT_THRESHOLD_DEPTH	16

/* Set @value to the value of the metric @name of @len characters. Return: 0; -ENOENT if no metric
 * has the name; -ENODATA if the value is unknown. */
typedef int (*jetwatt_threshold_fn)(const char *name, size_t len, double *value, void *arg);

/**
 * jetwatt_threshold_eval() - evaluate an expression
 * @text: the expression
 * @fn, @arg: callback that looks up metrics
 * @at: offset in @text at which parsing stopped
 *
 * Return: 0 if the expression is false; 1 if it is true; -EINVAL if the expression has a syntax
 * error at @at; -ENOENT if no metric has the name at @at; -ENODATA if the result depends on a
 * metric whose value is unknown; -E2BIG if the expression is too long or too deeply nested.
 */
int jetwatt_threshold_eval(const char *text, jetwatt_threshold_fn fn, void *arg, size_t *at);

#endif
