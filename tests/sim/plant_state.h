/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by plant.c and work.c. sim_state.lock protects it, except for the model, which does
 * not change.
 */
#ifndef SIM_PLANT_STATE_H
#define SIM_PLANT_STATE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "noise.h"
#include "plant.h"

struct sim_state {
	spinlock_t lock;
	struct hrtimer timer;		/* expires at the next event of the simulation */
	struct list_head jobs;
	const struct sim_model *model;
	struct sim_mode mode;
	struct sim_point point;
	u32 mean_uw[SIM_RAILS];		/* mean power over a minibatch at @point */
	struct sim_noise noise;
	u32 switches;			/* number of mode changes so far */
	u64 now;			/* time up to which the plant was simulated */
	u64 tick;			/* next update of settling, drift and temperature */
	u64 pj[SIM_RAILS];		/* energy up to now */
	u32 uw[SIM_RAILS];		/* power from now to the next event */
	u32 slow_uw[SIM_RAILS];		/* slowly settling part of the power, see plant.c */
	s32 drift;			/* slow noise of power, 1/65536 */
	s64 temp_uc;			/* temperature of the die, 1/1000000 degree Celsius */
	u64 written;			/* time at which power was last written to the trace */
	enum sim_phase phase;
};

extern struct sim_state sim_state;
extern uint sim_noise_time, sim_noise_power;	/* permille */

/* Simulate up to the present time, so that the state of every job is current. */
void sim_plant_advance(void);
/* Update the phase and the power, and record a changed power in the trace. */
void sim_plant_follow(void);
/* Set the timer to the next event. */
void sim_plant_arm(void);

/* Functions of work.c, by which the plant simulates the jobs. */
u64 sim_work_next(void);		/* return the time of the next event of any job */
void sim_work_progress(u64 ns);		/* let all jobs progress by @ns */
void sim_work_events(void);		/* handle the events of jobs that are due */
void sim_work_rescale(const struct sim_point *old);
enum sim_phase sim_work_phase(void);
/*
 * Return: duration and power of the kernel of known work that the GPU runs; NULL if all jobs are
 * idle, or if a job does other work.
 */
const struct sim_point *sim_work_kernel(void);

#endif
