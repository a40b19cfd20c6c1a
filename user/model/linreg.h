/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The predictor "linreg", a baseline: linear regression of Prashanthi et al., Characterizing the
 * Performance of Jetson edge devices for training (POMACS 2022,
 * doi 10.1145/3570604), section 5.7. Time = a f_cpu + b cores + c f_gpu + d f_emc + e; energy is
 * linear in these features and the predicted time. The regression is weak because the real time
 * resembles a sum of terms in 1 / f.
 */
#ifndef JETWATT_LINREG_H
#define JETWATT_LINREG_H

#include "model/model.h"

/* Number of modes that are measured, and of terms in the energy. */
#define JETWATT_LINREG_MODES	4
#define JETWATT_LINREG_TERMS	6

/**
 * struct jetwatt_linreg - coefficients
 * @highest: highest level of each knob; features are levels divided by this highest level
 * @time: milliseconds per unit of cores, f_cpu, f_gpu, f_emc, and the constant
 * @energy: millijoules per minibatch, for the same terms and for the predicted time over @time_ms
 * @time_ms: mean of the measured times
 * @time_min: half of the shortest measured time: lower bound of predictions, in milliseconds
 * @power_min: half of the lowest measured power: lower bound of predictions, in watts
 */
struct jetwatt_linreg {
	struct jetwatt_mode highest;
	double time[JETWATT_LINREG_TERMS], energy[JETWATT_LINREG_TERMS];
	double time_ms, time_min, power_min;
};

/**
 * jetwatt_linreg_modes() - find the paper's four modes on any board
 * @mode: modes of the board
 * @n: number of modes
 * @at: set to the indices of the modes nearest to the paper's four modes. Levels are compared as
 *	shares of the highest level of each knob
 *
 * On Xavier AGX the four modes are (8, 2100, 900, 1600), (2, 2100, 900, 1600), (8, 2265, 1377,
 * 1333) and (8, 2265, 1377, 1600): cores, and CPU, GPU and EMC in MHz.
 *
 * Return: number of different modes in @at, up to 4.
 */
int jetwatt_linreg_modes(const struct jetwatt_mode *mode, size_t n,
			 size_t at[JETWATT_LINREG_MODES]);

/**
 * jetwatt_linreg_fit() - fit by least squares
 * @l: set to the coefficients
 * @row: rows to fit to
 * @n: number of rows
 * @highest: highest level of each knob of the board
 *
 * Four modes do not determine five coefficients: of all best fits, the one with the smallest
 * coefficients is chosen.
 *
 * Return: 0; -ENODATA if @n is 0; -EINVAL if a time or power is not finite and positive, a required
 * knob of a mode or of @highest is 0, or the numbers admit no fit; -ENOMEM.
 */
int jetwatt_linreg_fit(struct jetwatt_linreg *l, const struct jetwatt_row *row, size_t n,
		       const struct jetwatt_mode *highest);

/* Set @out to @n predictions; standard deviations are 0 (unknown). */
void jetwatt_linreg_predict(const struct jetwatt_linreg *l, const struct jetwatt_mode *mode,
			    size_t n, struct jetwatt_prediction *out);

#endif
