/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Further rows for a fitted model, for a fraction of the cost of a fit.
 */
#ifndef JETWATT_REFIT_H
#define JETWATT_REFIT_H

#include "model/fit.h"

/**
 * jetwatt_refit() - the same surfaces through other rows
 * @from: whose hyper-parameters, beliefs and honesty are kept; its forms'
 *	parameters are where this one's begin. A row that it had is as suspicious as
 *	it was there
 * @row: @n of them, all that the new model is to know
 *
 * Return: 0; -EINVAL: a mode with a knob at zero, or no row; -EDOM; -ENOMEM.
 */
int jetwatt_refit(struct jetwatt_model **m, const struct jetwatt_model *from,
		  const struct jetwatt_row *row, size_t n);

#endif
