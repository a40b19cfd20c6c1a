// SPDX-License-Identifier: GPL-2.0-only
/* Client of jetwattd's control socket: one request for each connection. */
#include "exporter/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_S	2	/* time limit of each send and receive, in seconds */

int jetwattd_request(const char *path, const char *line, char *text, size_t *len)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { REQUEST_S, 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err = 0;
	ssize_t got = 1;

	*len = 0;
	if (fd < 0)
		return -errno;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		err = -errno;
	while (!err && got > 0 && *len < JETWATTD_RESPONSE_MAX) {
		got = recv(fd, text + *len, JETWATTD_RESPONSE_MAX - *len, 0);
		*len += got > 0 ? (size_t)got : 0;
		err = got < 0 ? -errno : 0;
	}
	close(fd);
	if (!err && *len >= strlen(JETWATTD_REFUSED) &&
	    !memcmp(text, JETWATTD_REFUSED, strlen(JETWATTD_REFUSED)))
		err = -EACCES;
	if (!err && (!*len || *len == JETWATTD_RESPONSE_MAX))
		err = -EPROTO;
	if (err)
		*len = 0;
	return err;
}
