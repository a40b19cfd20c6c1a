// SPDX-License-Identifier: GPL-2.0
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
 * struct subscriber - one socket that gets the stream
 * @list: in subs.list, then in subs.dropped
 * @sk: the socket, referenced
 * @account: its samples
 *
 * The reference keeps the memory, not the socket: when it is closed, the
 * netlink notifier has a work item remove the subscriber. Closing first frees the port, then
 * marks the socket dead, then calls the notifier, which gets the port alone.
 * Another socket may bind to that port in between, so the port does not tell
 * them apart:
 * - a dead socket gets no samples, nor does the socket that has its port now;
 * - the work item removes what is dead, never a new subscriber of that port;
 * - a new subscriber of a port replaces the one whose port it was.
 * What is left is the moment between the freeing and the mark: a batch that is
 * sent just then reaches a socket that binds to the port just then. The kernel
 * tells modules nothing earlier.
 */
struct subscriber {
	struct list_head list;
	struct sock *sk;
	struct jetwatt_account account;
};

/*
 * Protects the lists and all accounts. Held while a batch is copied and sent, which may
 * wait for memory. Neither the sampler's thread nor the netlink notifier takes it.
 */
static struct {
	struct mutex lock;
	/* To change the list takes both locks, to walk it either of them. Held for a short time. */
	spinlock_t list_lock;
	struct list_head list;
	/* Out of the list; the work item puts their sockets. */
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

/* How long JETWATT_FAIL_COPY makes a copy take. */
#define COPY_MS		500

static struct subscriber *find_subscriber(u32 port)
{
	struct subscriber *s;

	list_for_each_entry(s, &subs.list, list)
		if (s->account.port == port)
			return s;
	return NULL;
}

/* The sampler follows with the next jetwatt_config_update(). */
static void count_subscribers(int n)
{
	subs.nr += n;
	jetwatt_batcher_listeners(subs.nr);
	jetwatt_config_subscribers(subs.nr);
}

/*
 * The last reference may end a dump of the socket, for which many kernels take the lock of
 * generic netlink. Handlers may hold that when they wait for ours, so the work item puts
 * the socket, with no lock held.
 */
static void drop_subscriber(struct subscriber *s)
{
	spin_lock(&subs.list_lock);
	list_move(&s->list, &subs.dropped);
	spin_unlock(&subs.list_lock);
	count_subscribers(-1);
	schedule_work(&subscriber_reap_work);
}

/* Drop subscribers whose sockets are closed. */
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
	/* By another one: the next sockets need not wait for the sampler. */
	jetwatt_config_update_soon();
}

/**
 * jetwatt_subscriber_add() - a socket wants the stream
 * @port: its port in the initial network namespace
 * @sk: the socket
 *
 * Return: 0, -EALREADY, -EUSERS, -ENOMEM, -ESHUTDOWN.
 */
int jetwatt_subscriber_add(u32 port, struct sock *sk)
{
	struct subscriber *s, *old;
	int err = 0;

	s = jetwatt_fail(JETWATT_FAIL_ALLOC) ? NULL : kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	mutex_lock(&subs.lock);
	/* Those whose notifier has not run yet take no places. */
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
 * jetwatt_subscriber_remove() - a socket does not want it any more
 * @port: its port
 * @sk: the socket
 *
 * Return: 0, -ENOENT.
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
 * jetwatt_subscriber_account() - look at one after the other
 * @i: 0, 1, ...
 * @account: gets its account
 *
 * Return: false if there are not so many.
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
 * jetwatt_subscriber_lost() - samples lost by all subscribers there ever were
 *
 * Return: the number.
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

/* A copy of the batch with its own count of losses; the last one gets the batch itself. */
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
	/* Last, because memory may have taken its time. */
	if (sock_flag(s->sk, SOCK_DEAD)) {
		consume_skb(skb);
		return -ECONNREFUSED;
	}
	jetwatt_batcher_address(skb, parcel, s->account.port, s->account.lost);
	/* Does not wait: a full socket refuses, and the skb is freed. */
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
		/* Whoever has just gone loses nothing. */
		else if (err != -ECONNREFUSED)
			lose_samples(s, parcel->samples);
	}
	mutex_unlock(&subs.lock);
}

/* Every generic netlink socket that is closed goes through here, so nothing is waited for. */
static int subscriber_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/* Ports of other protocols and namespaces have the same numbers. */
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
 * jetwatt_subscriber_init() - get ready for subscribers
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
 * jetwatt_subscriber_close() - drop all of them
 *
 * Context: the family is gone, so there are no requests any more. Before
 * jetwatt_config_exit(): a socket that was closed asks for an update.
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
 * jetwatt_subscriber_exit() - no batch is built any more
 *
 * Context: after jetwatt_subscriber_close(), with the sampler stopped.
 */
void jetwatt_subscriber_exit(void)
{
	jetwatt_batcher_exit();
}
