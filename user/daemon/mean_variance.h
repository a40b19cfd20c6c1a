/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swing: relative standard deviation of the mean power over single windows about the mean of all
 * windows in one mode. The cap keeps a margin of several times the swing below the budget.
 */
#ifndef JETWATT_DAEMON_MEAN_VARIANCE_H
#define JETWATT_DAEMON_MEAN_VARIANCE_H

#include <stdint.h>

/* Relative standard deviation that is assumed before any window was measured. */
#define JETWATTD_SWING	0.006

/**
 * struct jetwattd_swing - running statistics of the mean power over windows
 * @next_ns: end of the averaging window in progress, ns
 * @mean_w: mean power of the windows since the last change of the mode or the job, in W
 * @nr: number of windows in @mean_w
 * @squares: sum of the squared relative deviations of windows from @mean_w, over all modes
 * @n: number of deviations in @squares
 */
struct jetwattd_swing {
	uint64_t next_ns;
	double mean_w, nr, squares, n;
};

/**
 * jetwattd_swing() - update the statistics
 * @s: statistics
 * @w: mean power over the last @window, in W; 0: no reading is in progress, so @w is unknown
 * @now: present time, in ns
 * @from: time since which mode and job are unchanged, in ns
 * @window: length of a window, in ns
 * @was: the swing before
 *
 * Return: the swing; the earlier value @was if no window has ended, @w is unknown, or the window
 * starts a new mean.
 */
double jetwattd_swing(struct jetwattd_swing *s, double w, uint64_t now, uint64_t from,
		      uint64_t window, double was);

#endif
