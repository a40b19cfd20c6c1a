// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits without launches: waits before which the process has launched no GPU work since its
 * previous wait (JETWATT_RULE_NO_LAUNCH).
 *
 * A minibatch launches work, so a wait without launches ends no minibatch of its own. A wait
 * without launches is merged with the wait before it or after it, or begins an interval that is no
 * minibatch. PyTorch programs have many waits without launches: clip_grad_norm_() and loss.item()
 * read two values one after the other, a checkpoint copies each parameter to the host, and the
 * continuous batching of transformers 5.17 waits nine times per step, seven of them without a
 * launch before (tests/trace/gpu, recorded on a real GPU).
 */
#include "minibatch/bounds.h"

#include <math.h>

/* Launches of a job are traced if at least 1 in this many of its waits follows a launch. */
#define TRACED_WAITS	16
/*
 * A wait without launches is merged with the wait before it if it begins at most GAP after the end
 * of that wait. Otherwise it and the further ones are merged with the wait after them: it may be a
 * copy of input data at the start of the next minibatch. GAP and the next two limits are fractions
 * of the usual time between two waits with launches.
 */
#define GAP		0.03
/* If a sequence of waits without launches takes longer than this, as at a checkpoint, the rest of
 * it is an interval that is no minibatch. LONGEST_AFTER applies to the waits after a gap. */
#define LONGEST_AFTER	0.5
#define LONGEST		0.25
/* The waits of a minibatch differ in length, so the usual time between two waits with launches
 * falls at most by this factor from one wait to the next. */
#define DECAY		0.5

bool jetwatt_launches_traced(const struct jetwatt_item *it, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += it[i].sync->launches != 0;
	return count && count * TRACED_WAITS >= n;
}

/*
 * Return whether no work was launched between the wait @before, the previous one of the process,
 * and the wait @s; false also if that is unknown. The probe counts launches per process, from one wait
 * to the next. If another thread has waited in between, or if records were lost, the count of @s may be
 * 0 although work has been launched.
 */
static bool is_without_launch(const struct jetwatt_sync *before, const struct jetwatt_sync *s)
{
	return !s->launches && !s->lost && s->tid == before->tid && s->call != JETWATT_SYNC_MARK_BEGIN;
}

enum jetwatt_merged jetwatt_merge_no_launch(struct jetwatt_merge_rule *m,
					    const struct jetwatt_sync *s)
{
	bool without = m->any && is_without_launch(&m->before, s);
	uint64_t launch_ns = s->launch_ns ? s->launch_ns : s->enter_ns;
	double since = (double)(s->exit_ns - m->end), gap = 0;

	if (without && s->enter_ns > m->before.exit_ns)
		gap = (double)(s->enter_ns - m->before.exit_ns);
	if (!without) {
		m->lasted = fmax(m->any ? since : (double)(s->exit_ns - launch_ns), DECAY * m->lasted);
		m->end = s->exit_ns;
		m->state = JETWATT_MERGED_NOT;
	} else if (m->state != JETWATT_MERGED_PAUSE) {
		if (gap > GAP * m->lasted) {
			if (m->state != JETWATT_MERGED_AFTER)
				m->begin = s->enter_ns;
			m->state = JETWATT_MERGED_AFTER;
		} else if (m->state == JETWATT_MERGED_NOT) {
			m->state = JETWATT_MERGED_BEFORE;
		}
	}
	m->before = *s;
	m->any = true;
	if (m->state == JETWATT_MERGED_PAUSE)
		return JETWATT_MERGED_BEFORE;
	/* The gap before the waits is not included: it may be the time of a slow data loader. */
	if (m->state == JETWATT_MERGED_AFTER)
		since = (double)(s->exit_ns - m->begin);
	if (without && since > (m->state == JETWATT_MERGED_AFTER ? LONGEST_AFTER : LONGEST) * m->lasted)
		return m->state = JETWATT_MERGED_PAUSE;
	return m->state;
}
