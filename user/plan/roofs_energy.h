/* SPDX-License-Identifier: GPL-2.0-only */
/* For roofs.c alone. */
#ifndef JETWATT_ROOFS_ENERGY_H
#define JETWATT_ROOFS_ENERGY_H

#include "plan/roofs.h"

/* @eps_flop, @eps_mem and @pi0 of each mode, whose peaks are known. Return: 0; -ENODATA;
 * -ENOMEM. */
int jetwatt_roofs_energy(const struct jetwatt_mode *mode, size_t modes,
			 const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r);

#endif
