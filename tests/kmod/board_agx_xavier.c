// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/agx-xavier.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define MEMORY_CLOCK
#define BUS_HZ		100000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	400000
#define RAILS								\
	{ "GPU", "ina3221", 5000, -1, GPU, OF_THREE, BUS_HZ },		\
	{ "CPU", "ina3221", 5000, -1, CPU, OF_THREE, BUS_HZ },		\
	{ "SOC", "ina3221", 5000, -1, 0, OF_THREE, BUS_HZ },		\
	{ "CV", "ina3221", 5000, -1, 0, OF_THREE, BUS_HZ },		\
	{ "VDDRQ", "ina3221", 5000, -1, DDR, OF_THREE, BUS_HZ },	\
	{ "SYS5V", "ina3221", 5000, -1, SYS, OF_THREE, BUS_HZ },
#include "board.inc"
