// SPDX-License-Identifier: GPL-2.0
/*
 * Send the samples of the ring to the subscribers in batches. A work item builds one message per
 * batch; subscriber.c sends it to each subscriber.
 */
#include "interface/batcher.h"

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/jetwatt.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include "fault_inject.h"
#include "interface/netlink.h"
#include "interface/sample_msg.h"
#include "sampler/config.h"
#include "sampler/ring.h"

/**
 * struct batcher - state of sending samples in batches
 * @queue: workqueue on which the work item that sends batches runs
 * @hand_out: called with each batch
 * @listeners: number of subscribers; written by subscriber.c, read without a lock
 * @start_at: sequence number of the first sample to send after the first subscriber has subscribed;
 *	the work item copies the number to @next
 * @next: sequence number of the next sample to send; written by the work item, read by the
 *	sampler thread
 * @rows: copy of the samples of one message; used by the work item only
 * @age_ms: maximum age of a batch when the last sample was taken; used by the sampler thread only
 */
static struct batcher {
	struct workqueue_struct *queue;
	void (*hand_out)(struct jetwatt_parcel *parcel);
	unsigned int listeners;
	u64 start_at;
	u64 next;
	struct jetwatt_sample *rows;
	u32 age_ms;
} batcher;

static struct sk_buff *build_samples(unsigned int n, size_t *lost_offset)
{
	struct sk_buff *skb = NULL;
	void *header, *lost_at;

	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(jetwatt_batch_size(n, batcher.rows[0].nr_series), GFP_KERNEL);
	if (!skb)
		return NULL;
	header = genlmsg_put(skb, 0, 0, &jetwatt_netlink_family, 0, JETWATT_CMD_SAMPLES_NTF);
	if (!header || jetwatt_batch_put(skb, batcher.rows, n, 0, &lost_at)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, header);
	*lost_offset = (u8 *)lost_at - skb->data;
	return skb;
}

/**
 * jetwatt_batcher_address() - set port and number of lost samples, which differ between subscribers
 * @skb: the message of the parcel, or a copy of it
 * @parcel: the parcel
 * @port: netlink port of the subscriber
 * @lost: number of samples that the subscriber has lost so far
 */
void jetwatt_batcher_address(struct sk_buff *skb, const struct jetwatt_parcel *parcel, u32 port,
			     u64 lost)
{
	nlmsg_hdr(skb)->nlmsg_pid = port;
	jetwatt_batch_set_lost(skb->data + parcel->lost, lost);
}

/*
 * Return: nanoseconds until sample @seq reaches the maximum age of a batch; 0 if the sample is
 * older or was overwritten.
 */
static u64 remaining_ns(u64 seq)
{
	u64 age = ktime_get_ns() - jetwatt_ring_time(seq);
	u64 max_age = jetwatt_config_age_ms() * (u64)NSEC_PER_MSEC;

	return age < max_age ? max_age - age : 0;
}

static void send_batches(struct work_struct *work)
{
	struct jetwatt_parcel parcel;
	u64 from, remaining, pending;
	unsigned int batch;

	from = xchg(&batcher.start_at, 0);
	/*
	 * Never decrease @next: while a batch is still being sent, all subscribers may leave and a
	 * new first subscriber may set @start_at to a sample of this batch.
	 */
	if (from > batcher.next)
		WRITE_ONCE(batcher.next, from);
	while (READ_ONCE(batcher.listeners)) {
		pending = jetwatt_ring_head() + 1 - batcher.next;
		batch = jetwatt_config_batch();
		if (!pending)
			return;
		remaining = pending < batch ? remaining_ns(batcher.next) : 0;
		if (remaining) {
			queue_delayed_work(batcher.queue, to_delayed_work(work),
					   nsecs_to_jiffies(remaining) + 1);
			return;
		}
		from = batcher.next;
		parcel.samples = jetwatt_ring_read(&from, batcher.rows, batch);
		parcel.skipped = from - batcher.next;
		parcel.skb = parcel.samples ? build_samples(parcel.samples, &parcel.lost) : NULL;
		batcher.hand_out(&parcel);
		/*
		 * parcel.skb is NULL if there was no message, or the last subscriber got the
		 * message itself instead of a copy.
		 */
		consume_skb(parcel.skb);
		WRITE_ONCE(batcher.next, from + parcel.samples);
	}
}

static DECLARE_DELAYED_WORK(batch_work, send_batches);

/**
 * jetwatt_batcher_listeners() - set the number of subscribers
 * @n: the number. If @n rises from 0, sending starts with the next sample that is taken.
 *
 * Context: callers must exclude each other.
 */
void jetwatt_batcher_listeners(unsigned int n)
{
	if (n && !batcher.listeners)
		xchg(&batcher.start_at, jetwatt_ring_head() + 1);
	WRITE_ONCE(batcher.listeners, n);
}

/**
 * jetwatt_batcher_new_sample() - schedule the work item for a new sample, if there are subscribers
 * @seq: sequence number of the sample
 *
 * Context: the sampler thread; does not sleep.
 */
void jetwatt_batcher_new_sample(u64 seq)
{
	u32 age_ms = jetwatt_config_age_ms(), before_ms = batcher.age_ms;

	if (!READ_ONCE(batcher.listeners))
		return;
	batcher.age_ms = age_ms;
	/*
	 * If the maximum age was lowered, the work item may be queued for too late a time. It then
	 * runs now, and queues itself again for the right time.
	 */
	if (age_ms < before_ms || seq + 1 - READ_ONCE(batcher.next) >= jetwatt_config_batch())
		mod_delayed_work(batcher.queue, &batch_work, 0);
	else
		queue_delayed_work(batcher.queue, &batch_work, msecs_to_jiffies(age_ms));
}

/**
 * jetwatt_batcher_init() - allocate the buffers and the work queue
 * @out: called with each batch, from a work item; may sleep. The function may keep the message; it
 *	must then set the parcel's skb to NULL.
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_batcher_init(void (*out)(struct jetwatt_parcel *parcel))
{
	int err;

	batcher.hand_out = out;
	err = jetwatt_fail_step();
	if (err)
		return err;
	batcher.rows = __vmalloc(array_size(JETWATT_BATCH_MAX, sizeof(*batcher.rows)),
				 GFP_KERNEL | __GFP_NOWARN);
	if (!batcher.rows)
		return -ENOMEM;
	err = jetwatt_fail_step();
	if (err)
		goto free;
	err = -ENOMEM;
	batcher.queue = alloc_ordered_workqueue("jetwatt", WQ_HIGHPRI);
	if (!batcher.queue)
		goto free;
	return 0;
free:
	vfree(batcher.rows);
	return err;
}

/**
 * jetwatt_batcher_exit() - stop sending batches and free the buffers
 *
 * Context: the sampler is parked permanently, and there is no subscriber.
 */
void jetwatt_batcher_exit(void)
{
	cancel_delayed_work_sync(&batch_work);
	destroy_workqueue(batcher.queue);
	vfree(batcher.rows);
}
