/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the cap makes of the samples: is too much drawn, and where to then. It knows no job and
 * nothing of what is learned; it switches by the actuator.
 */
#ifndef JETWATT_DAEMON_CAP_LIMIT_H
#define JETWATT_DAEMON_CAP_LIMIT_H

#include <stdatomic.h>

#include "daemon/actuator.h"
#include "daemon/mean_variance.h"
#include "daemon/moving_mean.h"
#include "jetwatt.h"

/* What is stepped down to is well below the budget. */
#define JETWATTD_SAFE	0.9
/* What is left of a switch by then does not matter any more. */
#define JETWATTD_SETTLED_NS	2500000000ull

/* So often: where nothing is known; and in a mode that was measured, where each batch of samples
 * wakes the cap for nothing. */
#define JETWATTD_JUDGED_MS	20
#define JETWATTD_JUDGED_HELD_MS	50

/**
 * struct jetwattd_cap - the budget, and what has become of it
 *
 * Under jetwattd's lock.
 *
 * For the cap to know:
 * @budget_w: that holds now, 0: none
 * @safe, @have_safe: where it steps down to; @safe_w: what is drawn there
 * @measuring_ns: since when nothing but the job is in the means, 0: it may not be so
 *
 * What it tells:
 * @owing: since it stepped down, until so much less was drawn as had been too much
 * @tripped: it has stepped down since the loop last looked; @tripped_w: power in the mode that it
 *	left, and @tripped_sd: what that is worth; 0: not known
 * @left: that mode; @stepped_ns: when
 * @mean_w: over the window; @here_w: since the last switch, 0: not known yet
 * @swing: relative standard deviation of the mean over a window, in a mode
 * @over_s: for how long the mean over a window has been above the budget
 * @trips: steps down; @floors: of those, there was nothing lower; @samples, @lost: of power
 * @clock: as sampled last
 */
struct jetwattd_cap {
	double budget_w;
	struct jetwatt_mode safe;
	int have_safe;
	double safe_w;
	uint64_t measuring_ns;

	int owing, tripped;
	double tripped_w, tripped_sd;
	struct jetwatt_mode left;
	uint64_t stepped_ns;
	double mean_w, here_w, swing, over_s;
	uint64_t trips, floors, samples, lost;
	struct jetwatt_mode clock;
};

/* This number of standard deviations of a window's mean stay below the budget. */
#define JETWATTD_SWINGS	3

/* What a mode may draw in the mean, for the budget to hold in every window, in W: the means over a
 * window swing about it. */
static inline double jetwattd_cap_limit(const struct jetwattd_cap *c)
{
	return c->budget_w / (1 + JETWATTD_SWINGS * c->swing);
}

/**
 * struct jetwattd_judge - what has been drawn
 * @cap: what it is judged by, and told; @act: steps down
 * @cut: set as it steps down: what is being measured is void
 * @window_s: of the policy; @off: the board is not jetwattd's to switch
 * @drawn: of all rails that belong to the total; who gathers samples adds them
 * @samples, @lost: since the last judgement; @clock: of the last one
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
	struct jetwattd_cap *cap;
	struct jetwattd_actuator *act;
	atomic_int *cut;
	double window_s;
	int off;
	struct jetwattd_window drawn;
	uint64_t samples, lost;
	struct jetwatt_mode clock;
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

/* Whatever is to follow from the samples that have come. There are two or more. Under the lock. */
void jetwattd_judge(struct jetwattd_judge *j);

#endif
