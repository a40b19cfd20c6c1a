/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as a table with one row per minibatch: time, energy, power and clocks; for jetwatt
 * compare.
 */
#ifndef JETWATT_CMD_COMPARE_MINIBATCH_TABLE_H
#define JETWATT_CMD_COMPARE_MINIBATCH_TABLE_H

#include "measure/replay.h"

/* Columns of the table; from index JETWATT_TABLE_RAILS on, the energies of the rails of the total
 * follow. */
enum {
	JETWATT_TABLE_TIME,	/* time (duration) of the minibatch, ms */
	/* time from the start of the minibatch to the first launch or wait, ms */
	JETWATT_TABLE_FETCH,
	/* time of a minibatch in which the GPU has work, ms; a lower limit without traced launches */
	JETWATT_TABLE_GPU,
	JETWATT_TABLE_ENERGY,	/* total energy, J */
	JETWATT_TABLE_POWER,	/* mean total power, W */
	/* means over the minibatch: number of online cores, then clocks in MHz */
	JETWATT_TABLE_CORES,
	JETWATT_TABLE_CPU,
	JETWATT_TABLE_GPU_CLOCK,
	JETWATT_TABLE_EMC,
	JETWATT_TABLE_RAILS,	/* J, one column per rail */
	JETWATT_TABLE_MAX = JETWATT_TABLE_RAILS + JETWATT_RAILS_MAX
};

/**
 * struct jetwatt_minibatch_table - one run; all columns have the same length
 * @column: the columns, JETWATT_TABLE_*, @nr values each
 * @nr: number of training minibatches of known energy, of phase 1 if there are several phases,
 *	without the first ones (warm-up)
 * @eval_ms, @eval_j, @nr_eval: time and energy of evaluation minibatches, and their number
 * @rail, @nr_rails: labels of the rails of the total
 * @board, @command: from the trace
 * @unit, @nr_units: figures per work unit of the counters in the trace; sd: relative standard errors,
 *	of the measurement and of the variation during the run; j is 0 if the figures are not known
 */
struct jetwatt_minibatch_table {
	double *column[JETWATT_TABLE_MAX];
	size_t nr;
	double *eval_ms, *eval_j;
	size_t nr_eval;
	char rail[JETWATT_RAILS_MAX][JETWATT_LABEL_LEN], board[64], command[256];
	int nr_rails;
	struct jetwatt_table_unit {
		char name[JETWATT_UNIT_NAME_LEN];
		double j, ms, w, j_sd, ms_sd, w_sd;
	} unit[JETWATT_UNITS_MAX];
	int nr_units;
};

/* Read the trace @path. The trace is read twice, so @path must be a file, not a pipe. Return: 0, or
 * an exit code after printing the error. The caller frees @rows after success and after an
 * error. */
int jetwatt_minibatch_table_read(struct jetwatt_minibatch_table *rows, const char *path);
/* Free the columns of @rows. */
void jetwatt_minibatch_table_free(struct jetwatt_minibatch_table *rows);

#endif
