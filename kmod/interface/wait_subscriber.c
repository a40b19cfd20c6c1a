// SPDX-License-Identifier: GPL-2.0
#include "interface/wait_subscriber.h"

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/minmax.h>
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
#include "interface/netlink.h"
#include "waits/tracepoint.h"
#include "waits/wait.h"
#include "waits/watch.h"

/*
 * Records are collected (watch.c) and sent every 20 ms: a job with many short waits is not
 * slowed down by a wake-up of the subscriber for each of them.
 */
#define EVERY		msecs_to_jiffies(20)

/*
 * Protects the list of sockets, and the hooks: to attach and detach those takes grace
 * periods of RCU. So the notifier, through which every generic netlink socket that is
 * closed goes, does not take it: it looks for the port under @port_lock and leaves the rest to
 * a work item. As in subscriber.c a port alone does not tell sockets apart: what is
 * removed is a socket that is dead, never a new one with its port.
 */
static DEFINE_MUTEX(mutex);

/**
 * struct watcher - a socket that subscribed to waits
 * @list: in @dropped, once it is not in @watchers any more
 * @sk: the socket, referenced
 * @port: its port
 */
struct watcher {
	struct list_head list;
	struct sock *sk;
	u32 port;
};

static struct watcher *watchers[JETWATT_WATCHERS_MAX];
static u8 active;	/* mask of @watchers that are in use */

/*
 * Their sockets are put by the work item, with no lock held: the last reference may end a
 * dump of the socket, for which many kernels take the lock of generic netlink. Handlers
 * may hold that when they wait for the mutex. Under the mutex.
 */
static LIST_HEAD(dropped);

/* How much later JETWATT_FAIL_REAP makes the work item. */
#define REAP_LATE_MS	100

/* Held with the mutex to change the ports and @active; to read them, either is enough. */
static DEFINE_SPINLOCK(port_lock);

static void reap_fn(struct work_struct *work);
static DECLARE_WORK(reap_work, reap_fn);

static void send_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(send_work, send_fn);

static unsigned int count_for(unsigned int i, const struct jetwatt_watch_record *batch,
			      unsigned int n)
{
	unsigned int k, count = 0;

	for (k = 0; k < n; k++)
		count += !!(batch[k].watchers & BIT(i));
	return count;
}

/* What one watcher gets of the batch. */
static struct sk_buff *build(unsigned int i, const struct jetwatt_watch_record *batch,
			     unsigned int n)
{
	unsigned int k, count = count_for(i, batch, n);
	struct sk_buff *skb = NULL;
	struct nlattr *attr;
	void *header;

	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u32)) +
				  nla_total_size_64bit(count * sizeof(struct jetwatt_wait_record)),
				  GFP_KERNEL);
	if (!skb)
		return NULL;
	header = genlmsg_put(skb, 0, 0, &jetwatt_netlink_family, 0, JETWATT_CMD_WAITS_NTF);
	if (!header || nla_put_u64_64bit(skb, JETWATT_A_WAITS_LOST, jetwatt_watch_lost(i),
					 JETWATT_A_WAITS_PAD) ||
	    nla_put_u32(skb, JETWATT_A_WAITS_RECORD_SIZE, sizeof(struct jetwatt_wait_record)))
		goto free;
	attr = nla_reserve_64bit(skb, JETWATT_A_WAITS_RECORDS,
				 count * sizeof(struct jetwatt_wait_record), JETWATT_A_WAITS_PAD);
	if (!attr)
		goto free;
	for (k = 0, count = 0; k < n; k++)
		if (batch[k].watchers & BIT(i))
			((struct jetwatt_wait_record *)nla_data(attr))[count++] = batch[k].record;
	genlmsg_end(skb, header);
	return skb;
free:
	nlmsg_free(skb);
	return NULL;
}

static void send(unsigned int i, const struct jetwatt_watch_record *batch, unsigned int n)
{
	struct sk_buff *skb = build(i, batch, n);
	bool sent;

	sent = skb && !sock_flag(watchers[i]->sk, SOCK_DEAD);
	if (sent)
		sent = !genlmsg_unicast(&init_net, skb, watchers[i]->port);
	else
		nlmsg_free(skb);
	if (!sent)
		jetwatt_watch_lose(i, count_for(i, batch, n));
}

static void send_fn(struct work_struct *work)
{
	const struct jetwatt_watch_record *batch;
	unsigned int i, n = 1;
	u8 whose;

	mutex_lock(&mutex);
	while (active && n) {
		batch = jetwatt_watch_take(&n, &whose);
		for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
			if (whose & active & BIT(i))
				send(i, batch, n);
	}
	if (active)
		schedule_delayed_work(&send_work, EVERY);
	mutex_unlock(&mutex);
}

static int open(void)
{
	int err;

	err = jetwatt_watch_open();
	if (err)
		return err;
	err = jetwatt_wait_open();
	if (err)
		goto free;
	err = jetwatt_hook_attach();
	if (err)
		goto close;
	schedule_delayed_work(&send_work, EVERY);
	return 0;
close:
	jetwatt_wait_close();
free:
	jetwatt_watch_close();
	return err;
}

static void close(void)
{
	jetwatt_hook_detach();
	jetwatt_wait_close();
	jetwatt_watch_close();
}

static int slot_of(u32 port)
{
	int i;

	for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
		if (active & BIT(i) && watchers[i]->port == port)
			return i;
	return -ENOENT;
}

/* Under the mutex. */
static void drop(int slot)
{
	bool of_all = jetwatt_watch_remove(slot);

	spin_lock(&port_lock);
	active &= ~BIT(slot);
	spin_unlock(&port_lock);
	list_add(&watchers[slot]->list, &dropped);
	schedule_work(&reap_work);
	if (!active) {
		close();
	} else if (of_all) {
		/* The handlers skip most processes from now on: see jetwatt_watcher_wants(). */
		jetwatt_hook_synchronize();
		jetwatt_wait_unwatched();
	}
}

/* Under the mutex: drop the sockets that are closed, and @sk's predecessor of this port. */
static void reap(u32 port, const struct sock *sk)
{
	int slot;

	for (slot = 0; slot < JETWATT_WATCHERS_MAX; slot++)
		if (active & BIT(slot) &&
		    (sock_flag(watchers[slot]->sk, SOCK_DEAD) ||
		     (sk && watchers[slot]->port == port && watchers[slot]->sk != sk)))
			drop(slot);
}

static void put_dropped(void)
{
	struct watcher *w, *next;
	LIST_HEAD(list);

	mutex_lock(&mutex);
	list_splice_init(&dropped, &list);
	mutex_unlock(&mutex);
	list_for_each_entry_safe(w, next, &list, list) {
		sock_put(w->sk);
		kfree(w);
	}
}

static void reap_fn(struct work_struct *work)
{
	if (jetwatt_fail(JETWATT_FAIL_REAP))
		msleep(REAP_LATE_MS);
	mutex_lock(&mutex);
	reap(0, NULL);
	mutex_unlock(&mutex);
	put_dropped();
}

/**
 * jetwatt_watcher_add() - a socket wants to be told of waits
 * @port: its port in the initial network namespace
 * @sk: the socket
 * @tgids: of these processes
 * @n: how many; 0: of all
 * @with_children: and of those that they fork from now on
 *
 * Return: 0; -EALREADY; -EUSERS; -ENOMEM; -EOPNOTSUPP: this kernel has not got
 * the tracepoints.
 */
int jetwatt_watcher_add(u32 port, struct sock *sk, const u32 *tgids, unsigned int n,
			bool with_children)
{
	struct watcher *w;
	int err = 0, slot;

	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	w->sk = sk;
	w->port = port;
	mutex_lock(&mutex);
	reap(port, sk);
	slot = ffz(active);
	if (slot_of(port) >= 0)
		err = -EALREADY;
	else if (slot >= JETWATT_WATCHERS_MAX)
		err = -EUSERS;
	else if (!active)
		err = open();
	if (err)
		goto unlock;
	sock_hold(sk);
	spin_lock(&port_lock);
	watchers[slot] = w;
	active |= BIT(slot);
	spin_unlock(&port_lock);
	jetwatt_watch_add(slot, tgids, n, with_children);
	w = NULL;
unlock:
	mutex_unlock(&mutex);
	kfree(w);
	return err;
}

/**
 * jetwatt_watcher_remove() - a socket does not want it any more
 * @port: its port
 * @sk: the socket
 *
 * Return: 0, -ENOENT.
 */
int jetwatt_watcher_remove(u32 port, const struct sock *sk)
{
	int slot;

	mutex_lock(&mutex);
	slot = slot_of(port);
	if (slot >= 0 && watchers[slot]->sk != sk)
		slot = -ENOENT;
	if (slot >= 0)
		drop(slot);
	mutex_unlock(&mutex);
	return min(slot, 0);
}

static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/* Ports of other protocols and namespaces have the same numbers. */
	if (action != NETLINK_URELEASE || n->protocol != NETLINK_GENERIC ||
	    !net_eq(n->net, &init_net))
		return NOTIFY_DONE;
	spin_lock(&port_lock);
	ours = slot_of(n->portid) >= 0;
	spin_unlock(&port_lock);
	if (ours)
		schedule_work(&reap_work);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = notify };

/**
 * jetwatt_watcher_init() - get ready; nothing is hooked yet
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_watcher_init(void)
{
	int err = jetwatt_fail_step();

	return err ?: netlink_register_notifier(&notifier);
}

/**
 * jetwatt_watcher_exit() - drop all of them
 *
 * Context: the family is unregistered, so there are no requests any more.
 */
void jetwatt_watcher_exit(void)
{
	int slot;

	netlink_unregister_notifier(&notifier);
	mutex_lock(&mutex);
	for (slot = 0; slot < JETWATT_WATCHERS_MAX; slot++)
		if (active & BIT(slot))
			drop(slot);
	mutex_unlock(&mutex);
	cancel_delayed_work_sync(&send_work);
	cancel_work_sync(&reap_work);
	put_dropped();
}
