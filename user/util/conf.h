/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration files of NAME = VALUE lines; # begins a comment line. One bad line makes the whole
 * file invalid. The policy of jetwattd and the file of jetwatt schedule have this form.
 */
#ifndef JETWATT_UTIL_CONF_H
#define JETWATT_UTIL_CONF_H

#include <stddef.h>

#define JETWATT_CONF_TEXT	4096	/* longest line, in bytes with the NUL */

/**
 * struct jetwatt_conf_error - what is wrong with a file
 * @line: number of the line with the error, from 1; 0: the whole file is wrong
 * @why: reason
 * @fix: what to do
 */
struct jetwatt_conf_error {
	unsigned int line;
	char why[160], fix[160];
};

/* Handle one line. Return: 0; the result of jetwatt_conf_refuse(). */
typedef int (*jetwatt_conf_fn)(const char *name, const char *value, unsigned int line, void *arg,
			       struct jetwatt_conf_error *e);

/* Fill in @e. Return: -EINVAL. */
int jetwatt_conf_refuse(struct jetwatt_conf_error *e, unsigned int line, const char *fix,
			const char *why, ...) __attribute__((format(printf, 4, 5)));

/* Find @name in @names, which ends with NULL. Return: index of the name in @names; -EINVAL if the
 * name is not found; @e then suggests the most similar name or lists all names. */
int jetwatt_conf_name(const char *name, const char *const *names, unsigned int line,
		      struct jetwatt_conf_error *e);

/* Call @fn for each line of a text that is neither empty nor a comment, until a line has another
 * form than NAME = VALUE or a call fails. Return: 0; -EINVAL: @e says why. */
int jetwatt_conf_parse(const char *text, size_t size, jetwatt_conf_fn fn, void *arg,
		       struct jetwatt_conf_error *e);

/* Read the file @path. @text, @size: set to the contents of the file, valid until the next call.
 * @manual: man page with an example of the file, for messages. Prints errors. Return: 0; exit
 *	status. */
int jetwatt_conf_read(const char *path, const char *manual, const char **text, size_t *size);

/* Print that the file @path cannot be used. Return: exit status. */
int jetwatt_conf_report(const char *path, const struct jetwatt_conf_error *e);

#endif
