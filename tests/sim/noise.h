/* SPDX-License-Identifier: GPL-2.0-only */
/* Pseudo-random numbers from a seed, so that a run can be repeated. */
#ifndef SIM_NOISE_H
#define SIM_NOISE_H

#include <linux/types.h>

struct sim_noise {
	u64 state;
};

void sim_noise_seed(struct sim_noise *n, u64 seed);
u64 sim_noise_u64(struct sim_noise *n);
/* Gaussian noise: mean 0, standard deviation 65536; a sum of 8 uniform numbers, max. 4.9 sigma. */
s32 sim_noise_gauss(struct sim_noise *n);

#endif
