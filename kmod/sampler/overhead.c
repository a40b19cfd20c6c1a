// SPDX-License-Identifier: GPL-2.0
/* Measure the CPU time that a tick needs in addition to its transfers. */
#include "sampler/overhead.h"

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

/*
 * Time is divided into windows of one second. The overhead of a window is the minimum over all its
 * ticks, so that interruptions of a tick do not count. A window is only used if no tick took less
 * than half its period: if ticks are shorter, the CPU is idle for most of the time, and the
 * overhead would include the wake-up of a CPU that sleeps or has a low clock. The overhead is the
 * maximum of the last eight windows used, so that a single window with less overhead does not raise
 * the rate, which the next window would lower again. If no window was used in the last minute, the
 * overhead is unknown.
 */
#define WINDOW_NS	NSEC_PER_SEC
#define WINDOWS		8
#define VALID_NS		(60 * NSEC_PER_SEC)

/**
 * struct overhead - CPU time of a tick in addition to its transfers
 * @min_span_ns: duration of the shortest tick in the current window, from its deadline to its end
 *	(ns)
 * @min_overhead_ns: minimum overhead in the current window (ns)
 * @window_end: time at which the current window ends, CLOCK_MONOTONIC (ns)
 * @history: overheads of the last windows used (ns)
 * @updated: time at which the last entry of @history was stored (ns)
 * @last: index of the last entry stored in @history
 *
 * Written by the sampler thread only; @history and @updated are read by other threads too.
 */
static struct overhead {
	u64 min_span_ns, min_overhead_ns, window_end;
	u64 history[WINDOWS], updated;
	unsigned int last;
} overhead;

/**
 * jetwatt_overhead_tick() - evaluate a finished tick
 * @span_ns: time from the tick's deadline until now, in nanoseconds
 * @read_ns: duration of the tick's transfers, in nanoseconds
 * @period_ns: period of the ticks, in nanoseconds
 * @now: CLOCK_MONOTONIC
 *
 * Context: the sampler thread.
 */
void jetwatt_overhead_tick(u64 span_ns, u64 read_ns, u64 period_ns, u64 now)
{
	if (now >= overhead.window_end) {
		if (2 * overhead.min_span_ns > period_ns) {
			overhead.last = (overhead.last + 1) % WINDOWS;
			WRITE_ONCE(overhead.history[overhead.last], overhead.min_overhead_ns);
			WRITE_ONCE(overhead.updated, now);
		}
		overhead.min_span_ns = span_ns;
		overhead.min_overhead_ns = span_ns - read_ns;
		overhead.window_end = now + WINDOW_NS;
	}
	overhead.min_span_ns = min(overhead.min_span_ns, span_ns);
	overhead.min_overhead_ns = min(overhead.min_overhead_ns, span_ns - read_ns);
}

/**
 * jetwatt_overhead_ns() - return the CPU time of a tick in addition to its transfers
 *
 * Context: any. Return: nanoseconds per tick, 0 if unknown.
 */
u64 jetwatt_overhead_ns(void)
{
	unsigned int i;
	u64 most = 0;

	if (ktime_get_ns() > READ_ONCE(overhead.updated) + VALID_NS)
		return 0;
	for (i = 0; i < WINDOWS; i++)
		most = max(most, READ_ONCE(overhead.history[i]));
	return most;
}

/**
 * jetwatt_overhead_forget() - discard all results when the sampler starts
 *
 * Context: the sampler thread.
 */
void jetwatt_overhead_forget(void)
{
	unsigned int i;

	for (i = 0; i < WINDOWS; i++)
		WRITE_ONCE(overhead.history[i], 0);
	overhead.min_span_ns = 0;
	overhead.window_end = 0;
}
