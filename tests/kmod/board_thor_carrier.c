// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/thor-carrier.dtso modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
#define BUS_HZ		400000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1
#define RAILS									\
	{ "VDD_GPU", "ina3221", 2000, -1, GPU, OF_THREE, BUS_HZ },		\
	{ "VDD_CPU_SOC_MSS", "ina3221", 2000, -1, CPU, OF_THREE, BUS_HZ },	\
	{ "VIN_SYS_5V0", "ina3221", 2000, -1, SYS, OF_THREE, BUS_HZ },
#include "board.inc"
