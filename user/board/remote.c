// SPDX-License-Identifier: GPL-2.0-only
/* Client of jetwatt-knobs: remote.h describes the protocol. */
#include "board/remote.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "board/knobs.h"

/* Longest wait for a response, in seconds. A switch waits SETTLE_MS for the knobs, and a roll-back
 * waits again; a busy board adds to that. */
#define TIMEOUT_S 20

static int remote_lost(struct jetwatt_board *b, struct jetwatt_error_text *err, const char *why)
{
	jetwatt_remote_close(b);
	jetwatt_board_error_set(err, -EPIPE, "no connection to jetwatt-knobs");
	jetwatt_error_why(err, "%s; jetwatt-knobs or systemd restores the board", why);
	jetwatt_error_fix(err, "run systemctl status jetwatt-knobs");
	return -EPIPE;
}

/* Receive a packet into @answer of JETWATT_REMOTE_RESPONSE; *@fd gets the descriptor that the
 * packet carries, -1: the packet carries none. Return: length of the packet; negative as
 * recvmsg(2) returns it. */
static ssize_t remote_receive(int from, char *answer, int *fd)
{
	union {
		struct cmsghdr head;
		char buf[CMSG_SPACE(sizeof(int))];
	} with;
	struct iovec text = { answer, JETWATT_REMOTE_RESPONSE - 1 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	ssize_t got = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got < 0 ? NULL : CMSG_FIRSTHDR(&m);

	*fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return got;
}

/* Send a request and receive its response into @answer of JETWATT_REMOTE_RESPONSE. @fd: gets the
 * descriptor that the response carries, -1: the response carries none; NULL: close it. Return:
 * length of the response; -EPIPE if there is no response, in which case the connection is
 * closed. */
static ssize_t remote_request(struct jetwatt_board *b, const char *request, char *answer, int *fd,
			      struct jetwatt_error_text *err)
{
	size_t len = strlen(request);
	int with = -1;
	ssize_t got;

	if (b->remote < 0)
		return remote_lost(b, err, "the connection was closed before");
	if (send(b->remote, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		return remote_lost(b, err, strerror(errno));
	do
		got = remote_receive(b->remote, answer, &with);
	while (got < 0 && errno == EINTR);
	if (fd)
		*fd = with;
	else if (with >= 0)
		close(with);
	/* Close the connection after a timeout: a late response would be taken for the response
	 * to the next request. */
	if (got <= 0)
		return remote_lost(b, err,
				   got ? strerror(errno) : "jetwatt-knobs closed the connection");
	answer[got] = '\0';
	return got;
}

/* Parse the response "no ERRNO\nWHAT\nWHY\nFIX" into @err. Return: the negative errno; -EPIPE if
 * the response has another form. */
static int remote_refusal(struct jetwatt_board *b, char *answer, struct jetwatt_error_text *err)
{
	char *line = strsep(&answer, "\n"), *what, *why, *fix;
	int rc, end = 0;

	if (sscanf(line, "no %d%n", &rc, &end) != 1 || line[end] || rc <= 0 || rc > 4095)
		return remote_lost(b, err, "the response is malformed");
	what = strsep(&answer, "\n");
	why = strsep(&answer, "\n");
	fix = strsep(&answer, "\n");
	jetwatt_board_error_set(err, -rc, "%s", what ? what : "refused");
	jetwatt_error_why(err, "%s", why ? why : "");
	jetwatt_error_fix(err, "%s", fix ? fix : "");
	return -rc;
}

int jetwatt_remote_open(struct jetwatt_board *b, const char *path, struct jetwatt_error_text *err)
{
	struct timeval timeout = { TIMEOUT_S, 0 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int rc;

	b->by_remote = true;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	b->remote = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (b->remote >= 0 && !connect(b->remote, (struct sockaddr *)&at, sizeof(at)) &&
	    !setsockopt(b->remote, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) &&
	    !setsockopt(b->remote, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)))
		return 0;
	rc = -errno;
	jetwatt_remote_close(b);
	jetwatt_error_sys(err, rc, "cannot reach jetwatt-knobs at %s", path);
	jetwatt_error_fix(err, rc == -EACCES
				       ? "run it as the user jetwatt, or as root"
				       : "run systemctl start jetwatt-knobs, or run this as root");
	return rc == -EACCES ? -EPERM : rc;
}

void jetwatt_remote_close(struct jetwatt_board *b)
{
	if (b->remote >= 0)
		close(b->remote);
	b->remote = -1;
}

int jetwatt_remote_alive(const struct jetwatt_board *b)
{
	struct pollfd p = { b->remote, POLLIN, 0 };

	/* The server sends nothing without a request, so a readable socket means that the server
	 * has disconnected. */
	return b->remote >= 0 && !poll(&p, 1, 0);
}

int jetwatt_remote_request(struct jetwatt_board *b, const char *verb, const struct jetwatt_mode *mode,
		      struct jetwatt_error_text *err)
{
	char request[JETWATT_REMOTE_REQUEST], answer[JETWATT_REMOTE_RESPONSE], name[96] = "";
	ssize_t len;

	if (mode)
		jetwatt_board_mode_format(mode, name, sizeof(name));
	snprintf(request, sizeof(request), "%s%s%s", verb, mode ? " " : "", name);
	len = remote_request(b, request, answer, NULL, err);
	if (len < 0)
		return (int)len;
	return !strcmp(answer, "ok") ? 0 : remote_refusal(b, answer, err);
}

int jetwatt_remote_freezer(struct jetwatt_board *b, const char *cgroup,
			   struct jetwatt_error_text *err)
{
	char request[JETWATT_REMOTE_REQUEST], answer[JETWATT_REMOTE_RESPONSE];
	ssize_t len;
	int fd;

	snprintf(request, sizeof(request), "freezer %s", cgroup);
	len = remote_request(b, request, answer, &fd, err);
	if (len < 0)
		return (int)len;
	if (!strcmp(answer, "ok") && fd >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return remote_refusal(b, answer, err);
}

int jetwatt_remote_emc(struct jetwatt_board *b, uint64_t *v)
{
	char answer[JETWATT_REMOTE_RESPONSE], *p = answer + 2, *end;
	int n = 0;

	if (remote_request(b, "emc", answer, NULL, NULL) < 0 || strncmp(answer, "ok ", 3))
		return 0;
	for (; n < JETWATT_BOARD_FREQS_MAX && *p; n++) {
		v[n] = strtoull(p, &end, 10);
		if (end == p || (n && v[n] <= v[n - 1]))
			break;
		p = end;
	}
	return n;
}
