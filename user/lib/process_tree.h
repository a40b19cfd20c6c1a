/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Properties of processes, cgroups and namespaces from /proc, cgroupfs and tracefs. For the probe
 * and its backends.
 */
#ifndef JETWATT_LIB_PROCESS_TREE_H
#define JETWATT_LIB_PROCESS_TREE_H

#include <stdint.h>
#include <sys/types.h>

/* Return: 1 if this process is in the initial pid namespace, whose ids the kernel's records
 * contain, or if this cannot be determined; else 0. */
int jetwatt_process_initial_pids(void);

/* Return: 1 if the offset of CLOCK_MONOTONIC in this time namespace is 0 or unknown, else 0. */
int jetwatt_process_initial_time(void);

/**
 * jetwatt_process_cgroup() - return id and depth of a v2 cgroup
 * @path: directory of the cgroup
 * @id: set to the cgroup id
 * @level: set to the depth of the cgroup below the root; 0 if this process is in another cgroup
 *	namespace than the initial one, because the depth cannot be determined there
 *
 * Return: 0; -ENOENT; -EINVAL if @path is no directory of a v2 hierarchy; another negative errno.
 */
int jetwatt_process_cgroup(const char *path, uint64_t *id, uint32_t *level);

/**
 * jetwatt_process_cgroup_tree() - list the processes of a cgroup and of the cgroups below it
 * @path: directory of the cgroup
 * @tgids: set to an array of process ids; the caller frees it
 *
 * Return: number of processes; -ESRCH: no process; -ENOMEM; or the error of opening the cgroup's
 * file cgroup.procs.
 */
int jetwatt_process_cgroup_tree(const char *path, uint32_t **tgids);

/**
 * jetwatt_process_tree() - list a process and all its descendants
 * @tgid: process id
 * @tgids: set to an array of process ids; the caller frees it
 *
 * Return: number of processes, without zombies; -ESRCH: no such process, or a zombie; -ENOMEM; or
 * the error of opening /proc.
 */
int jetwatt_process_tree(uint32_t tgid, uint32_t **tgids);

/* Return: 1 if the process is alive, if only because of threads other than its first one; 0 if it has
 * ended or is a zombie. */
int jetwatt_process_alive(uint32_t tgid);

/* Return the offset of the field child_pid in the record of the tracepoint sched_process_fork,
 * in bytes; 0: unknown. */
uint32_t jetwatt_process_fork_offset(void);

#endif
