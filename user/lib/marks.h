/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The marker backend: parsing of marks. marks.c implements it; mark.c is the sender.
 */
#ifndef JETWATT_LIB_MARKS_H
#define JETWATT_LIB_MARKS_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

/* environment variable with the number of the descriptor to which marks are sent */
#define JETWATT_MARKS_ENV	"JETWATT_MARK_FD"
#define JETWATT_MARKS_NAME_LEN	JETWATT_MARK_LEN
/* maximum number of begin marks that wait for their end mark; another one replaces the oldest */
#define JETWATT_MARKS_OPEN	256
/* maximum length of a datagram of marks, in bytes; the rest of a longer one is lost */
#define JETWATT_MARKS_DATAGRAM	4096

enum jetwatt_marks_verb { JETWATT_MARKS_BEGIN, JETWATT_MARKS_END, JETWATT_MARKS_POINT };

/**
 * struct jetwatt_marks_line - a parsed mark
 * @verb: kind of the mark: begin, end, or a single mark
 * @name: name of the mark
 * @time_ns: time of the mark, ns; 0: unknown
 * @tid: thread id; 0: unknown
 * @lost: number of marks lost just before this mark
 * @pid: process for which the mark is sent; 0: the process that sent the mark
 */
struct jetwatt_marks_line {
	enum jetwatt_marks_verb verb;
	char name[JETWATT_MARKS_NAME_LEN];
	uint64_t time_ns;
	uint32_t tid, lost, pid;
};

/* Return whether the name of a mark is valid: 1 to 63 printable ASCII characters, without space
 * and '@'. */
int jetwatt_marks_name_ok(const char *name);

/* Parse one mark of @len bytes, without the newline. Return: 0; -EINVAL. */
int jetwatt_marks_parse(const char *text, size_t len, struct jetwatt_marks_line *line);

#endif
