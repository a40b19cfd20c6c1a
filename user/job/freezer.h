/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs that are held still and let go again: by the freezer of their cgroup (v2),
 * or where there is none by SIGSTOP to their process group. Whatever becomes of
 * us, none stays held: a process of its own lets all go when we have ended in any
 * way, or have not been heard of for some time.
 */
#ifndef JETWATT_JOB_FREEZER_H
#define JETWATT_JOB_FREEZER_H

#include <stdint.h>
#include <sys/types.h>

#include "job/cgroup.h"

#define JETWATT_HOLD_JOBS	4

/**
 * struct jetwatt_hold - one job
 * @freeze: descriptor of its cgroup's cgroup.freeze, -1: there is none
 * @events: descriptor of cgroup.events, which tells when all are still
 * @group: its process group, for signals
 * @held: it is held, or is being
 * @since_ns: since when; @ns: for how long in all, before that
 */
struct jetwatt_hold {
	int freeze, events;
	pid_t group;
	int held;
	uint64_t since_ns, ns;
};

/* @group: leads its own process group. Return: 0, negative errno. */
int jetwatt_hold_open(struct jetwatt_hold *h, const struct jetwatt_cgroup *cgroup, pid_t group);
void jetwatt_hold_close(struct jetwatt_hold *h);

/* Hold it still from now on; jetwatt_hold_wait() returns when it is. Return: 0, negative
 * errno. */
int jetwatt_hold_still(struct jetwatt_hold *h, uint64_t now_ns);

/* Return: 0; -ETIMEDOUT: some of it still moves after @ms. */
int jetwatt_hold_wait(const struct jetwatt_hold *h, int ms);

int jetwatt_hold_let_go(struct jetwatt_hold *h, uint64_t now_ns);

/* Time for which it was held, up to now. */
uint64_t jetwatt_hold_ns(const struct jetwatt_hold *h, uint64_t now_ns);

/**
 * jetwatt_hold_guard() - have a guard, before anything is held
 * @h, @n: all that will be
 *
 * Return: its descriptor: readable means that the guard has gone; negative errno.
 */
int jetwatt_hold_guard(const struct jetwatt_hold *h, int n);

/* It lets go what it has not been told of for so long. */
#define JETWATT_HOLD_SILENT_MS	2000

/* We are here, to be said every few hundred milliseconds. Return: 0; -EPIPE: the guard is not. */
int jetwatt_hold_tell(int guard);

#endif
