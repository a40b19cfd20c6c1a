/* SPDX-License-Identifier: GPL-2.0-only */
/* Loading of modules in the guest, and the sockets of this process. */
#ifndef JETWATT_TEST_MODULE_H
#define JETWATT_TEST_MODULE_H

#include <linux/netlink.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"

/*
 * Find the generic netlink socket of this process with the largest receive buffer, which gets the
 * batches. @port gets its port.
 */
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
