/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt doctor: shared state and entry points of the checks. Findings are printed as text, or
 * collected as the JSON array "checks". A finding of level FAIL sets the exit status, except with
 * --report; a finding of level WARN does not.
 */
#ifndef JETWATT_CMD_DOCTOR_DOCTOR_H
#define JETWATT_CMD_DOCTOR_DOCTOR_H

#include <sys/types.h>

#include "board/board.h"
#include "jetwatt.h"
#include "out/json.h"
#include "util/args.h"

enum jetwatt_doctor_level { OK, WARN, FAIL };

struct jetwatt_private;

/**
 * struct jetwatt_doctor - options and results of one run
 * @args: global options
 * @want_json: write findings to @json instead of standard output
 * @json: the JSON writer, used if @want_json is set
 * @warnings, @failures: number of warnings and of failures found so far
 * @code: exit status of doctor, set by the first failure; 0 if no check has failed
 * @pid: process to examine (doctor -p), 0: examine the board
 * @board: the board's knobs, NULL if the board could not be opened
 * @jw: connection to the kernel module, NULL if the module could not be opened
 * @hide: identifiers to remove from JSON findings, because the findings become part of a report;
 *	NULL: remove nothing
 */
struct jetwatt_doctor {
	struct jetwatt_args args;
	int want_json;
	struct jetwatt_json json;
	int warnings, failures, code;
	pid_t pid;
	struct jetwatt_board *board;
	struct jetwatt *jw;
	const struct jetwatt_private *hide;
};

/**
 * jetwatt_doctor_finding() - print or store one finding
 * @level: OK, WARN or FAIL
 * @code: exit status of doctor if @level is FAIL
 * @name: name of the check; the column has space for 8 characters
 * @fix: what the user should do, NULL: nothing is to be done or known; not shown if @level is OK
 * @text: printf format of the finding, at most 319 characters
 */
void jetwatt_doctor_finding(struct jetwatt_doctor *d, enum jetwatt_doctor_level level, int code,
			    const char *name, const char *fix, const char *text, ...)
	__attribute__((format(printf, 6, 7)));

/* doctor.c: run all checks of the board in order; on an unsupported kernel, only check the kernel. The
 * function opens @d->board and @d->jw where possible; the caller closes them. */
void jetwatt_doctor_checks(struct jetwatt_doctor *d);
/* process.c: measure for two seconds, or until process @pid ends, how it waits for the GPU, and
 * print the findings. Return: exit status. */
int jetwatt_doctor_process(struct jetwatt_doctor *d, pid_t pid);

/* daemon_checks.c: check jetwattd, jetwatt-knobs, jetwatt's systemd units, and other programs that
 * set clocks. */
void jetwatt_doctor_daemon(struct jetwatt_doctor *d);

/* shunts.c: warn about rails whose shunt resistance is unknown, and print the module parameter that
 * sets the resistance. */
void jetwatt_doctor_shunts(struct jetwatt_doctor *d);

#endif
