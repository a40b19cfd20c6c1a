/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring of the newest power samples with their cumulative energy, so that the mean power over any
 * recent span takes a binary search. For the cap.
 *
 * A chip may average with a recursive filter, out += (new - out) / N. Its values then follow the power with a
 * time constant L, and the energy drawn up to a time is the integral of the values plus L times the value at
 * that time: the second term is the energy that the values do not show yet. A step of the ADC in that value
 * counts much in a short span, so the mean over less than L / 2 is that of the values.
 */
#ifndef JETWATT_DAEMON_MOVING_MEAN_H
#define JETWATT_DAEMON_MOVING_MEAN_H

#include <stddef.h>
#include <stdint.h>

/* More than the samples of 10 s, the longest window, at 5 kHz, the highest rate. */
#define JETWATTD_SAMPLES	65536

/**
 * struct jetwattd_window - the newest samples
 * @t: time of each sample, in ns
 * @uj: energy from the first sample after the last gap up to each sample, in uJ
 * @late_uj: energy up to each sample that the chips' values do not show yet, in uJ
 * @w: power of the newest sample, in W
 * @filter_ns: longest time constant of the chips' filters, in ns; 0: the chips have none
 * @first: index of the oldest sample in the ring
 * @nr: number of samples
 */
struct jetwattd_window {
	uint64_t t[JETWATTD_SAMPLES];
	double uj[JETWATTD_SAMPLES], late_uj[JETWATTD_SAMPLES], w;
	uint64_t filter_ns;
	size_t first, nr;
};

/* Add a sample. @late_uj: sum of each chip's time constant times its power, in uJ. @gap: 1: samples are
 * missing before the new sample, so that all earlier samples are dropped. */
void jetwattd_window_add(struct jetwattd_window *s, uint64_t time_ns, double w, double late_uj, int gap);

/* Return the time of the newest sample, in ns. @s must hold at least one sample. */
uint64_t jetwattd_window_now(const struct jetwattd_window *s);

/* Return the mean power over the last @ns nanoseconds, in W, or over all samples if they cover
 * less. @span: set to the time over which the mean was taken, in ns. @s holds at least one
 * sample. */
double jetwattd_window_mean(const struct jetwattd_window *s, uint64_t ns, uint64_t *span);

/* Return the time, in ns, for which the mean power over a window of @window ns would still
 * exceed @budget_w if the power @w were drawn from now on. The mean power may rise at first,
 * when the samples that leave the window are those of lower power. Only the samples of the last
 * @known ns are used; @known is at most @window. */
uint64_t jetwattd_window_above(const struct jetwattd_window *s, double w, uint64_t window,
			       uint64_t known, double budget_w);

/* Return the energy overshoot, in J: the largest energy above @budget_w in any span that ends
 * now and is at most @window ns long. After an overshoot, power must stay below the budget until
 * the energy of the overshoot is saved. */
double jetwattd_window_debt(const struct jetwattd_window *s, uint64_t window, double budget_w);

#endif
