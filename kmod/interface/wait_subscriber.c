// SPDX-License-Identifier: GPL-2.0
#include "interface/wait_subscriber.h"

#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/jetwatt.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "fault_inject.h"
#include "interface/netlink.h"
#include "waits/tracepoint.h"
#include "waits/wait.h"

/*
 * While anybody watches, records are collected here and sent every 20 ms: a job
 * with many short waits is not slowed down by waking somebody for each.
 */
#define EVERY		msecs_to_jiffies(20)
#define RECORDS		4096
#define IN_A_MESSAGE	128
#define PROCESSES	2048
#define BUCKETS_BITS	8
#define SEEN_BITS	10

/**
 * struct process - one that is watched
 * @node: in its bucket, or in the list of free ones
 * @tgid: its id in the initial pid namespace
 * @watchers: mask of those who watch it
 */
struct process {
	struct hlist_node node;
	u32 tgid;
	u8 watchers;
};

struct record {
	struct jetwatt_wait_record record;
	u8 watchers;
};

struct tables {
	struct hlist_head processes[1 << BUCKETS_BITS];
	struct hlist_head free;
	struct process process[PROCESSES];
	struct record record[RECORDS];
	/* The work item's own. */
	struct record batch[IN_A_MESSAGE];
};

/* Protects the tables and what stands beside it here; taken by system calls. */
static DEFINE_RAW_SPINLOCK(lock);
static struct tables *t;
static u64 head, tail;		/* of the records */
static u64 lost[JETWATT_WATCHERS_MAX];
static u8 active, everybody, children;	/* masks of watchers */

/* So that a process of nobody's costs no lock: a bit may be set for too many. */
static unsigned long seen[BITS_TO_LONGS(1 << SEEN_BITS)];

/*
 * Protects the list of sockets, and the hooks: to attach and detach those takes grace
 * periods of RCU. So the notifier, through which every generic netlink socket that is
 * closed goes, does not take it: it looks for the port under @lock and leaves the rest to
 * a work item. As in subscriber.c a port alone does not tell sockets apart: what is
 * removed is a socket that is dead, never a new one with its port.
 */
static DEFINE_MUTEX(mutex);

/**
 * struct watcher - a socket that is told of waits
 * @list: in @dropped, once it is not in @watchers any more
 * @sk: the socket, referenced
 * @port: its port
 */
struct watcher {
	struct list_head list;
	struct sock *sk;
	u32 port;
};

static struct watcher *watchers[JETWATT_WATCHERS_MAX];	/* valid where @active says so */

/*
 * Their sockets are put by the work item, with no lock held: the last reference may end a
 * dump of the socket, for which many kernels take the lock of generic netlink. Handlers
 * may hold that when they wait for the mutex. Under the mutex.
 */
static LIST_HEAD(dropped);

/* How much later JETWATT_FAIL_REAP makes the work item. */
#define REAP_LATE_MS	100

static void reap_fn(struct work_struct *work);
static DECLARE_WORK(reap_work, reap_fn);

static void send_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(send_work, send_fn);

static struct process *find(u32 tgid)
{
	struct process *p;

	hlist_for_each_entry(p, &t->processes[hash_32(tgid, BUCKETS_BITS)], node)
		if (p->tgid == tgid)
			return p;
	return NULL;
}

static void lose(u8 whose, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
		if (whose & BIT(i))
			lost[i] += n;
}

static void follow(u32 tgid, u8 whose)
{
	struct process *p = find(tgid);

	if (!p) {
		if (hlist_empty(&t->free)) {
			lose(whose, 1);
			return;
		}
		p = hlist_entry(t->free.first, struct process, node);
		hlist_del(&p->node);
		p->tgid = tgid;
		p->watchers = 0;
		hlist_add_head(&p->node, &t->processes[hash_32(tgid, BUCKETS_BITS)]);
		set_bit(hash_32(tgid, SEEN_BITS), seen);
	}
	p->watchers |= whose;
}

static void forget(struct process *p, u8 whose)
{
	p->watchers &= ~whose;
	if (p->watchers)
		return;
	hlist_del(&p->node);
	hlist_add_head(&p->node, &t->free);
}

/**
 * jetwatt_watcher_wants() - may somebody watch this process?
 * @tgid: the process
 *
 * For one process this changes from true to false only in drop(), which then has
 * forgotten what the handlers know of it.
 *
 * Context: any; takes no lock. Return: false: nobody does.
 */
bool jetwatt_watcher_wants(u32 tgid)
{
	return READ_ONCE(everybody) || test_bit(hash_32(tgid, SEEN_BITS), seen);
}

/**
 * jetwatt_watcher_forked() - a process has a child
 * @parent: the process
 * @child: its child, which has not run yet
 *
 * Context: sched_process_fork.
 */
void jetwatt_watcher_forked(u32 parent, u32 child)
{
	struct process *p;

	if (!jetwatt_watcher_wants(parent))
		return;
	raw_spin_lock(&lock);
	p = find(parent);
	if (p && p->watchers & children)
		follow(child, p->watchers & children);
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watcher_exited() - a process has ended
 * @tgid: the process
 *
 * Context: sched_process_exit.
 */
void jetwatt_watcher_exited(u32 tgid)
{
	struct process *p;

	if (!jetwatt_watcher_wants(tgid))
		return;
	raw_spin_lock(&lock);
	p = find(tgid);
	if (p)
		forget(p, 0xff);
	raw_spin_unlock(&lock);
}

static u64 cgroup_of_current(void)
{
	u64 id = 0;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
#endif
	return id;
}

/**
 * jetwatt_watcher_record() - the current thread has waited
 * @record: all but the cgroup
 *
 * Context: sys_exit and sys_enter.
 */
void jetwatt_watcher_record(const struct jetwatt_wait_record *record)
{
	u64 cgroup = cgroup_of_current();
	struct process *p;
	struct record *r;
	u8 whose;

	raw_spin_lock(&lock);
	p = find(record->tgid);
	whose = everybody | (p ? p->watchers : 0);
	if (whose && head - tail == RECORDS) {
		lose(whose, 1);
	} else if (whose) {
		r = &t->record[head++ % RECORDS];
		r->record = *record;
		r->record.cgroup = cgroup;
		r->watchers = whose;
	}
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watcher_lost() - a wait was seen that nobody can be told of
 *
 * Context: sys_enter and sys_exit, also under the lock of wait.c.
 */
void jetwatt_watcher_lost(void)
{
	raw_spin_lock(&lock);
	lose(active, 1);
	raw_spin_unlock(&lock);
}

/* What one watcher gets of the batch. */
static struct sk_buff *build(unsigned int i, unsigned int n)
{
	struct sk_buff *skb = NULL;
	unsigned int k, count = 0;
	struct nlattr *attr;
	void *header;

	for (k = 0; k < n; k++)
		count += !!(t->batch[k].watchers & BIT(i));
	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u32)) +
				  nla_total_size_64bit(count * sizeof(struct jetwatt_wait_record)),
				  GFP_KERNEL);
	if (!skb)
		return NULL;
	header = genlmsg_put(skb, 0, 0, &jetwatt_netlink_family, 0, JETWATT_CMD_WAITS_NTF);
	if (!header || nla_put_u64_64bit(skb, JETWATT_A_WAITS_LOST, READ_ONCE(lost[i]),
					 JETWATT_A_WAITS_PAD) ||
	    nla_put_u32(skb, JETWATT_A_WAITS_RECORD_SIZE, sizeof(struct jetwatt_wait_record)))
		goto free;
	attr = nla_reserve_64bit(skb, JETWATT_A_WAITS_RECORDS,
				 count * sizeof(struct jetwatt_wait_record), JETWATT_A_WAITS_PAD);
	if (!attr)
		goto free;
	for (k = 0, count = 0; k < n; k++)
		if (t->batch[k].watchers & BIT(i))
			((struct jetwatt_wait_record *)nla_data(attr))[count++] = t->batch[k].record;
	genlmsg_end(skb, header);
	return skb;
free:
	nlmsg_free(skb);
	return NULL;
}

static void send(unsigned int i, unsigned int n)
{
	struct sk_buff *skb = build(i, n);
	unsigned int k;
	bool sent;

	sent = skb && !sock_flag(watchers[i]->sk, SOCK_DEAD);
	if (sent)
		sent = !genlmsg_unicast(&init_net, skb, watchers[i]->port);
	else
		nlmsg_free(skb);
	raw_spin_lock(&lock);
	for (k = 0; k < n && !sent; k++)
		lose(t->batch[k].watchers & BIT(i), 1);
	raw_spin_unlock(&lock);
}

static unsigned int take(u8 *whose)
{
	unsigned int n;

	*whose = 0;
	raw_spin_lock(&lock);
	for (n = 0; n < IN_A_MESSAGE && tail < head; n++) {
		t->batch[n] = t->record[tail++ % RECORDS];
		*whose |= t->batch[n].watchers;
	}
	raw_spin_unlock(&lock);
	return n;
}

static void send_fn(struct work_struct *work)
{
	unsigned int i, n;
	u8 whose;

	mutex_lock(&mutex);
	while (active && (n = take(&whose)))
		for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
			if (whose & active & BIT(i))
				send(i, n);
	if (active)
		schedule_delayed_work(&send_work, EVERY);
	mutex_unlock(&mutex);
}

static int open(void)
{
	unsigned int i;
	int err;

	t = jetwatt_fail_vzalloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (i = 0; i < PROCESSES; i++)
		hlist_add_head(&t->process[i].node, &t->free);
	head = 0;
	tail = 0;
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
	vfree(t);
	return err;
}

static void close(void)
{
	jetwatt_hook_detach();
	jetwatt_wait_close();
	vfree(t);
	t = NULL;
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
	bool of_all = everybody & BIT(slot);
	unsigned int i;
	u64 at;

	raw_spin_lock(&lock);
	/* What is left to be sent is not for the next one in this slot. */
	for (at = tail; at < head; at++)
		t->record[at % RECORDS].watchers &= ~BIT(slot);
	active &= ~BIT(slot);
	WRITE_ONCE(everybody, everybody & ~BIT(slot));
	children &= ~BIT(slot);
	for (i = 0; i < PROCESSES; i++)
		if (t->process[i].watchers & BIT(slot))
			forget(&t->process[i], BIT(slot));
	if (!active)
		bitmap_zero(seen, 1 << SEEN_BITS);
	raw_spin_unlock(&lock);
	list_add(&watchers[slot]->list, &dropped);
	schedule_work(&reap_work);
	if (!active) {
		close();
	} else if (of_all && !everybody) {
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
	unsigned int i;
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
	raw_spin_lock(&lock);
	watchers[slot] = w;
	lost[slot] = 0;
	active |= BIT(slot);
	if (!n)
		WRITE_ONCE(everybody, everybody | BIT(slot));
	if (with_children)
		children |= BIT(slot);
	for (i = 0; i < n; i++)
		follow(tgids[i], BIT(slot));
	raw_spin_unlock(&lock);
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
	raw_spin_lock(&lock);
	ours = slot_of(n->portid) >= 0;
	raw_spin_unlock(&lock);
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
 * Context: the family is gone, so nobody comes any more.
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
