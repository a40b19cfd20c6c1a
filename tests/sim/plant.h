/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plant: what the board's clocks, cores and jobs make of time and power.
 *
 * A model (analytic, replay) says for each power mode how long the two parts
 * of a minibatch take and what each rail draws in each of them: a closed form,
 * without noise. The plant turns that into behaviour in time: it is advanced
 * lazily from event to event, so between two events every rail's power is a
 * constant, and energy over any span is exact.
 *
 * Times are CLOCK_MONOTONIC ns.
 */
#ifndef SIM_PLANT_H
#define SIM_PLANT_H

#include <linux/types.h>

enum sim_rail {
	SIM_RAIL_GPU_SOC,
	SIM_RAIL_CPU_CV,
	SIM_RAIL_SYS_5V0,
	SIM_MODULE_RAILS,		/* these three are the module's inputs */
	SIM_RAIL_DDR = SIM_MODULE_RAILS,	/* fed by SYS_5V0, so inside it */
	SIM_RAILS
};

enum sim_phase {
	SIM_IDLE,	/* no job at work */
	SIM_STALL,	/* a job waits for its data loader */
	SIM_BUSY,	/* the GPU computes */
	SIM_PHASES
};

struct sim_mode {
	u32 cores, cpu_khz;
	u64 gpu_hz, emc_hz;
};

/**
 * struct sim_point - what a mode means, free of noise
 * @part_ns: length of the stall and of the GPU's part of one minibatch
 * @uw: power of each rail in each phase
 */
struct sim_point {
	u64 part_ns[SIM_PHASES];
	u32 uw[SIM_PHASES][SIM_RAILS];
};

#define SIM_STEPS_MAX	64

/* The steps of each clock, ascending: what the board's drivers offer. */
struct sim_steps {
	u32 nr_cpu, nr_gpu, nr_emc;
	u32 cpu_khz[SIM_STEPS_MAX];
	u64 gpu_hz[SIM_STEPS_MAX];
	u64 emc_hz[SIM_STEPS_MAX];
};

/**
 * struct sim_model - a plant's closed form
 * @open: fill @steps; called once
 * @point: figures of @mode; may be called from any process context
 * @kernel: figures of a kernel of known work, which has no stall; from any context; NULL:
 *	there are none
 * @modes: how many modes truth lists
 * @mode: the i-th of them
 */
struct sim_model {
	const char *name;
	int (*open)(struct sim_steps *steps, u32 cores);
	void (*close)(void);
	void (*point)(const struct sim_mode *mode, struct sim_point *point);
	void (*kernel)(const struct sim_mode *mode, u64 flop, u64 bytes, struct sim_point *point);
	u32 (*modes)(void);
	void (*mode)(u32 i, struct sim_mode *mode);
};

extern const struct sim_model sim_analytic, sim_replay;

/* Names of workloads, for the module parameter; NULL for an unknown one. */
struct sim_work;
const struct sim_work *sim_work_find(const char *name);

/* Figures of a point over a whole minibatch. */
u64 sim_point_time_ns(const struct sim_point *point);
u32 sim_point_mean_uw(const struct sim_point *point, enum sim_rail rail);
u32 sim_point_module_uw(const struct sim_point *point);

struct sim_now {
	u64 t_ns, energy_uj;
	u64 uj[SIM_RAILS];
	u32 uw[SIM_RAILS];
	enum sim_phase phase;
	struct sim_mode mode;
	int temp_mc;
};

int sim_plant_start(const struct sim_model *model, const struct sim_mode *mode, u64 seed);
void sim_plant_stop(void);

/* The clocks or cores changed: work at hand goes on at the new speed. */
void sim_plant_switch(const struct sim_mode *mode);
/* Energy that each rail has drawn up to @t, a time at most some seconds ago, in pJ. */
void sim_plant_energy(u64 t, u64 pj[SIM_RAILS]);
void sim_plant_now(struct sim_now *now);

/* Work of jobs: see work.c. */
struct sim_job;
struct sim_syncpt;
struct sim_job *sim_job_new(struct sim_syncpt *sp);
void sim_job_free(struct sim_job *job);
/* Start waiting for the loader, which begins @now or has begun. Return: 0, -EBUSY: work is
 * under way.
 */
int sim_job_load(struct sim_job *job, u32 kind, u32 permille, bool now);
/* Wait until it has delivered. Return: 0, -ERESTARTSYS. */
int sim_job_wait(struct sim_job *job);
/* Start piece @piece of @pieces of a minibatch on the GPU; @threshold: the syncpoint's value
 * when it is done. Return: 0, -EBUSY.
 */
int sim_job_submit(struct sim_job *job, u32 kind, u32 permille, u32 piece, u32 pieces,
		   u32 *threshold);
/* Start a kernel. Return: 0, -EBUSY; -EOPNOTSUPP: this plant has none. */
int sim_job_kernel(struct sim_job *job, u64 flop, u64 bytes, u32 *threshold);

#endif
