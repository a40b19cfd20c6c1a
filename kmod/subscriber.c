// SPDX-License-Identifier: GPL-2.0
#include "subscriber.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "config.h"
#include "deliver.h"
#include "fail.h"

/**
 * struct subscriber - one socket that gets the stream
 * @list: in the list
 * @sk: the socket, referenced
 * @account: its samples
 *
 * The reference keeps the memory, not the socket: when it is closed, the
 * netlink notifier removes the subscriber. But the port is free a moment
 * before the notifier is called, and whoever binds to it then must not get
 * samples: so each send looks at the socket first, which is marked dead right
 * after its port was given up.
 */
struct subscriber {
	struct list_head list;
	struct sock *sk;
	struct jetwatt_account account;
};

/*
 * Protects the list and all accounts. Held while a batch is sent, and while
 * config is told how many there are: config's lock is taken inside this one.
 * The sampler's thread never takes it.
 */
static DEFINE_MUTEX(lock);
static LIST_HEAD(subscribers);
static unsigned int nr;
static u64 lost_by_all;
static bool closed;

static struct subscriber *find(u32 port)
{
	struct subscriber *s;

	list_for_each_entry(s, &subscribers, list)
		if (s->account.port == port)
			return s;
	return NULL;
}

static void changed(void)
{
	jetwatt_deliver_listeners(nr);
	jetwatt_config_subscribers(nr);
}

static void drop(struct subscriber *s)
{
	list_del(&s->list);
	nr--;
	sock_put(s->sk);
	kfree(s);
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
	struct subscriber *s;
	int err = 0;

	s = jetwatt_fail(JETWATT_FAIL_ALLOC) ? NULL : kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	mutex_lock(&lock);
	if (closed)
		err = -ESHUTDOWN;
	else if (find(port))
		err = -EALREADY;
	else if (nr == JETWATT_SUBSCRIBERS_MAX)
		err = -EUSERS;
	if (err) {
		kfree(s);
	} else {
		sock_hold(sk);
		s->sk = sk;
		s->account.port = port;
		list_add_tail(&s->list, &subscribers);
		nr++;
		changed();
	}
	mutex_unlock(&lock);
	return err;
}

/**
 * jetwatt_subscriber_remove() - a socket does not want it any more
 * @port: its port
 *
 * Return: 0, -ENOENT.
 */
int jetwatt_subscriber_remove(u32 port)
{
	struct subscriber *s;

	mutex_lock(&lock);
	s = find(port);
	if (s) {
		drop(s);
		changed();
	}
	mutex_unlock(&lock);
	return s ? 0 : -ENOENT;
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

static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;

	/* Ports of other protocols and namespaces have the same numbers. */
	if (action == NETLINK_URELEASE && n->protocol == NETLINK_GENERIC &&
	    net_eq(n->net, &init_net))
		jetwatt_subscriber_remove(n->portid);
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
 * jetwatt_subscriber_exit() - drop all of them
 *
 * Context: the family is gone, so nobody comes any more.
 */
void jetwatt_subscriber_exit(void)
{
	struct subscriber *s, *next;

	netlink_unregister_notifier(&notifier);
	mutex_lock(&lock);
	closed = true;
	list_for_each_entry_safe(s, next, &subscribers, list)
		drop(s);
	changed();
	mutex_unlock(&lock);
	jetwatt_deliver_exit();
}
