/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool: a PostgreSQL database (13 or newer) that a fleet shares. Its tables are
 * made by the first who may; later ones need no more than to read and insert.
 */
#ifndef JETWATT_SYNC_SERVER_H
#define JETWATT_SYNC_SERVER_H

#include <libpq-fe.h>

#include "store/pool.h"

/* Rows at a time, there and back. */
#define JETWATT_SYNC_ROWS	500

struct jetwatt_server {
	PGconn *pg;
	char id[64];
};

/**
 * struct jetwatt_server_pushed - what has become of rows
 * @fresh: that were new; @refused: that the server does not take, and @why the first of them
 */
struct jetwatt_server_pushed {
	uint64_t fresh, refused;
	char why[240];
};

/* Connect to where @conninfo says (NULL: the environment, as psql does) and see that
 * the tables are there. Return: 0; exit code, said. */
int jetwatt_server_open(struct jetwatt_server *s, const char *conninfo);
void jetwatt_server_close(struct jetwatt_server *s);

/* Push rows that this device measured; those that are there change nothing. Rows that the
 * server refuses are looked for by halves, counted and left out: they must not keep the others
 * back. @pushed: grows. Return: 0; exit code, said. */
int jetwatt_server_push(struct jetwatt_server *s, const char *device, const struct jetwatt_pool_row *row,
			size_t n, struct jetwatt_server_pushed *pushed);

/**
 * jetwatt_server_pull() - rows of other devices on one kind of board
 * @since: the mark of the last time, "": everything
 * @upto: gets the mark for the next time: whatever was not committed by now, by
 *	whomever and in whichever order, comes after it
 * @take: called with up to JETWATT_SYNC_ROWS rows; anything but 0 ends it
 *
 * Return: 0; exit code, said; what @take returned.
 */
int jetwatt_server_pull(struct jetwatt_server *s, const char *device, const char *board,
			const char *since, char upto[32],
			int (*take)(const struct jetwatt_pool_row *row, size_t n, void *arg), void *arg);

#endif
