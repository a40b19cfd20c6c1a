// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/orin.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define MEMORY_CLOCK
#define BUS_HZ		100000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1
#define RAILS								\
	{ "VDD_GPU_SOC", "ina3221", 2000, -1, GPU, OF_THREE, BUS_HZ },	\
	{ "VDD_CPU_CV", "ina3221", 2000, -1, CPU, OF_THREE, BUS_HZ },	\
	{ "VIN_SYS_5V0", "ina3221", 2000, -1, SYS, OF_THREE, BUS_HZ },	\
	{ "VDDQ_VDD2_1V8AO", "ina3221", 2000, 2, DDR, OF_ONE, BUS_HZ },
#define SLOWDOWN_MC	99000
#include "board.inc"
