/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_CMD_DOCTOR_DOCTOR_H
#define JETWATT_CMD_DOCTOR_DOCTOR_H

#include <sys/types.h>

#include "board/board.h"
#include "jetwatt.h"
#include "out/json.h"
#include "util/args.h"

enum jetwatt_doctor_level { OK, WARN, FAIL };

/**
 * struct jetwatt_doctor - what has been found
 * @warnings, @failures: how many
 * @code: exit status: that of the first failure
 * @hide: what findings must not name, as they go into a report; NULL: they do not
 * @pid: the program to look at, 0: the board
 */
struct jetwatt_private;
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

/* One finding. @code: exit status if it is a failure. */
void jetwatt_doctor_say(struct jetwatt_doctor *d, enum jetwatt_doctor_level level, int code,
			const char *name, const char *fix, const char *text, ...)
	__attribute__((format(printf, 6, 7)));

/* doctor.c: all findings, in order; opens @d's board and module, if they are there. */
void jetwatt_doctor_checks(struct jetwatt_doctor *d);
/* process.c: how does this program wait for the GPU? Return: exit status. */
int jetwatt_doctor_process(struct jetwatt_doctor *d, pid_t pid);

/* daemon_checks.c: jetwattd, jetwatt-knobs, their units, and others who turn knobs. */
void jetwatt_doctor_daemon(struct jetwatt_doctor *d);

/* shunts.c: rails without a known shunt, and how to tell the module. */
void jetwatt_doctor_shunts(struct jetwatt_doctor *d);

#endif
