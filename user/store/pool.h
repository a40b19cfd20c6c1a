/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a fleet has measured, shared through a server: the profile database's side
 * of it. Own rows go out in the order in which they were kept; rows of other
 * devices come in beside them and are never taken for own ones.
 */
#ifndef JETWATT_POOL_H
#define JETWATT_POOL_H

#include "store/db.h"

/**
 * struct jetwatt_pool_row - a measurement on its way
 * @id: of an own row in this database; later ones are greater
 * @device: who measured it
 */
struct jetwatt_pool_row {
	int64_t id;
	char device[JETWATT_WORKLOAD_KEY];
	struct jetwatt_workload workload;
	struct jetwatt_db_row row;
};

/**
 * struct jetwatt_pool_place - how far this device is with a pool
 * @pushed: own rows up to this id are there
 * @seen: the server's mark behind the last rows that were taken, "": none
 */
struct jetwatt_pool_place {
	int64_t pushed;
	char seen[32];
};

/* @pool: the name that the server gives itself. A pool never met: all zero.
 * Return: 0; as jetwatt_db_open(). */
int jetwatt_pool_place(struct jetwatt_db *db, const char *pool, struct jetwatt_pool_place *p,
		       struct jetwatt_error_text *err);
int jetwatt_pool_keep(struct jetwatt_db *db, const char *pool, const struct jetwatt_pool_place *p,
		      struct jetwatt_error_text *err);

/* Own rows behind id @after, @most of them, by id; caller frees. Return: how many;
 * as jetwatt_db_open(). */
int jetwatt_pool_own(struct jetwatt_db *db, int64_t after, int most, struct jetwatt_pool_row **row,
		     struct jetwatt_error_text *err);

/* Take rows of others, all or none of those that can be measurements.
 * @odd: grows by those that cannot. Return: how many were new; as jetwatt_db_open(). */
int jetwatt_pool_take(struct jetwatt_db *db, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *odd, struct jetwatt_error_text *err);

/**
 * jetwatt_pool_prior() - what is known of a workload from elsewhere
 *
 * The same command with the same minibatch on the same board and parameters,
 * measured by other devices or by this one under another release or cgroup. One
 * row a mode, as jetwatt_pool_merge() has it.
 * Caller frees @row. Return: how many; as jetwatt_db_open().
 */
int jetwatt_pool_prior(struct jetwatt_db *db, const struct jetwatt_workload *w,
		       struct jetwatt_row **row, struct jetwatt_error_text *err);

/**
 * jetwatt_pool_merge() - rows of one mode become one
 * @row: @n measurements of a workload, replaced by one row for each mode, by mode
 * @source: who measured each: by how much one is off in all modes alike is taken out
 *
 * Medians all along: one device that errs moves little.
 * Return: how many are left; -ENOMEM.
 */
int jetwatt_pool_merge(struct jetwatt_row *row, const int64_t *source, size_t n);

#endif
