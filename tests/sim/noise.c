// SPDX-License-Identifier: GPL-2.0-only
/* Generate pseudo-random numbers from a seed. */
#include "noise.h"

void sim_noise_seed(struct sim_noise *n, u64 seed)
{
	int i;

	n->state = seed * 0x9e3779b97f4a7c15ULL + 0x6a09e667f3bcc909ULL;
	if (!n->state)
		n->state = 1;
	for (i = 0; i < 8; i++)
		sim_noise_u64(n);
}

/*
 * xorshift64*, Marsaglia 2003 and Vigna 2016. The low bits of this generator's numbers are the
 * least random.
 */
u64 sim_noise_u64(struct sim_noise *n)
{
	n->state ^= n->state >> 12;
	n->state ^= n->state << 25;
	n->state ^= n->state >> 27;
	return n->state * 0x2545f4914f6cdd1dULL;
}

s32 sim_noise_gauss(struct sim_noise *n)
{
	s64 sum = -262140;	/* minus 8 times the mean of a random u16 */
	int i, k;

	for (i = 0; i < 2; i++) {
		u64 r = sim_noise_u64(n);

		for (k = 0; k < 4; k++, r >>= 16)
			sum += r & 0xffff;
	}
	return (sum * 80265) >> 16;	/* scale to deviation 65536: factor sqrt(12 / 8) */
}
