// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim tell_hz=0;ina3221;jetwatt" timeout=90
/* An adapter that does not report its clock: the module measures it. */
#define TELLS	0

#include "bus_clock.inc"
