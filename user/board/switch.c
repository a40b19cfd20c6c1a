// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the state that is to another one, in an order that is safe at every
 * step: first all that lowers power, then all that raises it, so that on the
 * way the board never draws more than at one of the two ends. EMC goes down
 * after the GPU and up before it, or the GPU would run into a wall of memory.
 */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/**
 * struct plan - a switch under way
 * @before: where the caller rolls back to; gets the values of policies that
 *	had none before their CPUs came online; may be NULL
 * @go_on: a refused write is no reason not to try the others
 * @all: every clock is written, whatever it reads as: cpufreq takes a limit at once
 *	but shows it only after a work item has run, so one just written may still look
 *	as before; and one that heat has lowered does not show what it was told
 * @gpu_done, @policy_done: written already
 * @rc: of the first write that was refused
 */
struct plan {
	struct jetwatt_board *b;
	const struct jetwatt_board_state *target;
	struct jetwatt_board_state now, *before;
	struct jetwatt_error_text *err;
	bool go_on, all, gpu_done, policy_done[POLICIES_MAX];
	int rc;
};

/* Return: true if the switch goes on. */
static bool put(struct plan *p, const char *path, uint64_t v)
{
	int rc = jetwatt_sysfs_write(p->b, path, v);

	if (!rc)
		return true;
	if (!p->rc)
		p->rc = jetwatt_error_sys(p->err, rc, "%s/%s refused %" PRIu64, p->b->sys, path, v);
	return p->go_on;
}

/* min <= max holds after either write. */
static bool put_range(struct plan *p, const char *min_path, const char *max_path,
		      const struct jetwatt_range *now, const struct jetwatt_range *want)
{
	bool max_first = want->min > now->max;
	bool max = p->all || want->max != now->max, min = p->all || want->min != now->min;

	if (max_first && max && !put(p, max_path, want->max))
		return false;
	if (min && !put(p, min_path, want->min))
		return false;
	return max_first || !max || put(p, max_path, want->max);
}

static const struct jetwatt_range *wanted(const struct plan *p, int policy)
{
	const struct jetwatt_range *r = &p->target->policy[policy];

	return r->known ? r : &p->target->fresh;
}

static bool put_policy(struct plan *p, int policy)
{
	const struct jetwatt_range *want = wanted(p, policy);
	char min[PATH_LEN], max[PATH_LEN];
	bool on;

	if (!p->now.policy[policy].known || !want->known || p->policy_done[policy])
		return true;
	p->policy_done[policy] = true;
	snprintf(min, sizeof(min), "devices/system/cpu/cpufreq/policy%u/scaling_min_freq",
		 p->b->policy[policy]);
	snprintf(max, sizeof(max), "devices/system/cpu/cpufreq/policy%u/scaling_max_freq",
		 p->b->policy[policy]);
	on = put_range(p, min, max, &p->now.policy[policy], want);
	p->now.policy[policy] = *want;
	return on;
}

static bool put_gpu(struct plan *p)
{
	char min[PATH_LEN], max[PATH_LEN];
	bool on;

	if (p->gpu_done || !p->now.gpu.known || !p->target->gpu.known)
		return true;
	p->gpu_done = true;
	snprintf(min, sizeof(min), "class/devfreq/%s/min_freq", p->b->gpu);
	snprintf(max, sizeof(max), "class/devfreq/%s/max_freq", p->b->gpu);
	on = put_range(p, min, max, &p->now.gpu, &p->target->gpu);
	p->now.gpu = p->target->gpu;
	return on;
}

/* A cap at the highest step is as good as none, and is left alone. */
static bool put_cap(struct plan *p, int cap, bool up)
{
	uint64_t top = p->b->emc_hz[p->b->nr_emc - 1];
	uint64_t is = jetwatt_state_cap(p->b, &p->now, cap);
	uint64_t want = jetwatt_state_cap(p->b, p->target, cap);

	if (!p->now.emc[cap].known || !p->target->emc[cap].known)
		return true;
	if (is == want && (!p->go_on || !up))
		return true;
	if ((is != want && up != (want > is)) || (p->before && is >= top && want >= top))
		return true;
	p->now.emc[cap] = p->target->emc[cap];
	return put(p, p->b->emc[cap].path, p->target->emc[cap].hz);
}

static bool put_emc(struct plan *p, bool up)
{
	for (int i = 0; i < p->b->nr_caps; i++)
		if (!put_cap(p, i, up))
			return false;
	return true;
}

static bool put_online(struct plan *p, int cpu)
{
	char path[PATH_LEN];

	if (p->now.online[cpu] == p->target->online[cpu] || p->b->cpu[cpu].fixed)
		return true;
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", p->b->cpu[cpu].id);
	return put(p, path, p->target->online[cpu]);
}

static bool lower(struct plan *p)
{
	struct jetwatt_board *b = p->b;

	if (p->target->gpu.max < p->now.gpu.max && !put_gpu(p))
		return false;
	for (int i = 0; i < b->policies; i++) {
		/* One that loses its last CPU can't be written afterwards. */
		bool last = !jetwatt_state_uses(b, p->target, i);

		if ((last || wanted(p, i)->max < p->now.policy[i].max) && !put_policy(p, i))
			return false;
	}
	if (!put_emc(p, false))
		return false;
	for (int i = b->cpus - 1; i >= 0; i--)
		if (!p->target->online[i] && !put_online(p, i))
			return false;
	return true;
}

/* The values that a policy has as its first CPU comes online are what was
 * there before us: they are remembered before they are written over. */
static bool learn(struct plan *p)
{
	struct jetwatt_board *b = p->b;
	struct jetwatt_board_state is;
	bool learned = false;
	int rc;

	rc = jetwatt_state_read(b, &is, p->rc ? NULL : p->err);
	for (int i = 0; i < b->policies && !rc; i++) {
		if (p->now.policy[i].known || !is.policy[i].known)
			continue;
		p->now.policy[i] = is.policy[i];
		if (p->before && !p->before->policy[i].known)
			p->before->policy[i] = is.policy[i];
		if (b->have_saved && !b->saved.policy[i].known) {
			b->saved.policy[i] = is.policy[i];
			learned = true;
		}
	}
	if (!rc && learned)
		rc = jetwatt_saved_store(b, p->rc ? NULL : p->err);
	if (rc && !p->rc)
		p->rc = rc;
	return !rc || p->go_on;
}

static bool raise(struct plan *p)
{
	struct jetwatt_board *b = p->b;

	for (int i = 0; i < b->cpus; i++)
		if (p->target->online[i] && !put_online(p, i))
			return false;
	if (!learn(p))
		return false;
	/* A policy just back may be at a higher clock than is wanted. */
	for (int i = 0; i < b->policies; i++)
		if (wanted(p, i)->max < p->now.policy[i].max && !put_policy(p, i))
			return false;
	if (!put_emc(p, true) || !put_gpu(p))
		return false;
	for (int i = 0; i < b->policies; i++)
		if (jetwatt_state_uses(b, p->target, i) && !put_policy(p, i))
			return false;
	return true;
}

/**
 * jetwatt_switch_to() - write what differs from @target
 * @before: may be NULL; see struct plan
 * @go_on: try all writes even if some are refused
 *
 * Does not read back: that is jetwatt_state_check().
 * Return: 0 or the error of the first write that was refused.
 */
int jetwatt_switch_to(struct jetwatt_board *b, const struct jetwatt_board_state *target,
		      struct jetwatt_board_state *before, bool go_on,
		      struct jetwatt_error_text *err)
{
	struct plan p = { .b = b, .target = target, .before = before, .err = err, .go_on = go_on,
			  .all = go_on || jetwatt_board_throttled(b) };
	int rc;

	rc = jetwatt_state_read(b, &p.now, err);
	if (rc)
		return rc;
	if (lower(&p))
		raise(&p);
	return p.rc;
}
