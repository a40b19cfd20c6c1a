/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile database, here or behind a socket. The process that talks to the network runs as
 * a user who may not open the database: it asks another jetwatt-sync, started by systemd for
 * each connection as the user jetwatt and without a network. Five requests; each is a struct
 * door_request and its rows, each answer a struct door_answer and its rows. Both ends are the
 * same program, on one machine.
 */
#ifndef JETWATT_SYNC_DOOR_H
#define JETWATT_SYNC_DOOR_H

#include "store/pool.h"

#define JETWATT_DOOR_BOARDS	8
#define JETWATT_DOOR_BOARD	96

/**
 * struct jetwatt_door - where the database is
 * @db: here; NULL: behind @fd
 */
struct jetwatt_door {
	struct jetwatt_db *db;
	int fd;
};

/* Connect to a socket. Return: 0; exit code, said. */
int jetwatt_door_open(struct jetwatt_door *d, const char *path);
void jetwatt_door_close(struct jetwatt_door *d);

/* As the functions of jetwatt_pool with these names; -EPROTO: the other end is gone, or is
 * another version of this program. */
int jetwatt_door_place(struct jetwatt_door *d, const char *pool, struct jetwatt_pool_place *p,
		       struct jetwatt_error_text *err);
int jetwatt_door_keep(struct jetwatt_door *d, const char *pool, const struct jetwatt_pool_place *p,
		      struct jetwatt_error_text *err);
int jetwatt_door_own(struct jetwatt_door *d, int64_t after, struct jetwatt_pool_row **row,
		     struct jetwatt_error_text *err);
int jetwatt_door_take(struct jetwatt_door *d, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *odd, struct jetwatt_error_text *err);
/* Names of boards on which this device has measured. Return: how many; negative errno. */
int jetwatt_door_boards(struct jetwatt_door *d, char board[JETWATT_DOOR_BOARDS][JETWATT_DOOR_BOARD],
			struct jetwatt_error_text *err);

/* Answer requests on @fd for @db, until the other end hangs up, or sends what is none.
 * Return: 0; -EPROTO; other negative errno. */
int jetwatt_door_serve(int fd, struct jetwatt_db *db);

#endif
