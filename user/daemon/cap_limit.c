// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the mean power over the policy's window within the budget, and the mean power over a shorter
 * window within the policy's "cap", independently of any prediction. If one of them is exceeded, the cap
 * steps down to a mode that was measured to be within the limits, and from there, or if none is known or
 * suffices, to the lowest mode. Raising the mode again is the loop's task (cap_recovery.c).
 */
#include "daemon/cap_limit.h"

#include <math.h>

#include "util/clock.h"
#include "util/error.h"

/* Time after a switch of mode, ns, during which the sensor chip still averages the earlier mode. */
#define LAG_NS		100000000ull
/* Minimum time in a new mode, ns, counted from LAG_NS after the switch, before the mean power in
 * this mode is used. */
#define MIN_SPAN_NS	100000000ull
/* Thresholds, as multiples of the budget, for the mean power over a part of the averaging window,
 * see over_budget(). FAR_CHOSEN is used if jetwattd has applied the mode and the usable samples (see
 * span_to_judge()) cover a whole averaging window. FAR is used in all other cases. */
#define FAR		1.15
#define FAR_CHOSEN	1.5
/* A mean over the window that stays above this fraction of the budget for half a window counts as
 * above the budget: the difference is within the error of the sensors. */
#define SENSOR_MARGIN	0.995
/* If the mean power would stay above the budget for more than this fraction of an averaging
 * window in the safe mode, step down to the lowest mode. */
#define LONG_RETURN	0.25
/* Reserve when an overshoot is repaid, as a fraction of the energy of one averaging window: the
 * reserve covers fluctuations of a mode's power and the switch. */
#define REPAY_RESERVE	0.03
/* Power settles after a switch of mode: the power of the mode that the cap leaves is the mean over the later half
 * of the time in it, or without the first SETTLE_NS nanoseconds, whichever is longer. */
#define SETTLE_NS	1000000000ull
/* HALF_SD: relative error of the mean power over HALF_NS nanoseconds. */
#define HALF_NS		500000000.0
#define HALF_SD		0.02

/* Return the part of the last @ns nanoseconds, in ns, whose power may be compared with the
 * budget. */
static uint64_t span_to_judge(const struct jetwattd_cap_check *j, uint64_t ns)
{
	uint64_t since = jetwattd_window_now(&j->drawn) - j->from_ns;

	return ns < since ? ns : since;
}

static double judged_mean(const struct jetwattd_cap_check *j, uint64_t ns, uint64_t *span)
{
	return jetwattd_window_mean(&j->drawn, span_to_judge(j, ns), span);
}

/* Return: 1 if the lowest mode is applied, or the lowest mode that the knobs accepted recently;
 * else 0. */
static int at_lowest(const struct jetwattd_actuator *a)
{
	return jetwattd_is_applied(a, &a->floor) ||
	       (a->low_ns && jetwattd_is_applied(a, &a->low) && jetwatt_clock_ns() - a->low_ns < JETWATTD_LOW_NS);
}

/* Choose the mode to step down to: the safe mode if it is well within the budget, which may have
 * been lowered just now, and low enough to bring the mean power down in time; else the lowest
 * mode. Return: NULL: no lower mode. */
static const struct jetwatt_mode *cap_lower_mode(const struct jetwattd_cap_check *j, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;

	if (at_lowest(j->act))
		return NULL;
	if (j->act->floor_only || !c->have_safe || c->safe_w > JETWATTD_SAFE * c->budget_w ||
	    jetwattd_window_above(&j->drawn, c->safe_w, window, span_to_judge(j, window), c->budget_w) >
		    LONG_RETURN * window ||
	    jetwattd_is_applied(j->act, &c->safe))
		return &j->act->floor;
	return &c->safe;
}

/* Set the power of the applied mode, which the cap leaves; 0: unknown. */
static void measure_left(const struct jetwattd_cap_check *j)
{
	uint64_t now = jetwattd_window_now(&j->drawn), from = j->act->switched_ns + LAG_NS, span;
	struct jetwattd_cap *c = j->cap;

	c->left_w = c->left_sd = 0;
	if (now <= from + MIN_SPAN_NS)
		return;
	span = now - from;
	span = span < 2 * SETTLE_NS ? span / 2 : span - SETTLE_NS;
	c->left_w = jetwattd_window_mean(&j->drawn, span, &span);
	c->left_sd = HALF_SD * fmax(sqrt(HALF_NS / span), 0.5);
}

/* Handle a cap event: step down to a lower mode. @over_w: mean power over the last @over_ns
 * nanoseconds, in W. @peak_w: power of the short window if it exceeds its limit, in W, else 0. */
static void cap_throttle(struct jetwattd_cap_check *j, double over_w, uint64_t over_ns, uint64_t window,
			 double peak_w)
{
	struct jetwattd_cap *c = j->cap;
	const struct jetwatt_mode *to = cap_lower_mode(j, window);
	uint64_t now = jetwattd_window_now(&j->drawn);

	/* In the lowest mode, count a cap event only if @over_ns covers an averaging window or
	 * @peak_w is not 0, and at most one event per window. */
	if (!to && ((over_ns < window && !peak_w) || now - j->floored_ns < window))
		return;
	c->cap_events++;
	c->cap_hit = 1;
	c->stepped_ns = jetwatt_clock_ns();
	measure_left(j);
	c->left_peak = peak_w > 0;
	/* Exclude a mode for its peaks as if its mean power exceeded the limit by the same ratio. */
	if (peak_w > 0) {
		c->left_w = fmax(c->left_w, jetwattd_cap_limit(c) * peak_w / c->cap_w);
		c->left_sd = HALF_SD;
	}
	atomic_store(j->invalidate, 1);
	j->debt_j = jetwattd_window_debt(&j->drawn, span_to_judge(j, window), c->budget_w);
	j->owed_ns = now;
	c->energy_debt = 1;
	c->left = j->act->mode;
	if (!to) {
		j->floored_ns = now;
		if (!c->cap_floor_hits++ && peak_w > 0)
			jetwatt_notice("cap exceeded in the lowest mode: %.2f W drawn, cap %g W", peak_w, c->cap_w);
		else if (c->cap_floor_hits == 1)
			jetwatt_notice("budget exceeded in the lowest mode: %.2f W drawn, budget %g W",
					   over_w, c->budget_w);
		return;
	}
	jetwattd_apply_low(j->act, to);
	/* Samples from before the switch must not cause the next step down. */
	j->from_ns = now;
}

/* Update the swing with the mean power over the averaging window that ends now. */
static void swing_update(struct jetwattd_cap_check *j, double w)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t from = j->act->switched_ns > c->measuring_ns ? j->act->switched_ns : c->measuring_ns;

	c->swing = jetwattd_swing(&j->swing, c->measuring_ns ? w : 0, jetwattd_window_now(&j->drawn),
				  from + JETWATTD_SETTLED_NS, j->window_s * 1e9, c->swing);
}

/* Return: 1 if, for half an averaging window, the mean power has been so close to the budget that
 * the error of the sensors may hide an excess; else 0. Always 0 in the lowest mode. */
static int near_budget(struct jetwattd_cap_check *j, double w, int whole, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;
	uint64_t now = jetwattd_window_now(&j->drawn);

	if (!whole || w <= SENSOR_MARGIN * c->budget_w || at_lowest(j->act))
		j->near_ns = 0;
	else if (!j->near_ns)
		j->near_ns = now;
	return j->near_ns && now - j->near_ns > window / 2;
}

/* Return: 1 if the budget is exceeded, or near_budget() returns 1, else 0. @w: mean power over the
 * last @span nanoseconds, in W. For a span shorter than the averaging window, as after a step down, the threshold is
 * higher, because the span may cover only part of a minibatch. The mean power over the last
 * quarter of the averaging window, also with a higher threshold, detects a sudden rise early;
 * this threshold is lower in the board's own state, whose power was never measured. */
static int over_budget(struct jetwattd_cap_check *j, double w, uint64_t span, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;
	int whole = span >= window, close = near_budget(j, w, whole, window);
	double far;

	if (!(c->budget_w > 0) || j->off)
		return 0;
	if (close || (whole && w > c->budget_w))
		return 1;
	far = j->act->applied && whole ? FAR_CHOSEN : FAR;
	if (whole || !j->act->applied)
		w = judged_mean(j, window / 4, &span);
	return span >= window / 4 && w > far * c->budget_w;
}

/* Update the highest power of the short window in the present mode. Return: the power of the short
 * window, in W, if it exceeds its limit, else 0. */
static double over_cap(struct jetwattd_cap_check *j)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t window = c->cap_window_s * 1e9, now = jetwattd_window_now(&j->drawn), span;
	uint64_t from = j->act->switched_ns > c->measuring_ns ? j->act->switched_ns : c->measuring_ns;
	double w = judged_mean(j, window, &span);

	if (!(c->cap_w > 0) || !(c->budget_w > 0) || span < window)
		return 0;
	if (now < from + LAG_NS + window)
		c->peak_w = 0;
	else
		c->peak_w = fmax(c->peak_w, w);
	return w > c->cap_w ? w : 0;
}

/* Return: 1 if the energy saved below the budget since the cap event covers the overshoot. */
static int overshoot_repaid(const struct jetwattd_cap_check *j, uint64_t window)
{
	double budget_w = j->cap->budget_w, w;
	uint64_t span;

	w = jetwattd_window_mean(&j->drawn, jetwattd_window_now(&j->drawn) - j->owed_ns, &span);
	return (budget_w - w) * span * 1e-9 > j->debt_j + REPAY_RESERVE * budget_w * window * 1e-9;
}

/* Report the samples since the last decision, and the mean power, to the shared state. The mean
 * that is reported includes the time before a step down, so it covers the whole window, except in
 * the first window after a start, after lost samples, or after a limit was lowered. */
static void cap_report(struct jetwattd_cap_check *j, uint64_t window, double peak_w)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t now = jetwattd_window_now(&j->drawn), from = j->act->switched_ns + LAG_NS;
	uint64_t met = now - j->met_ns, span;
	double w = jetwattd_window_mean(&j->drawn, met < window ? met : window, &span);
	int whole = span >= window;

	c->mean_w = w;
	c->here_w = now > from + MIN_SPAN_NS ? jetwattd_window_mean(&j->drawn, now - from, &span) : 0;
	c->samples += j->samples;
	c->lost += j->lost;
	j->samples = j->lost = 0;
	c->clock = j->clock;
	if (whole && c->budget_w > 0 && w > c->budget_w && j->judged_ns)
		c->over_s += (now - j->judged_ns) * 1e-9;
	if (peak_w > 0 && j->judged_ns)
		c->over_cap_s += (now - j->judged_ns) * 1e-9;
	j->judged_ns = now;
}

void jetwattd_cap_check(struct jetwattd_cap_check *j)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t window, span;
	double w, peak_w;

	window = j->window_s * 1e9;
	/* After a limit is lowered, power that was drawn under the higher limit must not count. */
	if ((c->budget_w > 0 && c->budget_w < j->budget_w) || (c->cap_w > 0 && c->cap_w < j->cap_w))
		j->from_ns = j->met_ns = jetwattd_window_now(&j->drawn);
	j->budget_w = c->budget_w;
	j->cap_w = c->cap_w;
	peak_w = over_cap(j);
	cap_report(j, window, peak_w);
	w = judged_mean(j, window, &span);
	if (span >= window)
		swing_update(j, w);
	if (over_budget(j, w, span, window) || (peak_w > 0 && !j->off))
		cap_throttle(j, w, span, window, peak_w);
	else if (c->energy_debt && overshoot_repaid(j, window))
		c->energy_debt = 0;
}
