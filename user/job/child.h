/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that is started by us: it stands still until the probe is
 * attached, so that no wait is missed, and its exit status becomes ours.
 */
#ifndef JETWATT_JOB_CHILD_H
#define JETWATT_JOB_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

/**
 * struct jetwatt_child - a command
 * @pid: 0: none
 * @go, @failed: pipes: ours to let it run, its to say why exec() failed
 * @gone: it has been waited for; @status is its status as of wait(2), @used what
 *	it has used, with all whom it has waited for
 */
struct jetwatt_child {
	pid_t pid;
	int go, failed;
	int gone, status;
	struct rusage used;
};

/* Fork; the child waits for jetwatt_child_go(). @mark_fd: it inherits that and
 * is told so, -1: none. Return: 0, negative errno. */
int jetwatt_child_start(struct jetwatt_child *c, char **argv, int mark_fd);

/* Let it run. Return: 0; negative errno of exec(), the child is gone then. */
int jetwatt_child_go(struct jetwatt_child *c);

/* Collect it if it has ended. Return: 1: it has. */
int jetwatt_child_reap(struct jetwatt_child *c);

/* What a shell would call its exit: its code, or 128 + signal. */
int jetwatt_child_exit(const struct jetwatt_child *c);

/* Ask it to end; after ten seconds, end it. */
void jetwatt_child_stop(struct jetwatt_child *c);

#endif
