// SPDX-License-Identifier: GPL-2.0-only
/* Notify systemd (sd_notify(3)) without libsystemd. */
#include "util/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void jetwattd_notify(const char *text)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	socklen_t len;
	int fd;

	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(at.sun_path))
		return;
	strcpy(at.sun_path, path);
	len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	if (*path == '@')
		at.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&at, len) < 0)
		errno = 0;
	close(fd);
}
