// SPDX-License-Identifier: GPL-2.0
#include "sampler/stats.h"

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sensors/bus.h"

#define BUCKETS	40	/* the last one: everything from 2^38 ns = 275 s on */

/*
 * The sampler's thread is the only writer: plain read-modify-write is enough, and readers
 * may see counters of two neighbouring ticks.
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
 * jetwatt_stats_late() - the sampler woke up
 * @late_ns: so long after its deadline
 *
 * Context: the sampler's thread.
 */
void jetwatt_stats_late(u64 late_ns)
{
	/* Bucket b holds what is below 2^b. */
	add_to(&counts.late[min(fls64(late_ns), BUCKETS - 1)], 1);
	if (late_ns > counts.late_max)
		WRITE_ONCE(counts.late_max, late_ns);
}

/**
 * jetwatt_stats_tick() - a sample was taken
 * @length_ns: so long did its transfers take
 *
 * Context: the sampler's thread.
 */
void jetwatt_stats_tick(u64 length_ns)
{
	add_to(&counts.length, length_ns);
	add_to(&counts.ticks, 1);
}

/**
 * jetwatt_stats_missed() - ticks were skipped
 * @n: how many
 *
 * Context: the sampler's thread.
 */
void jetwatt_stats_missed(u64 n)
{
	add_to(&counts.missed, n);
}

/**
 * jetwatt_stats_throttled() - the sampler was kept from running
 * @n: how often so far
 *
 * Context: the sampler's thread.
 */
void jetwatt_stats_throttled(u64 n)
{
	WRITE_ONCE(counts.throttled, n);
}

/**
 * jetwatt_stats_cpu() - how much CPU time the sampler has taken
 * @cpu_ns: since it was started
 *
 * Context: the sampler's thread.
 */
void jetwatt_stats_cpu(u64 cpu_ns)
{
	WRITE_ONCE(counts.cpu, cpu_ns);
}

/* The upper bound of the bucket in which the quantile lies. */
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
 * jetwatt_stats_get() - all counters
 * @stats: where to
 *
 * Context: any.
 */
void jetwatt_stats_get(struct jetwatt_stats *stats)
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
