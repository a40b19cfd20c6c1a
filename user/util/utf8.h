/* SPDX-License-Identifier: GPL-2.0-only */
/* Check text that should be UTF-8. */
#ifndef JETWATT_UTIL_UTF8_H
#define JETWATT_UTIL_UTF8_H

/* Return: length of the valid UTF-8 sequence at @text, in bytes, 1 to 4; 0 if it is invalid. */
int jetwatt_utf8_length(const char *text);

#endif
