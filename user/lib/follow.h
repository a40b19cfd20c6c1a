/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Whom to follow: what /proc and tracefs know.
 */
#ifndef JETWATT_LIB_FOLLOW_H
#define JETWATT_LIB_FOLLOW_H

#include <stdint.h>
#include <sys/types.h>

/* Is this the initial pid namespace, whose ids BPF sees? */
int jetwatt_follow_initial_pids(void);

/* Is our CLOCK_MONOTONIC the kernel's own? */
int jetwatt_follow_initial_time(void);

/**
 * jetwatt_follow_cgroup() - id and depth of a directory of the v2 hierarchy
 * @level: 0 where ours is not the hierarchy's root: only this cgroup then
 *
 * Return: 0; -ENOENT; -EINVAL: not in a v2 hierarchy.
 */
int jetwatt_follow_cgroup(const char *path, uint64_t *id, uint32_t *level);

/**
 * jetwatt_follow_tree() - a process and all its descendants
 * @tgids: set to an array for the caller to free
 *
 * Return: how many; -ESRCH: no such process; -ENOMEM.
 */
int jetwatt_follow_tree(uint32_t tgid, uint32_t **tgids);

int jetwatt_follow_alive(uint32_t tgid);

/* Offset of child_pid in the record of sched_process_fork, 0: can't tell. */
uint32_t jetwatt_follow_fork_offset(void);

#endif
