/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the CPU time that a tick needs in addition to its transfers. */
#ifndef JETWATT_OVERHEAD_H
#define JETWATT_OVERHEAD_H

#include <linux/types.h>

void jetwatt_overhead_tick(u64 span_ns, u64 read_ns, u64 period_ns, u64 now);
u64 jetwatt_overhead_ns(void);
void jetwatt_overhead_forget(void);

#endif
