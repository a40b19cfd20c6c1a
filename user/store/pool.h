/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sharing of profiles through a server (a pool): the part that works on the profile database.
 * jetwatt-sync talks to the server. Rows that this device measured are sent to the pool in the
 * order in which they were added. Rows of other devices are stored with the name of their device,
 * and are kept apart.
 */
#ifndef JETWATT_POOL_H
#define JETWATT_POOL_H

#include "store/db.h"

/**
 * struct jetwatt_pool_row - a measurement to send, or received
 * @id: id of the row in this database; grows with every row; set only in rows that are sent
 * @device: name of the device that measured the row; "": this one
 * @workload: the workload that was measured
 * @row: the measurement
 */
struct jetwatt_pool_row {
	int64_t id;
	char device[JETWATT_WORKLOAD_KEY];
	struct jetwatt_workload workload;
	struct jetwatt_db_row row;
};

/**
 * struct jetwatt_pool_progress - progress of the exchange with a pool
 * @pushed: rows of this device with an id up to this one have been sent
 * @seen: position behind the last received rows, as text that the server has sent; "": none
 *	received
 */
struct jetwatt_pool_progress {
	int64_t pushed;
	char seen[32];
};

/* Read the progress. @pool: name of the pool, as the server reports it. For a new pool, the
 * progress is all zeros. Return: 0; errors as jetwatt_db_open(). */
int jetwatt_pool_progress(struct jetwatt_db *db, const char *pool, struct jetwatt_pool_progress *p,
		       struct jetwatt_error_text *err);
/* Store the progress. Return: 0; errors as jetwatt_db_open(). */
int jetwatt_pool_progress_store(struct jetwatt_db *db, const char *pool, const struct jetwatt_pool_progress *p,
		      struct jetwatt_error_text *err);

/* Read rows of this device with an id above @after, in the order of their id, @max at most. Rows
 * that set an optional knob are left out: the pool has no columns for them. The caller frees *row.
 * Return: number of rows; errors as jetwatt_db_open(). */
int jetwatt_pool_read_own(struct jetwatt_db *db, int64_t after, int max, struct jetwatt_pool_row **row,
		     struct jetwatt_error_text *err);

/* Store rows of other devices, either all rows or none. Rows with invalid values or without the name of
 * a device are skipped; *@skipped is increased by their number. Return: number of new rows; errors as
 * jetwatt_db_open(). */
int jetwatt_pool_store(struct jetwatt_db *db, const struct jetwatt_pool_row *row, size_t n,
		      uint64_t *skipped, struct jetwatt_error_text *err);

/**
 * jetwatt_pool_read_prior() - read what other measurements say about a workload
 *
 * The function reads the rows of the same command, minibatch size, board and parameters that other
 * devices measured, or that this device measured with another software release or cgroup. The
 * measurements are merged to one row for each mode (jetwatt_pool_merge()). The caller frees *row.
 * Return: number of rows; errors as jetwatt_db_open().
 */
int jetwatt_pool_read_prior(struct jetwatt_db *db, const struct jetwatt_workload *w,
		       struct jetwatt_row **row, struct jetwatt_error_text *err);

/**
 * jetwatt_pool_merge() - merge measurements of several devices into one row for each mode
 * @row: @n measurements of one workload; replaced by the merged rows, in the order of modes
 * @source: number of the device that made each measurement. If a device's values differ from
 *	the others by the same factor in all modes, this factor is removed, not fully if the device
 *	has few measurements
 *
 * The merged row of a mode is the median of its measurements, so one faulty device has little
 * influence (pool_median.c).
 *
 * Return: number of merged rows; -ENOMEM.
 */
int jetwatt_pool_merge(struct jetwatt_row *row, const int64_t *source, size_t n);

#endif
