// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/unknown-shunts.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define BUS_HZ		100000
#define SCOPE		JETWATT_SCOPE_PARTIAL
#define NOTHING_UJ	1
#define RAILS								\
	{ "VDD_GPU_SOC", "ina3221", 2000, -1, GPU, OF_THREE, BUS_HZ },	\
	{ "VDD_CPU_CV", "ina3221", 0, -2, CPU, OF_THREE, BUS_HZ },	\
	{ "in3", "ina3221", 0, -2, 0, OF_THREE, BUS_HZ },
#include "board.inc"
