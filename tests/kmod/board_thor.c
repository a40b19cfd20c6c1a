// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/thor.dtso modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=60
#define BUS_HZ		400000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1
#define IN_TOTAL(i)	(rails[i].parent == 0)
#define RAILS									\
	{ "VIN", "ina238", 2000, -2, GPU | CPU | SYS, OF_INA238, BUS_HZ },	\
	{ "VDD_GPU", "ina3221", 2000, 0, GPU, OF_THREE, BUS_HZ },		\
	{ "VDD_CPU_SOC_MSS", "ina3221", 2000, 0, CPU, OF_THREE, BUS_HZ },	\
	{ "VIN_SYS_5V0", "ina3221", 2000, 0, SYS, OF_THREE, BUS_HZ },
#include "board.inc"
