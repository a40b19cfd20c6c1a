/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plant: duration and power of jobs, as a function of the board's clocks and cores.
 *
 * A model (analytic or replay) calculates for each power mode how long the two phases of a
 * minibatch take and what power each rail draws in them and when idle, without noise. The plant
 * simulates this over time. The plant is advanced from event to event; between two events the
 * power of every rail is constant, so the energy of any interval is exact.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef SIM_PLANT_H
#define SIM_PLANT_H

#include <linux/types.h>

struct sim_kernel;

enum sim_rail {
	SIM_RAIL_GPU_SOC,
	SIM_RAIL_CPU_CV,
	SIM_RAIL_SYS_5V0,
	SIM_MODULE_RAILS,		/* number of rails that feed the compute module */
	SIM_RAIL_DDR = SIM_MODULE_RAILS,	/* fed by SYS_5V0, whose power includes it */
	SIM_RAILS
};

enum sim_phase {
	SIM_IDLE,	/* no job waits for its data loader or computes */
	SIM_STALL,	/* a job waits for its data loader */
	SIM_BUSY,	/* the GPU computes */
	SIM_PHASES
};

struct sim_mode {
	u32 cores, cpu_khz;
	u64 gpu_hz, emc_hz;
};

/**
 * struct sim_point - duration and power of a minibatch in a mode, without noise
 * @part_ns: duration of each phase of a minibatch, in ns
 * @uw: power of each rail in each phase, in uW
 */
struct sim_point {
	u64 part_ns[SIM_PHASES];
	u32 uw[SIM_PHASES][SIM_RAILS];
};

#define SIM_STEPS_MAX	64

/* Frequency levels that the board's drivers offer for each clock, ascending. */
struct sim_steps {
	u32 nr_cpu, nr_gpu, nr_emc;
	u32 cpu_khz[SIM_STEPS_MAX];
	u64 gpu_hz[SIM_STEPS_MAX];
	u64 emc_hz[SIM_STEPS_MAX];
};

/**
 * struct sim_model - a model of the plant
 * @name: value of the module parameter "plant"
 * @open: initialise the model for a machine with @cores CPUs, and fill @steps; called once
 * @close: free the model
 * @point: calculate the duration and power of a minibatch in @mode; callable from any process
 *	context
 * @kernel: calculate duration and power of @launches kernels, which have @flop operations and
 *	@bytes of memory traffic in total, and no stall; callable from any context; NULL if the
 *	model has no kernels
 * @modes: return the number of power modes that debugfs lists
 * @mode: get power mode number @i of this list
 */
struct sim_model {
	const char *name;
	int (*open)(struct sim_steps *steps, u32 cores);
	void (*close)(void);
	void (*point)(const struct sim_mode *mode, struct sim_point *point);
	void (*kernel)(const struct sim_mode *mode, u64 flop, u64 bytes, u32 launches,
		       struct sim_point *point);
	u32 (*modes)(void);
	void (*mode)(u32 i, struct sim_mode *mode);
};

extern const struct sim_model sim_analytic, sim_replay;

/* Return: the workload named @name (module parameter), NULL if there is none. */
struct sim_work;
const struct sim_work *sim_work_find(const char *name);

/*
 * Return: the duration of a whole minibatch at a point; the mean power of a rail over it; the mean
 * power of the module.
 */
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

/* Apply a change of clocks or cores; work under way continues at the new speed. */
void sim_plant_switch(const struct sim_mode *mode);
/* Get the energy that each rail has drawn up to @t (pJ); @t is at most some seconds ago. */
void sim_plant_energy(u64 t, u64 pj[SIM_RAILS]);
void sim_plant_now(struct sim_now *now);

/* The functions below are in work.c; a job uses them to submit work. */
struct sim_job;
struct sim_syncpt;
struct sim_job *sim_job_new(struct sim_syncpt *sp);
void sim_job_free(struct sim_job *job);
/*
 * Start to wait for the job's data loader. Loading begins now if @now is true or the job is idle;
 * otherwise it began at the end of the previous minibatch.
 * Return: 0, also if the job already waits for its loader; -EBUSY if its GPU work is under way.
 */
int sim_job_load(struct sim_job *job, u32 kind, u32 permille, bool now);
/* Wait until the job's data loader has finished. Return: 0 or -ERESTARTSYS. */
int sim_job_wait(struct sim_job *job);
/*
 * Start piece @piece of @pieces of a minibatch on the GPU. @threshold gets the value that the
 * syncpoint will have when the piece is finished. Return: 0 or -EBUSY.
 */
int sim_job_submit(struct sim_job *job, u32 kind, u32 permille, u32 piece, u32 pieces,
		   u32 *threshold);
/* Start a kernel. Return: 0; -EBUSY; -EOPNOTSUPP if the model has no kernels. */
int sim_job_kernel(struct sim_job *job, struct sim_kernel *k);

#endif
