/* SPDX-License-Identifier: GPL-2.0 */
/* Detection of RT throttling, which keeps the sampler thread from running. */
#ifndef JETWATT_RT_THROTTLE_H
#define JETWATT_RT_THROTTLE_H

#include <linux/types.h>

void jetwatt_throttle_start(u64 period_ns);
void jetwatt_throttle_expect(u64 deadline);
void jetwatt_throttle_report(void);
void jetwatt_throttle_stop(void);

#endif
