// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/state.h"

#include <errno.h>

#define FROM(state)	(1u << JETWATTD_##state)
#define ANY		((1u << JETWATTD_DOINGS) - 1)
/* Nothing is switched in these: another process's board, an order, no samples. */
#define STANDS_BACK	(FROM(YIELDING) | FROM(PAUSED) | FROM(BLIND))

const struct jetwattd_state jetwattd_state[] = {
	[JETWATTD_IDLE] = {
		"idle", "at the start; the job has ended; the board is jetwattd's again",
		"a process works on the GPU under a budget",
		"the policy's idle mode, or the board as it was found; lower modes if that draws too much",
		ANY,
	},
	[JETWATTD_LEARNING] = {
		"learning", "a job begins; its budget or the job itself has changed; as the policy says, a further reading pays",
		"no further mode is worth a measurement, or the policy allows none",
		"the mode that is being measured",
		ANY & ~STANDS_BACK,
	},
	[JETWATTD_HOLDING] = {
		"holding", "the job has been learned for this budget",
		"time or power differ from what was measured; the cap steps down; the job ends",
		"the fastest mode measured to be within the budget",
		FROM(LEARNING) | FROM(HOLDING) | FROM(BACKING_OFF),
	},
	[JETWATTD_BACKING_OFF] = {
		"backing off", "the cap has stepped down from the mode that was held",
		"after 2 seconds, at the next times after up to 80",
		"the fastest other mode within the budget, or what the cap has applied",
		FROM(HOLDING),
	},
	[JETWATTD_YIELDING] = {
		"yielding", "another process has turned a knob, or holds the lease of the board",
		"the job has ended; after 2 seconds, where it was the lease; at an order to pause",
		"nothing: what the other process has set",
		ANY,
	},
	[JETWATTD_PAUSED] = {
		"paused", "by order: jetwatt daemon pause", "by order: jetwatt daemon resume",
		"the board as it was found", ANY,
	},
	[JETWATTD_RESTORING] = {
		"restoring", "a knob has refused the state that was found",
		"the knob takes it: tried every second or two; a mode is applied",
		"the state that was found, as far as the knobs take it", ANY,
	},
	[JETWATTD_BLIND] = {
		"blind", "the samples of power, or those of a rail of the total, have broken off",
		"all rails of the total have samples again; no process works on the GPU any more",
		"the lowest mode", ANY & ~(FROM(YIELDING) | FROM(PAUSED)),
	},
};

int jetwattd_enter(struct jetwattd *d, enum jetwattd_doing to)
{
	if (!(jetwattd_state[to].from & (1u << d->doing)))
		return -EPERM;
	d->doing = to;
	return 0;
}
