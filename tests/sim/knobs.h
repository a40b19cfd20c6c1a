/* SPDX-License-Identifier: GPL-2.0-only */
/* The board's clocks and cores as its drivers have set them; every change reaches the plant. */
#ifndef SIM_KNOBS_H
#define SIM_KNOBS_H

#include "plant.h"

#define SIM_CORES_MAX		16
#define SIM_CLUSTERS_MAX	8

extern struct sim_steps sim_steps;

/* All clocks at their highest step, online cores as they are. */
void sim_knobs_init(void);
void sim_knobs_mode(struct sim_mode *mode);
/* The cluster that a CPU is in, as the board has it. */
u32 sim_knobs_cluster(u32 cpu);
/* Changes before this call do not reach the plant (it does not run yet). */
void sim_knobs_live(bool live);
/* The plant's closed form is another one: at the same clocks. */
void sim_knobs_again(void);

void sim_knobs_set_core(u32 cpu, bool online);
void sim_knobs_set_cpu(u32 cluster, u32 khz);
void sim_knobs_set_gpu(u64 hz);
void sim_knobs_set_emc(u64 hz);
u32 sim_knobs_cpu(u32 cluster);
u64 sim_knobs_gpu(void);
u64 sim_knobs_emc(void);

#endif
