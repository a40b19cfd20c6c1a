/* SPDX-License-Identifier: GPL-2.0-only */
/* Process descriptors (pidfd): unlike a pid, a descriptor never refers to a later process. */
#ifndef JETWATTD_PIDFD_H
#define JETWATTD_PIDFD_H

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Open a pidfd. Return: a descriptor, close-on-exec; -1: no such process, or another error. */
static inline int jetwattd_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Return: 1 if the process has ended or is a zombie, or @fd is negative. */
static inline int jetwattd_pidfd_ended(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return fd < 0 || poll(&p, 1, 0) > 0;
}

#endif
