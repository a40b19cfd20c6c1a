// SPDX-License-Identifier: GPL-2.0-only
/* Client side of a request to a Unix socket. */
#include "util/unix_request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMEOUT_S 5

static int send_and_receive(int fd, int type, const char *line, char *answer, size_t size)
{
	size_t len = 0;
	ssize_t got = 0;

	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		return -errno;
	while (len < size - 1 && (got = recv(fd, answer + len, size - 1 - len, 0)) > 0) {
		len += (size_t)got;
		if (type == SOCK_SEQPACKET)
			break;
	}
	answer[len] = '\0';
	/* A connection can break or time out within a response, so a partial response counts as an
	 * error. */
	if (got < 0)
		return -errno;
	if (type == SOCK_STREAM && len == size - 1)
		return -EMSGSIZE;
	return len ? 0 : -EPROTO;
}

int jetwatt_unix_request(const char *path, int type, const char *line, char *answer, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval timeout = { TIMEOUT_S, 0 };
	int fd, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	err = connect(fd, (struct sockaddr *)&at, sizeof(at))
		      ? -errno
		      : send_and_receive(fd, type, line, answer, size);
	close(fd);
	return err;
}
