/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cap's decision: from the power samples, decide whether the budget or the limit of the short
 * window is exceeded, and which lower mode to apply in that case. The cap knows no job and no
 * learned data except one safe mode and the crest factors (highest divided by mean power) of the
 * modes measured last. It switches modes through the actuator. Its samples come from cap_thread.c.
 */
#ifndef JETWATT_DAEMON_CAP_LIMIT_H
#define JETWATT_DAEMON_CAP_LIMIT_H

#include <stdatomic.h>

#include "daemon/actuator.h"
#include "daemon/mean_variance.h"
#include "daemon/moving_mean.h"
#include "jetwatt.h"

/* Maximum power of the safe mode, to which the cap steps down, as a fraction of the budget. */
#define JETWATTD_SAFE	0.9
/* Time after a switch of the mode after which its transient no longer affects the power, in ns. */
#define JETWATTD_SETTLED_NS	2500000000ull

/* Interval of the cap's decisions, in ms, in all other cases than that of JETWATTD_JUDGED_HELD_MS. */
#define JETWATTD_JUDGED_MS	20
/* Interval of the cap's decisions while a mode is held or while idle, in ms, unless the short window
 * has a limit, or no mode is applied and the power is near the budget (cap_thread.c). Each message
 * takes as much CPU time as six samples, so the interval is as long as the cap's reaction permits. */
#define JETWATTD_JUDGED_HELD_MS	80

/* Number of modes of which struct jetwattd_cap has the crest factor. */
#define JETWATTD_CRESTS	8

/**
 * struct jetwattd_cap - the budget and the power drawn; protected by jetwattd's lock
 *
 * Input of the cap:
 * @budget_w: budget in force, in W; 0: no budget
 * @cap_w: limit of the mean power over the short averaging window, in W, in force while there is a
 *	budget; 0: no such limit
 * @cap_window_s: length of the short averaging window of the policy, in s
 * @safe: mode to step down to, if @have_safe is 1
 * @have_safe: 1: @safe is valid
 * @safe_w: power in @safe, in W
 * @measuring_ns: start of the reading in progress, ns: earlier mean powers are not used for @swing
 *	and @peak_w; 0: no reading is in progress, so @swing does not change
 *
 * Output of the cap:
 * @energy_debt: 1 after a cap event, until the energy overshoot has been repaid
 * @cap_hit: 1: a cap event has occurred; the loop sets it to 0
 * @left_w: mean power in the mode that the cap left, in W; raised if the short window exceeded its
 *	limit, see cap_throttle(); 0: unknown
 * @left_sd: relative standard error of @left_w
 * @left_peak: 1: @left_w was raised for the short window
 * @left: the mode that the cap left
 * @stepped_ns: time of the last cap event, ns, CLOCK_MONOTONIC
 * @mean_w: mean power over the averaging window, in W
 * @here_w: mean power since the last switch, in W; 0: not known yet
 * @swing: relative standard deviation, within one mode, of the mean power over one averaging window
 * @peak_w: highest mean power over the short averaging window since the last switch or the start of
 *	the last reading, in W; 0: not known yet
 * @crest: for the modes measured last, highest mean power over the short averaging window divided
 *	by the mean power
 * @crests: number of values that were stored in @crest
 * @over_s: total time for which the mean power over the averaging window exceeded the budget, in s
 * @over_cap_s: total time for which the mean power over the short averaging window exceeded @cap_w,
 *	in s
 * @cap_events: number of cap events
 * @cap_floor_hits: number of cap events at which no lower mode was available
 * @samples: number of power samples received
 * @lost: number of power samples lost
 * @clock: clock frequencies at the last sample
 */
struct jetwattd_cap {
	double budget_w, cap_w, cap_window_s;
	struct jetwatt_mode safe;
	int have_safe;
	double safe_w;
	uint64_t measuring_ns;

	int energy_debt, cap_hit, left_peak;
	double left_w, left_sd;
	struct jetwatt_mode left;
	uint64_t stepped_ns;
	double mean_w, here_w, swing, peak_w, crest[JETWATTD_CRESTS], over_s, over_cap_s;
	unsigned int crests;
	uint64_t cap_events, cap_floor_hits, samples, lost;
	struct jetwatt_mode clock;
};

/* Margin, in standard deviations of the mean power over one averaging window, that is kept
 * between a mode's mean power and the budget. */
#define JETWATTD_SWINGS	3

/* cap_room.c: return the maximum mean power of a mode, in W, with which the budget holds although the
 * mean power over single averaging windows scatters about the mean of the mode, and with which the
 * peaks stay within the limit of the short window. */
double jetwattd_cap_limit(const struct jetwattd_cap *c);
/* Store the ratio of the peak power of the short window to the mean power of a measured mode. @mean_w: that mean
 * power, in W. */
void jetwattd_cap_measured(struct jetwattd_cap *c, double mean_w);

/**
 * struct jetwattd_cap_check - state of the cap's decisions; belongs to the thread of the cap
 * @cap: budget and results
 * @act: actuator that applies the mode at a step down
 * @invalidate: set to 1 at a cap event, to invalidate the reading in progress
 * @window_s: length of the averaging window of the policy, in s
 * @off: 1: jetwattd must not switch the board, so the cap only measures
 * @drawn: ring of total power samples; the caller adds samples
 * @samples: number of samples since the last decision
 * @lost: number of samples lost since the last decision
 * @clock: clock frequencies at the last sample
 * @swing: statistics of the mean power over single averaging windows
 * @budget_w: budget at the last decision, in W
 * @cap_w: limit of the short window at the last decision, in W
 * @debt_j: energy overshoot at the last cap event, in J: energy above the budget that has to be
 *	saved before the budget may be drawn again
 * @judged_ns: time of the newest sample at the last decision, ns
 * @near_ns: time, ns, since which the mean power has been so close to the budget that the
 *	error of the sensors may hide an excess; 0: it is not that close, or the mode is the lowest
 * @from_ns: samples before this time, ns, are not compared with the budget: they belong to a
 *	mode that the cap left, or to a higher limit
 * @met_ns: samples before this time, ns, do not count in the reported mean power: they
 *	belong to a higher limit
 * @owed_ns: time of the last cap event, ns
 * @floored_ns: time, ns, of the last cap event at which no lower mode was available
 */
struct jetwattd_cap_check {
	struct jetwattd_cap *cap;
	struct jetwattd_actuator *act;
	atomic_int *invalidate;
	double window_s;
	int off;
	struct jetwattd_window drawn;
	uint64_t samples, lost;
	struct jetwatt_mode clock;
	struct jetwattd_swing swing;
	double budget_w, cap_w, debt_j;
	uint64_t judged_ns, near_ns, from_ns, met_ns, owed_ns, floored_ns;
};

/**
 * struct jetwattd_rail_check - which rails of the total deliver values
 * @alive: bit r is set while rail r delivers values, with gaps of at most 250 ms
 * @silent_ns: for each rail, time of the first of the successive samples without a value of
 *	the rail, ns; 0: the last sample has a value
 * @since_ns: time since which all rails of the total deliver values; 0: some rails deliver
 *	no values
 * @seeing: 1: all rails have delivered values for at least 0.5 s
 */
struct jetwattd_rail_check {
	uint32_t alive;
	uint64_t silent_ns[JETWATT_RAILS_MAX], since_ns;
	int seeing;
};

/* cap_thread.c: update @h with one sample. @total: indices of the @nr rails of the total.
 * Return: index in @total of a rail without values for 1.5 s, -1: no such rail. */
int jetwattd_rail_check(struct jetwattd_rail_check *h, const int *total, int nr, const struct jetwatt_power *p);

/* Compare the power of the samples received so far, at least two, with the budget and the limit of the
 * short window, and step down if one of them is exceeded. Caller holds the lock. */
void jetwattd_cap_check(struct jetwattd_cap_check *j);

#endif
