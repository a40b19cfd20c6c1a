/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A GET request by HTTP/1.1 without encryption, for metrics of programs. The request has a time
 * limit, and the reply a size limit; redirects are not followed.
 */
#ifndef JETWATT_UTIL_HTTP_GET_H
#define JETWATT_UTIL_HTTP_GET_H

#include <stddef.h>

/* Size of a buffer for a URL; maximum length of a reply with its headers, in bytes. */
#define JETWATT_HTTP_URL_LEN	512
#define JETWATT_HTTP_REPLY_MAX	(4u << 20)

struct addrinfo;

/**
 * struct jetwatt_http_url - a server and a path
 * @host, @port: host without the brackets of an IPv6 address; decimal port, by default "80"
 * @authority: host and port as in the URL, for the header Host
 * @path: path and query, "/" if the URL has none
 * @addresses: addresses of the host; NULL: not looked up
 */
struct jetwatt_http_url {
	char host[256], port[6], authority[280], path[JETWATT_HTTP_URL_LEN];
	struct addrinfo *addresses;
};

/*
 * Parse http://HOST[:PORT][/PATH][?QUERY]. Return: 0; -EPROTONOSUPPORT: the scheme is not http;
 * -EINVAL: no such URL, or one with a user name or a fragment; -E2BIG: the URL is too long.
 */
int jetwatt_http_url(struct jetwatt_http_url *u, const char *text);

/* Look up the addresses of the host. Return: 0; else an error of getaddrinfo(3). */
int jetwatt_http_resolve(struct jetwatt_http_url *u);
/* Free the addresses. */
void jetwatt_http_forget(struct jetwatt_http_url *u);

/**
 * jetwatt_http_get() - request a path
 * @u: the URL, after jetwatt_http_resolve()
 * @timeout_ms: maximum time for connecting and receiving the whole reply together, ms
 * @buf: receives the reply, JETWATT_HTTP_REPLY_MAX bytes
 * @body, @len: receive the body, within @buf
 * @status: receives the status code; 0: unknown
 *
 * Return: 0: the server has sent a complete reply with status 200; -EREMOTEIO: the reply begins
 * with another status; -ETIMEDOUT; -EMSGSIZE: the reply is too long; -EDESTADDRREQ: no address was
 * looked up; an error of jetwatt_http_reply() or of a socket call.
 */
int jetwatt_http_get(const struct jetwatt_http_url *u, int timeout_ms, char *buf, char **body,
		     size_t *len, int *status);

#endif
