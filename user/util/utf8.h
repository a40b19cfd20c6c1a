/* SPDX-License-Identifier: GPL-2.0-only */
/* Check text that should be UTF-8. */
#ifndef JETWATT_UTIL_UTF8_H
#define JETWATT_UTIL_UTF8_H

#include <stddef.h>

/* Return: length of the valid UTF-8 sequence at @text, in bytes, 1 to 4; 0 if it is invalid. */
int jetwatt_utf8_length(const char *text);

/* Return: length of the byte order mark with which some editors begin a file, in bytes; 0: none. */
size_t jetwatt_utf8_mark(const char *text, size_t size);

#endif
