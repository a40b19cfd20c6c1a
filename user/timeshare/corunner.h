/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command, or what runs in a cgroup already, that shares the board with another: under
 * a probe of its own, and held still while it is the other's turn.
 */
#ifndef JETWATT_TIMESHARE_CORUNNER_H
#define JETWATT_TIMESHARE_CORUNNER_H

#include "jetwatt.h"
#include "job/cgroup.h"
#include "job/child.h"
#include "job/freezer.h"

/* Threads whose files stay open between two looks. */
#define JETWATT_TENANT_THREADS	256

/**
 * struct jetwatt_corunner - one of them
 * @name: for messages: "train"; @command: for a shell; NULL: it runs already
 * @pidfd: readable when it has ended; @ended: we have seen that
 * @mark_fd: where its marks arrive, -1: nowhere
 * @threads: descriptor of its cgroup's cgroup.threads, -1: there is none; of the first of
 *	them, @tid, /proc/TID/status is open as @status
 */
struct jetwatt_corunner {
	const char *name, *command;
	struct jetwatt_child child;
	struct jetwatt_cgroup cgroup;
	struct jetwatt_hold hold;
	struct jetwatt_probe *probe;
	int pidfd, mark_fd, ended, threads;
	unsigned int tid[JETWATT_TENANT_THREADS];
	int status[JETWATT_TENANT_THREADS];
};

/* Nothing is open: jetwatt_tenant_stop() may be called. */
void jetwatt_tenant_init(struct jetwatt_corunner *t, const char *name, const char *command);

/* It stands still before its first instruction. Says what is wrong. Return: exit code. */
int jetwatt_tenant_start(struct jetwatt_corunner *t);

/* Whoever is in a cgroup, at @path, is it from here on; its freezer is @freeze, which is closed
 * with it. Return: 0, negative errno. */
int jetwatt_tenant_adopt(struct jetwatt_corunner *t, const char *path, int freeze);

/* Attach the probe: @fn is called at the end of every wait, at once. Says what is
 * wrong. Return: exit code. */
int jetwatt_tenant_watch(struct jetwatt_corunner *t, jetwatt_sync_fn fn, void *arg);

/* Return: exit code; 126 and 127 where it cannot be executed. */
int jetwatt_tenant_go(struct jetwatt_corunner *t);

/**
 * jetwatt_tenant_idle() - has it nothing to do?
 * @stamp: of the last look, 0: none; gets this look's
 *
 * All its threads sleep, none of them waits for the GPU, and none has run since
 * the last look. Return: 1; 0; -EBUSY: one waits for the GPU, and its wait's end will be told.
 */
int jetwatt_tenant_idle(struct jetwatt_corunner *t, uint64_t *stamp);

/* Ask it to end if it has not, and let go of all. Return: its exit status. */
int jetwatt_tenant_stop(struct jetwatt_corunner *t);

#endif
