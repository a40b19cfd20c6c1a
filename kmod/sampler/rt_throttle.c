// SPDX-License-Identifier: GPL-2.0
#include "sampler/rt_throttle.h"

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/smp.h>
#include "event.h"
#include "fault_inject.h"
#include "sampler/stats.h"

/*
 * Real-time tasks get 950 ms of a second (sched_rt_runtime_us): if others use
 * it up, the sampler stands still for the rest of it and its thread can't tell
 * why. A timer interrupt can: if the thread should have run long ago, is ready
 * to, and its CPU runs a task that is not of real time and has not been asked to
 * give way, as one is that only cannot be preempted where it is, then nothing
 * but throttling holds it up.
 */
#define LOOK_NS		(20 * NSEC_PER_MSEC)
#define LATE_NS		(10 * NSEC_PER_MSEC)

#define NEVER		U64_MAX

static struct hrtimer timer;
static struct task_struct *sampler;
static u64 period;	/* of its deadlines */
static u64 expected;	/* when it was to wake up */
static int armed_on;	/* the timer's CPU; the thread's own */

/* How long JETWATT_FAIL_LOOK keeps the handler in its interrupt. */
#define HELD_US		2000

static u64 counted;	/* the handler's own: that deadline was counted already */
static u64 times;	/* written by the handler */
static u64 told, told_at;	/* the thread's own */

/*
 * At a deadline, so that one interrupt serves the thread's timer and this one;
 * at rates too low for that, once a tick when it would be late; and soon if
 * the look before has found it late.
 */
static u64 next_look(u64 now, u64 deadline)
{
	if (deadline == NEVER)
		return now + LOOK_NS;
	if (counted == deadline - 1)
		return now + LATE_NS;
	if (period > LOOK_NS)
		return max(deadline + LATE_NS, now + LOOK_NS);
	if (now > deadline)
		deadline += div64_u64(now - deadline, period) * period;
	return deadline + div64_u64(LOOK_NS, period) * period;
}

static enum hrtimer_restart look(struct hrtimer *unused)
{
	u64 now = ktime_get_ns(), deadline = READ_ONCE(expected);
	u64 due = ktime_to_ns(hrtimer_get_expires(&timer));

	/*
	 * rt_task() leaves out deadline tasks from 6.12 on, so the priority is compared:
	 * theirs is below MAX_RT_PRIO as well.
	 *
	 * Two looks at the same missed deadline, both in time: an interrupt that
	 * comes late itself, as in a virtual machine that was stopped, proves nothing.
	 */
	if (deadline != NEVER && now < due + LATE_NS / 2 && now >= deadline + LATE_NS &&
	    task_cpu(sampler) == smp_processor_id() && current != sampler && current->prio >= MAX_RT_PRIO &&
	    task_is_running(sampler) && !need_resched()) {
		if (counted == deadline - 1) {
			WRITE_ONCE(times, times + 1);
			counted = deadline;
		} else if (counted != deadline) {
			counted = deadline - 1;
		}
	}
	if (jetwatt_fail(JETWATT_FAIL_LOOK))
		udelay(HELD_US);
	/* To change the time of a timer in a queue would break the queue's order. */
	if (WARN_ON_ONCE(hrtimer_is_queued(&timer)))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(&timer, ns_to_ktime(next_look(now, deadline)));
	return HRTIMER_RESTART;
}

/*
 * Start the timer on this CPU. The handler may still run on the CPU that the thread
 * has left: hrtimer_cancel() waits for it, because it sets the next time itself.
 */
static void arm(void)
{
	hrtimer_cancel(&timer);
	armed_on = get_cpu();
	hrtimer_start(&timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu();
}

/**
 * jetwatt_throttle_start() - the sampler starts to run at a rate
 * @period_ns: from one deadline to the next
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_start(u64 period_ns)
{
	sampler = current;
	period = period_ns;
	expected = NEVER;
	hrtimer_setup(&timer, look, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	arm();
}

/**
 * jetwatt_throttle_expect() - it is going to sleep
 * @deadline: until then
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_expect(u64 deadline)
{
	WRITE_ONCE(expected, deadline);
	/* The timer has to be where the thread is. */
	if (raw_smp_processor_id() != armed_on)
		arm();
}

/**
 * jetwatt_throttle_tell() - it has woken up: tell what was noticed meanwhile
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_tell(void)
{
	u64 now, n = READ_ONCE(times);

	if (n == told)
		return;
	now = ktime_get_ns();
	jetwatt_stats_throttled(n);
	if (now - told_at < NSEC_PER_SEC)
		return;
	jetwatt_event_post(JETWATT_EVENT_THROTTLED, JETWATT_EVENT_NO_CHIP, n);
	told = n;
	told_at = now;
}

/**
 * jetwatt_throttle_stop() - it does not run any more
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_stop(void)
{
	hrtimer_cancel(&timer);
}
