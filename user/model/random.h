/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pseudo-random numbers with the state in the caller's variable: splitmix64, from the public-domain
 * description by S. Vigna.
 */
#ifndef JETWATT_MODEL_RANDOM_H
#define JETWATT_MODEL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Return: 64 random bits; @s: the state of the random numbers, advanced by the call. */
static inline uint64_t jetwatt_random(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Return: a random number in [0, 1). */
static inline double jetwatt_random_unit(uint64_t *s)
{
	return (jetwatt_random(s) >> 11) * 0x1p-53;
}

/*
 * Move a random subset to the front of @at: its first @k entries become @k of its @n entries, all
 * subsets equally likely.
 */
static inline void jetwatt_random_draw(uint64_t *s, size_t *at, size_t n, size_t k)
{
	for (size_t i = 0; i < k && i < n; i++) {
		size_t j = i + (size_t)(jetwatt_random_unit(s) * (n - i)), t = at[i];

		at[i] = at[j];
		at[j] = t;
	}
}

#endif
