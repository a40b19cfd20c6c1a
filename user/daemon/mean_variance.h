/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the means over a window swing about the mean of all, in one and the same mode.
 */
#ifndef JETWATT_DAEMON_MEAN_VARIANCE_H
#define JETWATT_DAEMON_MEAN_VARIANCE_H

#include <stdint.h>

/* Relative standard deviation, before anything is known. */
#define JETWATTD_SWING	0.006

/**
 * struct jetwattd_swing - means over windows
 * @next_ns: when the next one ends
 * @mean_w, @nr: of those since the last switch
 * @squares, @n: of how far they were off, and how many can tell
 */
struct jetwattd_swing {
	uint64_t next_ns;
	double mean_w, nr, squares, n;
};

/* It is @now, and @w the mean over the last @window; 0: it is of more than one thing. Since
 * @from it has been of one. Return: the swing, of @was before. */
double jetwattd_swing(struct jetwattd_swing *s, double w, uint64_t now, uint64_t from,
		      uint64_t window, double was);

#endif
