// SPDX-License-Identifier: GPL-2.0
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
#include "sampler/config.h"
#include "sampler/ring.h"
#include "sampler/sampler.h"

/*
 * One box: what happened first is what somebody wants to see, and what follows
 * from it comes later. It stays until it is cleared.
 */
static struct {
	struct mutex lock;		/* protects the two below */
	struct jetwatt_blackbox info;
	struct jetwatt_sample *rows;	/* NULL: nothing is kept */
} box = { .lock = __MUTEX_INITIALIZER(box.lock) };

/* The newest sample that is older than the window; 0: the ring has none. */
static u64 before_window(u64 last, u64 from_ns)
{
	u64 low, high = last, middle, time_ns;

	low = last > jetwatt_ring_size() ? last - jetwatt_ring_size() : 0;
	while (low + 1 < high) {
		middle = low + (high - low) / 2;
		time_ns = jetwatt_ring_time(middle);
		/* What the ring has lost is old. */
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

	/* The list of series may grow within the window: one piece after the other. */
	while (seq <= last) {
		n = jetwatt_ring_read(&seq, to + count, last - seq + 1);
		if (!n)
			break;
		/* Overwritten meanwhile: what is kept must have no hole, so begin anew. */
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
 * jetwatt_blackbox_freeze() - keep the last seconds
 * @cause: enum jetwatt_box_cause
 * @index: see struct jetwatt_blackbox
 * @time_ns: when it happened
 *
 * Return: 0; -EBUSY: the box is taken; -ENODATA: the ring has nothing of that
 * time; -ENOMEM.
 */
int jetwatt_blackbox_freeze(u32 cause, u32 index, u64 time_ns)
{
	u64 window = (u64)jetwatt_config_box_ms() * NSEC_PER_MSEC, first, last;
	struct jetwatt_sample *to;
	int err = 0, n;

	mutex_lock(&box.lock);
	if (box.rows) {
		box.info.missed++;
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
	box.rows = to;
	box.info = (struct jetwatt_blackbox){
		.cause = cause, .index = index, .time_ns = time_ns, .seq = to[0].seq, .count = n,
	};
	jetwatt_event_post(JETWATT_EVENT_BOX_FROZEN, JETWATT_EVENT_NO_CHIP, cause);
unlock:
	mutex_unlock(&box.lock);
	return err;
}

/* An alarm that waits for the work item; a second one meanwhile is the same one. */
static struct {
	spinlock_t lock;
	bool pending;
	u32 cause, index;
	u64 time_ns;
} alarm = { .lock = __SPIN_LOCK_UNLOCKED(alarm.lock) };

static void freeze_on_alarm(struct work_struct *work)
{
	u32 cause, index;
	u64 time_ns;

	spin_lock(&alarm.lock);
	cause = alarm.cause;
	index = alarm.index;
	time_ns = alarm.time_ns;
	alarm.pending = false;
	spin_unlock(&alarm.lock);
	jetwatt_blackbox_freeze(cause, index, time_ns);
}

static DECLARE_WORK(alarm_work, freeze_on_alarm);

/**
 * jetwatt_blackbox_alarm() - something has happened: keep the last seconds
 * @cause: enum jetwatt_box_cause
 * @index: see struct jetwatt_blackbox
 *
 * Without effect while the sampler is parked: there is nothing to keep.
 *
 * Context: process; does not sleep.
 */
void jetwatt_blackbox_alarm(u32 cause, u32 index)
{
	if (!jetwatt_config_box_ms() || !jetwatt_sampler_hz())
		return;
	spin_lock(&alarm.lock);
	if (!alarm.pending) {
		alarm.pending = true;
		alarm.cause = cause;
		alarm.index = index;
		alarm.time_ns = ktime_get_ns();
		schedule_work(&alarm_work);
	}
	spin_unlock(&alarm.lock);
}

/**
 * jetwatt_blackbox_clear() - empty the box, for what happens next
 *
 * Return: 0, -ENOENT: it is empty.
 */
int jetwatt_blackbox_clear(void)
{
	struct jetwatt_sample *old;

	mutex_lock(&box.lock);
	old = box.rows;
	box.rows = NULL;
	mutex_unlock(&box.lock);
	vfree(old);
	return old ? 0 : -ENOENT;
}

/**
 * jetwatt_blackbox_get() - what is kept
 * @is: where to
 *
 * Return: 0, -ENOENT: nothing.
 */
int jetwatt_blackbox_get(struct jetwatt_blackbox *is)
{
	int err;

	mutex_lock(&box.lock);
	err = box.rows ? 0 : -ENOENT;
	*is = box.info;
	mutex_unlock(&box.lock);
	return err;
}

/**
 * jetwatt_blackbox_read() - copy samples out
 * @seq: in: the sample to start at; out: the one it did start at
 * @to: room for @max samples
 * @max: at most so many
 *
 * As jetwatt_ring_read(). Return: the number of rows, 0: nothing is kept from
 * there on.
 */
unsigned int jetwatt_blackbox_read(u64 *seq, struct jetwatt_sample *to, unsigned int max)
{
	unsigned int n = 0;
	u64 at;

	mutex_lock(&box.lock);
	*seq = max(*seq, box.info.seq);
	for (at = *seq - box.info.seq; box.rows && n < max && at + n < box.info.count; n++) {
		to[n] = box.rows[at + n];
		if (to[n].nr_series != to[0].nr_series)
			break;
	}
	mutex_unlock(&box.lock);
	return n;
}

/**
 * jetwatt_blackbox_exit() - give the memory back
 *
 * Context: nobody raises an alarm or reads any more.
 */
void jetwatt_blackbox_exit(void)
{
	cancel_work_sync(&alarm_work);
	vfree(box.rows);
}
