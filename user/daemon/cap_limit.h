/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cap's decision: from the power samples, decide whether the budget is exceeded and which lower
 * mode to apply then. Knows no job and no learned data except one safe mode; it switches through
 * the actuator. Fed by cap_thread.c.
 */
#ifndef JETWATT_DAEMON_CAP_LIMIT_H
#define JETWATT_DAEMON_CAP_LIMIT_H

#include <stdatomic.h>

#include "daemon/actuator.h"
#include "daemon/mean_variance.h"
#include "daemon/moving_mean.h"
#include "jetwatt.h"

/* Maximum power of the mode that the cap steps down to, as a fraction of the budget. */
#define JETWATTD_SAFE	0.9
/* Time after a switch of the mode after which its transient no longer affects the power, in ns. */
#define JETWATTD_SETTLED_NS	2500000000ull

/* Interval of the cap's decisions in a mode of unknown power, in ms. */
#define JETWATTD_JUDGED_MS	20
/* Interval of the cap's decisions in a measured mode, or while idle, in ms. A shorter interval
 * would only cost CPU time. */
#define JETWATTD_JUDGED_HELD_MS	50

/**
 * struct jetwattd_cap - the budget and the power drawn; protected by jetwattd's lock
 *
 * Input of the cap:
 * @budget_w: budget in force, in W; 0: none
 * @safe: mode to step down to, if @have_safe is 1
 * @have_safe: 1: @safe is valid
 * @safe_w: power in @safe, in W
 * @measuring_ns: time since which only the job has drawn power, so that mean powers may be used for
 *	@swing; 0: unknown
 *
 * Output of the cap:
 * @energy_debt: 1 after a cap event, until the energy overshoot has been repaid
 * @cap_hit: 1: a cap event has occurred; the loop clears it
 * @tripped_w: mean power in the mode that the cap left, in W; 0: unknown
 * @tripped_sd: relative standard error of @tripped_w
 * @left: the mode that the cap left
 * @stepped_ns: time of the last cap event, CLOCK_MONOTONIC
 * @mean_w: mean power over the averaging window, in W
 * @here_w: mean power since the last switch, in W; 0: not known yet
 * @swing: relative standard deviation, within one mode, of the mean power over a window
 * @over_s: total time for which the mean power over the window exceeded the budget, in s
 * @cap_events: number of cap events
 * @cap_floor_hits: number of cap events at which no lower mode was available
 * @samples: number of power samples received
 * @lost: number of power samples lost
 * @clock: clocks at the last sample
 */
struct jetwattd_cap {
	double budget_w;
	struct jetwatt_mode safe;
	int have_safe;
	double safe_w;
	uint64_t measuring_ns;

	int energy_debt, cap_hit;
	double tripped_w, tripped_sd;
	struct jetwatt_mode left;
	uint64_t stepped_ns;
	double mean_w, here_w, swing, over_s;
	uint64_t cap_events, cap_floor_hits, samples, lost;
	struct jetwatt_mode clock;
};

/* Number of standard deviations of a window's mean that are kept between a mode's mean power and
 * the budget. */
#define JETWATTD_SWINGS	3

/* Return the maximum mean power of a mode, in W, with which the budget holds in every window: the
 * means over single windows scatter about the mode's mean. */
static inline double jetwattd_cap_limit(const struct jetwattd_cap *c)
{
	return c->budget_w / (1 + JETWATTD_SWINGS * c->swing);
}

/**
 * struct jetwattd_cap_check - state of the cap's decisions; belongs to the thread of the cap
 * @cap: budget and results
 * @act: actuator for steps down
 * @cut: set to 1 at a cap event, to invalidate the reading in progress
 * @window_s: length of the averaging window of the policy, in s
 * @off: 1: jetwattd must not switch the board, so the cap only measures
 * @drawn: power of all rails of the total; the caller adds samples
 * @samples: samples since the last decision
 * @lost: samples lost since the last decision
 * @clock: clocks at the last sample
 * @swing: statistics of the mean powers over windows
 * @budget_w: budget at the last decision, in W
 * @debt_j: energy overshoot of the last cap event, in J
 * @judged_ns: time of the newest sample at the last decision
 * @near_ns: time since which the mean power has been so close to the budget that the error of the
 *	sensors may hide an excess; 0: the mean power is not that close
 * @from_ns: earlier samples are not compared with the budget: they belong to a mode that the cap
 *	left, or to a higher budget
 * @met_ns: earlier samples do not count in the reported mean power: they belong to a higher
 *	budget
 * @owed_ns: time of the last cap event
 * @floored_ns: time of the last cap event at which no lower mode was available
 */
struct jetwattd_cap_check {
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
 * struct jetwattd_rail_check - which rails of the total deliver values
 * @heard: bit r: rail r has delivered values recently
 * @silent_ns: for each rail the time of the first sample in a row without a value; 0: the last
 *	sample has one
 * @since_ns: time since which all rails of the total deliver values; 0: not all do
 * @seeing: 1: all rails have delivered values for at least 0.5 s
 */
struct jetwattd_rail_check {
	uint32_t heard;
	uint64_t silent_ns[JETWATT_RAILS_MAX], since_ns;
	int seeing;
};

/* cap_thread.c: update the state with one sample. @total: indices of the @nr rails of the total.
 * Return: index in @total of a rail without values for 1.5 s, -1: none. */
int jetwattd_rail_check(struct jetwattd_rail_check *h, const int *total, int nr, const struct jetwatt_power *p);

/* Compare the samples received so far, at least two, with the budget, and step down if it is
 * exceeded. Caller holds the lock. */
void jetwattd_cap_check(struct jetwattd_cap_check *j);

#endif
