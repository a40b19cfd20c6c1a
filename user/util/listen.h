/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listen on a Unix socket in a directory that another user may write. Used by the servers:
 * jetwattd, jetwatt-knobs, jetwatt-files.
 */
#ifndef JETWATT_UTIL_LISTEN_H
#define JETWATT_UTIL_LISTEN_H

#include <sys/types.h>

/**
 * struct jetwattd_listener - a listening socket and its file
 * @fd: the socket, -1: none
 * @dev, @ino: identity of the file, so that no other file of the same name is deleted
 */
struct jetwattd_listener {
	int fd;
	dev_t dev;
	ino_t ino;
};

/**
 * jetwattd_listen() - create a listening socket
 * @l: receives the socket
 * @path: path of the socket's file
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 * @group: group that may connect, besides the owner; -1: the group that a new file gets
 * @all: 1: every user may connect
 * @backlog: as for listen(2)
 *
 * If this process may not give the file to @group, every user may connect, and the server has to
 * check its clients. The socket file of a process that has ended is replaced. Group and mode of the
 * file are changed through a descriptor, never by name, because another user could replace the name
 * meanwhile.
 *
 * Return: 0; -EADDRINUSE if another process listens on the socket; -EEXIST if the file is not a
 * socket, or another user has replaced it; other negative errno. On failure @l->fd is -1.
 */
int jetwattd_listen(struct jetwattd_listener *l, const char *path, int type, gid_t group, int all,
		    int backlog);

/* Close the socket, and delete its file unless another file has taken its name. */
void jetwattd_listen_end(struct jetwattd_listener *l, const char *path);

#endif
