/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as a child process. The child waits before its first instruction until the probe is
 * attached, so that no wait for the GPU is missed.
 */
#ifndef JETWATT_JOB_CHILD_H
#define JETWATT_JOB_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

/**
 * struct jetwatt_child - a command
 * @pid: process; 0: none
 * @go: pipe to the child; a byte lets it run
 * @failed: pipe from the child, for the errno of a failed exec()
 * @gone: 1: the child has ended and was waited for
 * @status: then its status as of wait(2)
 * @used: then the resources used by it and by the processes that it has waited for
 */
struct jetwatt_child {
	pid_t pid;
	int go, failed;
	int gone, status;
	struct rusage used;
};

/* Fork; the child waits for jetwatt_child_go(). @mark_fd: descriptor for marks that the child
 * inherits, with its number in JETWATT_MARK_FD; -1: none. Return: 0, negative errno. */
int jetwatt_child_start(struct jetwatt_child *c, char **argv, int mark_fd);

/* Let the child run. Waits for exec(). Return: 0; negative errno of exec(): the child has ended. */
int jetwatt_child_go(struct jetwatt_child *c);

/* Wait for the child if it has ended; does not block. Return: 1: it has ended. */
int jetwatt_child_reap(struct jetwatt_child *c);

/* Return the exit status as a shell has it: the exit code, or 128 + signal. */
int jetwatt_child_exit(const struct jetwatt_child *c);

/* Send SIGTERM to the child, after 10 s SIGKILL, and wait for it. Blocks. */
void jetwatt_child_stop(struct jetwatt_child *c);

#endif
