// SPDX-License-Identifier: GPL-2.0-only
/* The table of states; jetwattd(8), "States", has the same texts. */
#include "daemon/state.h"

#include <errno.h>

#define FROM(state)	(1u << JETWATTD_##state)
#define ANY		((1u << JETWATTD_DOINGS) - 1)
/* States in which the loop switches no mode. */
#define STANDS_BACK	(FROM(YIELDING) | FROM(PAUSED) | FROM(BLIND))

const struct jetwattd_state jetwattd_state[] = {
	[JETWATTD_IDLE] = {
		"idle", "at the start; the job has ended; jetwattd controls the board again",
		"a process uses the GPU while a budget is in force",
		"the policy's idle mode, or the board's own state; lower modes if that exceeds the budget",
		ANY,
	},
	[JETWATTD_LEARNING] = {
		"learning", "a job begins; its budget changes; the job drifts; with learn-share, a further reading pays",
		"no further mode is worth a reading, or the policy allows none",
		"the mode that is being measured",
		ANY & ~STANDS_BACK,
	},
	[JETWATTD_HOLDING] = {
		"holding", "the search for this budget is complete",
		"time or power differ from the readings; the cap steps down; the job ends",
		"the fastest mode measured to be within the budget",
		FROM(LEARNING) | FROM(HOLDING) | FROM(BACKING_OFF),
	},
	[JETWATTD_BACKING_OFF] = {
		"backing off", "the cap has stepped down from the mode that was held",
		"after 2 seconds; after repeated steps down, after up to 80 seconds",
		"the fastest other mode within the budget, or the mode that the cap has applied",
		FROM(HOLDING),
	},
	[JETWATTD_YIELDING] = {
		"yielding", "another process has changed a knob, or holds the lease of the board",
		"the job ends; if another process holds the lease, after 2 seconds; a pause is requested",
		"nothing: the settings of the other process stay",
		ANY,
	},
	[JETWATTD_PAUSED] = {
		"paused", "on request: jetwatt daemon pause", "on request: jetwatt daemon resume",
		"the board's own state", ANY,
	},
	[JETWATTD_RESTORING] = {
		"restoring", "a knob has refused the saved state of the board",
		"the knob accepts it at a retry, every one or two seconds; a mode is applied",
		"the saved state, as far as the knobs accept it", ANY,
	},
	[JETWATTD_BLIND] = {
		"blind", "the power samples, or those of a rail of the total, have stopped",
		"all rails of the total deliver samples again; no process uses the GPU any more",
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
