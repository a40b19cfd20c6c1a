/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Client of jetwatt-knobs, which writes the knobs for processes that may not. board/ uses it where
 * jetwatt_board_roots names the socket. Protocol: packets on a SOCK_SEQPACKET socket; one request
 * of words, then one response:
 *
 *	emc		levels of the memory clock, in Hz, none: not known; debugfs shows them to
 *			root only
 *	apply MODE	jetwatt_board_apply(); the client owns the board from then on
 *	verify MODE	jetwatt_board_verify()
 *	restore		jetwatt_board_restore()
 *	forget		jetwatt_board_forget()
 *	freezer CGROUP	jetwatt_board_freezer(); the response carries the descriptor (SCM_RIGHTS)
 *	status		"holder PID applied N restored N refused N strangers N"
 *
 *	ok[ WORDS]
 *	no ERRNO\nWHAT\nWHY\nFIX
 *
 * MODE is "c8-1728000-g624750000-e3199000000". When the client that owns the board disconnects,
 * for whatever reason, jetwatt-knobs restores the board. When a client that has opened freezers
 * disconnects, jetwatt-knobs thaws the jobs of these cgroups.
 */
#ifndef JETWATT_BOARD_REMOTE_H
#define JETWATT_BOARD_REMOTE_H

#include "board/board.h"

#define JETWATT_REMOTE_SOCKET "/run/jetwatt-knobs/socket"

/* Longest request and longest response, in bytes with the NUL. */
#define JETWATT_REMOTE_REQUEST 256
#define JETWATT_REMOTE_RESPONSE  1024

/* Connect to the socket @path. Return: 0; -ENOENT, -ECONNREFUSED: jetwatt-knobs does not run;
 * -EPERM: this user may not connect; other negative errno. */
int jetwatt_remote_open(struct jetwatt_board *b, const char *path, struct jetwatt_error_text *err);
void jetwatt_remote_close(struct jetwatt_board *b);

/* Check whether the connection is still open. Return: 1 if so; 0 if not. */
int jetwatt_remote_alive(const struct jetwatt_board *b);

/* Send @verb, with @mode if that is not NULL, and wait for the response, 20 s at most. Return:
 * result of the function with the name of the request, called in jetwatt-knobs; -EPIPE: no
 * response, so the connection is closed; jetwatt-knobs restores the board if this process owned
 * it. */
int jetwatt_remote_request(struct jetwatt_board *b, const char *verb, const struct jetwatt_mode *mode,
		      struct jetwatt_error_text *err);

/* Request the freezer of a cgroup. Return: descriptor of the freezer; errors as
 * jetwatt_board_freezer(), and -EPIPE as jetwatt_remote_request(). */
int jetwatt_remote_freezer(struct jetwatt_board *b, const char *cgroup,
			   struct jetwatt_error_text *err);

/* Request the levels of the memory clock, in Hz, ascending. @v: room for JETWATT_BOARD_FREQS_MAX.
 * Return: number of levels; 0 if the levels are not known, or if there is no response. */
int jetwatt_remote_emc(struct jetwatt_board *b, uint64_t *v);

#endif
