/* SPDX-License-Identifier: GPL-2.0-only */
/* Send one request to a Unix socket and read the response, for clients of jetwattd and
 * jetwatt-knobs. */
#ifndef JETWATT_UTIL_UNIX_REQUEST_H
#define JETWATT_UTIL_UNIX_REQUEST_H

#include <stddef.h>

/* Control socket of jetwattd. */
#define JETWATT_CONTROL_SOCKET "/run/jetwatt/control"

/* Size of jetwattd's response buffer, in bytes; a client's buffer needs one byte more. */
#define JETWATTD_RESPONSE_MAX	262144

/* Start of the response to a request that is refused, and of the response to a client that lacks the
 * permission. Clients of other versions compare these texts, so both texts must stay as they are. */
#define JETWATTD_REFUSED	"refused: "
#define JETWATTD_NOT_PERMITTED	JETWATTD_REFUSED "the client is not in the group that may "

/* Send @line to the socket at @path and read the whole response into @answer of @size bytes. @type:
 * SOCK_STREAM or SOCK_SEQPACKET. Each wait for the server ends with an error after 5 s. Return: 0;
 * -ENOENT or -ECONNREFUSED if no process listens on the socket; -EMSGSIZE if the response of a
 * SOCK_STREAM socket fills @answer, so it may be incomplete; other negative errno. */
int jetwatt_unix_request(const char *path, int type, const char *line, char *answer, size_t size);

#endif
