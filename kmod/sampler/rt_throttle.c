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

/**
 * struct throttle - what detects RT throttling of the sampler thread
 * @timer: its handler looks at the thread
 * @thread: the sampler thread
 * @period: of the thread's deadlines (ns)
 * @expected: the deadline that the thread sleeps until, or NEVER
 * @armed_on: CPU of @timer; the thread's own
 * @counted: last deadline that was counted, less 1 after the first look; the handler's own
 * @times: number of deadlines missed by throttling; written by the handler
 * @reported: value of @times in the last event; the thread's own
 * @reported_at: time of that event (ns); the thread's own
 */
static struct throttle {
	struct hrtimer timer;
	struct task_struct *thread;
	u64 period;
	u64 expected;
	int armed_on;
	u64 counted;
	u64 times;
	u64 reported, reported_at;
} throttle;

/* How long JETWATT_FAIL_LOOK keeps the handler in its interrupt. */
#define HELD_US		2000

/*
 * At a deadline, so that one interrupt serves the thread's timer and this one;
 * at rates too low for that, once a tick when it would be late; and soon if
 * the look before has found it late.
 */
static u64 next_look(u64 now, u64 deadline)
{
	if (deadline == NEVER)
		return now + LOOK_NS;
	if (throttle.counted == deadline - 1)
		return now + LATE_NS;
	if (throttle.period > LOOK_NS)
		return max(deadline + LATE_NS, now + LOOK_NS);
	if (now > deadline)
		deadline += div64_u64(now - deadline, throttle.period) * throttle.period;
	return deadline + div64_u64(LOOK_NS, throttle.period) * throttle.period;
}

static enum hrtimer_restart check_throttled(struct hrtimer *unused)
{
	u64 now = ktime_get_ns(), deadline = READ_ONCE(throttle.expected);
	u64 due = ktime_to_ns(hrtimer_get_expires(&throttle.timer));

	/*
	 * rt_task() leaves out deadline tasks from 6.12 on, so the priority is compared:
	 * theirs is below MAX_RT_PRIO as well.
	 *
	 * Two looks at the same missed deadline, both in time: an interrupt that
	 * comes late itself, as in a virtual machine that was stopped, proves nothing.
	 */
	if (deadline != NEVER && now < due + LATE_NS / 2 && now >= deadline + LATE_NS &&
	    task_cpu(throttle.thread) == smp_processor_id() && current != throttle.thread &&
	    current->prio >= MAX_RT_PRIO &&
	    task_is_running(throttle.thread) && !need_resched()) {
		if (throttle.counted == deadline - 1) {
			WRITE_ONCE(throttle.times, throttle.times + 1);
			throttle.counted = deadline;
		} else if (throttle.counted != deadline) {
			throttle.counted = deadline - 1;
		}
	}
	if (jetwatt_fail(JETWATT_FAIL_LOOK))
		udelay(HELD_US);
	/* To change the time of a timer in a queue would break the queue's order. */
	if (WARN_ON_ONCE(hrtimer_is_queued(&throttle.timer)))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(&throttle.timer, ns_to_ktime(next_look(now, deadline)));
	return HRTIMER_RESTART;
}

/*
 * Start the timer on this CPU. The handler may still run on the CPU that the thread
 * has left: hrtimer_cancel() waits for it, because it sets the next time itself.
 */
static void arm_timer(void)
{
	hrtimer_cancel(&throttle.timer);
	throttle.armed_on = get_cpu();
	hrtimer_start(&throttle.timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL_PINNED_HARD);
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
	throttle.thread = current;
	throttle.period = period_ns;
	throttle.expected = NEVER;
	hrtimer_setup(&throttle.timer, check_throttled, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	arm_timer();
}

/**
 * jetwatt_throttle_expect() - it is going to sleep
 * @deadline: until then
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_expect(u64 deadline)
{
	WRITE_ONCE(throttle.expected, deadline);
	/* The timer has to be where the thread is. */
	if (raw_smp_processor_id() != throttle.armed_on)
		arm_timer();
}

/**
 * jetwatt_throttle_report() - it has woken up: tell what was noticed meanwhile
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_report(void)
{
	u64 now, n = READ_ONCE(throttle.times);

	if (n == throttle.reported)
		return;
	now = ktime_get_ns();
	jetwatt_stats_throttled(n);
	if (now - throttle.reported_at < NSEC_PER_SEC)
		return;
	jetwatt_event_post(JETWATT_EVENT_THROTTLED, JETWATT_EVENT_NO_CHIP, n);
	throttle.reported = n;
	throttle.reported_at = now;
}

/**
 * jetwatt_throttle_stop() - it does not run any more
 *
 * Context: the sampler's thread.
 */
void jetwatt_throttle_stop(void)
{
	hrtimer_cancel(&throttle.timer);
}
