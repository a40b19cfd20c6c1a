/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listening on a socket in a directory that another user may write.
 */
#ifndef JETWATT_UTIL_LISTEN_H
#define JETWATT_UTIL_LISTEN_H

#include <sys/types.h>

/**
 * struct jetwattd_listener - a socket and its file
 * @fd: -1: none
 * @dev, @ino: of the file, so that only our own is deleted
 */
struct jetwattd_listener {
	int fd;
	dev_t dev;
	ino_t ino;
};

/**
 * jetwattd_listen() - listen at a path
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 * @group: that may connect besides the owner, -1: none
 * @all: every user may connect; also if the file cannot be given to @group
 * @backlog: as for listen(2)
 *
 * A file that a process which has ended left there is replaced. The file's owner and mode
 * change by descriptor, never by a name that another user could have changed meanwhile.
 *
 * Return: 0; -EADDRINUSE: another process listens there; -EEXIST: the file is no socket;
 * other negative errno. Then @l->fd is -1.
 */
int jetwattd_listen(struct jetwattd_listener *l, const char *path, int type, gid_t group, int all,
		    int backlog);

/* Close the socket, and delete the file if it is the socket's. */
void jetwattd_listen_end(struct jetwattd_listener *l, const char *path);

#endif
