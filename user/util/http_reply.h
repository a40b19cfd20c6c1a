/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parser of an HTTP/1.1 reply to a GET request (RFC 9112): the status, and a body that is counted,
 * chunked, or ends with the connection.
 */
#ifndef JETWATT_UTIL_HTTP_REPLY_H
#define JETWATT_UTIL_HTTP_REPLY_H

#include <stddef.h>

/**
 * jetwatt_http_reply() - find the body in what has been received of a reply so far
 * @raw: the bytes received; if the reply is complete, chunks are joined in place
 * @len: number of bytes
 * @closed: 1: the server has closed the connection, so there are no further bytes
 * @status: receives the status code, or 0 if it is not known yet
 * @body, @body_len: receive the body of a complete reply
 *
 * Return: 0: the reply is complete; -EAGAIN: more bytes are needed; -EBADMSG: the bytes are not an
 * HTTP reply; -EPROTO: the body has a coding other than chunked, such as gzip; -ENODATA: the
 * connection was closed before the end of the reply.
 */
int jetwatt_http_reply(char *raw, size_t len, int closed, int *status, char **body,
		       size_t *body_len);

#endif
