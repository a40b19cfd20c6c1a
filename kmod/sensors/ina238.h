/* SPDX-License-Identifier: GPL-2.0 */
/* What the INA238 and the INA228 have in common: configuration, and where registers are. */
#ifndef JETWATT_INA238_H
#define JETWATT_INA238_H

#include "sensors/chip_ops.h"

#define JETWATT_INA238_SIDE	3

extern const struct jetwatt_aux_reg jetwatt_ina238_aux_regs[JETWATT_INA238_SIDE];

void jetwatt_ina238_conversion(const u16 *config, struct jetwatt_conversion *is);
unsigned int jetwatt_ina238_range(const u16 *config);

#endif
