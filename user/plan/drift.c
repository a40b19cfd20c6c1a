// SPDX-License-Identifier: GPL-2.0-only
/* Finds the last drift in the rows of a workload. */
#include "plan/drift.h"

#include <math.h>

/* Usual least logarithm of the ratio of two readings that differ. */
#define DRIFT_MIN	0.04
/* Standard error that is assumed for a row whose error is unknown, as of many imported rows. */
#define UNKNOWN_SD	0.02

static int deviates_by(double is, double is_sd, double was, double was_sd, double least)
{
	double sd = hypot(is_sd > 0 ? is_sd : UNKNOWN_SD, was_sd > 0 ? was_sd : UNKNOWN_SD);

	return fabs(log(is / was)) > fmax(JETWATT_DRIFT_SIGMA * sd, least);
}

static int deviates(double is, double is_sd, double was, double was_sd)
{
	return deviates_by(is, is_sd, was, was_sd, DRIFT_MIN);
}

int jetwatt_rows_differ_by(const struct jetwatt_row *is, const struct jetwatt_row *was, double least)
{
	return deviates_by(is->time_ms, is->time_sd, was->time_ms, was->time_sd, least) ||
	       deviates_by(is->power_w, is->power_sd, was->power_w, was->power_sd, least);
}

int jetwatt_rows_differ(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	return jetwatt_rows_differ_by(is, was, DRIFT_MIN);
}

/* Return: 1 if row @is can be compared with row @was: it has a time, the same mode and the same minibatch size. */
static int is_like(const struct jetwatt_row *is, const struct jetwatt_row *was)
{
	return jetwatt_row_has_time(is) && jetwatt_mode_same(&is->mode, &was->mode) && is->batch == was->batch;
}

long jetwatt_rows_last_like(const struct jetwatt_row *row, size_t from, size_t end, const struct jetwatt_row *is)
{
	while (end-- > from)
		if (is_like(&row[end], is))
			return (long)end;
	return -1;
}

/* Compare a row with the last two rows like it among rows @from to @end - 1. Return: their number,
 * if its time differs from those of all of them, or its power does; 0: it agrees; -1: there are none. */
static int count_contradicted(const struct jetwatt_row *row, size_t from, size_t end, const struct jetwatt_row *is)
{
	long was = (long)end;
	int n = 0, time = 1, power = 1;

	for (; n < 2; n++) {
		was = jetwatt_rows_last_like(row, from, (size_t)was, is);
		if (was < 0)
			break;
		time = time && deviates(is->time_ms, is->time_sd, row[was].time_ms, row[was].time_sd);
		power = power && deviates(is->power_w, is->power_sd, row[was].power_w, row[was].power_sd);
	}
	return !n ? -1 : time || power ? n : 0;
}

/* Return: the next row from row @at on that is_like() @is; NULL: none. */
static const struct jetwatt_row *next_like(const struct jetwatt_row *row, size_t at, size_t n,
					   const struct jetwatt_row *is)
{
	for (; at < n; at++)
		if (is_like(&row[at], is))
			return &row[at];
	return NULL;
}

/* Find the first drift among rows @from to @n - 1. Return: the first row after it; @from: none. */
static size_t find_drift(const struct jetwatt_row *row, size_t from, size_t n)
{
	size_t start = from;
	int contradicted = 0;

	for (size_t i = from + 1; i < n; i++) {
		int count = jetwatt_row_has_time(&row[i]) ? count_contradicted(row, from, i, &row[i]) : -1;
		const struct jetwatt_row *later = count > 0 ? next_like(row, i + 1, n, &row[i]) : NULL;

		if (count < 0)
			continue;
		if (!count || (later && !count_contradicted(row, from, i, later))) {
			contradicted = 0;
			continue;
		}
		if (!contradicted)
			start = i;
		contradicted += count;
		if (contradicted >= 2)
			return start;
	}
	return from;
}

size_t jetwatt_rows_find_drift(const struct jetwatt_row *row, size_t n, size_t *earlier)
{
	size_t before = 0, at = 0, next;

	while ((next = find_drift(row, at, n)) > at) {
		before = at;
		at = next;
	}
	if (earlier)
		*earlier = before;
	return at;
}
