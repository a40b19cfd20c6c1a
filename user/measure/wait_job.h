/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a session until its job ends.
 */
#ifndef JETWATT_MEASURE_WAIT_JOB_H
#define JETWATT_MEASURE_WAIT_JOB_H

#include "measure/session.h"

/**
 * jetwatt_wait_job() - run the session until the job ends or a signal arrives
 * @w: the session
 * @for_s: maximum duration, s; the job is not ended then; 0: no limit
 * @each: called several times per second; may be NULL
 * @arg: passed to @each
 *
 * For a job that was running already, SIGINT, SIGQUIT, SIGTERM and SIGHUP end the session. If the
 * session has started the job's command, these signals are passed on to the command, unless the
 * terminal has sent them to both, and the session continues until the command ends. If measuring
 * fails, the command is not ended, and runs to its end.
 *
 * Return: 0; or the exit code, after printing an error.
 */
int jetwatt_wait_job(struct jetwatt_session *w, double for_s, void (*each)(void *arg), void *arg);

/*
 * A callback for @each of jetwatt_wait_job() that discards old samples and all waits, for callers
 * that only wait for the job. @session: the struct jetwatt_session.
 */
void jetwatt_wait_job_discard(void *session);

/* Return the exit status of a verb after its run: the command's exit status if a command was
 * started and has ended; else 0. */
int jetwatt_wait_job_exit(const struct jetwatt_session *w);

#endif
