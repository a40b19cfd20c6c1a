// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/xavier-nx.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define MEMORY_CLOCK
#define BUS_HZ		400000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1
#define RAILS									\
	{ "VDD_IN", "ina3221", 5000, -1, GPU | CPU | SYS, OF_THREE, BUS_HZ },	\
	{ "VDD_CPU_GPU_CV", "ina3221", 5000, 0, GPU | CPU, OF_THREE, BUS_HZ },	\
	{ "VDD_SOC", "ina3221", 5000, 0, DDR, OF_THREE, BUS_HZ },
#include "board.inc"
