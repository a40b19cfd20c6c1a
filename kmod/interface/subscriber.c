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
 * @list: in @subscribers, then in @dropped
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
static DEFINE_MUTEX(lock);
/* To change the list takes both locks, to go through it one of them. Never held for long. */
static DEFINE_SPINLOCK(list_lock);
static LIST_HEAD(subscribers);
/* Out of the list; their sockets are put by the work item. */
static LIST_HEAD(dropped);
static unsigned int nr;
static u64 lost_by_all;
static bool closed;

static void reap_fn(struct work_struct *work);
static DECLARE_WORK(reap_work, reap_fn);

/* How long JETWATT_FAIL_COPY makes a copy take. */
#define COPY_MS		500

static struct subscriber *find(u32 port)
{
	struct subscriber *s;

	list_for_each_entry(s, &subscribers, list)
		if (s->account.port == port)
			return s;
	return NULL;
}

/* The sampler follows with the next jetwatt_config_update(). */
static void changed(int n)
{
	nr += n;
	jetwatt_deliver_listeners(nr);
	jetwatt_config_subscribers(nr);
}

/*
 * The last reference may end a dump of the socket, for which many kernels take the lock of
 * generic netlink. Handlers may hold that when they wait for ours, so the work item puts
 * the socket, with no lock held.
 */
static void drop(struct subscriber *s)
{
	spin_lock(&list_lock);
	list_move(&s->list, &dropped);
	spin_unlock(&list_lock);
	changed(-1);
	schedule_work(&reap_work);
}

/* Drop subscribers whose sockets are closed. */
static void reap(void)
{
	struct subscriber *s, *next;

	list_for_each_entry_safe(s, next, &subscribers, list)
		if (sock_flag(s->sk, SOCK_DEAD))
			drop(s);
}

static void put_dropped(void)
{
	struct subscriber *s, *next;
	LIST_HEAD(list);

	mutex_lock(&lock);
	list_splice_init(&dropped, &list);
	mutex_unlock(&lock);
	list_for_each_entry_safe(s, next, &list, list) {
		sock_put(s->sk);
		kfree(s);
	}
}

static void reap_fn(struct work_struct *work)
{
	mutex_lock(&lock);
	reap();
	mutex_unlock(&lock);
	put_dropped();
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
	mutex_lock(&lock);
	/* Those whose notifier has not run yet take no places. */
	reap();
	old = find(port);
	if (old && old->sk != sk) {
		drop(old);
		old = NULL;
	}
	if (closed)
		err = -ESHUTDOWN;
	else if (old)
		err = -EALREADY;
	else if (nr == JETWATT_SUBSCRIBERS_MAX)
		err = -EUSERS;
	if (err) {
		kfree(s);
	} else {
		sock_hold(sk);
		s->sk = sk;
		s->account.port = port;
		spin_lock(&list_lock);
		list_add_tail(&s->list, &subscribers);
		spin_unlock(&list_lock);
		changed(1);
	}
	mutex_unlock(&lock);
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

	mutex_lock(&lock);
	s = find(port);
	if (s && s->sk == sk) {
		drop(s);
		err = 0;
	}
	mutex_unlock(&lock);
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

	mutex_lock(&lock);
	list_for_each_entry(s, &subscribers, list)
		if (!i--) {
			*account = s->account;
			found = true;
			break;
		}
	mutex_unlock(&lock);
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

	mutex_lock(&lock);
	lost = lost_by_all;
	mutex_unlock(&lock);
	return lost;
}

static void lose(struct subscriber *s, u64 samples)
{
	s->account.lost += samples;
	lost_by_all += samples;
}

/* A copy of the batch with its own count of losses; the last one gets the batch itself. */
static struct sk_buff *share(const struct subscriber *s, struct jetwatt_parcel *parcel)
{
	struct sk_buff *skb = parcel->skb;

	if (jetwatt_fail(JETWATT_FAIL_COPY))
		msleep(COPY_MS);
	if (!list_is_last(&s->list, &subscribers))
		return skb_copy(skb, GFP_KERNEL);
	parcel->skb = NULL;
	return skb;
}

static int send(struct subscriber *s, struct jetwatt_parcel *parcel)
{
	struct sk_buff *skb;

	if (jetwatt_fail(JETWATT_FAIL_SEND))
		return -EAGAIN;
	skb = share(s, parcel);
	if (!skb)
		return -ENOMEM;
	/* Last, because memory may have taken its time. */
	if (sock_flag(s->sk, SOCK_DEAD)) {
		consume_skb(skb);
		return -ECONNREFUSED;
	}
	jetwatt_deliver_address(skb, parcel, s->account.port, s->account.lost);
	/* Does not wait: a full socket refuses, and the skb is freed. */
	return genlmsg_unicast(&init_net, skb, s->account.port);
}

static void hand_out(struct jetwatt_parcel *parcel)
{
	struct subscriber *s;
	int err;

	mutex_lock(&lock);
	list_for_each_entry(s, &subscribers, list) {
		if (parcel->skipped)
			lose(s, parcel->skipped);
		if (!parcel->samples)
			continue;
		err = parcel->skb ? send(s, parcel) : -ENOMEM;
		if (!err)
			s->account.sent += parcel->samples;
		/* Whoever has just gone loses nothing. */
		else if (err != -ECONNREFUSED)
			lose(s, parcel->samples);
	}
	mutex_unlock(&lock);
}

/* Every generic netlink socket that is closed goes through here, so nothing is waited for. */
static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/* Ports of other protocols and namespaces have the same numbers. */
	if (action != NETLINK_URELEASE || n->protocol != NETLINK_GENERIC ||
	    !net_eq(n->net, &init_net))
		return NOTIFY_DONE;
	spin_lock(&list_lock);
	ours = find(n->portid);
	spin_unlock(&list_lock);
	if (ours)
		schedule_work(&reap_work);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = notify };

/**
 * jetwatt_subscriber_init() - get ready for subscribers
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_subscriber_init(void)
{
	int err;

	err = jetwatt_deliver_init(hand_out);
	if (err)
		return err;
	err = jetwatt_fail_step();
	if (!err)
		err = netlink_register_notifier(&notifier);
	if (err)
		jetwatt_deliver_exit();
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

	netlink_unregister_notifier(&notifier);
	mutex_lock(&lock);
	closed = true;
	list_for_each_entry_safe(s, next, &subscribers, list)
		drop(s);
	mutex_unlock(&lock);
	cancel_work_sync(&reap_work);
	put_dropped();
}

/**
 * jetwatt_subscriber_exit() - no batch is built any more
 *
 * Context: after jetwatt_subscriber_close(), with the sampler stopped.
 */
void jetwatt_subscriber_exit(void)
{
	jetwatt_deliver_exit();
}
