/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Freeze and thaw jobs: with the freezer of their cgroup (v2), or if there is none with SIGSTOP and
 * SIGCONT to their process group. A guard process makes sure that no job stays frozen: it thaws all
 * jobs when this process has ended in any way, or has not notified it for 2 s.
 */
#ifndef JETWATT_JOB_FREEZER_H
#define JETWATT_JOB_FREEZER_H

#include <stdint.h>
#include <sys/types.h>

#include "job/cgroup.h"

#define JETWATT_HOLD_JOBS	4

/**
 * struct jetwatt_freezer - freezer of one job
 * @freeze: descriptor of cgroup.freeze; -1: the job has no v2 freezer, and signals are used
 * @events: descriptor of cgroup.events, which shows when all processes of the job are frozen; -1:
 *	the job has no v2 freezer
 * @group: process group of the job, to which signals are sent if @freeze is -1
 * @held: 1: the job is frozen, or is being frozen
 * @since_ns: time at which the job was frozen last, ns, CLOCK_MONOTONIC
 * @ns: total duration of the freezes that have ended, ns
 */
struct jetwatt_freezer {
	int freeze, events;
	pid_t group;
	int held;
	uint64_t since_ns, ns;
};

/* Open the freezer of a job. @cgroup: the job's cgroup, with an empty path if it has none;
 * @group: its process group. Return: 0. */
int jetwatt_freezer_open(struct jetwatt_freezer *h, const struct jetwatt_cgroup *cgroup, pid_t group);
void jetwatt_freezer_close(struct jetwatt_freezer *h);

/* Start freezing the job; jetwatt_freezer_wait() waits until it is frozen. A job that has ended is no
 * error. Return: 0, negative errno. */
int jetwatt_freezer_freeze(struct jetwatt_freezer *h, uint64_t now_ns);

/* Wait at most @ms milliseconds until the job is frozen. Return: 0; -ETIMEDOUT: some processes
 * still run; other negative errno. */
int jetwatt_freezer_wait(const struct jetwatt_freezer *h, int ms);

/* Thaw the job. A job that has ended is no error. Return: 0, negative errno. */
int jetwatt_freezer_thaw(struct jetwatt_freezer *h, uint64_t now_ns);

/* Return the total time for which the job has been frozen up to now, in ns. */
uint64_t jetwatt_freezer_frozen_ns(const struct jetwatt_freezer *h, uint64_t now_ns);

/**
 * jetwatt_freezer_guard() - start a guard process, before any job is frozen
 * @h: freezers of all jobs that will be frozen
 * @n: number of elements of @h
 *
 * Return: descriptor of the guard, for jetwatt_freezer_notify_guard(); the descriptor becomes
 * readable when the guard ends. Negative errno.
 */
int jetwatt_freezer_guard(const struct jetwatt_freezer *h, int n);

/* Time without a notification after which the guard thaws all jobs, in ms. */
#define JETWATT_FREEZER_SILENT_MS	2000

/* Notify the guard that this process still runs; call it several times per second. Return: 0;
 * -EPIPE: the guard has ended. */
int jetwatt_freezer_notify_guard(int guard);

#endif
