/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last samples of power, and means over them.
 */
#ifndef JETWATT_DAEMON_MOVING_MEAN_H
#define JETWATT_DAEMON_MOVING_MEAN_H

#include <stddef.h>
#include <stdint.h>

#define JETWATTD_SAMPLES	32768	/* 10 s at 3 kHz */

/**
 * struct jetwattd_window - the energy up to each of the last samples
 * @t, @uj: when, in ns, and how much, from @first on in a ring; @nr of them
 * @w: power of the newest
 */
struct jetwattd_window {
	uint64_t t[JETWATTD_SAMPLES];
	double uj[JETWATTD_SAMPLES], w;
	size_t first, nr;
};

/* @gap: what was before is not known to lead here. */
void jetwattd_window_add(struct jetwattd_window *s, uint64_t time_ns, double w, int gap);

/* When the newest was taken. @s has one. */
uint64_t jetwattd_window_now(const struct jetwattd_window *s);

/* Mean power of the last @ns, or of all there is. @span: of how long. @s has a sample. */
double jetwattd_window_mean(const struct jetwattd_window *s, uint64_t ns, uint64_t *span);

/* For how long the mean of @window ns would still be above @budget_w if @w were drawn from
 * now on: where less than that was drawn before, it is the first to leave the window. Of what was
 * drawn only the last @known ns count, at most @window. */
uint64_t jetwattd_window_above(const struct jetwattd_window *s, double w, uint64_t window,
			       uint64_t known, double budget_w);

/* Joules above the budget that means over up to @window ns still have in them, the worst of
 * them: so much less has to be drawn before the budget may be drawn again. */
double jetwattd_window_debt(const struct jetwattd_window *s, uint64_t window, double budget_w);

#endif
