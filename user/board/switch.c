// SPDX-License-Identifier: GPL-2.0-only
/* Switch from one state to another, in the order of enum jetwatt_switch_step. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

bool jetwatt_switch_write(struct jetwatt_switch *p, const char *path, uint64_t v)
{
	int rc = jetwatt_sysfs_write(p->b, path, v);

	if (!rc)
		return true;
	if (!p->rc)
		p->rc = jetwatt_error_sys(p->err, rc, "%s/%s refused %" PRIu64, p->b->sys, path, v);
	return p->best_effort;
}

/*
 * Make the kernel request refused limits from the driver again. The kernel keeps the limits that
 * were requested although the driver has refused them (freq_qos_update_request(),
 * cpufreq_set_policy() in drivers/cpufreq/cpufreq.c), and it ignores a request for the limit that
 * it keeps already. While the kernel keeps refused limits, the files show the limits in force.
 * Requesting the limits in force first makes the next request a change.
 */
static void request_limits_in_force(struct jetwatt_switch *p, const char *min_path,
				    const char *max_path, const struct jetwatt_knob_range *now,
				    const struct jetwatt_knob_range *want)
{
	if (now->min != want->min)
		jetwatt_sysfs_write(p->b, min_path, now->min);
	if (now->max != want->max)
		jetwatt_sysfs_write(p->b, max_path, now->max);
}

/* The order of the two writes ensures min <= max after each of them. */
bool jetwatt_switch_range(struct jetwatt_switch *p, const char *min_path, const char *max_path,
			  const struct jetwatt_knob_range *now,
			  const struct jetwatt_knob_range *want)
{
	bool max_first = want->min > now->max;
	bool max = p->all || want->max != now->max, min = p->all || want->min != now->min;

	if (p->best_effort)
		request_limits_in_force(p, min_path, max_path, now, want);
	if (max_first && max && !jetwatt_switch_write(p, max_path, want->max))
		return false;
	if (min && !jetwatt_switch_write(p, min_path, want->min))
		return false;
	return max_first || !max || jetwatt_switch_write(p, max_path, want->max);
}

static bool switch_step(struct jetwatt_switch *p, enum jetwatt_switch_step at)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_ops *ops = jetwatt_knob_ops(k);

		if (ops->lower_at == at && !ops->lower(p, k))
			return false;
		if (ops->raise_at == at && !ops->raise(p, k))
			return false;
	}
	return true;
}

/**
 * jetwatt_switch_to() - write the knobs whose values differ from @target
 * @before: state to roll back to, or NULL; see struct jetwatt_switch
 * @best_effort: continue after a refused write or a knob that can't be read, and also write required
 *	clocks that do not differ
 *
 * While a clock is throttled, all CPU and GPU clocks are written. The function does not read the
 * values back; jetwatt_state_check() does that.
 * Return: 0, or the first error.
 */
int jetwatt_switch_to(struct jetwatt_board *b, const struct jetwatt_board_state *target,
		      struct jetwatt_board_state *before, bool best_effort,
		      struct jetwatt_error_text *err)
{
	struct jetwatt_switch p = { .b = b, .target = target, .before = before, .err = err,
				    .best_effort = best_effort,
				    .all = best_effort || jetwatt_board_throttled(b) };
	int rc;

	rc = jetwatt_state_read(b, &p.now, err);
	if (rc && !best_effort)
		return rc;
	p.rc = rc;
	for (int at = 0; at < JETWATT_SWITCH_STEPS && switch_step(&p, (enum jetwatt_switch_step)at);
	     at++)
		;
	return p.rc;
}
