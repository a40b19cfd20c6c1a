// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/thor.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define BUS_HZ		400000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1
#define RAILS					\
	{ "VIN", "ina238", 2000, -1, GPU | CPU | SYS },	\
	{ "VDD_GPU", "ina3221", 1000, 0, GPU },	\
	{ "VDD_CPU_SOC_MSS", "ina3221", 1000, 0, CPU },	\
	{ "VIN_SYS_5V0", "ina3221", 1000, 0, SYS },
#include "board.inc"
