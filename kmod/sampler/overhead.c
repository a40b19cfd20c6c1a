// SPDX-License-Identifier: GPL-2.0
#include "sampler/overhead.h"

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

/*
 * The least of a second counts: what came in between in single ticks is not ours.
 * And only if no tick took less than half of its period: at lower rates it would
 * tell of a CPU that sleeps or has a low clock. Then the most of several such
 * seconds, so that one that was easier does not raise the rate for the next one
 * to lower it. What nobody has measured for a minute is forgotten.
 */
#define WINDOW_NS	NSEC_PER_SEC
#define WINDOWS		8
#define GOOD_NS		(60 * NSEC_PER_SEC)

/**
 * struct overhead - CPU time of a tick beside its transfers
 * @least_span: shortest tick of this window (ns)
 * @least_ns: least overhead of this window (ns)
 * @until: end of this window (ns)
 * @kept: overheads of the last windows (ns)
 * @kept_at: time at which the last of them was stored (ns)
 * @last: index of the last of them
 *
 * Written by the sampler thread; @kept and @kept_at are read elsewhere too.
 */
static struct overhead {
	u64 least_span, least_ns, until;
	u64 kept[WINDOWS], kept_at;
	unsigned int last;
} overhead;

/**
 * jetwatt_overhead_tick() - a tick is over
 * @span_ns: from its deadline until now
 * @read_ns: of that, its transfers
 * @period_ns: from one deadline to the next
 * @now: CLOCK_MONOTONIC
 *
 * Context: the sampler's thread.
 */
void jetwatt_overhead_tick(u64 span_ns, u64 read_ns, u64 period_ns, u64 now)
{
	if (now >= overhead.until) {
		if (2 * overhead.least_span > period_ns) {
			overhead.last = (overhead.last + 1) % WINDOWS;
			WRITE_ONCE(overhead.kept[overhead.last], overhead.least_ns);
			WRITE_ONCE(overhead.kept_at, now);
		}
		overhead.least_span = span_ns;
		overhead.least_ns = span_ns - read_ns;
		overhead.until = now + WINDOW_NS;
	}
	overhead.least_span = min(overhead.least_span, span_ns);
	overhead.least_ns = min(overhead.least_ns, span_ns - read_ns);
}

/**
 * jetwatt_overhead_ns() - what to reckon with beside the transfers
 *
 * Context: any. Return: nanoseconds a tick, 0: not known.
 */
u64 jetwatt_overhead_ns(void)
{
	unsigned int i;
	u64 most = 0;

	if (ktime_get_ns() > READ_ONCE(overhead.kept_at) + GOOD_NS)
		return 0;
	for (i = 0; i < WINDOWS; i++)
		most = max(most, READ_ONCE(overhead.kept[i]));
	return most;
}

/**
 * jetwatt_overhead_forget() - the sampler starts: nothing has been measured yet
 *
 * Context: the sampler's thread.
 */
void jetwatt_overhead_forget(void)
{
	unsigned int i;

	for (i = 0; i < WINDOWS; i++)
		WRITE_ONCE(overhead.kept[i], 0);
	overhead.least_span = 0;
	overhead.until = 0;
}
