// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/igx-orin-mainline.dtso modules="jetwatt-sim;ina3221;jetwatt" timeout=60
#define BUS_HZ		100000
#define SCOPE		JETWATT_SCOPE_MODULE
#define NOTHING_UJ	1500000
#define RAILS										\
	{ "VDD_GPU_SOC", "ina3221", 2000, -1, GPU, OF_THREE, BUS_HZ },			\
	{ "VDD_CPU_CV", "ina3221", 2000, -1, CPU, OF_THREE, BUS_HZ },			\
	{ "VIN_SYS_5V0", "ina3221", 2000, -1, SYS, OF_THREE, BUS_HZ },			\
	{ "VDDQ_VDD2_1V8AO", "ina3221", 2000, 2, DDR, OF_ONE, BUS_HZ },			\
	{ "CVB_ATX_12V", "ina3221", 2000, -2, GPU | CPU | SYS, OF_THREE, 400000 },	\
	{ "CVB_ATX_3V3", "ina3221", 2000, -2, 0, OF_THREE, 400000 },			\
	{ "CVB_ATX_5V", "ina3221", 2000, -2, 0, OF_THREE, 400000 },			\
	{ "in1", "ina219", 2000, -2, 0, OF_INA219, 400000 },
#include "board.inc"
