// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim bus_hz=400000 tell_hz=0;ina3221;jetwatt" timeout=90
/*
 * Run the tests of rates.inc on a bus of 400 kHz, although the device tree says 100 kHz, as if the
 * clock had been raised at run time; the module must measure the clock. At a bus share of 50 %, the
 * chips limit the sampling rate.
 */
#define BUS_HZ	400000
#define CHIP_HZ	454

#include "rates.inc"
