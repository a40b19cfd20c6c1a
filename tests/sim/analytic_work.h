/* SPDX-License-Identifier: GPL-2.0-only */
/* Workloads of the analytic plant, described by the resources that a minibatch needs. */
#ifndef SIM_ANALYTIC_WORK_H
#define SIM_ANALYTIC_WORK_H

#include <linux/types.h>

/**
 * struct sim_layer - part of the GPU work of a minibatch; its time is the longest of the times of its
 *	arithmetic (with a fixed time per kernel), its memory traffic and its launches; the times of
 *	layers add up
 * @mflop: arithmetic operations of the layer, in millions
 * @efficiency: share of the GPU's peak performance that the layer reaches, permille
 * @kbyte: memory traffic of the layer, in kilobytes
 * @launches: number of GPU kernels of the layer, each launched by the CPU
 */
struct sim_layer {
	u32 mflop, efficiency, kbyte, launches;
};

/**
 * struct sim_work - a workload
 * @name: value of the module parameter "workload"
 * @layers: GPU work; the first entry without launches ends a list of fewer than six layers
 * @launch_kcycles: CPU cycles to launch a kernel, in thousands
 * @load_mcycles: CPU cycles to load and preprocess a minibatch, in millions
 * @serial_mcycles: part of @load_mcycles that cannot be done in parallel, in millions
 * @load_kbyte: memory traffic of the loader, in kilobytes
 * @workers: number of processes that load in parallel, unless the module parameter "workers" is set
 * @dequeue_kcycles: CPU cycles of the training process to fetch a minibatch, in thousands; they are
 *	not hidden behind GPU work
 */
struct sim_work {
	const char *name;
	struct sim_layer layers[6];
	u32 launch_kcycles, load_mcycles, serial_mcycles, load_kbyte, workers, dequeue_kcycles;
};

#endif
