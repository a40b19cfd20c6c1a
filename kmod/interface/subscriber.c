// SPDX-License-Identifier: GPL-2.0
/* Subscribers to samples: sockets that get the batches of batcher.c. */
#include "interface/subscriber.h"

#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "fault_inject.h"
#include "interface/batcher.h"
#include "sampler/config.h"

/**
 * struct subscriber - a socket that has subscribed to samples
 * @list: entry in subs.list, later in subs.dropped
 * @sk: the socket, with a reference
 * @account: number of samples sent and lost
 *
 * The reference keeps the memory of the socket, but does not keep it open. When the socket is
 * closed, the kernel first frees its port, then marks it dead, then calls the netlink notifier with
 * the port only; the notifier lets a work item remove the subscriber. Another socket may bind to
 * the port in between, so a port does not identify a subscriber. Therefore:
 * - neither a dead socket nor the socket that has its port now gets samples;
 * - the work item removes dead sockets only, never a new subscriber with the same port;
 * - a new subscriber replaces a previous one with the same port.
 * One gap remains, between freeing the port and marking the socket dead: if a batch is sent then,
 * and another socket has just bound to the port, that socket gets the batch. The kernel offers
 * modules no earlier notification.
 */
struct subscriber {
	struct list_head list;
	struct sock *sk;
	struct jetwatt_account account;
};

/*
 * subs.lock protects the lists and all accounts. It is held while a batch is copied and sent, which
 * may wait for memory. Neither the sampler thread nor the netlink notifier takes it.
 */
static struct {
	struct mutex lock;
	/* list is changed with both locks held, and read with either. Held for a short time. */
	spinlock_t list_lock;
	struct list_head list;
	/* Removed from the list; the work item drops the references to their sockets. */
	struct list_head dropped;
	unsigned int nr;
	u64 lost;
	bool closed;
} subs = {
	.lock = __MUTEX_INITIALIZER(subs.lock),
	.list_lock = __SPIN_LOCK_UNLOCKED(subs.list_lock),
	.list = LIST_HEAD_INIT(subs.list),
	.dropped = LIST_HEAD_INIT(subs.dropped),
};

static void reap_subscribers_fn(struct work_struct *work);
static DECLARE_WORK(subscriber_reap_work, reap_subscribers_fn);

/* How long JETWATT_FAIL_COPY delays copying a message, in milliseconds. */
#define COPY_MS		500

static struct subscriber *find_subscriber(u32 port)
{
	struct subscriber *s;

	list_for_each_entry(s, &subs.list, list)
		if (s->account.port == port)
			return s;
	return NULL;
}

/* The sampler is started or parked by the next jetwatt_config_update(). */
static void count_subscribers(int n)
{
	subs.nr += n;
	jetwatt_batcher_listeners(subs.nr);
	jetwatt_config_subscribers(subs.nr);
}

/*
 * Dropping the last reference may end a dump of the socket, for which many kernels take the lock of
 * generic netlink. A request handler may hold that lock while it waits for subs.lock. Therefore the
 * work item drops the reference, without holding a lock.
 */
static void drop_subscriber(struct subscriber *s)
{
	spin_lock(&subs.list_lock);
	list_move(&s->list, &subs.dropped);
	spin_unlock(&subs.list_lock);
	count_subscribers(-1);
	schedule_work(&subscriber_reap_work);
}

/* Drop the subscribers whose sockets are closed. Context: subs.lock held. */
static void reap_subscribers(void)
{
	struct subscriber *s, *next;

	list_for_each_entry_safe(s, next, &subs.list, list)
		if (sock_flag(s->sk, SOCK_DEAD))
			drop_subscriber(s);
}

static void put_dropped_subscribers(void)
{
	struct subscriber *s, *next;
	LIST_HEAD(list);

	mutex_lock(&subs.lock);
	list_splice_init(&subs.dropped, &list);
	mutex_unlock(&subs.lock);
	list_for_each_entry_safe(s, next, &list, list) {
		sock_put(s->sk);
		kfree(s);
	}
}

static void reap_subscribers_fn(struct work_struct *work)
{
	mutex_lock(&subs.lock);
	reap_subscribers();
	mutex_unlock(&subs.lock);
	put_dropped_subscribers();
	/* The update runs in another work item, so that this one does not wait for it. */
	jetwatt_config_update_soon();
}

/**
 * jetwatt_subscriber_add() - subscribe a socket to samples
 * @port: port of the socket in the initial network namespace
 * @sk: the socket
 *
 * Context: takes subs.lock, then config.lock; sleeps. Return: 0; -EALREADY if the socket is
 * subscribed; -EUSERS if there are JETWATT_SUBSCRIBERS_MAX others; -ENOMEM; -ESHUTDOWN if the
 * module is being unloaded.
 */
int jetwatt_subscriber_add(u32 port, struct sock *sk)
{
	struct subscriber *s, *old;
	int err = 0;

	s = jetwatt_fail(JETWATT_FAIL_ALLOC) ? NULL : kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	mutex_lock(&subs.lock);
	/* Closed sockets whose notifier has not run yet must not count. */
	reap_subscribers();
	old = find_subscriber(port);
	if (old && old->sk != sk) {
		drop_subscriber(old);
		old = NULL;
	}
	if (subs.closed)
		err = -ESHUTDOWN;
	else if (old)
		err = -EALREADY;
	else if (subs.nr == JETWATT_SUBSCRIBERS_MAX)
		err = -EUSERS;
	if (err) {
		kfree(s);
	} else {
		sock_hold(sk);
		s->sk = sk;
		s->account.port = port;
		spin_lock(&subs.list_lock);
		list_add_tail(&s->list, &subs.list);
		spin_unlock(&subs.list_lock);
		count_subscribers(1);
	}
	mutex_unlock(&subs.lock);
	if (!err)
		jetwatt_config_update();
	return err;
}

/**
 * jetwatt_subscriber_remove() - unsubscribe a socket from samples
 * @port: port of the socket
 * @sk: the socket
 *
 * Context: takes subs.lock, then config.lock; sleeps.
 * Return: 0, or -ENOENT if the socket is not subscribed.
 */
int jetwatt_subscriber_remove(u32 port, const struct sock *sk)
{
	struct subscriber *s;
	int err = -ENOENT;

	mutex_lock(&subs.lock);
	s = find_subscriber(port);
	if (s && s->sk == sk) {
		drop_subscriber(s);
		err = 0;
	}
	mutex_unlock(&subs.lock);
	if (!err)
		jetwatt_config_update();
	return err;
}

/**
 * jetwatt_subscriber_account() - return the account of a subscriber by its position
 * @i: position in the list of subscribers, from 0
 * @account: gets the account
 *
 * Context: takes subs.lock; sleeps. Return: false if there are at most @i subscribers.
 */
bool jetwatt_subscriber_account(unsigned int i, struct jetwatt_account *account)
{
	struct subscriber *s;
	bool found = false;

	mutex_lock(&subs.lock);
	list_for_each_entry(s, &subs.list, list)
		if (!i--) {
			*account = s->account;
			found = true;
			break;
		}
	mutex_unlock(&subs.lock);
	return found;
}

/**
 * jetwatt_subscriber_lost() - return the number of samples lost by all subscribers
 *
 * Context: takes subs.lock; sleeps. Return: number of samples since the module was
 * loaded.
 */
u64 jetwatt_subscriber_lost(void)
{
	u64 lost;

	mutex_lock(&subs.lock);
	lost = subs.lost;
	mutex_unlock(&subs.lock);
	return lost;
}

static void lose_samples(struct subscriber *s, u64 samples)
{
	s->account.lost += samples;
	subs.lost += samples;
}

/* Return: a copy of the parcel's message, or for the last subscriber the message itself. */
static struct sk_buff *share_batch(const struct subscriber *s, struct jetwatt_parcel *parcel)
{
	struct sk_buff *skb = parcel->skb;

	if (jetwatt_fail(JETWATT_FAIL_COPY))
		msleep(COPY_MS);
	if (!list_is_last(&s->list, &subs.list))
		return skb_copy(skb, GFP_KERNEL);
	parcel->skb = NULL;
	return skb;
}

static int send_batch(struct subscriber *s, struct jetwatt_parcel *parcel)
{
	struct sk_buff *skb;

	if (jetwatt_fail(JETWATT_FAIL_SEND))
		return -EAGAIN;
	skb = share_batch(s, parcel);
	if (!skb)
		return -ENOMEM;
	/* Checked last: the socket may have been closed while memory was allocated. */
	if (sock_flag(s->sk, SOCK_DEAD)) {
		consume_skb(skb);
		return -ECONNREFUSED;
	}
	jetwatt_batcher_address(skb, parcel, s->account.port, s->account.lost);
	/* Does not wait: if the socket's buffer is full, it frees the message and fails. */
	return genlmsg_unicast(&init_net, skb, s->account.port);
}

static void send_to_all(struct jetwatt_parcel *parcel)
{
	struct subscriber *s;
	int err;

	mutex_lock(&subs.lock);
	list_for_each_entry(s, &subs.list, list) {
		if (parcel->skipped)
			lose_samples(s, parcel->skipped);
		if (!parcel->samples)
			continue;
		err = parcel->skb ? send_batch(s, parcel) : -ENOMEM;
		if (!err)
			s->account.sent += parcel->samples;
		/* A socket that has just been closed loses nothing. */
		else if (err != -ECONNREFUSED)
			lose_samples(s, parcel->samples);
	}
	mutex_unlock(&subs.lock);
}

/* Runs for every generic netlink socket that is closed, so it must not wait for subs.lock. */
static int subscriber_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/* Other protocols and namespaces use the same port numbers. */
	if (action != NETLINK_URELEASE || n->protocol != NETLINK_GENERIC ||
	    !net_eq(n->net, &init_net))
		return NOTIFY_DONE;
	spin_lock(&subs.list_lock);
	ours = find_subscriber(n->portid);
	spin_unlock(&subs.list_lock);
	if (ours)
		schedule_work(&subscriber_reap_work);
	return NOTIFY_DONE;
}

static struct notifier_block subscriber_notifier = { .notifier_call = subscriber_notify };

/**
 * jetwatt_subscriber_init() - set up the batching and the netlink notifier
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_subscriber_init(void)
{
	int err;

	err = jetwatt_batcher_init(send_to_all);
	if (err)
		return err;
	err = jetwatt_fail_step();
	if (!err)
		err = netlink_register_notifier(&subscriber_notifier);
	if (err)
		jetwatt_batcher_exit();
	return err;
}

/**
 * jetwatt_subscriber_close() - remove all subscribers
 *
 * Context: after the netlink family was unregistered, so there are no requests any more; before
 * jetwatt_config_exit(), because closed sockets request updates of the configuration.
 */
void jetwatt_subscriber_close(void)
{
	struct subscriber *s, *next;

	netlink_unregister_notifier(&subscriber_notifier);
	mutex_lock(&subs.lock);
	subs.closed = true;
	list_for_each_entry_safe(s, next, &subs.list, list)
		drop_subscriber(s);
	mutex_unlock(&subs.lock);
	cancel_work_sync(&subscriber_reap_work);
	put_dropped_subscribers();
}

/**
 * jetwatt_subscriber_exit() - stop the batching
 *
 * Context: after jetwatt_subscriber_close(), with the sampler thread stopped.
 */
void jetwatt_subscriber_exit(void)
{
	jetwatt_batcher_exit();
}
