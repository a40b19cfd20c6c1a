// SPDX-License-Identifier: GPL-2.0
#include "waits/watch.h"

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "fault_inject.h"

#define RECORDS		4096
#define IN_A_MESSAGE	128
#define PROCESSES	2048
#define BUCKETS_BITS	8
#define SEEN_BITS	10

/* The thread that libcuda starts to wait for others. */
#define HELPER		"cuda-EvtHandlr"

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

struct watch_tables {
	struct hlist_head processes[1 << BUCKETS_BITS];
	struct hlist_head free;
	struct process process[PROCESSES];
	struct jetwatt_watch_record record[RECORDS];
	/* What jetwatt_watch_take() has returned last. */
	struct jetwatt_watch_record batch[IN_A_MESSAGE];
};

/* Protects the tables, but for the batch, and the variables below; taken by system calls. */
static DEFINE_RAW_SPINLOCK(lock);
static struct watch_tables *t;
static u64 head, tail;		/* of the records */
static u64 lost[JETWATT_WATCHERS_MAX];
static u8 active, everybody, children;	/* masks of watchers */

/*
 * A filter by a hash of the process id, read without the lock: a process that has no watcher
 * costs no lock. A bit that is set may stand for other processes.
 */
static unsigned long seen[BITS_TO_LONGS(1 << SEEN_BITS)];

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
 * jetwatt_watcher_wants() - may this process have a watcher?
 * @tgid: the process
 *
 * For one process this changes from true to false only when a watcher of all processes is
 * removed; what the handlers know of processes without a watcher is forgotten then.
 *
 * Context: any; takes no lock. Return: false if it has none for certain.
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
 * @record: all but the cgroup and JETWATT_WAIT_HELPER
 *
 * Context: sys_exit and sys_enter.
 */
void jetwatt_watcher_record(const struct jetwatt_wait_record *record)
{
	u64 cgroup = cgroup_of_current();
	struct process *p;
	struct jetwatt_watch_record *r;
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
		/* A thread names itself: no lock makes this more certain. */
		if (!strncmp(current->comm, HELPER, TASK_COMM_LEN))
			r->record.call |= JETWATT_WAIT_HELPER;
		r->watchers = whose;
	}
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watcher_lost() - count a wait that no watcher gets
 *
 * Context: sys_enter and sys_exit, also under the lock of wait.c.
 */
void jetwatt_watcher_lost(void)
{
	raw_spin_lock(&lock);
	lose(active, 1);
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watch_take() - take the oldest records out of the table
 * @n: gets their number, at most 128
 * @watchers: gets the mask of the watchers that get any of them
 *
 * Context: callers exclude each other. Return: the records, until the next call.
 */
const struct jetwatt_watch_record *jetwatt_watch_take(unsigned int *n, u8 *watchers)
{
	*n = 0;
	*watchers = 0;
	raw_spin_lock(&lock);
	for (; *n < IN_A_MESSAGE && tail < head; (*n)++) {
		t->batch[*n] = t->record[tail++ % RECORDS];
		*watchers |= t->batch[*n].watchers;
	}
	raw_spin_unlock(&lock);
	return t->batch;
}

/**
 * jetwatt_watch_lose() - count records that could not be sent to a watcher
 * @watcher: the watcher
 * @n: how many
 *
 * Context: process.
 */
void jetwatt_watch_lose(unsigned int watcher, unsigned int n)
{
	raw_spin_lock(&lock);
	lose(BIT(watcher), n);
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watch_lost() - count of the records that a watcher did not get
 * @watcher: the watcher
 *
 * Context: any. Return: the number since it was added.
 */
u64 jetwatt_watch_lost(unsigned int watcher)
{
	return READ_ONCE(lost[watcher]);
}

/**
 * jetwatt_watch_add() - begin to collect records for a watcher
 * @watcher: the watcher
 * @tgids: the processes that it watches
 * @n: number of @tgids; 0: it watches all processes
 * @with_children: it also watches the processes that these fork from now on
 *
 * Context: process; after jetwatt_watch_open().
 */
void jetwatt_watch_add(unsigned int watcher, const u32 *tgids, unsigned int n, bool with_children)
{
	unsigned int i;

	raw_spin_lock(&lock);
	lost[watcher] = 0;
	active |= BIT(watcher);
	if (!n)
		WRITE_ONCE(everybody, everybody | BIT(watcher));
	if (with_children)
		children |= BIT(watcher);
	for (i = 0; i < n; i++)
		follow(tgids[i], BIT(watcher));
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_watch_remove() - collect nothing more for a watcher
 * @watcher: the watcher
 *
 * Its records that have not been taken are dropped: another watcher may get its number.
 *
 * Context: process. Return: true if it was the last one that watched all processes.
 */
bool jetwatt_watch_remove(unsigned int watcher)
{
	bool of_all = everybody == BIT(watcher);
	unsigned int i;
	u64 at;

	raw_spin_lock(&lock);
	for (at = tail; at < head; at++)
		t->record[at % RECORDS].watchers &= ~BIT(watcher);
	active &= ~BIT(watcher);
	WRITE_ONCE(everybody, everybody & ~BIT(watcher));
	children &= ~BIT(watcher);
	for (i = 0; i < PROCESSES; i++)
		if (t->process[i].watchers & BIT(watcher))
			forget(&t->process[i], BIT(watcher));
	if (!active)
		bitmap_zero(seen, 1 << SEEN_BITS);
	raw_spin_unlock(&lock);
	return of_all;
}

/**
 * jetwatt_watch_open() - allocate the tables, before the tracepoints are attached
 *
 * Return: 0 or -ENOMEM.
 */
int jetwatt_watch_open(void)
{
	unsigned int i;

	t = jetwatt_fail_vzalloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (i = 0; i < PROCESSES; i++)
		hlist_add_head(&t->process[i].node, &t->free);
	head = 0;
	tail = 0;
	return 0;
}

/**
 * jetwatt_watch_close() - free the tables, after the tracepoints were detached
 */
void jetwatt_watch_close(void)
{
	vfree(t);
	t = NULL;
}
