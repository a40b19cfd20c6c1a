/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups of the v2 hierarchy. A job in a cgroup of its own consists of all processes in it,
 * however they were started.
 */
#ifndef JETWATT_JOB_CGROUP_H
#define JETWATT_JOB_CGROUP_H

#include <limits.h>
#include <sys/types.h>

/**
 * struct jetwatt_cgroup - a cgroup
 * @path: directory of the cgroup; empty: the job has no cgroup of its own
 * @ours: 1: this process made the cgroup, and removes it at the end
 * @events: descriptor of cgroup.events, which shows whether the cgroup contains processes; -1: the
 *	job has no cgroup
 */
struct jetwatt_cgroup {
	char path[PATH_MAX];
	int ours, events;
};

/* Make a cgroup below the one of this process, and remove empty cgroups that a killed jetwatt has
 * left there. Return: 0; negative errno, for example without a v2 hierarchy. */
int jetwatt_cgroup_make(struct jetwatt_cgroup *c);

/* Get the path of a process's cgroup, as in /proc/PID/cgroup. @pid: 0: this process. Return: 0;
 * -ENOENT: the process has ended or has no v2 cgroup, and @path is empty; -ENAMETOOLONG: @path is
 * truncated. */
int jetwatt_cgroup_of(pid_t pid, char *path, size_t len);

/* Get the mount point of the v2 hierarchy. @dir: buffer of PATH_MAX bytes. Return: 0, -ENOENT. */
int jetwatt_cgroup_mount(char *dir);

/* Open a cgroup that exists already. Return: 0, negative errno. */
int jetwatt_cgroup_open(struct jetwatt_cgroup *c, const char *path);

/* Open file @name of a cgroup, close-on-exec. Return: descriptor, negative errno. */
int jetwatt_cgroup_file(const struct jetwatt_cgroup *c, const char *name, int flags);

/* Move a process into the cgroup. Return: 0, negative errno. */
int jetwatt_cgroup_move(const struct jetwatt_cgroup *c, pid_t pid);

/* Return: 1 if the cgroup and those below it contain no process, or it was removed; else 0. */
int jetwatt_cgroup_empty(const struct jetwatt_cgroup *c);

/* Send SIGTERM to the processes of a cgroup that this process made, and SIGKILL to those that have not
 * ended after 10 s. Blocks. */
void jetwatt_cgroup_end(const struct jetwatt_cgroup *c);

/* Close a cgroup. If this process made it, try for 0.5 s to move the processes that are still in
 * the cgroup to its parent, and to remove it. */
void jetwatt_cgroup_close(struct jetwatt_cgroup *c);

#endif
