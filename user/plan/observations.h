/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measurements of the workloads that share a board, cell by cell. A cell is one workload at one
 * minibatch size in one mode. Strategies read the measurements; the callers of a strategy add
 * measurements.
 */
#ifndef JETWATT_OBSERVATIONS_H
#define JETWATT_OBSERVATIONS_H

#include "model/estimator.h"
#include "plan/slice.h"

/* Largest number of workloads that share a board. */
#define JETWATT_OBSERVED_WORKS	2

/**
 * struct jetwatt_cell - a cell
 * @work: index of the workload of the cell
 * @size: index of the minibatch size of the cell
 * @mode: index of the mode of the cell
 */
struct jetwatt_cell {
	size_t work, size, mode;
};

/**
 * struct jetwatt_workload_data - measurements of one workload
 * @size: minibatch sizes of the workload, in samples; training has one size, which may be 0
 * @sizes: number of sizes
 * @by: predictor and prior; NULL: the default predictor without a prior
 * @time_ms: mean of the measured times of each cell, in ms, at the index jetwatt_observed_at();
 *	NAN: not measured
 * @power_w: mean of the measured powers of each cell, in watts, at the same index; NAN: not
 *	measured
 * @row: all measurements of the workload, the latest last
 * @cell: for each entry of @row, the cell that was measured
 * @rows: number of rows
 * @capacity: number of rows for which @row has space
 */
struct jetwatt_workload_data {
	const uint32_t *size;
	size_t sizes;
	const struct jetwatt_estimator *by;
	double *time_ms, *power_w;
	struct jetwatt_row *row;
	struct jetwatt_cell *cell;
	size_t rows, capacity;
};

/**
 * struct jetwatt_observed - measurements of a board
 * @kind: kind of the plan
 * @mode: modes of the board
 * @n: number of modes
 * @works: number of workloads
 * @modes: number of modes measured for this query
 * @measured: number of measurements for this query
 * @work: the workloads
 * @fresh: for each mode, 1: measured for this query
 */
struct jetwatt_observed {
	enum jetwatt_slice_kind kind;
	const struct jetwatt_mode *mode;
	size_t n, works, modes, measured;
	struct jetwatt_workload_data work[JETWATT_OBSERVED_WORKS];
	unsigned char *fresh;
};

/**
 * jetwatt_observed_init() - start without measurements
 * @k: the measurements
 * @kind: kind of the plan
 * @mode: different modes of the board; owned by the caller
 * @n: number of modes
 * @size: minibatch sizes of each workload; owned by the caller
 * @sizes: number of sizes of each workload
 *
 * Return: 0; -EINVAL if @n is 0, or a workload has no size or more than JETWATT_SLICE_SIZES;
 * -ENOMEM. The caller frees @k after an error too.
 */
int jetwatt_observed_init(struct jetwatt_observed *k, enum jetwatt_slice_kind kind,
			  const struct jetwatt_mode *mode, size_t n, const uint32_t *const *size,
			  const size_t *sizes);
/* Free the contents of @k. */
void jetwatt_observed_free(struct jetwatt_observed *k);

/* Start a new query. @forget: 1: discard all measurements; 0: keep the measurements of earlier
 * queries. */
void jetwatt_observed_query(struct jetwatt_observed *k, int forget);

/* Add a measurement of a cell. Return: 0; -EINVAL if the measurement is not finite and positive;
 * -ENOMEM. */
int jetwatt_observed_add(struct jetwatt_observed *k, const struct jetwatt_cell *c, double time_ms,
			 double power_w);

/* Return: index of a cell in @time_ms and @power_w of its workload. */
static inline size_t jetwatt_observed_at(const struct jetwatt_observed *k,
					 const struct jetwatt_cell *c)
{
	return c->size * k->n + c->mode;
}

/* Return: 1 if the cell has been measured, else 0. */
static inline int jetwatt_observed_has(const struct jetwatt_observed *k,
				       const struct jetwatt_cell *c)
{
	double t = k->work[c->work].time_ms[jetwatt_observed_at(k, c)];

	return t == t;
}

/* Set @plan to the best plan of measured cells. Return: 1 on success; 0 if none meets the limits.
 */
int jetwatt_observed_best(const struct jetwatt_observed *k, const struct jetwatt_slice_query *q,
			  struct jetwatt_slice_plan *plan);

/* Return: 1 if the mean power of a measured cell of the mode is above @budget watts, else 0. */
int jetwatt_observed_over(const struct jetwatt_observed *k, size_t mode, double budget);

/* Set @seen to 1 for modes with a measurement, else to 0. Return: number of modes with a
 * measurement. */
size_t jetwatt_observed_modes(const struct jetwatt_observed *k, unsigned char *seen);

/*
 * jetwatt_observed_end_of() returns in which third of the range of cores (by logarithm) a mode is:
 * 1: the lower third, 2: the upper third, 0: the middle third. jetwatt_observed_ends_missing() sets
 * @range (two entries) to the logarithms of the smallest and largest number of cores, and returns a
 * bit mask of the thirds at the ends (1: lower, 2: upper) that have no mode in @seen; 0 if all modes
 * have the same number. The effect of the number of cores is not monotonic
 * and no parametric mean predicts it, so both ends of the range of cores are measured.
 */
int jetwatt_observed_end_of(const struct jetwatt_observed *k, size_t mode, const double *range);
int jetwatt_observed_ends_missing(const struct jetwatt_observed *k, const unsigned char *seen,
			       double *range);

#endif
