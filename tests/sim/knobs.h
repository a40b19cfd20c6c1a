/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Store the clocks and online cores that the board's drivers have set, and pass changes of them to
 * the plant.
 */
#ifndef SIM_KNOBS_H
#define SIM_KNOBS_H

#include "plant.h"

#define SIM_CORES_MAX		16
#define SIM_CLUSTERS_MAX	8

extern struct sim_steps sim_steps;

/* Store the highest level for all clocks, and which cores are online in the kernel. */
void sim_knobs_init(void);
void sim_knobs_mode(struct sim_mode *mode);
/* Return: the cluster of a CPU. */
u32 sim_knobs_cluster(u32 cpu);
/* Start or stop passing changes to the plant. */
void sim_knobs_live(bool live);
/* Pass the present clocks and cores to the plant again, because a parameter of its model changed. */
void sim_knobs_again(void);

void sim_knobs_set_core(u32 cpu, bool online);
void sim_knobs_set_cpu(u32 cluster, u32 khz);
void sim_knobs_set_gpu(u64 hz);
void sim_knobs_set_emc(u64 hz);
u32 sim_knobs_cpu(u32 cluster);
u64 sim_knobs_gpu(void);
u64 sim_knobs_emc(void);

#endif
