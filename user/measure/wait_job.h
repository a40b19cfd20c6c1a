/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Staying with a job until it ends.
 */
#ifndef JETWATT_MEASURE_WAIT_JOB_H
#define JETWATT_MEASURE_WAIT_JOB_H

#include "measure/session.h"

/**
 * jetwatt_follow() - watch until the job ends or somebody asks us to
 * @for_s: no longer than that, 0: as long as it takes
 * @each: called a few times a second
 *
 * SIGINT, SIGQUIT, SIGTERM and SIGHUP end the watching of a job that runs on its own;
 * to a command of ours they are passed on, and it is waited for.
 * If measuring fails, the command goes on to its end.
 * Return: 0; exit code after saying what has failed.
 */
int jetwatt_follow(struct jetwatt_watch *w, double for_s, void (*each)(void *arg), void *arg);

/* For @each: the job is only waited for, nothing of what it does is kept. @watch: struct
 * jetwatt_watch. */
void jetwatt_follow_forget(void *watch);

/* The exit status of a verb that has run to its end: the command's, if any. */
int jetwatt_follow_exit(const struct jetwatt_watch *w);

#endif
