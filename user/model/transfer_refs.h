/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The references, for transfer.c and transfer_refs.c. The references stay the same while the model
 * of a job is fitted again for each of its rows, so each mode is predicted once.
 */
#ifndef JETWATT_MODEL_TRANSFER_REFS_H
#define JETWATT_MODEL_TRANSFER_REFS_H

#include "model/mode_index.h"
#include "model/transfer.h"

enum { TIME, POWER, SIDES };

/**
 * struct jetwatt_transfer - references
 * @users: atomic counter
 * @n: number of references
 * @busy: 1: a thread uses @mode, @said, @modes, @max and @index
 * @mode: the @modes modes that the references have predicted; there is memory for @max of them
 * @said: for each of them the predictions of all references
 * @index: indices of @mode
 * @ref: of each reference its model, the lowest and highest level of each knob, the mode of average
 *	power, and the means of log time and log power over its rows
 */
struct jetwatt_transfer {
	unsigned int users;
	size_t n;
	char busy;
	struct jetwatt_mode *mode;
	struct jetwatt_prediction *said;
	size_t modes, max;
	struct jetwatt_mode_index index;
	struct {
		struct jetwatt_model *m;
		struct jetwatt_mode lo, hi, middle;
		double mean[SIDES];
	} ref[];
};

/* Set @said to the predictions for the @n modes: for each mode that of each reference. Several
 * threads may call the function. Return: 0, negative errno. */
int jetwatt_transfer_said(struct jetwatt_transfer *t, const struct jetwatt_mode *mode, size_t n,
			  struct jetwatt_prediction *said);

#endif
