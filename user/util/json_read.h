/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A JSON reader (RFC 8259) for files that others may have written: bounded in
 * depth and size, strict, and it names the line of what is wrong.
 */
#ifndef JETWATT_UTIL_JSON_READ_H
#define JETWATT_UTIL_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_JSON_READ_MAX	(16u << 20)	/* bytes of a document */

enum jetwatt_json_type {
	JETWATT_JSON_NULL, JETWATT_JSON_FALSE, JETWATT_JSON_TRUE, JETWATT_JSON_NUMBER,
	JETWATT_JSON_STRING, JETWATT_JSON_ARRAY, JETWATT_JSON_OBJECT,
};

/**
 * struct jetwatt_json_value - one value of a document
 * @key: its name, if it is in an object
 * @text: of a string: decoded; of a number: as written
 * @first: first element of an array or object, NULL: it is empty
 * @next: next element of the container that this value is in
 * @line: where it begins
 */
struct jetwatt_json_value {
	enum jetwatt_json_type type;
	unsigned int line;
	const char *key, *text;
	struct jetwatt_json_value *first, *next;
};

struct jetwatt_json_doc;

/**
 * jetwatt_json_parse() - read a document
 *
 * Return: 0; -EINVAL: not JSON, or too deep: @line and @why say what; -EFBIG;
 * -ENOMEM. The caller frees *doc.
 */
int jetwatt_json_parse(const char *text, size_t len, struct jetwatt_json_doc **doc,
		       unsigned int *line, const char **why);
void jetwatt_json_free(struct jetwatt_json_doc *doc);

const struct jetwatt_json_value *jetwatt_json_top(const struct jetwatt_json_doc *doc);

/* The member @key of an object; NULL: @v is no object, or it has none. */
const struct jetwatt_json_value *jetwatt_json_get(const struct jetwatt_json_value *v,
						  const char *key);
/* The text of a member that is a string; NULL: there is none. */
const char *jetwatt_json_get_string(const struct jetwatt_json_value *v, const char *key);
/* A member that is a whole number from 0 to @max. Return: 0, -EINVAL. */
int jetwatt_json_get_uint(const struct jetwatt_json_value *v, const char *key, uint64_t max,
			  uint64_t *n);

#endif
