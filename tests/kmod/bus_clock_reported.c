// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=90
/*
 * Run the tests of bus_clock.inc with an i2c adapter that reports its clock, as with NVIDIA's
 * kernels up to JetPack 5.
 */
#define TELLS	1

#include "bus_clock.inc"
