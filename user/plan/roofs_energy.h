/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy roofline, for roofs.c only.
 */
#ifndef JETWATT_ROOFS_ENERGY_H
#define JETWATT_ROOFS_ENERGY_H

#include "plan/roofs.h"

/*
 * Set @eps_flop, @eps_mem and @pi0 of each mode in @r; the peak rates of arithmetic and memory in
 * @r must be set. Arguments as for jetwatt_roofs_fit(). Return: 0; -ENODATA; -ENOMEM.
 */
int jetwatt_roofs_energy(const struct jetwatt_mode *mode, size_t modes,
			 const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r);

#endif
