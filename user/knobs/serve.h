/* SPDX-License-Identifier: GPL-2.0-only */
/* Server side of jetwatt-knobs: clients, their requests, and which client controls the board. */
#ifndef JETWATT_KNOBS_SERVE_H
#define JETWATT_KNOBS_SERVE_H

#include <sys/types.h>

#include "board/board.h"

#define JETWATT_KNOBS_CLIENTS 4

/**
 * struct jetwatt_knobs_client - a connection
 * @fd: socket; -1: unused
 * @pid: process of the client
 * @freezer: cgroups whose cgroup.freeze the client has received; those that the policy no longer names
 *	are removed if another cgroup needs their slot
 * @freezers: number of elements of @freezer
 */
struct jetwatt_knobs_client {
	int fd;
	pid_t pid;
	char freezer[JETWATT_BOARD_FREEZERS_MAX][JETWATT_BOARD_CGROUP_LEN];
	int freezers;
};

/**
 * struct jetwatt_knobs - the board and its clients
 * @board: the board
 * @user: user that may connect, besides root
 * @policy: path of jetwattd's policy, which names the cgroups that may be frozen
 * @client: connections
 * @holder: client that has applied a mode and owns the board; when it disconnects, the board is
 *	restored
 * @owed: 1: restoring the board after the holder disconnected has failed, and is retried at
 *	least every second, until it succeeds or a client applies a mode
 * @applied: number of modes applied since the program started
 * @restored: number of restores since then
 * @refused: number of requests refused or failed since then; errors -ESTALE (a knob has another
 *	value) and -ENOENT (nothing is saved, or no such cgroup) are not counted
 * @shut_out: number of connections refused since then, because the user may not connect or all
 *	slots are in use
 */
struct jetwatt_knobs {
	struct jetwatt_board *board;
	uid_t user;
	const char *policy;
	struct jetwatt_knobs_client client[JETWATT_KNOBS_CLIENTS], *holder;
	int owed;
	unsigned long applied, restored, refused, shut_out;
};

/* Accept a connection on the socket @listen, if the client's user may connect and a slot is
 * free. */
void jetwatt_knobs_accept(struct jetwatt_knobs *k, int listen);
/* Receive a request and respond, or handle the end of a connection. */
void jetwatt_knobs_receive(struct jetwatt_knobs *k, struct jetwatt_knobs_client *c);
/* Restore the saved state of the board. Return: 0, also if no mode was applied, or if another
 * process holds the lease; negative errno if the restore failed, which has been reported at the
 * first attempt. */
int jetwatt_knobs_restore(struct jetwatt_knobs *k);

#endif
