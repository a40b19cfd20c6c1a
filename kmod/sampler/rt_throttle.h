/* SPDX-License-Identifier: GPL-2.0 */
/* Noticing that the scheduler does not let the sampler run. */
#ifndef JETWATT_RT_THROTTLE_H
#define JETWATT_RT_THROTTLE_H

#include <linux/types.h>

void jetwatt_throttle_start(u64 period_ns);
void jetwatt_throttle_expect(u64 deadline);
void jetwatt_throttle_report(void);
void jetwatt_throttle_stop(void);

#endif
