/* SPDX-License-Identifier: GPL-2.0-only */
/* Start a process whose end this process waits for. */
#ifndef JETWATT_UTIL_FORK_H
#define JETWATT_UTIL_FORK_H

#include <sys/types.h>

/*
 * Do the same as fork(); SIGCHLD gets its default action first. If the program that started this process
 * ignores SIGCHLD, as some supervisors do, the kernel would discard the exit status of the new process and
 * release its pid, so that waitpid() fails and the pid may be reused.
 */
pid_t jetwatt_fork(void);

#endif
