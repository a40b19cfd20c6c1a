// SPDX-License-Identifier: GPL-2.0
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

static struct workqueue_struct *queue;
static void (*hand_out)(struct jetwatt_parcel *parcel);

/* Read by the sampler, written by whoever adds and removes subscribers. */
static unsigned int listeners;
/* Where a new round of listeners starts: taken over by the work item. */
static u64 start_at;
/* The next sample to deliver: the work item's; the sampler has a look at it. */
static u64 next;

/* The work item's own. */
static struct jetwatt_sample *rows;

static struct sk_buff *build(unsigned int n, size_t *lost_offset)
{
	struct sk_buff *skb = NULL;
	void *header, *lost_at;

	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(jetwatt_batch_size(n, rows[0].nr_series), GFP_KERNEL);
	if (!skb)
		return NULL;
	header = genlmsg_put(skb, 0, 0, &jetwatt_netlink_family, 0, JETWATT_CMD_SAMPLES_NTF);
	if (!header || jetwatt_batch_put(skb, rows, n, 0, &lost_at)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, header);
	*lost_offset = (u8 *)lost_at - skb->data;
	return skb;
}

/**
 * jetwatt_deliver_address() - make a parcel's message one subscriber's
 * @skb: the message or a copy of it
 * @parcel: the parcel
 * @port: the subscriber's port
 * @lost: what it has lost so far
 */
void jetwatt_deliver_address(struct sk_buff *skb, const struct jetwatt_parcel *parcel, u32 port,
			     u64 lost)
{
	nlmsg_hdr(skb)->nlmsg_pid = port;
	jetwatt_batch_set_lost(skb->data + parcel->lost, lost);
}

/* How long the oldest sample may still wait, 0 if not any more. */
static u64 patience_ns(u64 seq)
{
	u64 age = ktime_get_ns() - jetwatt_ring_time(seq);
	u64 most = jetwatt_config_age_ms() * (u64)NSEC_PER_MSEC;

	return age < most ? most - age : 0;
}

static void deliver_fn(struct work_struct *work)
{
	struct jetwatt_parcel parcel;
	u64 from, patience, pending;
	unsigned int batch;

	from = xchg(&start_at, 0);
	/* Never back: a round may have begun while the one before was still delivered. */
	if (from > next)
		WRITE_ONCE(next, from);
	while (READ_ONCE(listeners)) {
		pending = jetwatt_ring_head() + 1 - next;
		batch = jetwatt_config_batch();
		if (!pending)
			return;
		patience = pending < batch ? patience_ns(next) : 0;
		if (patience) {
			queue_delayed_work(queue, to_delayed_work(work),
					   nsecs_to_jiffies(patience) + 1);
			return;
		}
		from = next;
		parcel.samples = jetwatt_ring_read(&from, rows, batch);
		parcel.skipped = from - next;
		parcel.skb = parcel.samples ? build(parcel.samples, &parcel.lost) : NULL;
		hand_out(&parcel);
		/* Unless a subscriber has got it. */
		consume_skb(parcel.skb);
		WRITE_ONCE(next, from + parcel.samples);
	}
}

static DECLARE_DELAYED_WORK(work, deliver_fn);

/**
 * jetwatt_deliver_listeners() - so many want batches
 * @n: how many; the first one gets samples that are taken from now on
 *
 * Context: callers exclude each other.
 */
void jetwatt_deliver_listeners(unsigned int n)
{
	if (n && !listeners)
		xchg(&start_at, jetwatt_ring_head() + 1);
	WRITE_ONCE(listeners, n);
}

/**
 * jetwatt_deliver_taken() - there is a new sample
 * @seq: its sequence number
 *
 * Costs nothing while nobody listens.
 *
 * Context: the sampler's thread; does not sleep.
 */
void jetwatt_deliver_taken(u64 seq)
{
	if (!READ_ONCE(listeners))
		return;
	if (seq + 1 - READ_ONCE(next) >= jetwatt_config_batch())
		mod_delayed_work(queue, &work, 0);
	else
		queue_delayed_work(queue, &work, msecs_to_jiffies(jetwatt_config_age_ms()));
}

/**
 * jetwatt_deliver_init() - get ready
 * @out: called with each batch, may sleep; may keep the skb, which is NULL then
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_deliver_init(void (*out)(struct jetwatt_parcel *parcel))
{
	int err;

	hand_out = out;
	err = jetwatt_fail_step();
	if (err)
		return err;
	rows = __vmalloc(array_size(JETWATT_BATCH_MAX, sizeof(*rows)), GFP_KERNEL | __GFP_NOWARN);
	if (!rows)
		return -ENOMEM;
	err = jetwatt_fail_step();
	if (err)
		goto free;
	err = -ENOMEM;
	queue = alloc_ordered_workqueue("jetwatt", WQ_HIGHPRI);
	if (!queue)
		goto free;
	return 0;
free:
	vfree(rows);
	return err;
}

/**
 * jetwatt_deliver_exit() - no batch is built any more
 *
 * Context: the sampler is parked for good and nobody listens.
 */
void jetwatt_deliver_exit(void)
{
	cancel_delayed_work_sync(&work);
	destroy_workqueue(queue);
	vfree(rows);
}
