// SPDX-License-Identifier: GPL-2.0
/*
 * The sampler thread. At a rate other than 0, the thread takes a sample at each deadline; while it
 * is parked (rate 0), it only reads the rails at idle_hz for the energy counters. config.c sets the
 * rate.
 */
#include "sampler/sampler.h"

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/jetwatt.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched.h>
#include "event.h"
#include "fault_inject.h"
#include "sampler/aux_series.h"
#include "sampler/blackbox.h"
#include "sampler/energy.h"
#include "sampler/housekeeping.h"
#include "sampler/overhead.h"
#include "sampler/ring.h"
#include "sampler/rt_throttle.h"
#include "sampler/stats.h"
#include "sampler/transfer.h"
#include "sensors/chip.h"

#define IDLE_MAX_HZ	50

static unsigned int idle_hz = 10;
module_param(idle_hz, uint, 0444);
MODULE_PARM_DESC(idle_hz, "mean rate in Hz of the energy counters while the sampler is stopped; 0: off (default 10, at most 50)");

/**
 * struct sampler - the thread that reads the chips
 * @thread: the thread
 * @rate: ticks per second; 0: parked. jetwatt_sampler_rate() wakes the thread after each change.
 * @unpinned: CPUs that the thread may use if neither the configuration nor taskset(1) selects any
 * @placed: completed once @unpinned is set
 * @on_sample: called with the sequence number of each new sample
 * @timer: wakes the thread at each deadline; set up once, because setting up costs more than
 *	starting
 * @unreported: number of skipped ticks that no overrun event has reported yet; used by the thread
 *	only
 * @reported_at: time of the last overrun event (ns); used by the thread only
 */
static struct sampler {
	struct task_struct *thread;
	u32 rate;
	struct cpumask unpinned;
	struct completion placed;
	void (*on_sample)(u64 seq);
	struct hrtimer timer;
	u64 unreported;
	u64 reported_at;
} sampler = { .placed = COMPLETION_INITIALIZER(sampler.placed) };

/* Return: duration of the transfers in nanoseconds. */
static u64 take_sample(bool first)
{
	struct jetwatt_sample *sample = jetwatt_ring_begin(jetwatt_series_count());
	u64 time_ns, length_ns;

	time_ns = jetwatt_read_rails(sample, first, &length_ns);
	jetwatt_aux_read(sample, first);
	jetwatt_read_update_rates(time_ns);
	jetwatt_energy_sample(sample, time_ns);
	jetwatt_stats_tick(length_ns);
	jetwatt_stats_cpu(current->se.sum_exec_runtime);
	sampler.on_sample(jetwatt_ring_commit(time_ns));
	jetwatt_blackbox_committed();
	return length_ns;
}

/* Read the rails for the energy counters. The sample is not committed to the ring. */
static void count_energy(void)
{
	struct jetwatt_sample *sample = jetwatt_ring_begin(jetwatt_series_count());
	u64 time_ns, length_ns;

	time_ns = jetwatt_read_rails(sample, true, &length_ns);
	jetwatt_energy_sample(sample, time_ns);
}

static void report_missed(u64 ticks, u64 now)
{
	jetwatt_stats_missed(ticks);
	sampler.unreported += ticks;
	if (now - sampler.reported_at < NSEC_PER_SEC)
		return;
	jetwatt_event_post(JETWATT_EVENT_OVERRUN, JETWATT_EVENT_NO_CHIP, sampler.unreported);
	sampler.unreported = 0;
	sampler.reported_at = now;
}

static enum hrtimer_restart wake_sampler(struct hrtimer *unused)
{
	wake_up_process(sampler.thread);
	return HRTIMER_NORESTART;
}

/*
 * Sleep until @deadline. The sleep is interruptible, so that the freezer can stop the thread before
 * the i2c adapters are suspended; signals are never sent to the thread. @now contains the present
 * time (CLOCK_MONOTONIC) when the function is called and when it returns.
 *
 * Return: true if @deadline was reached; false if the rate has changed or the thread must stop or
 * freeze.
 */
static bool sleep_until(u64 deadline, u32 hz, u64 *now)
{
	if (hz)
		jetwatt_throttle_expect(deadline);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop() || READ_ONCE(sampler.rate) != hz || freezing(current)) {
			__set_current_state(TASK_RUNNING);
			return false;
		}
		if (*now >= deadline) {
			__set_current_state(TASK_RUNNING);
			return true;
		}
		/*
		 * The timer is pinned to this CPU, like the timer of rt_throttle.c, so that one
		 * interrupt serves both timers.
		 */
		hrtimer_start(&sampler.timer, ns_to_ktime(deadline), HRTIMER_MODE_ABS_PINNED_HARD);
		schedule();
		*now = ktime_get_ns();
	}
}

/*
 * Deadlines are one period apart, starting one period after the first sample. Deadlines that pass
 * during a tick are skipped.
 */
static void run_at(u32 hz)
{
	u64 period = div_u64(NSEC_PER_SEC, hz), deadline, now, skip, read_ns;

	jetwatt_throttle_start(period);
	take_sample(true);
	now = ktime_get_ns();
	deadline = now + period;
	while (sleep_until(deadline, hz, &now)) {
		jetwatt_stats_late(now - deadline);
		jetwatt_throttle_report();
		read_ns = take_sample(false);
		now = ktime_get_ns();
		jetwatt_overhead_tick(now - deadline, read_ns, period, now);
		deadline += period;
		if (now >= deadline) {
			skip = div64_u64(now - deadline, period) + 1;
			deadline += skip * period;
			report_missed(skip, now);
		}
	}
	jetwatt_throttle_stop();
}

/*
 * Read the rails at idle_hz. Each reading is due half a period to one and a half periods after the
 * end of the previous reading, so no reading is ever skipped. The intervals are random because at
 * constant intervals, all readings of a job whose minibatches are as long as one interval, or a
 * multiple or fraction of it, would find the same part of the minibatches.
 */
static void run_idle(void)
{
	u64 period, interval, now;

	if (!idle_hz) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(sampler.rate) && !kthread_should_stop() && !freezing(current))
			schedule();
		__set_current_state(TASK_RUNNING);
		return;
	}
	period = div_u64(NSEC_PER_SEC, min_t(u32, idle_hz, IDLE_MAX_HZ));
	do {
		count_energy();
		interval = period / 2 + mul_u64_u32_shr(period, get_random_u32(), 32);
		now = ktime_get_ns();
	} while (sleep_until(now + interval, 0, &now));
}

static int sampler_fn(void *unused)
{
	u32 hz, prev_hz = 0;

	jetwatt_housekeeping(&sampler.unpinned);
	complete(&sampler.placed);
	sched_set_fifo(current);
	set_freezable();
	while (!kthread_should_stop()) {
		if (try_to_freeze())
			jetwatt_energy_frozen();
		hz = READ_ONCE(sampler.rate);
		if (hz && !prev_hz)
			jetwatt_read_restart();
		if (!hz && prev_hz)
			jetwatt_chip_parked();
		prev_hz = hz;
		if (hz)
			run_at(hz);
		else
			run_idle();
	}
	hrtimer_cancel(&sampler.timer);
	return 0;
}

/**
 * jetwatt_sampler_rate() - set the rate of the sampler
 * @hz: ticks per second; 0 to park the sampler
 *
 * Context: any; callers must exclude each other. The function does not wait until the tick under
 * way is finished.
 */
void jetwatt_sampler_rate(u32 hz)
{
	if (hz == sampler.rate)
		return;
	WRITE_ONCE(sampler.rate, hz);
	wake_up_process(sampler.thread);
}

/**
 * jetwatt_sampler_hz() - return the rate of the sampler
 *
 * Context: any. Return: ticks per second, 0 while parked.
 */
u32 jetwatt_sampler_hz(void)
{
	return READ_ONCE(sampler.rate);
}

/**
 * jetwatt_sampler_cpu() - pin the sampler thread to a CPU
 * @cpu: number of the CPU, or JETWATT_CPU_ANY for no pinning
 *
 * When a CPU goes offline, the scheduler moves the thread to another one; config.c calls this
 * function once a second to move it back. Since Linux 6.2 the scheduler remembers the CPUs that
 * taskset(1) has requested; JETWATT_CPU_ANY then selects these.
 *
 * Context: sleeps. Return: 0, or -EINVAL if the CPU is not online.
 */
int jetwatt_sampler_cpu(u32 cpu)
{
	const struct cpumask *mask = cpu == JETWATT_CPU_ANY ? &sampler.unpinned : NULL;
	int err = -EINVAL;

	cpus_read_lock();
	if (!mask && cpu < nr_cpu_ids && cpu_online(cpu))
		mask = cpumask_of(cpu);
	if (mask)
		err = cpumask_equal(sampler.thread->cpus_ptr, mask) ?
			      0 : set_cpus_allowed_ptr(sampler.thread, mask);
	cpus_read_unlock();
	return err;
}

/**
 * jetwatt_sampler_init() - start the sampler thread, parked
 * @on_sample: called from the thread with the sequence number of each new sample; must be short and
 *	must not sleep
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_sampler_init(void (*on_sample)(u64 seq))
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	sampler.on_sample = on_sample;
	hrtimer_setup(&sampler.timer, wake_sampler, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	sampler.thread = kthread_create(sampler_fn, NULL, "jetwatt");
	if (IS_ERR(sampler.thread))
		return PTR_ERR(sampler.thread);
	wake_up_process(sampler.thread);
	wait_for_completion(&sampler.placed);
	return 0;
}

/**
 * jetwatt_sampler_exit() - stop the sampler thread
 *
 * Context: sleeps until the tick under way is finished.
 */
void jetwatt_sampler_exit(void)
{
	WRITE_ONCE(sampler.rate, 0);
	kthread_stop(sampler.thread);
}
