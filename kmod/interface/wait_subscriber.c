// SPDX-License-Identifier: GPL-2.0
/* Subscribers to waits: sockets that get the records of watch.c in messages. */
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
 * Records are collected by watch.c and sent every 20 ms, so that a job with many short waits is not
 * slowed down by waking the subscriber for each of them.
 */
#define SEND_PERIOD		msecs_to_jiffies(20)

/**
 * struct watcher - a socket that has subscribed to waits
 * @list: entry in watchers.dropped, after the watcher was removed from watchers.slot
 * @sk: the socket, with a reference
 * @port: netlink port of the socket
 */
struct watcher {
	struct list_head list;
	struct sock *sk;
	u32 port;
};

/*
 * watchers.lock protects this struct and serialises attaching and detaching the tracepoints.
 * watchers.lock may be held for RCU grace periods, while tracepoints are attached or detached. The
 * netlink notifier runs for every netlink socket that is closed and must not wait for a grace
 * period: it only searches the port, under port_lock, and a work item then removes the watcher. As
 * in subscriber.c, a port does not identify a socket: only dead sockets are removed, never a new
 * socket that has the port of a dead one.
 *
 * The work item drops the references to the sockets in @dropped without holding a lock. Dropping
 * the last reference may end a dump of the socket, for which many kernels take the lock of generic
 * netlink; a request handler may hold that lock while it waits for watchers.lock.
 */
static struct {
	struct mutex lock;
	/*
	 * Ports and @active are changed with @lock and @port_lock held, and read with one of them
	 * held.
	 */
	spinlock_t port_lock;
	struct watcher *slot[JETWATT_WATCHERS_MAX];
	u8 active;		/* mask of the used entries of @slot */
	struct list_head dropped;
} watchers = {
	.lock = __MUTEX_INITIALIZER(watchers.lock),
	.port_lock = __SPIN_LOCK_UNLOCKED(watchers.port_lock),
	.dropped = LIST_HEAD_INIT(watchers.dropped),
};

/* Time by which the fault JETWATT_FAIL_REAP delays the work item, in milliseconds. */
#define REAP_LATE_MS	100

static void reap_watchers_fn(struct work_struct *work);
static DECLARE_WORK(watcher_reap_work, reap_watchers_fn);

static void send_waits_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(waits_work, send_waits_fn);

static unsigned int count_for(unsigned int i, const struct jetwatt_watch_record *batch,
			      unsigned int n)
{
	unsigned int k, count = 0;

	for (k = 0; k < n; k++)
		count += !!(batch[k].watchers & BIT(i));
	return count;
}

/* Build the message with the records of a batch that are for watcher @i. */
static struct sk_buff *build_waits(unsigned int i, const struct jetwatt_watch_record *batch,
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

static void send_waits(unsigned int i, const struct jetwatt_watch_record *batch, unsigned int n)
{
	struct sk_buff *skb = build_waits(i, batch, n);
	bool sent;

	sent = skb && !sock_flag(watchers.slot[i]->sk, SOCK_DEAD);
	if (sent)
		sent = !genlmsg_unicast(&init_net, skb, watchers.slot[i]->port);
	else
		nlmsg_free(skb);
	if (!sent)
		jetwatt_watch_lose(i, count_for(i, batch, n));
}

static void send_waits_fn(struct work_struct *work)
{
	const struct jetwatt_watch_record *batch;
	unsigned int i, n = 1;
	u8 whose;

	mutex_lock(&watchers.lock);
	while (watchers.active && n) {
		batch = jetwatt_watch_take(&n, &whose);
		for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
			if (whose & watchers.active & BIT(i))
				send_waits(i, batch, n);
	}
	if (watchers.active)
		schedule_delayed_work(&waits_work, SEND_PERIOD);
	mutex_unlock(&watchers.lock);
}

static int start_watching(void)
{
	int err;

	err = jetwatt_watch_open();
	if (err)
		return err;
	err = jetwatt_wait_open();
	if (err)
		goto free;
	err = jetwatt_tracepoints_attach();
	if (err)
		goto close;
	schedule_delayed_work(&waits_work, SEND_PERIOD);
	return 0;
close:
	jetwatt_wait_close();
free:
	jetwatt_watch_close();
	return err;
}

static void stop_watching(void)
{
	jetwatt_tracepoints_detach();
	jetwatt_wait_close();
	jetwatt_watch_close();
}

static int watcher_slot(u32 port)
{
	int i;

	for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
		if (watchers.active & BIT(i) && watchers.slot[i]->port == port)
			return i;
	return -ENOENT;
}

/* Context: watchers.lock held. */
static void drop_watcher(int slot)
{
	bool of_all = jetwatt_watch_remove(slot);

	spin_lock(&watchers.port_lock);
	watchers.active &= ~BIT(slot);
	spin_unlock(&watchers.port_lock);
	list_add(&watchers.slot[slot]->list, &watchers.dropped);
	schedule_work(&watcher_reap_work);
	if (!watchers.active) {
		stop_watching();
	} else if (of_all) {
		/*
		 * The removed watcher watched all processes, so most processes may be unwatched
		 * from now on, and the stored state of unwatched processes must be dropped; see
		 * jetwatt_watch_may_want().
		 */
		jetwatt_tracepoints_synchronize();
		jetwatt_wait_unwatched();
	}
}

/*
 * Drop the watchers whose sockets are closed. If @sk is not NULL, also drop a watcher that has
 * @port but another socket than @sk: its socket had the port before.
 *
 * Context: watchers.lock held.
 */
static void reap_watchers(u32 port, const struct sock *sk)
{
	int slot;

	for (slot = 0; slot < JETWATT_WATCHERS_MAX; slot++)
		if (watchers.active & BIT(slot) &&
		    (sock_flag(watchers.slot[slot]->sk, SOCK_DEAD) ||
		     (sk && watchers.slot[slot]->port == port && watchers.slot[slot]->sk != sk)))
			drop_watcher(slot);
}

static void put_dropped_watchers(void)
{
	struct watcher *w, *next;
	LIST_HEAD(list);

	mutex_lock(&watchers.lock);
	list_splice_init(&watchers.dropped, &list);
	mutex_unlock(&watchers.lock);
	list_for_each_entry_safe(w, next, &list, list) {
		sock_put(w->sk);
		kfree(w);
	}
}

static void reap_watchers_fn(struct work_struct *work)
{
	if (jetwatt_fail(JETWATT_FAIL_REAP))
		msleep(REAP_LATE_MS);
	mutex_lock(&watchers.lock);
	reap_watchers(0, NULL);
	mutex_unlock(&watchers.lock);
	put_dropped_watchers();
}

/**
 * jetwatt_wait_subscriber_add() - subscribe a socket to waits
 * @port: port of the socket in the initial network namespace
 * @sk: the socket
 * @tgids: ids of the processes whose waits the socket gets
 * @n: number of ids in @tgids; 0 to get the waits of all processes
 * @with_children: also send the waits of the processes that the processes in @tgids fork from now
 *	on, and of their descendants
 *
 * Context: takes watchers.lock; sleeps. Return: 0; -EALREADY if the socket is subscribed; -EUSERS
 * if there are too many subscribers; -ENOMEM; -EOPNOTSUPP if the kernel lacks the tracepoints.
 */
int jetwatt_wait_subscriber_add(u32 port, struct sock *sk, const u32 *tgids, unsigned int n,
			bool with_children)
{
	struct watcher *w;
	int err = 0, slot;

	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	w->sk = sk;
	w->port = port;
	mutex_lock(&watchers.lock);
	reap_watchers(port, sk);
	slot = ffz(watchers.active);
	if (watcher_slot(port) >= 0)
		err = -EALREADY;
	else if (slot >= JETWATT_WATCHERS_MAX)
		err = -EUSERS;
	else if (!watchers.active)
		err = start_watching();
	if (err)
		goto unlock;
	sock_hold(sk);
	spin_lock(&watchers.port_lock);
	watchers.slot[slot] = w;
	watchers.active |= BIT(slot);
	spin_unlock(&watchers.port_lock);
	jetwatt_watch_add(slot, tgids, n, with_children);
	w = NULL;
unlock:
	mutex_unlock(&watchers.lock);
	kfree(w);
	return err;
}

/**
 * jetwatt_wait_subscriber_remove() - unsubscribe a socket from waits
 * @port: port of the socket
 * @sk: the socket
 *
 * Context: takes watchers.lock; sleeps. Return: 0, or -ENOENT if the socket is not subscribed.
 */
int jetwatt_wait_subscriber_remove(u32 port, const struct sock *sk)
{
	int slot;

	mutex_lock(&watchers.lock);
	slot = watcher_slot(port);
	if (slot >= 0 && watchers.slot[slot]->sk != sk)
		slot = -ENOENT;
	if (slot >= 0)
		drop_watcher(slot);
	mutex_unlock(&watchers.lock);
	return min(slot, 0);
}

static int watcher_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct netlink_notify *n = data;
	bool ours;

	/* Ignore sockets of other protocols and namespaces, which use the same port numbers. */
	if (action != NETLINK_URELEASE || n->protocol != NETLINK_GENERIC ||
	    !net_eq(n->net, &init_net))
		return NOTIFY_DONE;
	spin_lock(&watchers.port_lock);
	ours = watcher_slot(n->portid) >= 0;
	spin_unlock(&watchers.port_lock);
	if (ours)
		schedule_work(&watcher_reap_work);
	return NOTIFY_DONE;
}

static struct notifier_block watcher_notifier = { .notifier_call = watcher_notify };

/**
 * jetwatt_wait_subscriber_init() - register the netlink notifier; attaches no tracepoint yet
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_wait_subscriber_init(void)
{
	int err = jetwatt_fail_step();

	return err ?: netlink_register_notifier(&watcher_notifier);
}

/**
 * jetwatt_wait_subscriber_exit() - remove all subscribers to waits
 *
 * Context: after the netlink family was unregistered, so there are no requests any more.
 */
void jetwatt_wait_subscriber_exit(void)
{
	int slot;

	netlink_unregister_notifier(&watcher_notifier);
	mutex_lock(&watchers.lock);
	for (slot = 0; slot < JETWATT_WATCHERS_MAX; slot++)
		if (watchers.active & BIT(slot))
			drop_watcher(slot);
	mutex_unlock(&watchers.lock);
	cancel_delayed_work_sync(&waits_work);
	cancel_work_sync(&watcher_reap_work);
	put_dropped_watchers();
}
