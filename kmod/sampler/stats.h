/* SPDX-License-Identifier: GPL-2.0 */
/* How well the sampler keeps its time. */
#ifndef JETWATT_STATS_H
#define JETWATT_STATS_H

#include <linux/types.h>

/**
 * struct jetwatt_stats - since the module was loaded
 * @ticks: samples taken
 * @missed: ticks skipped because the one before was late
 * @i2c_errors: transfers that failed
 * @late_p50_ns: wake-up lateness that half of the ticks stay within
 * @late_p99_ns: that 99 of 100 stay within
 * @late_max_ns: the worst
 * @tick_ns: mean length of a tick's transfers
 * @throttled: times that the scheduler kept the sampler from running although
 *	nothing more urgent was there
 * @cpu_ns: CPU time of the sampler's thread
 */
struct jetwatt_stats {
	u64 ticks, missed, i2c_errors;
	u64 late_p50_ns, late_p99_ns, late_max_ns;
	u64 tick_ns;
	u64 throttled, cpu_ns;
};

void jetwatt_stats_late(u64 late_ns);
void jetwatt_stats_tick(u64 length_ns);
void jetwatt_stats_missed(u64 ticks);
void jetwatt_stats_throttled(u64 n);
void jetwatt_stats_cpu(u64 cpu_ns);
void jetwatt_stats_get(struct jetwatt_stats *stats);

#endif
