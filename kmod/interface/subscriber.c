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
 * @list: entry in subs.list; after the subscriber is removed, entry in subs.dropped
 * @sk: the socket, with a reference
 * @account: netlink port, number of samples sent and lost
 *
 * The reference keeps the memory of the socket allocated, but does not keep the socket open. When
 * the socket is closed, the kernel first frees its port, then marks it dead, then calls the netlink
 * notifier with the port only; the notifier lets a work item remove the subscriber. After the port
 * is freed and before the subscriber is removed, another socket may bind to the same port, so a
 * port does not identify a subscriber. Therefore:
 * - neither a dead socket nor a socket that has taken over the port of a dead socket gets samples;
 * - the work item removes dead sockets only, never a new subscriber with the same port;
 * - a new subscriber replaces a previous one with the same port.
 * One gap remains: if a batch is sent after the port is freed and before the socket is marked dead,
 * and another socket has just bound to the port, that socket gets the batch. The kernel offers
 * modules no earlier notification.
 */
struct subscriber {
	struct list_head list;
	struct sock *sk;
	struct jetwatt_account account;
};

/*
 * subs.lock protects the lists and all accounts. subs.lock is held while a batch is copied and
 * sent, which may wait for memory. Neither the sampler thread nor the netlink notifier takes
 * subs.lock.
 */
static struct {
	struct mutex lock;
	/* @list is changed with @lock and @list_lock held, and read with one of them held. */
	spinlock_t list_lock;
	struct list_head list;
	/* Subscribers removed from @list; the work item drops the references to their sockets. */
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

/* Time by which the fault JETWATT_FAIL_COPY delays sending a message, in milliseconds. */
#define COPY_MS		500

static struct subscriber *find_subscriber(u32 port)
{
	struct subscriber *s;

	list_for_each_entry(s, &subs.list, list)
		if (s->account.port == port)
			return s;
	return NULL;
}

/*
 * Add @n, which may be negative, to the number of subscribers. The next jetwatt_config_update()
 * starts or parks the sampler.
 */
static void count_subscribers(int n)
{
	subs.nr += n;
	jetwatt_batcher_listeners(subs.nr);
	jetwatt_config_subscribers(subs.nr);
}

/*
 * Dropping the last reference may end a dump of the socket, for which many kernels take the lock of
 * generic netlink. A request handler may hold the lock of generic netlink while it waits for
 * subs.lock. To avoid a deadlock, the work item drops the reference without holding a lock.
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
	/*
	 * The configuration is updated by another work item, so that this work item does not wait
	 * for the update.
	 */
	jetwatt_config_update_soon();
}

/**
 * jetwatt_subscriber_add() - subscribe a socket to samples
 * @port: port of the socket in the initial network namespace
 * @sk: the socket
 *
 * Context: takes subs.lock, then config.lock; sleeps. Return: 0; -EALREADY if the socket is
 * subscribed; -EUSERS if there are already JETWATT_SUBSCRIBERS_MAX subscribers; -ENOMEM; -ESHUTDOWN
 * if the module is being unloaded.
 */
int jetwatt_subscriber_add(u32 port, struct sock *sk)
{
	struct subscriber *s, *old;
	int err = 0;

	s = jetwatt_fail(JETWATT_FAIL_ALLOC) ? NULL : kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	mutex_lock(&subs.lock);
	/*
	 * Subscribers whose sockets are closed are removed first, because they must not count
	 * towards JETWATT_SUBSCRIBERS_MAX even if the notifier has not run yet.
	 */
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
 * Context: takes subs.lock; sleeps. Return: true if @account was set; false if there is no
 * subscriber at position @i.
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
 * Context: takes subs.lock; sleeps. Return: number of lost samples since the module was loaded.
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

/*
 * Return: a copy of the parcel's message, or NULL if there is no memory; for the last subscriber in
 * the list, the message itself.
 */
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
	/*
	 * SOCK_DEAD is checked after the message is copied, because the socket may be closed while
	 * memory is allocated.
	 */
	if (sock_flag(s->sk, SOCK_DEAD)) {
		consume_skb(skb);
		return -ECONNREFUSED;
	}
	jetwatt_batcher_address(skb, parcel, s->account.port, s->account.lost);
	/*
	 * genlmsg_unicast() does not wait: if the socket's receive buffer is full, the function
	 * frees the message and fails.
	 */
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
		/* For a socket that has just been closed, unsent samples do not count as lost. */
		else if (err != -ECONNREFUSED)
			lose_samples(s, parcel->samples);
	}
	mutex_unlock(&subs.lock);
}

/*
 * The notifier runs for every netlink socket that is closed on the machine, so it must not wait for
 * subs.lock.
 */
static int subscriber_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/*
	 * Ignore sockets of other netlink protocols and network namespaces: they can have the same
	 * port numbers.
	 */
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
 * Context: after the netlink family was unregistered, so that no request arrives any more; before
 * jetwatt_config_exit(), because closing a subscribed socket requests an update of the
 * configuration.
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
 * Context: after jetwatt_subscriber_close(), while the sampler is parked.
 */
void jetwatt_subscriber_exit(void)
{
	jetwatt_batcher_exit();
}
