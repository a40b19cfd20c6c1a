/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job's own cgroup of the v2 hierarchy: whoever is in it, is the job, however
 * it came about and whatever number it has.
 */
#ifndef JETWATT_JOB_CGROUP_H
#define JETWATT_JOB_CGROUP_H

#include <limits.h>
#include <sys/types.h>

/**
 * struct jetwatt_cgroup - a cgroup
 * @path: empty: there is none
 * @ours: we have made it and remove it
 * @events: descriptor of cgroup.events, which tells when the last one has gone
 */
struct jetwatt_cgroup {
	char path[PATH_MAX];
	int ours, events;
};

/* Make one below our own. Return: 0; negative errno: no v2 hierarchy that we
 * may write to. Removes what a jetwatt that was killed has left. */
int jetwatt_cgroup_make(struct jetwatt_cgroup *c);

/* Which one a process is in, as in /proc/PID/cgroup, 0: ourselves. Return: 0, -ENOENT: none, and
 * @path is empty; -ENAMETOOLONG: it has what fits. */
int jetwatt_cgroup_of(pid_t pid, char *path, size_t len);

/* Where the v2 hierarchy is mounted, in @dir of PATH_MAX. Return: 0, -ENOENT. */
int jetwatt_cgroup_mount(char *dir);

/* One that somebody else has made. Return: 0, negative errno. */
int jetwatt_cgroup_open(struct jetwatt_cgroup *c, const char *path);

/* One of its files, closed at exec. Return: descriptor, negative errno. */
int jetwatt_cgroup_file(const struct jetwatt_cgroup *c, const char *name, int flags);

/* Return: 0, negative errno. */
int jetwatt_cgroup_put(const struct jetwatt_cgroup *c, pid_t pid);

/* Is nobody in it any more, or is it gone? */
int jetwatt_cgroup_empty(const struct jetwatt_cgroup *c);

/* Whoever is still in ours goes back to where we are. */
void jetwatt_cgroup_close(struct jetwatt_cgroup *c);

#endif
