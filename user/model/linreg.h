/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linear regression after Prashanthi et al., Characterizing the Performance of
 * Jetson edge devices for training (POMACS 2022, doi 10.1145/3570604), 5.7:
 * time = a f_cpu + b cores + c f_gpu + d f_emc + e, and energy linear in those
 * and the predicted time. A baseline: real time is nearer to sums of 1/f.
 */
#ifndef JETWATT_LINREG_H
#define JETWATT_LINREG_H

#include "model/model.h"

#define JETWATT_LINREG_MODES	4
#define JETWATT_LINREG_TERMS	6

/**
 * struct jetwatt_linreg - coefficients
 * @most: the units of the four features: the highest step of each knob
 * @time: ms: cores, f_cpu, f_gpu, f_emc, 1
 * @energy: mJ per minibatch: the same and predicted time in units of @time_ms
 * @time_ms: mean of the measured times
 * @time_least, @power_least: half of the least measured: a line knows no zero
 */
struct jetwatt_linreg {
	struct jetwatt_mode most;
	double time[JETWATT_LINREG_TERMS], energy[JETWATT_LINREG_TERMS];
	double time_ms, time_least, power_least;
};

/**
 * jetwatt_linreg_modes() - the paper's four modes, on any board
 * @mode: @n modes of the board
 * @at: indices of the nearest ones, relative to the highest step of each knob
 *
 * On Xavier AGX they were (8, 2100, 900, 1600), (2, 2100, 900, 1600), (8, 2265,
 * 1377, 1333) and (8, 2265, 1377, 1600): cores, CPU, GPU, EMC in MHz.
 * Return: how many different ones, up to 4.
 */
int jetwatt_linreg_modes(const struct jetwatt_mode *mode, size_t n,
			 size_t at[JETWATT_LINREG_MODES]);

/**
 * jetwatt_linreg_fit() - least squares
 * @most: the highest steps of the board
 *
 * Four modes do not determine five coefficients: of all that fit best, the
 * smallest ones are taken.
 * Return: 0; -ENODATA: no row; -EINVAL: a row that is not finite and positive;
 * -ENOMEM.
 */
int jetwatt_linreg_fit(struct jetwatt_linreg *l, const struct jetwatt_row *row, size_t n,
		       const struct jetwatt_mode *most);

/* Spreads are 0: unknown. */
void jetwatt_linreg_predict(const struct jetwatt_linreg *l, const struct jetwatt_mode *mode,
			    size_t n, struct jetwatt_prediction *out);

#endif
