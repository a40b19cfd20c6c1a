/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the cap makes of the samples: is too much drawn, and where to then.
 */
#ifndef JETWATT_DAEMON_CAP_LIMIT_H
#define JETWATT_DAEMON_CAP_LIMIT_H

#include "daemon/jetwattd.h"
#include "daemon/mean_variance.h"
#include "daemon/moving_mean.h"

/* So often: where nothing is known; and in a mode that was measured, where each batch of samples
 * wakes the cap for nothing. */
#define JETWATTD_JUDGED_MS	20
#define JETWATTD_JUDGED_HELD_MS	50

/**
 * struct jetwattd_judge - what has been drawn
 * @drawn: of all rails that belong to the total; who gathers samples adds them
 * @samples, @lost: since the last judgement; @clock, @temp_mc: of the last one
 * @swing: of the means over a window
 * @budget_w: of the last judgement, which was of the samples up to @judged_ns
 * @from_ns: samples before are not judged: they were drawn in a mode that was left, or under a
 *	higher budget; @met_ns: nor counted as time over the budget: under a higher budget
 * @owed_ns: of the last step down; @floored_ns: when there was no lower mode to step down to
 * @near_ns: since when the mean is so near the budget that sensors may hide that it is
 *	above; 0: it is not
 * @debt_j: that the last step down was for
 */
struct jetwattd_judge {
	struct jetwattd *d;
	struct jetwattd_window drawn;
	uint64_t samples, lost;
	struct jetwatt_mode clock;
	int32_t temp_mc;
	struct jetwattd_swing swing;
	double budget_w, debt_j;
	uint64_t judged_ns, near_ns, from_ns, met_ns, owed_ns, floored_ns;
};

/**
 * struct jetwattd_hearing - do the rails of the total answer?
 * @heard: bit r: rail r has had a value lately
 * @silent_ns: time of the first sample in a row in which a rail had no value, 0: it has one
 * @since_ns: time from which on all rails are heard, 0: they are not
 * @seeing: for long enough
 */
struct jetwattd_hearing {
	uint32_t heard;
	uint64_t silent_ns[JETWATT_RAILS_MAX], since_ns;
	int seeing;
};

/* cap_thread.c: one more sample. @total: the @nr rails that belong to the total. Return: index in @total
 * of a rail that no longer answers, -1: none. */
int jetwattd_hearing(struct jetwattd_hearing *h, const int *total, int nr, const struct jetwatt_power *p);

/* Whatever is to follow from the samples that have come. There are two or more. */
void jetwattd_judge(struct jetwattd_judge *j);

#endif
