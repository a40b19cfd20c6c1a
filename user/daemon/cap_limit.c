// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mean of the module's power over the policy's window stays within the budget,
 * whatever anybody believes about a mode. What gets above it steps down at once to a mode
 * that was measured to be within, and from there to the lowest one; climbing back is the
 * loop's.
 */
#include "daemon/cap_limit.h"

#include <math.h>

#include "util/clock.h"
#include "util/error.h"

/* After a switch the chip still averages what was before; then so much of the new
 * mode is worth something. */
#define LAG_NS		100000000ull
#define WORTH_NS	100000000ull
/* Over part of a window only so many budgets are too much; of one that is whole, in a mode
 * that was chosen, so many. */
#define FAR		1.15
#define FAR_CHOSEN	1.5
/* Sensors err by so much: who stays that near the budget for half a window is over it. */
#define ERRS		0.995
/* A mean that is above for such a part of the window more has to come down faster. */
#define LONG		0.25
/* Of a window's energy, for what is above a mode's mean and for the switch. */
#define ROOM		0.03
/* Relative error of a mean over half a second. */
#define HALF_NS		500000000.0
#define HALF_SD		0.02

/* The part of the last @ns that is judged. */
static uint64_t judged(const struct jetwattd_judge *j, uint64_t ns)
{
	uint64_t since = jetwattd_window_now(&j->drawn) - j->from_ns;

	return ns < since ? ns : since;
}

static double mean(const struct jetwattd_judge *j, uint64_t ns, uint64_t *span)
{
	return jetwattd_window_mean(&j->drawn, judged(j, ns), span);
}

/* Is there no lower mode, or none that the knobs took lately? */
static int lowest(const struct jetwattd_actuator *a)
{
	return jetwattd_in(a, &a->floor) ||
	       (a->low_ns && jetwattd_in(a, &a->low) && jetwatt_clock_ns() - a->low_ns < JETWATTD_LOW_NS);
}

/* Where to: what was measured to be within, also a budget that was just lowered, or the
 * lowest. NULL: it is there. */
static const struct jetwatt_mode *lower(const struct jetwattd_judge *j, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;

	if (lowest(j->act))
		return NULL;
	if (j->act->floor_only || !c->have_safe || c->safe_w > JETWATTD_SAFE * c->budget_w ||
	    jetwattd_window_above(&j->drawn, c->safe_w, window, judged(j, window), c->budget_w) >
		    LONG * window ||
	    jetwattd_in(j->act, &c->safe))
		return &j->act->floor;
	return &c->safe;
}

static void step_down(struct jetwattd_judge *j, double over_w, uint64_t over_ns, uint64_t window)
{
	struct jetwattd_cap *c = j->cap;
	const struct jetwatt_mode *to = lower(j, window);
	uint64_t now = jetwattd_window_now(&j->drawn), from = j->act->switched_ns + LAG_NS, span;

	/* Nothing is lower: that it has come down the rest of the window will show. */
	if (!to && (over_ns < window || now - j->floored_ns < window))
		return;
	c->trips++;
	c->tripped = 1;
	c->stepped_ns = jetwatt_clock_ns();
	c->tripped_w = c->tripped_sd = 0;
	if (now > from + WORTH_NS) {
		c->tripped_w = jetwattd_window_mean(&j->drawn, now - from, &span);
		c->tripped_sd = HALF_SD * fmax(sqrt(HALF_NS / span), 0.5);
	}
	atomic_store(j->cut, 1);
	j->debt_j = jetwattd_window_debt(&j->drawn, judged(j, window), c->budget_w);
	j->owed_ns = now;
	c->owing = 1;
	c->left = j->act->mode;
	if (!to) {
		j->floored_ns = now;
		if (!c->floors++)
			jetwatt_error_note("%.2f W in the lowest mode: %g W cannot be held", over_w, c->budget_w);
		return;
	}
	jetwattd_put_low(j->act, to);
	/* What was drawn before the switch says nothing about what comes after it. */
	j->from_ns = now;
}

/* One more window in the same mode: how far is it from the one before? */
static void swing(struct jetwattd_judge *j, double w)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t from = j->act->switched_ns > c->measuring_ns ? j->act->switched_ns : c->measuring_ns;

	c->swing = jetwattd_swing(&j->swing, c->measuring_ns ? w : 0, jetwattd_window_now(&j->drawn),
				  from + JETWATTD_SETTLED_NS, j->window_s * 1e9, c->swing);
}

/* For half a window the mean has been what may be above the budget but for the sensors' error;
 * but in the lowest mode. */
static int near(struct jetwattd_judge *j, double w, int whole, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;
	uint64_t now = jetwattd_window_now(&j->drawn);

	if (!whole || w <= ERRS * c->budget_w || lowest(j->act))
		j->near_ns = 0;
	else if (!j->near_ns)
		j->near_ns = now;
	return j->near_ns && now - j->near_ns > window / 2;
}

/* Is that too much? Over less than a window, as after a step down, a part of a minibatch
 * may be all there is: then it has to be far over. So has what is not yet seen in the whole
 * window; less so where a job begins on a board as it was found, which nobody has measured. */
static int over(struct jetwattd_judge *j, double w, uint64_t span, uint64_t window)
{
	const struct jetwattd_cap *c = j->cap;
	int whole = span >= window, close = near(j, w, whole, window);
	double far;

	if (!(c->budget_w > 0) || j->off)
		return 0;
	if (close || (whole && w > c->budget_w))
		return 1;
	far = j->act->applied && whole ? FAR_CHOSEN : FAR;
	if (whole || !j->act->applied)
		w = mean(j, window / 4, &span);
	return span >= window / 4 && w > far * c->budget_w;
}

/* Has so much less than the budget been drawn since the step down as there was too much? */
static int repaid(const struct jetwattd_judge *j, uint64_t window)
{
	double budget_w = j->cap->budget_w, w;
	uint64_t span;

	w = jetwattd_window_mean(&j->drawn, jetwattd_window_now(&j->drawn) - j->owed_ns, &span);
	return (budget_w - w) * span * 1e-9 > j->debt_j + ROOM * budget_w * window * 1e-9;
}

/* What has come since the last time. A step down changes nothing of what was drawn before it: the
 * mean that is reported is over the whole window. */
static void tell(struct jetwattd_judge *j, uint64_t window)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t now = jetwattd_window_now(&j->drawn), from = j->act->switched_ns + LAG_NS;
	uint64_t met = now - j->met_ns, span;
	double w = jetwattd_window_mean(&j->drawn, met < window ? met : window, &span);
	int whole = span >= window;

	c->mean_w = w;
	c->here_w = now > from + WORTH_NS ? jetwattd_window_mean(&j->drawn, now - from, &span) : 0;
	c->samples += j->samples;
	c->lost += j->lost;
	j->samples = j->lost = 0;
	c->clock = j->clock;
	if (whole && c->budget_w > 0 && w > c->budget_w && j->judged_ns)
		c->over_s += (now - j->judged_ns) * 1e-9;
	j->judged_ns = now;
}

void jetwattd_judge(struct jetwattd_judge *j)
{
	struct jetwattd_cap *c = j->cap;
	uint64_t window, span;
	double w;

	window = j->window_s * 1e9;
	/* What was drawn while more was allowed is not held against the mode that is for less. */
	if (c->budget_w > 0 && c->budget_w < j->budget_w)
		j->from_ns = j->met_ns = jetwattd_window_now(&j->drawn);
	j->budget_w = c->budget_w;
	tell(j, window);
	w = mean(j, window, &span);
	if (span >= window)
		swing(j, w);
	if (over(j, w, span, window))
		step_down(j, w, span, window);
	else if (c->owing && repaid(j, window))
		c->owing = 0;
}
