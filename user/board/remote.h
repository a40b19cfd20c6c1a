/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What jetwatt-knobs, which may write knobs, is asked by who may not. Packets on a
 * socket (SOCK_SEQPACKET), a request of words, then its answer:
 *
 *	emc		what the memory's clock can be, in Hz, which debugfs tells root
 *	apply MODE	jetwatt_board_apply(); from here on the asker holds the board
 *	verify MODE	jetwatt_board_verify()
 *	restore		jetwatt_board_restore()
 *	forget		jetwatt_board_forget()
 *	freezer CGROUP	jetwatt_board_freezer(): its descriptor comes with the answer (SCM_RIGHTS)
 *	status		"holder PID applied N restored N refused N strangers N"
 *
 *	ok[ WORDS]
 *	no ERRNO\nWHAT\nWHY\nFIX
 *
 * MODE is "c8-1728000-g624750000-e3199000000". When its holder hangs up, for whatever
 * reason, the board is restored; when who has a freezer does, its jobs are let go.
 */
#ifndef JETWATT_BOARD_REMOTE_H
#define JETWATT_BOARD_REMOTE_H

#include "board/board.h"

#define JETWATT_REMOTE_SOCKET "/run/jetwatt-knobs/socket"

/* Longest request, and longest answer. */
#define JETWATT_REMOTE_REQUEST 256
#define JETWATT_REMOTE_ANSWER  1024

/* Connect. Return: 0; -ENOENT, -ECONNREFUSED: it does not run; other negative errno. */
int jetwatt_remote_open(struct jetwatt_board *b, const char *path, struct jetwatt_error_text *err);
void jetwatt_remote_close(struct jetwatt_board *b);

/* Is it still there? Return: 1, 0. */
int jetwatt_remote_alive(const struct jetwatt_board *b);

/* @verb with @mode, if it is not NULL. Return: what it returned there; -EPIPE: it has gone,
 * and what was applied with it. */
int jetwatt_remote_do(struct jetwatt_board *b, const char *verb, const struct jetwatt_mode *mode,
		      struct jetwatt_error_text *err);

/* Return: descriptor; as jetwatt_board_freezer(). */
int jetwatt_remote_freezer(struct jetwatt_board *b, const char *cgroup,
			   struct jetwatt_error_text *err);

/* The steps of the memory's clock, ascending. Return: how many. */
int jetwatt_remote_emc(struct jetwatt_board *b, uint64_t *v);

#endif
