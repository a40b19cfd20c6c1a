/* SPDX-License-Identifier: GPL-2.0 */
/* The sampler thread, which takes the samples. */
#ifndef JETWATT_SAMPLER_H
#define JETWATT_SAMPLER_H

#include <linux/types.h>

void jetwatt_sampler_rate(u32 hz);
u32 jetwatt_sampler_hz(void);
int jetwatt_sampler_cpu(u32 cpu);
int jetwatt_sampler_init(void (*on_sample)(u64 seq));
void jetwatt_sampler_exit(void);

#endif
