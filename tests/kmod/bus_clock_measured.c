// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim tell_hz=0;ina3221;jetwatt" timeout=90
/*
 * Run the tests of bus_clock.inc with an i2c adapter that does not report its clock, so that the
 * module measures it.
 */
#define TELLS	0

#include "bus_clock.inc"
