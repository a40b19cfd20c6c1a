/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_UTIL_UNIX_REQUEST_H
#define JETWATT_UTIL_UNIX_REQUEST_H

#include <stddef.h>

#define JETWATT_ASK_CONTROL "/run/jetwatt/control"

/* Size of a buffer for any answer of that socket. */
#define JETWATTD_ASK_TEXT	262144

/* Send @line to the socket at @path and read the whole answer, of SOCK_STREAM or
 * SOCK_SEQPACKET. Return: 0; negative errno: -ENOENT, -ECONNREFUSED: nobody is there. */
int jetwatt_ask(const char *path, int type, const char *line, char *answer, size_t room);

#endif
