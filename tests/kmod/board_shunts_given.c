// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/unknown-shunts.dtso modules="jetwatt-sim;ina3221;jetwatt shunt=VDD_CPU_CV=10000,1-0040:2=5000" timeout=60
#define BUS_HZ		100000
#define SCOPE		JETWATT_SCOPE_PARTIAL
#define NOTHING_UJ	100
#define RAILS								\
	{ "VDD_GPU_SOC", "ina3221", 2000, -1, GPU, OF_THREE, BUS_HZ },	\
	{ "VDD_CPU_CV", "ina3221", 10000, -1, CPU, OF_THREE, BUS_HZ },	\
	{ "in3", "ina3221", 5000, -1, 0, OF_THREE, BUS_HZ },
#include "board.inc"
