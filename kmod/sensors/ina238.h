/* SPDX-License-Identifier: GPL-2.0 */
/* Registers and configuration that the INA238 and the INA228 have in common. */
#ifndef JETWATT_INA238_H
#define JETWATT_INA238_H

#include "sensors/chip_ops.h"

#define JETWATT_INA238_NR_AUX_REGS	3

extern const struct jetwatt_aux_reg jetwatt_ina238_aux_regs[JETWATT_INA238_NR_AUX_REGS];

void jetwatt_ina238_conversion(const u16 *config, struct jetwatt_conversion *conv);
unsigned int jetwatt_ina238_range(const u16 *config);

#endif
