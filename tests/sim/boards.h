/* SPDX-License-Identifier: GPL-2.0-only */
/* The boards that can be simulated: clocks, cores and electrical constants. */
#ifndef SIM_BOARDS_H
#define SIM_BOARDS_H

#include <linux/types.h>

/* A point of the curve of voltage (mV) over clock (kHz). */
struct sim_volts {
	u32 khz, mv;
};

#define SIM_VOLTS	5

/**
 * struct sim_magnitudes - constants of the analytic plant for a board
 * @gpu_flop: maximum arithmetic operations of the GPU per GPU clock cycle
 * @gpu_byte: maximum memory traffic of the GPU per GPU clock cycle, bytes
 * @emc_byte: maximum traffic of the memory per memory clock cycle, bytes
 * @gpu_volts: curve of GPU voltage over GPU clock, ascending
 * @cpu_volts: curve of CPU voltage over CPU clock, ascending
 * @gpu_pf: switched capacitance of the GPU, pF
 * @cpu_pf: switched capacitance of a CPU core, pF
 * @cluster_pf: switched capacitance of the shared part of a CPU cluster, pF
 * @gpu_leak_uw: leakage of the GPU at 1 V and 50 degrees Celsius, uW
 * @cpu_leak_uw: leakage of a CPU core at 1 V and 50 degrees Celsius, uW
 * @gpu_uw: constant power of the GPU's rail, uW
 * @cpu_uw: constant power of the CPU's rail, uW
 * @sys_uw: constant power of the system rail, uW
 * @cluster_uw: constant power of a CPU cluster, uW
 * @ddr: memory power relative to an AGX Orin at the same clock and traffic, permille
 * @minibatch: size of a minibatch on this board relative to the size in the workload's description,
 *	permille
 * @mss_on_cpu: whether the CPU's rail feeds the memory controllers, instead of the GPU's rail
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
 * struct sim_model_steps - frequency levels of a clock
 * @from: first level of an arithmetic series, kHz
 * @by: difference between levels of the series, kHz
 * @to: last level of the series, kHz
 * @list: further levels above the series, kHz; ends with a zero
 */
struct sim_model_steps {
	u32 from, by, to;
	u32 list[16];
};

/**
 * struct sim_model_board - a board
 * @root: parts of compatible strings of the root node; the first board that matches is simulated
 * @name: name of the board in the kernel log and for sim_board_is_one_of()
 * @cores: number of CPUs
 * @cluster: number of CPUs that share a clock
 * @cpu: levels of the CPU clock
 * @gpu: levels of the GPU clock
 * @emc: levels of the memory clock
 * @emc_cap: default of the module parameter "emc_cap"
 * @waits: default of the module parameter "waits"
 * @magnitudes: constants of the analytic plant
 */
struct sim_model_board {
	const char *root[2], *name;
	u32 cores, cluster;
	struct sim_model_steps cpu, gpu, emc;
	char *emc_cap, *waits;
	struct sim_magnitudes magnitudes;
};

/* Return: the board of the device tree; an AGX Orin if none matches. */
const struct sim_model_board *sim_model_board(void);

struct sim_steps;
void sim_model_steps(const struct sim_model_board *board, struct sim_steps *steps);

#endif
