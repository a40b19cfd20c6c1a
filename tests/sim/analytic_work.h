/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_ANALYTIC_WORK_H
#define SIM_ANALYTIC_WORK_H

#include <linux/types.h>

/**
 * struct sim_layer - GPU work that runs as one stretch
 * @mflop: arithmetic of a minibatch
 * @efficiency: share of the peak that it reaches, permille
 * @kbyte: traffic to memory
 * @launches: kernels, each launched by the CPU
 */
struct sim_layer {
	u32 mflop, efficiency, kbyte, launches;
};

/**
 * struct sim_work - a workload
 * @layers: GPU work, up to the first with no launches
 * @launch_kcycles: of the CPU, per kernel
 * @load_mcycles: of the CPU, to load and preprocess a minibatch, by @workers at most
 * @serial_mcycles: of it, what only one of them can do
 * @load_kbyte: traffic of the loader
 * @dequeue_kcycles: the part of loading that nothing hides
 */
struct sim_work {
	const char *name;
	struct sim_layer layers[6];
	u32 launch_kcycles, load_mcycles, serial_mcycles, load_kbyte, workers, dequeue_kcycles;
};

#endif
