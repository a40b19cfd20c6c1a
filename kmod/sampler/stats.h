/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics of the sampler thread. */
#ifndef JETWATT_STATS_H
#define JETWATT_STATS_H

#include <linux/types.h>

/**
 * struct jetwatt_sampler_stats - statistics since the module was loaded
 * @ticks: number of samples taken
 * @missed: number of ticks skipped because an earlier tick ended too late
 * @i2c_errors: number of failed transfers, also of those that other threads made
 * @late_p50_ns: median of the wake-up latency (ns), as the upper bound of its bucket in stats.c
 * @late_p99_ns: 99th percentile of the wake-up latency (ns), likewise
 * @late_max_ns: maximum of the wake-up latency (ns)
 * @tick_ns: mean duration of a tick's transfers (ns)
 * @throttled: number of ticks delayed by RT throttling
 * @cpu_ns: CPU time of the sampler thread at the last sample (ns)
 */
struct jetwatt_sampler_stats {
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
void jetwatt_stats_get(struct jetwatt_sampler_stats *stats);

#endif
