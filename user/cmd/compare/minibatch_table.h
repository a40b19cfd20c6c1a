/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace as one row a minibatch: what each took, by rail, phase and clock. */
#ifndef JETWATT_CMD_COMPARE_MINIBATCH_TABLE_H
#define JETWATT_CMD_COMPARE_MINIBATCH_TABLE_H

#include "measure/replay.h"

/* Columns; behind them come the rails of the total. */
enum {
	JETWATT_ROWS_TIME,	/* ms */
	JETWATT_ROWS_FETCH,	/* ms until the GPU got work */
	JETWATT_ROWS_GPU,	/* ms in which it had work */
	JETWATT_ROWS_ENERGY,	/* J */
	JETWATT_ROWS_POWER,	/* W */
	JETWATT_ROWS_CORES,
	JETWATT_ROWS_CPU,	/* MHz, means over the minibatch, as the next two */
	JETWATT_ROWS_GPU_CLOCK,
	JETWATT_ROWS_EMC,
	JETWATT_ROWS_RAILS,	/* J of each */
	JETWATT_ROWS_MAX = JETWATT_ROWS_RAILS + JETWATT_RAILS_MAX
};

/**
 * struct jetwatt_rows - columns of equal length
 * @nr: minibatches of training, warm-up left out; @eval: of evaluation: time and
 *	energy only
 * @rail: labels of the total's rails
 */
struct jetwatt_rows {
	double *column[JETWATT_ROWS_MAX];
	size_t nr;
	double *eval_ms, *eval_j;
	size_t nr_eval;
	char rail[JETWATT_RAILS_MAX][JETWATT_LABEL_LEN], board[64], command[256];
	int nr_rails;
};

/* Reads @path twice: a file, no pipe. Says what is wrong. Return: exit code. */
int jetwatt_rows_read(struct jetwatt_rows *rows, const char *path);
void jetwatt_rows_free(struct jetwatt_rows *rows);

#endif
