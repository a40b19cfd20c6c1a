// SPDX-License-Identifier: GPL-2.0
/* Statistics of the sampler thread for JETWATT_CMD_STATS_GET. */
#include "sampler/stats.h"

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sensors/bus.h"

#define BUCKETS	40	/* the last bucket counts all latencies of at least 2^38 ns = 275 s */

/*
 * Only the sampler thread writes, so plain read-modify-write is sufficient. A reader may get some
 * counters from before and some from after the same tick.
 */
static struct {
	u64 late[BUCKETS];
	u64 late_max, ticks, missed, length, throttled, cpu;
} counts;

static void add_to(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/**
 * jetwatt_stats_late() - count the wake-up latency of a tick
 * @late_ns: time from the deadline to the wake-up, in nanoseconds
 *
 * Context: the sampler thread.
 */
void jetwatt_stats_late(u64 late_ns)
{
	/* Bucket b counts latencies from 2^(b-1) ns to 2^b - 1 ns. */
	add_to(&counts.late[min(fls64(late_ns), BUCKETS - 1)], 1);
	if (late_ns > counts.late_max)
		WRITE_ONCE(counts.late_max, late_ns);
}

/**
 * jetwatt_stats_tick() - count a tick and the duration of its transfers
 * @length_ns: duration of the tick's transfers, in nanoseconds
 *
 * Context: the sampler thread.
 */
void jetwatt_stats_tick(u64 length_ns)
{
	add_to(&counts.length, length_ns);
	add_to(&counts.ticks, 1);
}

/**
 * jetwatt_stats_missed() - count skipped ticks
 * @n: number of skipped ticks
 *
 * Context: the sampler thread.
 */
void jetwatt_stats_missed(u64 n)
{
	add_to(&counts.missed, n);
}

/**
 * jetwatt_stats_throttled() - store the number of ticks delayed by RT throttling
 * @n: number of delayed ticks since the module was loaded
 *
 * Context: the sampler thread.
 */
void jetwatt_stats_throttled(u64 n)
{
	WRITE_ONCE(counts.throttled, n);
}

/**
 * jetwatt_stats_cpu() - store the CPU time of the sampler thread
 * @cpu_ns: CPU time since the thread was started, in nanoseconds
 *
 * Context: the sampler thread.
 */
void jetwatt_stats_cpu(u64 cpu_ns)
{
	WRITE_ONCE(counts.cpu, cpu_ns);
}

/*
 * Return: upper bound, in nanoseconds, of the bucket that contains the @percent quantile of the
 * latencies.
 */
static u64 quantile(const u64 *count, u64 total, unsigned int percent)
{
	u64 want = DIV_ROUND_UP_ULL(total * percent, 100), sum = 0;
	unsigned int b;

	if (!total)
		return 0;
	for (b = 0; b < BUCKETS; b++) {
		sum += count[b];
		if (sum >= want)
			break;
	}
	return BIT_ULL(b) - 1;
}

/**
 * jetwatt_stats_get() - return all statistics
 * @stats: gets the statistics
 *
 * Context: any.
 */
void jetwatt_stats_get(struct jetwatt_sampler_stats *stats)
{
	u64 count[BUCKETS], total = 0;
	unsigned int b;

	for (b = 0; b < BUCKETS; b++) {
		count[b] = READ_ONCE(counts.late[b]);
		total += count[b];
	}
	stats->ticks = READ_ONCE(counts.ticks);
	stats->missed = READ_ONCE(counts.missed);
	stats->i2c_errors = jetwatt_bus_errors();
	stats->throttled = READ_ONCE(counts.throttled);
	stats->cpu_ns = READ_ONCE(counts.cpu);
	stats->late_max_ns = READ_ONCE(counts.late_max);
	stats->late_p50_ns = min(quantile(count, total, 50), stats->late_max_ns);
	stats->late_p99_ns = min(quantile(count, total, 99), stats->late_max_ns);
	stats->tick_ns = stats->ticks ? div64_u64(READ_ONCE(counts.length), stats->ticks) : 0;
}
