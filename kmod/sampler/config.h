/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration that clients set, and its effect on the sampler. */
#ifndef JETWATT_CONFIG_H
#define JETWATT_CONFIG_H

#include <linux/types.h>
#include "sampler/read_schedule.h"

#define JETWATT_BUS_SHARE_MAX	90
#define JETWATT_BATCH_AGE_MAX	10000
#define JETWATT_BOX_MS_MAX	600000

/**
 * struct jetwatt_sampler_config - the configuration, see JETWATT_A_CONFIG_*
 * @rate_hz: ticks per second; 0: the highest rate at which every tick reads all shunts
 * @batch: number of samples per batch
 * @batch_age_ms: maximum age of a batch, in milliseconds: a batch is sent when its oldest sample
 *	reaches this age, even if the batch is not full
 * @bus_share_pct: maximum share of a bus's time, in percent
 * @box_ms: length of the black box's window in milliseconds; 0: alarms do not fill the black box
 * @cpu: CPU of the sampler thread, JETWATT_CPU_ANY: not pinned
 */
struct jetwatt_sampler_config {
	u32 rate_hz;
	u32 batch;
	u32 batch_age_ms;
	u32 bus_share_pct;
	u32 box_ms;
	u32 cpu;
};

struct jetwatt_sampler_config jetwatt_config_get(void);
int jetwatt_config_set(const struct jetwatt_sampler_config *new, bool rate_given,
		       struct jetwatt_limit *limit);
void jetwatt_config_counters(int n);
int jetwatt_config_counters_open(void);
void jetwatt_config_subscribers(unsigned int n);
void jetwatt_config_update(void);
void jetwatt_config_update_soon(void);
u32 jetwatt_config_batch(void);
u32 jetwatt_config_age_ms(void);
u32 jetwatt_config_box_ms(void);
void jetwatt_config_exit(void);

#endif
