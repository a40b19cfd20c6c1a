/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drift between the rows of a workload: other data, another minibatch size or a new version of the
 * program change the time or the power of all modes for good. Rows from before a drift describe a job
 * that no longer exists.
 */
#ifndef JETWATT_PLAN_DRIFT_H
#define JETWATT_PLAN_DRIFT_H

#include "model/model.h"

/* Two readings of the same mode differ if the logarithm of their ratio exceeds this number of standard errors. */
#define JETWATT_DRIFT_SIGMA	4.0
/* Value of @time_sd of struct jetwatt_row if the time was not measured; the row's time is an estimate. */
#define JETWATT_ROW_NO_TIME	1.0

/* Return: 1 if the time of the row was measured, else 0. */
static inline int jetwatt_row_has_time(const struct jetwatt_row *row)
{
	return row->time_sd < JETWATT_ROW_NO_TIME;
}

/* Return: 1 if two readings of one mode differ, in time or in power, by more than their errors explain and by
 * more than a few percent; @least: smallest logarithm of their ratio that counts. */
int jetwatt_rows_differ_by(const struct jetwatt_row *is, const struct jetwatt_row *was, double least);
/* The same with a usual value of @least. */
int jetwatt_rows_differ(const struct jetwatt_row *is, const struct jetwatt_row *was);

/* Return: index of the last row with a time in @row, from row @from up to, but without, row @end, that has the
 * mode and the minibatch size of @is; -1: none. */
long jetwatt_rows_last_like(const struct jetwatt_row *row, size_t from, size_t end, const struct jetwatt_row *is);

/*
 * Find the last drift among @n rows in order of time. A drift shows in rows that contradict two earlier rows, in
 * one mode or in two. A row that a later row of its mode refutes does not count, so a single wrong reading is no
 * drift, unless it is the last of three or more of its mode. Rows without a time are ignored.
 *
 * Return: index of the first row after the last drift; 0: there is no drift. @earlier: set to the index of the
 * first row after the last drift but one, 0: none; may be NULL.
 */
size_t jetwatt_rows_find_drift(const struct jetwatt_row *row, size_t n, size_t *earlier);

#endif
