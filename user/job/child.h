/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as a child process. The child executes the command only after the parent has attached
 * the probe, so that no wait for the GPU is missed.
 */
#ifndef JETWATT_JOB_CHILD_H
#define JETWATT_JOB_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

/* Time between SIGTERM and SIGKILL, in ms. */
#define JETWATT_CHILD_PATIENCE_MS	10000

/**
 * struct jetwatt_child - a command
 * @pid: process; 0: none
 * @go: pipe to the child; a byte lets it run
 * @failed: pipe from the child, for the errno of a failed exec()
 * @gone: 1: the child has ended and the parent has waited for it
 * @status: exit status of the child, as wait(2) encodes it; valid if @gone is 1
 * @used: resources used by the child and by the processes that it has waited for; valid if @gone
 *	is 1
 */
struct jetwatt_child {
	pid_t pid;
	int go, failed;
	int gone, status;
	struct rusage used;
};

/* Fork a child that will execute the command; the child waits for jetwatt_child_go(). @mark_fd:
 * descriptor to which the child writes marks; the child inherits it, with its number in the
 * environment variable JETWATT_MARK_FD; -1: no marks. Return: 0, negative errno. */
int jetwatt_child_start(struct jetwatt_child *c, char **argv, int mark_fd);

/* Let the child run. Waits for exec(). Return: 0, also if the child was killed before exec();
 * negative errno if exec() of the command has failed, in which case the child has ended. */
int jetwatt_child_go(struct jetwatt_child *c);

/* Wait for the child if it has ended; does not block. Return: 1 if it has ended, else 0. */
int jetwatt_child_reap(struct jetwatt_child *c);

/* Return the child's exit status as a shell reports it: the exit code, or 128 + signal. */
int jetwatt_child_exit(const struct jetwatt_child *c);

/* Send SIGTERM to the child, SIGKILL if it has not ended after 10 s, and wait for its end.
 * Blocks. */
void jetwatt_child_stop(struct jetwatt_child *c);

#endif
