// SPDX-License-Identifier: GPL-2.0
/*
 * The black box: on an alarm or a request, copy the last seconds of the ring of samples and hold
 * the copy until a client clears it.
 */
#include "sampler/blackbox.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "event.h"
#include "fault_inject.h"
#include "sampler/ring.h"

/*
 * There is one black box. The black box holds the samples of the first event until a client clears
 * it, because later events are usually consequences of the first event.
 */
static struct {
	struct mutex lock;		/* protects info and rows */
	struct jetwatt_blackbox info;
	struct jetwatt_sample *rows;	/* NULL if the black box is empty */
} blackbox = { .lock = __MUTEX_INITIALIZER(blackbox.lock) };

/* Set by config.c. */
static u32 window_ms;
static bool alarms;	/* alarms fill the black box: the sampler runs, and the window is not 0 */

/*
 * The alarm that the work item has yet to handle. While @pending is true, further alarms are
 * dropped.
 */
static struct {
	spinlock_t lock;
	bool pending;
	u32 cause, index;
	u64 time_ns;
} alarm = { .lock = __SPIN_LOCK_UNLOCKED(alarm.lock) };

/**
 * jetwatt_blackbox_configure() - set the window, and whether alarms fill the black box
 * @ms: length of the window in milliseconds; 0: alarms do not fill the black box
 * @running: false if the sampler is parked; alarms then do not fill the black box either
 *
 * Without alarms no further sample may follow, so the copy for a pending alarm is started.
 *
 * Context: process; callers must exclude each other; takes alarm.lock, does not sleep.
 */
void jetwatt_blackbox_configure(u32 ms, bool running)
{
	WRITE_ONCE(window_ms, ms);
	spin_lock(&alarm.lock);
	WRITE_ONCE(alarms, ms && running);
	spin_unlock(&alarm.lock);
	if (!ms || !running)
		jetwatt_blackbox_committed();
}

/**
 * jetwatt_blackbox_armed() - whether alarms fill the black box
 *
 * Context: any. Return: false while the sampler is parked or the configured window is 0.
 */
bool jetwatt_blackbox_armed(void)
{
	return READ_ONCE(alarms);
}

/*
 * Return: sequence number of the newest sample before number @last that is older than @from_ns. If
 * there is none: 0, or in a full ring the number of the oldest sample, which may be overwritten
 * before it is copied.
 */
static u64 before_window(u64 last, u64 from_ns)
{
	u64 low, high = last, middle, time_ns;

	low = last > jetwatt_ring_size() ? last - jetwatt_ring_size() : 0;
	while (low + 1 < high) {
		middle = low + (high - low) / 2;
		time_ns = jetwatt_ring_time(middle);
		/*
		 * jetwatt_ring_time() returns 0 for overwritten samples, so they count as older
		 * than @from_ns.
		 */
		if (time_ns < from_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int copy_samples(u64 first, u64 last, struct jetwatt_sample *to)
{
	unsigned int n, count = 0;
	u64 seq = first;

	/*
	 * One call of jetwatt_ring_read() only returns samples with the same number of series, so
	 * several calls may be needed.
	 */
	while (seq <= last) {
		n = jetwatt_ring_read(&seq, to + count, last - seq + 1);
		if (!n)
			break;
		/* Samples were overwritten meanwhile: restart after the gap. */
		if (count && to[count].seq != to[count - 1].seq + 1) {
			to[0] = to[count];
			count = 0;
			n = 1;
			seq = to[0].seq;
		}
		count += n;
		seq += n;
	}
	return count;
}

/**
 * jetwatt_blackbox_freeze() - fill the black box with the samples before an event
 * @cause: enum jetwatt_box_cause
 * @index: see struct jetwatt_blackbox
 * @time_ns: time of the event, CLOCK_MONOTONIC
 *
 * Copies the samples from the configured window before @time_ns, and all samples from @time_ns until
 * now, as far as the ring holds them.
 *
 * Context: takes blackbox.lock; sleeps. Return: 0; -EBUSY if the black box is not empty; -ENODATA
 * if the ring has no samples of that period; -ENOMEM.
 */
int jetwatt_blackbox_freeze(u32 cause, u32 index, u64 time_ns)
{
	u64 window = (u64)READ_ONCE(window_ms) * NSEC_PER_MSEC, first, last;
	struct jetwatt_sample *to;
	int err = 0, n;

	mutex_lock(&blackbox.lock);
	if (blackbox.rows) {
		blackbox.info.missed++;
		err = -EBUSY;
		goto unlock;
	}
	last = jetwatt_ring_head();
	first = before_window(last + 1, time_ns > window ? time_ns - window : 0) + 1;
	if (!last || first > last) {
		err = -ENODATA;
		goto unlock;
	}
	to = jetwatt_fail_vzalloc(array_size(last - first + 1, sizeof(*to)));
	if (!to) {
		err = -ENOMEM;
		goto unlock;
	}
	n = copy_samples(first, last, to);
	if (!n) {
		vfree(to);
		err = -ENODATA;
		goto unlock;
	}
	blackbox.rows = to;
	blackbox.info = (struct jetwatt_blackbox){
		.cause = cause, .index = index, .time_ns = time_ns, .seq = to[0].seq, .count = n,
	};
	jetwatt_event_post(JETWATT_EVENT_BOX_FROZEN, JETWATT_EVENT_NO_CHIP, cause);
unlock:
	mutex_unlock(&blackbox.lock);
	return err;
}

static void freeze_on_alarm(struct work_struct *work)
{
	u32 cause, index;
	bool pending;
	u64 time_ns;

	spin_lock(&alarm.lock);
	pending = alarm.pending;
	cause = alarm.cause;
	index = alarm.index;
	time_ns = alarm.time_ns;
	WRITE_ONCE(alarm.pending, false);
	spin_unlock(&alarm.lock);
	/* The sampler may have scheduled the work again before the alarm was taken. */
	if (pending)
		jetwatt_blackbox_freeze(cause, index, time_ns);
}

static DECLARE_WORK(alarm_work, freeze_on_alarm);

/**
 * jetwatt_blackbox_alarm() - fill the black box because of an alarm
 * @cause: enum jetwatt_box_cause
 * @index: see struct jetwatt_blackbox
 *
 * A work item copies the samples once the sampler has added its present sample to the ring, so that
 * the copy contains what caused the alarm. While jetwatt_blackbox_armed() returns false, the function
 * does nothing.
 *
 * Context: process; takes alarm.lock, does not sleep.
 */
void jetwatt_blackbox_alarm(u32 cause, u32 index)
{
	spin_lock(&alarm.lock);
	if (jetwatt_blackbox_armed() && !alarm.pending) {
		alarm.cause = cause;
		alarm.index = index;
		alarm.time_ns = ktime_get_ns();
		WRITE_ONCE(alarm.pending, true);
	}
	spin_unlock(&alarm.lock);
}

/**
 * jetwatt_blackbox_committed() - a sample was added to the ring: start the copy for a pending alarm
 *
 * Context: the sampler thread; does not sleep.
 */
void jetwatt_blackbox_committed(void)
{
	if (READ_ONCE(alarm.pending))
		schedule_work(&alarm_work);
}

/**
 * jetwatt_blackbox_clear() - empty the black box
 *
 * Context: takes blackbox.lock; sleeps. Return: 0, or -ENOENT if the black box is empty.
 */
int jetwatt_blackbox_clear(void)
{
	struct jetwatt_sample *old;

	mutex_lock(&blackbox.lock);
	old = blackbox.rows;
	blackbox.rows = NULL;
	mutex_unlock(&blackbox.lock);
	vfree(old);
	return old ? 0 : -ENOENT;
}

/**
 * jetwatt_blackbox_get() - describe the contents of the black box
 * @info: gets the description
 *
 * Context: takes blackbox.lock; sleeps. Return: 0, or -ENOENT if the black box is empty.
 */
int jetwatt_blackbox_get(struct jetwatt_blackbox *info)
{
	int err;

	mutex_lock(&blackbox.lock);
	err = blackbox.rows ? 0 : -ENOENT;
	*info = blackbox.info;
	mutex_unlock(&blackbox.lock);
	return err;
}

/**
 * jetwatt_blackbox_read() - copy samples from the black box
 * @seq: in: sequence number of the first sample to copy; out: number of the first sample that was
 *	copied
 * @rows: array of @max samples to copy to
 * @max: maximum number of samples
 *
 * The copied samples have the same number of series.
 *
 * Context: takes blackbox.lock; sleeps.
 * Return: number of samples copied; 0 if the black box has no sample with number @seq or later.
 */
unsigned int jetwatt_blackbox_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max)
{
	unsigned int n = 0;
	u64 at;

	mutex_lock(&blackbox.lock);
	*seq = max(*seq, blackbox.info.seq);
	for (at = *seq - blackbox.info.seq;
	     blackbox.rows && n < max && at + n < blackbox.info.count; n++) {
		rows[n] = blackbox.rows[at + n];
		if (rows[n].nr_series != rows[0].nr_series)
			break;
	}
	mutex_unlock(&blackbox.lock);
	return n;
}

/**
 * jetwatt_blackbox_exit() - free the black box
 *
 * Context: after the sampler and the netlink family have stopped.
 */
void jetwatt_blackbox_exit(void)
{
	cancel_work_sync(&alarm_work);
	vfree(blackbox.rows);
}
