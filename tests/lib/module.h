/* SPDX-License-Identifier: GPL-2.0-only */
/* Load kernel modules in the guest, and find netlink sockets of the test process. */
#ifndef JETWATT_TEST_MODULE_H
#define JETWATT_TEST_MODULE_H

#include <linux/netlink.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"

/*
 * Find the generic netlink socket of this process with the largest receive buffer: the library uses
 * it to receive batches of samples. @port gets its port.
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
