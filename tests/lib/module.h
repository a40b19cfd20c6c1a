/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading and unloading modules of the guest, and looking at our own sockets.
 */
#ifndef JETWATT_TEST_MODULE_H
#define JETWATT_TEST_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int module_load(const char *name)
{
	char path[128];
	int fd, err;

	snprintf(path, sizeof(path), "/lib/modules/jetwatt/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

static inline int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

/* The generic netlink socket of this process with the largest receive buffer:
 * the one that batches come to. Its port goes to @port. */
static inline int module_stream_fd(uint32_t *port)
{
	struct sockaddr_nl addr;
	int fd, best = -1, most = 0, val;
	socklen_t len;

	for (fd = 3; fd < 64; fd++) {
		len = sizeof(val);
		if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &val, &len) || val != NETLINK_GENERIC)
			continue;
		len = sizeof(addr);
		if (getsockname(fd, (struct sockaddr *)&addr, &len) ||
		    addr.nl_family != AF_NETLINK)
			continue;
		len = sizeof(val);
		if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &val, &len) || val <= most)
			continue;
		most = val;
		best = fd;
		*port = addr.nl_pid;
	}
	return best;
}

#endif
