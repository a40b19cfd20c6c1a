/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Marks, the side that measures: lines to pairs of begin and end.
 */
#ifndef JETWATT_LIB_MARKS_H
#define JETWATT_LIB_MARKS_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

#define JETWATT_MARKS_ENV	"JETWATT_MARK_FD"
#define JETWATT_MARKS_NAME_LEN	JETWATT_MARK_LEN
#define JETWATT_MARKS_OPEN	256	/* begins without an end, at a time */

enum jetwatt_marks_verb { JETWATT_MARKS_BEGIN, JETWATT_MARKS_END, JETWATT_MARKS_POINT };

/* @time_ns, @tid: 0: not said; @pid: 0: who sent it */
struct jetwatt_marks_line {
	enum jetwatt_marks_verb verb;
	char name[JETWATT_MARKS_NAME_LEN];
	uint64_t time_ns;
	uint32_t tid, lost, pid;
};

int jetwatt_marks_name_ok(const char *name);

/* One line of @len, without its end. Return: 0, -EINVAL. */
int jetwatt_marks_parse(const char *text, size_t len, struct jetwatt_marks_line *line);

#endif
