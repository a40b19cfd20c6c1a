/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of NAME = VALUE lines that are taken whole or not at all; # begins a
 * comment line.
 */
#ifndef JETWATT_UTIL_CONF_H
#define JETWATT_UTIL_CONF_H

#include <stddef.h>

#define JETWATT_CONF_TEXT	4096	/* a value's room, with its NUL */

/**
 * struct jetwatt_conf_error - what is wrong with a file
 * @line: 0: with all of it; @why, @fix: words
 */
struct jetwatt_conf_error {
	unsigned int line;
	char why[160], fix[160];
};

/* Takes one line. Return: 0; what jetwatt_conf_refuse() returns. */
typedef int (*jetwatt_conf_fn)(const char *name, const char *value, unsigned int line, void *arg,
			       struct jetwatt_conf_error *e);

/* Fill @e. Return: -EINVAL. */
int jetwatt_conf_refuse(struct jetwatt_conf_error *e, unsigned int line, const char *fix,
			const char *why, ...) __attribute__((format(printf, 4, 5)));

/* Which of @names, which ends with NULL, it is. Return: index; -EINVAL: none, @e says so,
 * and which one may be meant. */
int jetwatt_conf_name(const char *name, const char *const *names, unsigned int line,
		      struct jetwatt_conf_error *e);

/* Each line of a text. Return: 0; -EINVAL: @e says why. */
int jetwatt_conf_parse(const char *text, size_t size, jetwatt_conf_fn fn, void *arg,
		       struct jetwatt_conf_error *e);

/* Read a file into @text. @manual: the page that has an example. Says what is wrong.
 * Return: exit code. */
int jetwatt_conf_read(const char *path, const char *manual, const char **text, size_t *size);

/* Say that a file cannot be used. Return: exit code. */
int jetwatt_conf_say(const char *path, const struct jetwatt_conf_error *e);

#endif
