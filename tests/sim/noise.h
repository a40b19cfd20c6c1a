/* SPDX-License-Identifier: GPL-2.0-only */
/* Generate pseudo-random numbers from a seed, so that a run of the simulation can be repeated. */
#ifndef SIM_NOISE_H
#define SIM_NOISE_H

#include <linux/types.h>

struct sim_noise {
	u64 state;
};

void sim_noise_seed(struct sim_noise *n, u64 seed);
u64 sim_noise_u64(struct sim_noise *n);
/*
 * Return: Gaussian noise with mean 0 and standard deviation 65536, as a sum of 8 uniform numbers;
 * its maximum is 4.9 standard deviations.
 */
s32 sim_noise_gauss(struct sim_noise *n);

#endif
