/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes by descriptor: unlike a pid, one is never that of another process. */
#ifndef JETWATTD_PIDFD_H
#define JETWATTD_PIDFD_H

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Return: descriptor, close-on-exec; -1: there is no such process. */
static inline int jetwattd_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Has the process ended? A zombie has. A descriptor below 0 is that of no process. */
static inline int jetwattd_pidfd_ended(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return fd < 0 || poll(&p, 1, 0) > 0;
}

#endif
