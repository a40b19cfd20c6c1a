/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A streaming JSON writer. Valid output whatever the locale and whatever the
 * bytes of a string: controls and invalid UTF-8 are escaped or replaced.
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
 * @indent: one value a line; else all on one line
 * @depth: open objects and arrays
 * @some: bit d: the container at depth d has an element already
 * @array: bit d: the container at depth d is an array
 */
struct jetwatt_json {
	FILE *f;
	int indent, depth;
	uint32_t some, array;
};

void jetwatt_json_init(struct jetwatt_json *j, FILE *f, int indent);

/* @key is NULL inside an array and at the top. */
void jetwatt_json_object(struct jetwatt_json *j, const char *key);
void jetwatt_json_array(struct jetwatt_json *j, const char *key);
void jetwatt_json_end(struct jetwatt_json *j);
void jetwatt_json_string(struct jetwatt_json *j, const char *key, const char *s);
void jetwatt_json_int(struct jetwatt_json *j, const char *key, int64_t v);
void jetwatt_json_uint(struct jetwatt_json *j, const char *key, uint64_t v);
void jetwatt_json_bool(struct jetwatt_json *j, const char *key, int v);
void jetwatt_json_null(struct jetwatt_json *j, const char *key);
/* @digits significant ones; a value that is not finite becomes null. */
void jetwatt_json_real(struct jetwatt_json *j, const char *key, double v, int digits);
/* A member of each knob, by the name of its column; optional ones that are 0 are left out. */
void jetwatt_json_mode(struct jetwatt_json *j, const struct jetwatt_mode *m);

#endif
