// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim bus_hz=400000 tell_hz=0;ina3221;jetwatt" timeout=90
/*
 * A faster bus than the device tree says, as after its clock was raised at run time: the module
 * measures the clock. At 50 % the chips are the limit.
 */
#define BUS_HZ	400000
#define CHIP_HZ	454

#include "rates.inc"
