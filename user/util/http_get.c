// SPDX-License-Identifier: GPL-2.0-only
/* Connects, sends a GET request, and receives the reply, all within one time limit. */
#include "util/http_get.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/http_reply.h"
#include "util/units.h"

/* Split "HOST:PORT", "[ADDRESS]:PORT" or a host alone: the first @len characters of @text. */
static int split_authority(struct jetwatt_http_url *u, const char *text, size_t len)
{
	const char *end = text + len, *host = text, *host_end, *port;
	long number = 80;

	if (*text == '[') {
		host++;
		host_end = memchr(text, ']', len);
		port = host_end ? host_end + 1 : NULL;
	} else {
		port = memchr(text, ':', len);
		host_end = port ? port : end;
		port = host_end;
	}
	if (!port || host_end == host || memchr(text, '@', len) || (port < end && *port != ':'))
		return -EINVAL;
	if ((size_t)(host_end - host) >= sizeof(u->host) || len >= sizeof(u->authority))
		return -E2BIG;
	memcpy(u->host, host, (size_t)(host_end - host));
	memcpy(u->authority, text, len);
	if (port == end)
		port = ":80";
	else if ((size_t)(end - port) > sizeof(u->port))
		return -EINVAL;
	else
		port = u->authority + (port - text);
	if (jetwatt_unit_count(port + 1, 1, 65535, &number))
		return -EINVAL;
	snprintf(u->port, sizeof(u->port), "%ld", number);
	return 0;
}

int jetwatt_http_url(struct jetwatt_http_url *u, const char *text)
{
	static const char scheme[] = "http://";
	size_t len = sizeof(scheme) - 1;

	memset(u, 0, sizeof(*u));
	if (strncasecmp(text, scheme, len))
		return -EPROTONOSUPPORT;
	text += len;
	if (strlen(text) >= sizeof(u->path) - 1)
		return -E2BIG;
	/* A space or a line feed would end the path, or the header, in the request. */
	for (const char *p = text; *p; p++)
		if (!isgraph((unsigned char)*p) || *p == '#')
			return -EINVAL;
	len = strcspn(text, "/?");
	snprintf(u->path, sizeof(u->path), "%s%s", text[len] == '/' ? "" : "/", text + len);
	return split_authority(u, text, len);
}

int jetwatt_http_resolve(struct jetwatt_http_url *u)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };

	return getaddrinfo(u->host, u->port, &hints, &u->addresses);
}

void jetwatt_http_forget(struct jetwatt_http_url *u)
{
	if (u->addresses)
		freeaddrinfo(u->addresses);
	u->addresses = NULL;
}

/* Wait until the socket is ready. Return: 0, -ETIMEDOUT, other negative errno. */
static int wait_for(int fd, short events, uint64_t until_ns)
{
	struct pollfd p = { fd, events, 0 };
	uint64_t now;
	int n;

	do {
		now = jetwatt_clock_ns();
		n = now < until_ns ? poll(&p, 1, (int)((until_ns - now + 999999) / 1000000)) : 0;
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n ? 0 : -ETIMEDOUT;
}

static int connect_to(const struct addrinfo *a, uint64_t until_ns, int *fd)
{
	socklen_t size = sizeof(int);
	int err = 0, now;

	*fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	if (*fd < 0)
		return -errno;
	now = connect(*fd, a->ai_addr, a->ai_addrlen);
	if (now && errno != EINPROGRESS)
		err = -errno;
	else if (now)
		err = wait_for(*fd, POLLOUT, until_ns);
	if (!err && getsockopt(*fd, SOL_SOCKET, SO_ERROR, &now, &size))
		err = -errno;
	if (!err)
		err = -now;
	if (err)
		close(*fd);
	return err;
}

static int send_request(int fd, const struct jetwatt_http_url *u)
{
	char request[sizeof(u->path) + sizeof(u->authority) + 160];
	int len = snprintf(request, sizeof(request),
			   "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: jetwatt\r\n"
			   "Accept: text/plain;version=0.0.4\r\nAccept-Encoding: identity\r\n"
			   "Connection: close\r\n\r\n", u->path, u->authority);
	/* One call is enough: the send buffer of a new connection is larger than the request. */
	ssize_t sent = send(fd, request, (size_t)len, MSG_NOSIGNAL);

	return sent < 0 ? -errno : sent < len ? -EIO : 0;
}

static int receive_reply(int fd, uint64_t until_ns, char *buf, char **body, size_t *len,
			 int *status)
{
	size_t got = 0;
	ssize_t n;
	int err;

	for (;;) {
		err = wait_for(fd, POLLIN, until_ns);
		if (err)
			return err;
		n = recv(fd, buf + got, JETWATT_HTTP_REPLY_MAX - got, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		/* A server that has not read the whole request resets the connection after its
		 * reply. */
		if (n < 0 && (errno != ECONNRESET || !got))
			return -errno;
		got += n > 0 ? (size_t)n : 0;
		err = jetwatt_http_reply(buf, got, n <= 0, status, body, len);
		if (*status && *status != 200)
			return -EREMOTEIO;
		if (err != -EAGAIN)
			return err;
		if (got == JETWATT_HTTP_REPLY_MAX)
			return -EMSGSIZE;
	}
}

int jetwatt_http_get(const struct jetwatt_http_url *u, int timeout_ms, char *buf, char **body,
		     size_t *len, int *status)
{
	uint64_t until = jetwatt_clock_ns() + (uint64_t)timeout_ms * 1000000;
	int err = -EDESTADDRREQ, fd = -1;

	*status = 0;
	for (const struct addrinfo *a = u->addresses; a && err; a = a->ai_next)
		err = connect_to(a, until, &fd);
	if (err)
		return err;
	err = send_request(fd, u);
	if (!err)
		err = receive_reply(fd, until, buf, body, len, status);
	close(fd);
	return err;
}
