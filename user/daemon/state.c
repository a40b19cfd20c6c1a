// SPDX-License-Identifier: GPL-2.0-only
/* The table of states; jetwattd(8), "States", has the same texts. */
#include "daemon/state.h"

#include <errno.h>

#define FROM(state)	(1u << JETWATTD_##state)
#define TEXT(number)	#number
#define IN_WORDS(macro)	TEXT(macro)
#define ANY		((1u << JETWATTD_DOINGS) - 1)
/* Learning cannot start from these states: another process controls the board, the operator has
 * asked for a pause, or there are no power samples. */
#define STANDS_BACK	(FROM(YIELDING) | FROM(PAUSED) | FROM(BLIND))

const struct jetwattd_state jetwattd_state[] = {
	[JETWATTD_IDLE] = {
		"idle",
		"jetwattd starts; the job ends, or its minibatches are not recognised; the budget is removed; yielding, paused, restoring or blind is left",
		"a job starts and a budget is in force",
		"the policy's idle mode, or without one the board as it was found; lower modes while the power exceeds the budget",
		ANY,
	},
	[JETWATTD_LEARNING] = {
		"learning",
		"a job starts; its budget, its time or power, its mix of prefill and decode, or the jobs beside it change; a further measurement is worth its cost",
		"no further mode is worth a measurement, or a learning limit of the policy is reached",
		"the mode that is being measured",
		ANY & ~STANDS_BACK,
	},
	[JETWATTD_HOLDING] = {
		"holding", "the job has been learned for this budget",
		"time or power differ from the measured values; the mix of prefill and decode changes; the cap steps down; the budget or the jobs beside it change; a further measurement is worth its cost; the job ends",
		"the best mode measured to be within the budget; if there is none, the mode applied last",
		FROM(LEARNING) | FROM(HOLDING) | FROM(BACKING_OFF),
	},
	[JETWATTD_BACKING_OFF] = {
		"backing off", "the cap has stepped down from the mode that was held",
		"after " IN_WORDS(JETWATTD_BACK_OFF_S) " seconds; each further back-off takes twice as long, at most the policy's back-off",
		"the best other mode within the budget, or the mode to which the cap has stepped down",
		FROM(HOLDING),
	},
	[JETWATTD_YIELDING] = {
		"yielding", "another process has changed a knob, or holds the lease of the board; heat limits a clock when the knobs are to be saved",
		"the job ends or there is none, if a knob was changed; after 2 seconds, if the lease is held or heat limits a clock; jetwatt daemon pause",
		"nothing; the knobs stay as the other process has set them",
		ANY,
	},
	[JETWATTD_PAUSED] = {
		"paused", "jetwatt daemon pause", "jetwatt daemon resume",
		"the board as it was found", ANY,
	},
	[JETWATTD_RESTORING] = {
		"restoring", "a knob has refused the state that was found",
		"a retry succeeds (every 1 to 2 seconds); a mode is applied",
		"the state that was found, as far as the knobs accept it", ANY,
	},
	[JETWATTD_BLIND] = {
		"blind", "under a budget, the samples of the total power, or of one rail in the total, have stopped",
		"every rail of the total has samples again; jetwattd ends, because no process uses the GPU any more, jetwattd is paused, the budget is removed, a reloaded policy has blind = restore, or another process controls the board",
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
