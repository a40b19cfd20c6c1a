/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A co-runner: a program that shares the GPU with another one in time slices. A co-runner is either
 * a command that jetwatt starts, or the processes of an existing cgroup. Each co-runner has a probe
 * of its own, and is frozen outside its time slices (job/freezer.h) while the other co-runner lives.
 */
#ifndef JETWATT_TIMESHARE_CORUNNER_H
#define JETWATT_TIMESHARE_CORUNNER_H

#include "jetwatt.h"
#include "job/cgroup.h"
#include "job/child.h"
#include "job/freezer.h"

/* Number of threads whose /proc/TID/status stays open between two checks; the last slot serves all
 * further threads. */
#define JETWATT_CORUNNER_THREADS	256

/**
 * struct jetwatt_corunner - a program that shares the GPU
 * @name: name in messages, such as "train"
 * @command: shell command; NULL: the processes run already
 * @child: child process that executes the command
 * @cgroup: cgroup of the program; an empty path: the program has no cgroup of its own
 * @freezer: freezer of the program
 * @probe: probe of the program's waits for the GPU; NULL: not attached
 * @pidfd: pidfd of the command, readable when it has ended; -1: there is no command
 * @mark_fd: descriptor on which marks of the program arrive, -1: no marks are received
 * @ended: 1: the command has ended, and its end was noticed
 * @threads: descriptor of the cgroup's file cgroup.threads; -1: not open
 * @tid: id of the thread to which each element of @status belongs
 * @status: descriptors of open files /proc/TID/status; -1: not open
 */
struct jetwatt_corunner {
	const char *name, *command;
	struct jetwatt_child child;
	struct jetwatt_cgroup cgroup;
	struct jetwatt_freezer freezer;
	struct jetwatt_probe *probe;
	int pidfd, mark_fd, ended, threads;
	unsigned int tid[JETWATT_CORUNNER_THREADS];
	int status[JETWATT_CORUNNER_THREADS];
};

/* Initialise @t without opening anything; jetwatt_corunner_stop() may be called from here on. */
void jetwatt_corunner_init(struct jetwatt_corunner *t, const char *name, const char *command);

/* Create the process of the command; the process waits before its first instruction. Return: 0
 * or an exit code; the error has been reported. */
int jetwatt_corunner_start(struct jetwatt_corunner *t);

/* Take over the processes of the cgroup at @path. @freeze: descriptor of the cgroup's file
 * cgroup.freeze, which belongs to @t from here on, also after an error. Return: 0, negative
 * errno. */
int jetwatt_corunner_adopt(struct jetwatt_corunner *t, const char *path, int freeze);

/* Attach the probe. @fn is called without delay at the end of each wait for the GPU. Return: 0 or
 * an exit code; the error has been reported. */
int jetwatt_corunner_attach(struct jetwatt_corunner *t, jetwatt_sync_fn fn, void *arg);

/* Let the command run. Return: 0; exit code, if the shell cannot be executed; the error has been
 * reported. */
int jetwatt_corunner_go(struct jetwatt_corunner *t);

/**
 * jetwatt_corunner_idle() - check whether a program has nothing to do
 * @t: the program
 * @stamp: state of the program at the previous check, 0 before the first check; receives the state at
 *	this check, 0 if a thread does not sleep or waits for the GPU
 *
 * A program is idle if all its threads sleep, none of them waits for the GPU, and none has run
 * since the previous check. Without a cgroup of its own, only the command's main thread is checked.
 *
 * Return: 1 if the program is idle; 0 if a thread does not sleep or has run since the previous check,
 * if *@stamp was 0, or if the program has more than 2048 threads; -EBUSY: a thread waits for the
 * GPU, and the probe will report the end of this wait.
 */
int jetwatt_corunner_idle(struct jetwatt_corunner *t, uint64_t *stamp);

/* Thaw the program, end it if it is a command, and close everything. Return: exit status of the
 * command; 0 for adopted processes. */
int jetwatt_corunner_stop(struct jetwatt_corunner *t);

#endif
