/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by plant.c and work.c only; everything here is guarded by sim_state.lock. */
#ifndef SIM_PLANT_STATE_H
#define SIM_PLANT_STATE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "noise.h"
#include "plant.h"

struct sim_state {
	spinlock_t lock;
	struct hrtimer timer;		/* runs at the next event */
	struct list_head jobs;
	const struct sim_model *model;
	struct sim_mode mode;
	struct sim_point point;
	u32 mean_uw[SIM_RAILS];		/* over a minibatch at that point */
	struct sim_noise noise;
	u32 switches;			/* how often the mode has changed */
	u64 now;			/* integrated up to here */
	u64 tick;			/* next time of slow changes */
	u64 pj[SIM_RAILS];		/* energy up to now */
	u32 uw[SIM_RAILS];		/* power from now to the next event */
	u32 slow_uw[SIM_RAILS];		/* where settling has come to, see plant.c */
	s32 drift;			/* slow noise of power, 1/65536 */
	s64 temp_uc;			/* temperature of the die, millionth degree */
	u64 written;			/* when power was last put into the trace */
	enum sim_phase phase;
};

extern struct sim_state sim_state;
extern uint sim_noise_time, sim_noise_power;	/* permille */

/* Catch up with the present; afterwards every job's state is as of now. */
void sim_plant_advance(void);
/* Power follows what the jobs do; to be called after each change to them. */
void sim_plant_follow(void);
/* The timer follows the next event. */
void sim_plant_arm(void);

/* work.c: how the plant drives its jobs. */
u64 sim_work_next(void);		/* time of the next event of a job */
void sim_work_progress(u64 ns);		/* time passes */
void sim_work_events(void);		/* what is due now */
void sim_work_rescale(const struct sim_point *old);
enum sim_phase sim_work_phase(void);
/* What the GPU runs, if that is a kernel and nothing else; NULL: no. */
const struct sim_point *sim_work_kernel(void);

#endif
