/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to the profile database, directly or through a socket. As a service, the jetwatt-sync that
 * uses the network runs as a user that may not open the database. It sends requests to a second
 * jetwatt-sync, which systemd starts for each connection as user jetwatt and without network access.
 * There are five requests. A request is a struct door_request followed by rows; a response is a
 * struct door_response followed by rows. Both ends are the same program on one machine, so the
 * structs are sent in their layout in memory.
 */
#ifndef JETWATT_SYNC_DOOR_H
#define JETWATT_SYNC_DOOR_H

#include "store/pool.h"

/* Maximum number of board names, and size of each in bytes. */
#define JETWATT_DOOR_BOARDS	8
#define JETWATT_DOOR_BOARD	96

/**
 * struct jetwatt_profile_access - access to the database
 * @db: the database, if this process has opened it; NULL: requests to the database go to @fd
 * @fd: socket to the process that has opened the database; -1: none, @db is used
 */
struct jetwatt_profile_access {
	struct jetwatt_db *db;
	int fd;
};

/* Connect to the socket at @path. Return: 0 or an exit code; the error has been reported. */
int jetwatt_profile_access_open(struct jetwatt_profile_access *d, const char *path);
void jetwatt_profile_access_close(struct jetwatt_profile_access *d);

/* The following four functions do the same as the functions jetwatt_pool_*() of the same names
 * (store/pool.h); ..._read_own() reads at most JETWATT_SYNC_ROWS rows. All functions also return -EPROTO
 * if the connection fails, or the other end is another version of jetwatt-sync. */
int jetwatt_profile_access_progress(struct jetwatt_profile_access *d, const char *pool, struct jetwatt_pool_progress *p,
		       struct jetwatt_error_text *err);
int jetwatt_profile_access_progress_store(struct jetwatt_profile_access *d, const char *pool, const struct jetwatt_pool_progress *p,
		      struct jetwatt_error_text *err);
int jetwatt_profile_access_read_own(struct jetwatt_profile_access *d, int64_t after, struct jetwatt_pool_row **row,
		     struct jetwatt_error_text *err);
int jetwatt_profile_access_store(struct jetwatt_profile_access *d, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *invalid, struct jetwatt_error_text *err);
/* Get the names of the boards for which the database has own measurements, at most
 * JETWATT_DOOR_BOARDS. Return: number of names; negative errno with the reason in @err. */
int jetwatt_profile_access_boards(struct jetwatt_profile_access *d, char board[JETWATT_DOOR_BOARDS][JETWATT_DOOR_BOARD],
			struct jetwatt_error_text *err);

/* Serve requests on @fd until the other end closes the connection. Return: 0; -EPROTO if a request
 * was not valid or incomplete; other negative errno. */
int jetwatt_profile_access_serve(int fd, struct jetwatt_db *db);

#endif
