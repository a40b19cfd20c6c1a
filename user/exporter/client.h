/* SPDX-License-Identifier: GPL-2.0-only */
/* Client of jetwattd's control socket, for the exporters. */
#ifndef JETWATT_EXPORTER_CLIENT_H
#define JETWATT_EXPORTER_CLIENT_H

#include <stddef.h>

#include "util/unix_request.h"

/* Send the request @line, which ends with a line feed, to the socket at @path and receive the response.
 * @text: buffer of JETWATTD_RESPONSE_MAX bytes; @len: length of the response, in bytes, 0 after an
 * error. Each send and receive blocks for at most 2 s. Return: 0; -EACCES if jetwattd refused the
 * request, or this user may not connect; -EPROTO if the response is empty or too long; other negative
 * errno. */
int jetwattd_request(const char *path, const char *line, char *text, size_t *len);

#endif
