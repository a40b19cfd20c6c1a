/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON parser (RFC 8259) for files from untrusted sources: size and nesting depth are limited, the
 * escape \u0000 is refused, and errors name their line.
 */
#ifndef JETWATT_UTIL_JSON_READ_H
#define JETWATT_UTIL_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_JSON_READ_MAX	(16u << 20)	/* largest document, in bytes */

enum jetwatt_json_type {
	JETWATT_JSON_NULL, JETWATT_JSON_FALSE, JETWATT_JSON_TRUE, JETWATT_JSON_NUMBER,
	JETWATT_JSON_STRING, JETWATT_JSON_ARRAY, JETWATT_JSON_OBJECT,
};

/**
 * struct jetwatt_json_value - one value of a document
 * @type: type of the JSON value
 * @line: line in which the value begins, from 1
 * @key: name of the value, if it is a member of an object
 * @text: decoded text of a string; text of a number as written
 * @first: first element of an array or object, NULL: it is empty
 * @next: next element of the array or object that contains this value
 */
struct jetwatt_json_value {
	enum jetwatt_json_type type;
	unsigned int line;
	const char *key, *text;
	struct jetwatt_json_value *first, *next;
};

struct jetwatt_json_doc;

/**
 * jetwatt_json_parse() - parse a document
 * @text, @len: the document
 * @doc: set to the values; the caller frees the document
 * @line: set to the line of an error
 * @why: set to the reason of an error
 *
 * Return: 0; -EINVAL if the text is not JSON, or is nested too deep; -EFBIG if it is too large;
 * -ENOMEM.
 */
int jetwatt_json_parse(const char *text, size_t len, struct jetwatt_json_doc **doc,
		       unsigned int *line, const char **why);
void jetwatt_json_free(struct jetwatt_json_doc *doc);

/* Return the top value of a document. The value lives as long as the document. */
const struct jetwatt_json_value *jetwatt_json_top(const struct jetwatt_json_doc *doc);

/* Return the member @key of an object; NULL: the value @v is not an object, or has no such
 * member. */
const struct jetwatt_json_value *jetwatt_json_get(const struct jetwatt_json_value *v,
						  const char *key);
/* Return the text of a string member; NULL: the object has no such string member. */
const char *jetwatt_json_get_string(const struct jetwatt_json_value *v, const char *key);
/* Get an integer member from 0 to @max. Return: 0; -EINVAL if the object has no such member. */
int jetwatt_json_get_uint(const struct jetwatt_json_value *v, const char *key, uint64_t max,
			  uint64_t *n);

#endif
