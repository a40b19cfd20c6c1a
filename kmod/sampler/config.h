/* SPDX-License-Identifier: GPL-2.0 */
/* What was asked for, and what comes of it. */
#ifndef JETWATT_CONFIG_H
#define JETWATT_CONFIG_H

#include <linux/types.h>
#include "sampler/read_schedule.h"

#define JETWATT_BUS_SHARE_MAX	90
#define JETWATT_BATCH_AGE_MAX	10000
#define JETWATT_BOX_MS_MAX	600000

/**
 * struct jetwatt_config - see JETWATT_A_CONFIG_*
 * @rate_hz: ticks a second, 0: the highest possible
 * @batch: samples in a batch
 * @batch_age_ms: age of the oldest sample at which a batch is sent
 * @bus_share_pct: most of a bus's time to take
 * @box_ms: how much the black box keeps, 0: nothing on an alarm
 * @cpu: where the sampler runs, JETWATT_CPU_ANY: wherever there is room
 */
struct jetwatt_config {
	u32 rate_hz;
	u32 batch;
	u32 batch_age_ms;
	u32 bus_share_pct;
	u32 box_ms;
	u32 cpu;
};

struct jetwatt_config jetwatt_config_get(void);
int jetwatt_config_set(const struct jetwatt_config *new, bool rate_given,
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
