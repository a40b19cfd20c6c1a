// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim;ina3221;jetwatt" timeout=90
/*
 * Run the tests of rates.inc at 100 kHz, the bus clock of an Orin, where the bus limits the
 * sampling rate.
 */
#define BUS_HZ	100000
#define CHIP_HZ	454

#include "rates.inc"
