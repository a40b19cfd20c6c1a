/* SPDX-License-Identifier: GPL-2.0-only */
/* The boards that the simulation can be: one table of clocks, cores and magnitudes. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <linux/types.h>

/* A point of the curve of voltage over clock. */
struct sim_volts {
	u32 khz, mv;
};

#define SIM_VOLTS	5

/**
 * struct sim_magnitudes - what the analytic plant makes of a clock on this board
 * @gpu_flop, @gpu_byte: of the GPU per clock, arithmetic and traffic
 * @emc_byte: of the memory per clock
 * @gpu_volts, @cpu_volts: ascending
 * @gpu_pf, @cpu_pf, @cluster_pf: what toggles; of a core, of a cluster's common part
 * @gpu_leak_uw, @cpu_leak_uw: at 1 V and 50 degrees; of a core
 * @gpu_uw, @cpu_uw, @sys_uw: constant draw of the three rails
 * @cluster_uw: constant draw of a cluster
 * @ddr: power of the memory, permille of an AGX Orin's at the same clock and traffic
 * @mss_on_cpu: the memory controllers are fed by the CPU's rail, not the GPU's
 * @minibatch: size of a minibatch, permille of the workload's: what fits such a board
 */
struct sim_magnitudes {
	u32 gpu_flop, gpu_byte, emc_byte;
	struct sim_volts gpu_volts[SIM_VOLTS], cpu_volts[SIM_VOLTS];
	u32 gpu_pf, cpu_pf, cluster_pf;
	u32 gpu_leak_uw, cpu_leak_uw;
	u32 gpu_uw, cpu_uw, sys_uw, cluster_uw;
	u32 ddr, minibatch;
	bool mss_on_cpu;
};

/**
 * struct sim_model_steps - where the steps of a clock are
 * @from, @by: an arithmetic series, kHz, up to @to
 * @list: or all of them, kHz, up to a zero; follows the series
 */
struct sim_model_steps {
	u32 from, by, to;
	u32 list[16];
};

/**
 * struct sim_model_board - a board
 * @root: parts of names in the root's compatible list; the first board that matches is it
 * @name: for the log
 * @cores, @cluster: CPUs, and how many share a clock
 * @dla_khz: highest core clock of its accelerators, 0: it has none
 * @fan: it has a fan with a tachometer, as far as a source says
 * @oc_inputs: over-current inputs whose events its driver counts, 0: no driver
 * @emc_cap: how its release caps the memory's clock (the parameter of that name)
 * @waits: which nodes its release has to wait on (the parameter of that name)
 */
struct sim_model_board {
	const char *root[2], *name;
	u32 cores, cluster;
	struct sim_model_steps cpu, gpu, emc;
	u32 dla_khz;
	bool fan;
	u32 oc_inputs;
	char *emc_cap, *waits;
	struct sim_magnitudes magnitudes;
};

/* The board of the device tree; an AGX Orin if no other is known. */
const struct sim_model_board *sim_model_board(void);

struct sim_steps;
void sim_model_steps(const struct sim_model_board *board, struct sim_steps *steps);

#endif
