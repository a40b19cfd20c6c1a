// SPDX-License-Identifier: GPL-2.0
/* Detect and count the times that RT throttling keeps the sampler thread from running. */
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
 * By default, real-time tasks get 950 ms of each second (sched_rt_runtime_us). If other real-time
 * tasks use up these 950 ms, the sampler thread does not run for the rest of the second and cannot
 * find out why. A timer interrupt can find out: if the sampler thread is runnable and late, and its
 * CPU runs a non-RT task without need_resched set, only RT throttling explains the delay. (A non-RT
 * task that is merely in a non-preemptible section has need_resched set.)
 */
#define CHECK_PERIOD_NS		(20 * NSEC_PER_MSEC)
#define LATE_NS		(10 * NSEC_PER_MSEC)

#define NEVER		U64_MAX

/**
 * struct throttle - detection of RT throttling
 * @timer: timer whose handler checks whether the sampler thread is throttled
 * @thread: the sampler thread
 * @period: period of the thread's deadlines (ns)
 * @expected: deadline until which the thread sleeps, or NEVER
 * @armed_on: CPU on which @timer was started; used by the sampler thread only
 * @counted: last missed deadline that was counted; if only the first of two checks has found the
 *	thread late, that deadline less 1; used by the handler only
 * @count: number of ticks delayed by throttling; written by the handler
 * @reported: value of @count when the last event was posted; used by the sampler thread only
 * @reported_at: time at which the last event was posted (ns); used by the sampler thread only
 */
static struct throttle {
	struct hrtimer timer;
	struct task_struct *thread;
	u64 period;
	u64 expected;
	int armed_on;
	u64 counted;
	u64 count;
	u64 reported, reported_at;
} throttle;

/* Time by which the fault JETWATT_FAIL_LOOK delays the timer handler, in microseconds. */
#define DELAY_US		2000

/*
 * Return the time of the next check. Normally the check is at a deadline of the sampler thread, so
 * that one interrupt serves the timers of both. If the period of the deadlines exceeds
 * CHECK_PERIOD_NS, the check is at least LATE_NS after a deadline. If a first check has found the
 * thread late, the second check follows LATE_NS later.
 */
static u64 next_check(u64 now, u64 deadline)
{
	if (deadline == NEVER)
		return now + CHECK_PERIOD_NS;
	if (throttle.counted == deadline - 1)
		return now + LATE_NS;
	if (throttle.period > CHECK_PERIOD_NS)
		return max(deadline + LATE_NS, now + CHECK_PERIOD_NS);
	if (now > deadline)
		deadline += div64_u64(now - deadline, throttle.period) * throttle.period;
	return deadline + div64_u64(CHECK_PERIOD_NS, throttle.period) * throttle.period;
}

static enum hrtimer_restart check_throttled(struct hrtimer *unused)
{
	u64 now = ktime_get_ns(), deadline = READ_ONCE(throttle.expected);
	u64 due = ktime_to_ns(hrtimer_get_expires(&throttle.timer));

	/*
	 * Whether the running task is non-RT is tested by its priority, because since 6.12
	 * rt_task() is false for SCHED_DEADLINE tasks; their priority is below MAX_RT_PRIO, like
	 * that of RT tasks.
	 *
	 * A missed deadline is counted only if two checks find the thread late, and only if the
	 * timer interrupts of both checks are in time: an interrupt that is late itself, as in a
	 * virtual machine that was stopped, proves nothing.
	 */
	if (deadline != NEVER && now < due + LATE_NS / 2 && now >= deadline + LATE_NS &&
	    task_cpu(throttle.thread) == smp_processor_id() && current != throttle.thread &&
	    current->prio >= MAX_RT_PRIO &&
	    task_is_running(throttle.thread) && !need_resched()) {
		if (throttle.counted == deadline - 1) {
			WRITE_ONCE(throttle.count, throttle.count + 1);
			throttle.counted = deadline;
		} else if (throttle.counted != deadline) {
			throttle.counted = deadline - 1;
		}
	}
	if (jetwatt_fail(JETWATT_FAIL_LOOK))
		udelay(DELAY_US);
	/* Changing the expiry of a queued timer would break the order of the hrtimer queue. */
	if (WARN_ON_ONCE(hrtimer_is_queued(&throttle.timer)))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(&throttle.timer, ns_to_ktime(next_check(now, deadline)));
	return HRTIMER_RESTART;
}

/*
 * Start the timer on this CPU. The handler may still run on the CPU from which the sampler thread
 * has been moved; hrtimer_cancel() waits until it has finished, so that the handler does not change
 * the expiry of the restarted timer.
 */
static void arm_timer(void)
{
	hrtimer_cancel(&throttle.timer);
	throttle.armed_on = get_cpu();
	hrtimer_start(&throttle.timer, ns_to_ktime(CHECK_PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu();
}

/**
 * jetwatt_throttle_start() - start to detect throttling when the sampler starts to run at a rate
 * @period_ns: period of the deadlines, in nanoseconds
 *
 * Context: the sampler thread.
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
 * jetwatt_throttle_expect() - store the deadline until which the thread will sleep
 * @deadline: the deadline, CLOCK_MONOTONIC
 *
 * Context: the sampler thread.
 */
void jetwatt_throttle_expect(u64 deadline)
{
	WRITE_ONCE(throttle.expected, deadline);
	/* The timer must be on the CPU of the thread. */
	if (raw_smp_processor_id() != throttle.armed_on)
		arm_timer();
}

/**
 * jetwatt_throttle_report() - update the statistics and post an event if throttling was detected
 *
 * At most one event per second is posted. Called when the thread has woken up.
 *
 * Context: the sampler thread.
 */
void jetwatt_throttle_report(void)
{
	u64 now, n = READ_ONCE(throttle.count);

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
 * jetwatt_throttle_stop() - stop detecting throttling
 *
 * Context: the sampler thread.
 */
void jetwatt_throttle_stop(void)
{
	hrtimer_cancel(&throttle.timer);
}
