/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Permanent limits on the system calls of this process (seccomp(2)). The filters of the systemd
 * units work under systemd only; the filters of this file work however the process is started.
 */
#ifndef JETWATT_UTIL_SECCOMP_H
#define JETWATT_UTIL_SECCOMP_H

#include <errno.h>

/* Deny the calls that can reach into another process or change the system, such as ptrace(2),
 * process_vm_writev(2), pidfd_getfd(2), kexec, modules, mounts. A denied call fails with EPERM. A
 * filter does not see paths, so open(2) of /proc/PID/mem is not denied: the process must also lack
 * the rights of ptrace(2). Applies to all threads. Return: 0; -EBUSY if a thread has a filter of
 * its own; other negative errno. */
int jetwatt_seccomp_deny(void);

/* Check whether jetwatt_seccomp_deny() failed because the kernel or the machine lacks seccomp(2).
 * jetwattd and jetwatt-knobs then continue without the filter. */
static inline int jetwatt_seccomp_unsupported(int err)
{
	return err == -ENOSYS || err == -EINVAL || err == -EOPNOTSUPP;
}

/* Deny every call except those of a server that reads links: poll, accept, getsockopt(2), receive,
 * send, close, readlinkat(2), exit, the return from a signal handler. Applies to all threads.
 * Return: 0; negative errno. */
int jetwatt_seccomp_links_only(void);

#endif
