/* SPDX-License-Identifier: GPL-2.0 */
/* The transfers of one tick, and the rates measured from them. */
#ifndef JETWATT_TRANSFER_H
#define JETWATT_TRANSFER_H

#include <linux/types.h>

struct jetwatt_sample;

u64 jetwatt_read_rails(struct jetwatt_sample *sample, bool all, u64 *length_ns);
u32 jetwatt_read_busy_permille(void);
void jetwatt_read_update_rates(u64 now);
void jetwatt_read_restart(void);

#endif
