/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that a process gives up for good (seccomp(2)), whatever starts it: the units'
 * filters are in force under systemd alone.
 */
#ifndef JETWATT_UTIL_FENCE_H
#define JETWATT_UTIL_FENCE_H

#include <errno.h>

/* Give up the calls that serve to reach into another process, or change the system: ptrace(2),
 * process_vm_writev(2), pidfd_getfd(2), kexec, modules, mounts. Such a call fails with EPERM.
 * A filter sees no paths, so open(2) of /proc/PID/mem stays possible, as far as the process has
 * the rights of ptrace(2): these it must lack as well. For all threads. Return: 0; -EBUSY: a thread has a filter of its own; other negative errno. */
int jetwattd_fence(void);

/* Is a kernel or a machine without seccomp(2) the reason? jetwattd then goes on without. */
static inline int jetwattd_fence_lacks(int err)
{
	return err == -ENOSYS || err == -EINVAL || err == -EOPNOTSUPP;
}

/* Give up every call but those of a server that reads links: wait, accept, receive, send,
 * close, readlinkat(2), end. Return: 0, negative errno. */
int jetwattd_fence_links(void);

#endif
