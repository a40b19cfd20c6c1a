/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt profile --seed-board: measure calibration kernels in a few modes each, so that the
 * profile database of a new board has references for the first job.
 */
#ifndef JETWATT_CMD_PROFILE_SEED_H
#define JETWATT_CMD_PROFILE_SEED_H

#include "board/board.h"
#include "tune/profile_store.h"
#include "util/args.h"

/* Default maximum number of modes in which each kernel is measured. */
#define JETWATT_SEED_MODES	16

/**
 * struct jetwatt_seed - arguments
 * @args: global options
 * @store: options of the profile database
 * @program: program that runs kernels; NULL: compile one with nvcc
 * @modes: file of the modes to choose from; NULL: all modes of the board
 * @most: maximum number of modes in which each kernel is measured
 * @wait_s: timeout for GPU work of the kernels, in seconds
 */
struct jetwatt_seed {
	const struct jetwatt_args *args;
	struct jetwatt_profile_store_args store;
	const char *program, *modes;
	size_t most;
	double wait_s;
};

/* Measure the kernels and store the rows; rows of an earlier run are deleted. Return: 0, or an exit
 * code after printing the error. */
int jetwatt_seed_board(const struct jetwatt_seed *in, struct jetwatt_board *board);

#endif
