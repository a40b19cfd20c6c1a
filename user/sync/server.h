/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool: a PostgreSQL database (version 13 or newer) that a fleet shares. The first client with
 * the permission to create tables creates those of the pool; all other clients only need the right
 * to read and insert rows.
 */
#ifndef JETWATT_SYNC_SERVER_H
#define JETWATT_SYNC_SERVER_H

#include <libpq-fe.h>

#include "store/pool.h"

/* Maximum number of rows that are pushed in one statement, or passed to the callback of a pull. */
#define JETWATT_SYNC_ROWS	500

/**
 * struct jetwatt_server - connection to the pool
 * @pg: connection of libpq
 * @id: UUID of the pool, generated when its tables were created
 */
struct jetwatt_server {
	PGconn *pg;
	char id[64];
};

/**
 * struct jetwatt_server_pushed - result of pushing rows
 * @fresh: number of rows that were new to the pool
 * @refused: number of pushed rows that the server refused
 * @why: reason why the server refused the first of the refused rows; "" if @refused is 0
 */
struct jetwatt_server_pushed {
	uint64_t fresh, refused;
	char why[240];
};

/* Connect to the pool and create its tables if they are missing. @conninfo: connection string of
 * libpq; NULL: its environment variables. Return: 0 or an exit code; the error has been
 * reported. */
int jetwatt_server_open(struct jetwatt_server *s, const char *conninfo);
void jetwatt_server_close(struct jetwatt_server *s);

/* Push rows of this device; rows that the pool has already are skipped. If the server refuses a
 * row, bisection finds this row; the refused row is counted and left out, so that the other rows
 * are pushed. @pushed: counters, which grow. Return: 0 or an exit code; the error has been
 * reported. */
int jetwatt_server_push(struct jetwatt_server *s, const char *device, const struct jetwatt_pool_row *row,
			size_t n, struct jetwatt_server_pushed *pushed);

/**
 * jetwatt_server_pull() - pull the rows of other devices for one kind of board
 * @s: connection to the pool
 * @device: name of this device, whose rows are left out
 * @board: name of the board
 * @since: position of the last pull; "": pull all rows
 * @upto: receives the position for the next pull: every row that is not committed yet is at this
 *	position or at a higher one
 * @take: called with up to JETWATT_SYNC_ROWS rows; a return value other than 0 ends the pull
 * @arg: argument of @take
 *
 * Return: 0; an exit code, after the function has reported the error; or the value that @take has
 * returned, if that value is not 0.
 */
int jetwatt_server_pull(struct jetwatt_server *s, const char *device, const char *board,
			const char *since, char upto[32],
			int (*take)(const struct jetwatt_pool_row *row, size_t n, void *arg), void *arg);

#endif
