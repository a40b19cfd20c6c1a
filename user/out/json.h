/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A streaming JSON writer. The output is valid in every locale and for every string (control
 * characters are escaped, invalid UTF-8 is replaced), down to JETWATT_JSON_DEPTH - 1 levels.
 */
#ifndef JETWATT_JSON_H
#define JETWATT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "jetwatt.h"

#define JETWATT_JSON_DEPTH	32

/**
 * struct jetwatt_json - a document being written
 * @f: the output
 * @indent: 1: one value per line, indented; 0: everything on one line
 * @depth: number of open objects and arrays
 * @nonempty: bit d is set if the container at depth d has an element
 * @array: bit d is set if the container at depth d is an array
 */
struct jetwatt_json {
	FILE *f;
	int indent, depth;
	uint32_t nonempty, array;
};

/* Start a document on @f. */
void jetwatt_json_init(struct jetwatt_json *j, FILE *f, int indent);

/* Begin an object or array, end the innermost object or array, or write a value. @key: name of the
 * member, NULL in an array and at the top. A string NULL becomes null. */
void jetwatt_json_object(struct jetwatt_json *j, const char *key);
void jetwatt_json_array(struct jetwatt_json *j, const char *key);
void jetwatt_json_end(struct jetwatt_json *j);
void jetwatt_json_string(struct jetwatt_json *j, const char *key, const char *s);
void jetwatt_json_int(struct jetwatt_json *j, const char *key, int64_t v);
void jetwatt_json_uint(struct jetwatt_json *j, const char *key, uint64_t v);
void jetwatt_json_bool(struct jetwatt_json *j, const char *key, int v);
void jetwatt_json_null(struct jetwatt_json *j, const char *key);
/* @digits: number of significant digits; a value that is not finite becomes null. */
void jetwatt_json_real(struct jetwatt_json *j, const char *key, double v, int digits);
/* Write one member for each knob, named by the knob's CSV column; optional knobs that are 0 are
 * left out. */
void jetwatt_json_mode(struct jetwatt_json *j, const struct jetwatt_mode *m);

#endif
