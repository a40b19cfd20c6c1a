// SPDX-License-Identifier: GPL-2.0
/*
 * Table of the watched processes and their watchers, and of the records of their waits, until
 * wait_subscriber.c sends the records. A watcher is a subscriber to waits, identified by its slot
 * number.
 */
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
#define RECORDS_PER_TAKE	128
#define PROCESSES	2048
#define BUCKETS_BITS	8
#define SEEN_BITS	10

/* Name of the helper thread of libcuda, which waits on behalf of other threads. */
#define HELPER		"cuda-EvtHandlr"

/**
 * struct process - a watched process
 * @node: entry in the hash bucket, or in the list of free structs
 * @tgid: process id in the initial pid namespace
 * @watchers: mask of the watchers of the process
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
	/* Copy of the records that the last call of jetwatt_watch_take() has returned. */
	struct jetwatt_watch_record batch[RECORDS_PER_TAKE];
};

/**
 * struct watch - the watched processes and their records
 * @lock: protects all fields except tables->batch; taken by the handlers, in system calls, forks
 *	and exits of traced processes
 * @tables: allocated while there is a watcher
 * @head: number of records stored since @tables was allocated
 * @tail: number of records taken since @tables was allocated
 * @lost: by watcher: number of records that could not be delivered, plus 1 for each process that it
 *	cannot watch, and for each system call of any process that could not be stored
 * @active: mask of the watchers
 * @everybody: mask of the watchers that watch all processes
 * @children: mask of the watchers that also watch new children of their processes
 * @seen: Bloom filter of the process ids that are or were watched, with one hash, cleared when the
 *	last watcher is removed; read without @lock, so that unwatched processes take no lock. If
 *	the bit of an id is set, another id with the same hash may have set it.
 */
static struct watch {
	raw_spinlock_t lock;
	struct watch_tables *tables;
	u64 head, tail;
	u64 lost[JETWATT_WATCHERS_MAX];
	u8 active, everybody, children;
	unsigned long seen[BITS_TO_LONGS(1 << SEEN_BITS)];
} watch = { .lock = __RAW_SPIN_LOCK_UNLOCKED(watch.lock) };

static struct process *find_process(u32 tgid)
{
	struct process *p;

	hlist_for_each_entry(p, &watch.tables->processes[hash_32(tgid, BUCKETS_BITS)], node)
		if (p->tgid == tgid)
			return p;
	return NULL;
}

static void lose_records(u8 mask, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < JETWATT_WATCHERS_MAX; i++)
		if (mask & BIT(i))
			watch.lost[i] += n;
}

static void add_watcher(u32 tgid, u8 mask)
{
	struct process *p = find_process(tgid);

	if (!p) {
		if (hlist_empty(&watch.tables->free)) {
			lose_records(mask, 1);
			return;
		}
		p = hlist_entry(watch.tables->free.first, struct process, node);
		hlist_del(&p->node);
		p->tgid = tgid;
		p->watchers = 0;
		hlist_add_head(&p->node, &watch.tables->processes[hash_32(tgid, BUCKETS_BITS)]);
		set_bit(hash_32(tgid, SEEN_BITS), watch.seen);
	}
	p->watchers |= mask;
}

static void remove_watcher(struct process *p, u8 mask)
{
	p->watchers &= ~mask;
	if (p->watchers)
		return;
	hlist_del(&p->node);
	hlist_add_head(&p->node, &watch.tables->free);
}

/**
 * jetwatt_watch_may_want() - check quickly whether some watcher may have requested a process
 * @tgid: id of the process
 *
 * For a living process, the result changes from true to false only when the last watcher of all
 * processes or the very last watcher is removed; the caller of jetwatt_watch_remove() then lets
 * wait.c and pollfd.c drop the state of unwatched processes, or stops tracing.
 *
 * Context: any; takes no lock. Return: false if no watcher watches the process. True may also mean
 * that the process was watched earlier, or has the hash of a process that is or was watched.
 */
bool jetwatt_watch_may_want(u32 tgid)
{
	return READ_ONCE(watch.everybody) || test_bit(hash_32(tgid, SEEN_BITS), watch.seen);
}

/**
 * jetwatt_watch_forked() - start watching a new child process, for watchers that watch children
 * @parent: id of the process that has forked
 * @child: id of the child process, which has not run yet
 *
 * Context: handler of sched_process_fork; takes watch.lock.
 */
void jetwatt_watch_forked(u32 parent, u32 child)
{
	struct process *p;

	if (!jetwatt_watch_may_want(parent))
		return;
	raw_spin_lock(&watch.lock);
	p = find_process(parent);
	if (p && p->watchers & watch.children)
		add_watcher(child, p->watchers & watch.children);
	raw_spin_unlock(&watch.lock);
}

/**
 * jetwatt_watch_exited() - stop watching a process that has ended
 * @tgid: id of the process
 *
 * Context: handler of sched_process_exit; takes watch.lock.
 */
void jetwatt_watch_exited(u32 tgid)
{
	struct process *p;

	if (!jetwatt_watch_may_want(tgid))
		return;
	raw_spin_lock(&watch.lock);
	p = find_process(tgid);
	if (p)
		remove_watcher(p, 0xff);
	raw_spin_unlock(&watch.lock);
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
 * jetwatt_watch_store() - store the record of a wait of the current thread
 * @record: the record; this function adds the cgroup to the stored copy, and the flag
 *	JETWATT_WAIT_HELPER if the thread has the name of libcuda's helper thread
 *
 * Context: handlers of sys_enter and sys_exit; takes watch.lock.
 */
void jetwatt_watch_store(const struct jetwatt_wait_record *record)
{
	u64 cgroup = cgroup_of_current();
	struct process *p;
	struct jetwatt_watch_record *r;
	u8 mask;

	raw_spin_lock(&watch.lock);
	p = find_process(record->tgid);
	mask = watch.everybody | (p ? p->watchers : 0);
	if (mask && watch.head - watch.tail == RECORDS) {
		lose_records(mask, 1);
	} else if (mask) {
		r = &watch.tables->record[watch.head++ % RECORDS];
		r->record = *record;
		r->record.cgroup = cgroup;
		/*
		 * Read the name without a lock: only a thread of the same process can change it
		 * meanwhile, and this happens rarely.
		 */
		if (!strncmp(current->comm, HELPER, TASK_COMM_LEN))
			r->record.call |= JETWATT_WAIT_HELPER;
		r->watchers = mask;
	}
	raw_spin_unlock(&watch.lock);
}

/**
 * jetwatt_watch_lose_for_all() - count one lost record for every watcher
 *
 * Context: handlers of sys_enter and sys_exit; takes watch.lock, also under the locks of wait.c and
 * pollfd.c.
 */
void jetwatt_watch_lose_for_all(void)
{
	raw_spin_lock(&watch.lock);
	lose_records(watch.active, 1);
	raw_spin_unlock(&watch.lock);
}

/**
 * jetwatt_watch_take() - remove the oldest records from the table
 * @n: gets the number of records, at most 128
 * @watchers: gets the mask of the watchers that get at least one of the records
 *
 * Context: callers must exclude each other; takes watch.lock.
 * Return: the records, valid until the next call.
 */
const struct jetwatt_watch_record *jetwatt_watch_take(unsigned int *n, u8 *watchers)
{
	*n = 0;
	*watchers = 0;
	raw_spin_lock(&watch.lock);
	for (; *n < RECORDS_PER_TAKE && watch.tail < watch.head; (*n)++) {
		watch.tables->batch[*n] = watch.tables->record[watch.tail++ % RECORDS];
		*watchers |= watch.tables->batch[*n].watchers;
	}
	raw_spin_unlock(&watch.lock);
	return watch.tables->batch;
}

/**
 * jetwatt_watch_lose() - count records that could not be sent to a watcher
 * @watcher: the watcher
 * @n: number of records
 *
 * Context: process; takes watch.lock.
 */
void jetwatt_watch_lose(unsigned int watcher, unsigned int n)
{
	raw_spin_lock(&watch.lock);
	lose_records(BIT(watcher), n);
	raw_spin_unlock(&watch.lock);
}

/**
 * jetwatt_watch_lost() - return the number of records that a watcher did not get
 * @watcher: the watcher
 *
 * Context: any. Return: number of losses since the watcher was added, see @lost of struct watch.
 */
u64 jetwatt_watch_lost(unsigned int watcher)
{
	return READ_ONCE(watch.lost[watcher]);
}

/**
 * jetwatt_watch_add() - start to collect records for a watcher
 * @watcher: index of the watcher, less than JETWATT_WATCHERS_MAX
 * @tgids: ids of the processes to watch
 * @n: number of ids in @tgids; 0 to watch all processes
 * @with_children: also watch the processes that those in @tgids fork from now on, and the
 *	descendants of these
 *
 * Context: process, after jetwatt_watch_open(); takes watch.lock.
 */
void jetwatt_watch_add(unsigned int watcher, const u32 *tgids, unsigned int n, bool with_children)
{
	unsigned int i;

	raw_spin_lock(&watch.lock);
	watch.lost[watcher] = 0;
	watch.active |= BIT(watcher);
	if (!n)
		WRITE_ONCE(watch.everybody, watch.everybody | BIT(watcher));
	if (with_children)
		watch.children |= BIT(watcher);
	for (i = 0; i < n; i++)
		add_watcher(tgids[i], BIT(watcher));
	raw_spin_unlock(&watch.lock);
}

/**
 * jetwatt_watch_remove() - remove a watcher and stop collecting records for it
 * @watcher: the watcher
 *
 * Records that the watcher has not got yet are dropped for it, because a later watcher may get the
 * same slot number.
 *
 * Context: process; takes watch.lock.
 * Return: true if @watcher was the last one that watched all processes.
 */
bool jetwatt_watch_remove(unsigned int watcher)
{
	bool of_all;
	unsigned int i;
	u64 at;

	raw_spin_lock(&watch.lock);
	of_all = watch.everybody == BIT(watcher);
	for (at = watch.tail; at < watch.head; at++)
		watch.tables->record[at % RECORDS].watchers &= ~BIT(watcher);
	watch.active &= ~BIT(watcher);
	WRITE_ONCE(watch.everybody, watch.everybody & ~BIT(watcher));
	watch.children &= ~BIT(watcher);
	for (i = 0; i < PROCESSES; i++)
		if (watch.tables->process[i].watchers & BIT(watcher))
			remove_watcher(&watch.tables->process[i], BIT(watcher));
	if (!watch.active)
		bitmap_zero(watch.seen, 1 << SEEN_BITS);
	raw_spin_unlock(&watch.lock);
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

	watch.tables = jetwatt_fail_vzalloc(sizeof(*watch.tables));
	if (!watch.tables)
		return -ENOMEM;
	for (i = 0; i < PROCESSES; i++)
		hlist_add_head(&watch.tables->process[i].node, &watch.tables->free);
	watch.head = 0;
	watch.tail = 0;
	return 0;
}

/**
 * jetwatt_watch_close() - free the tables, after the tracepoints were detached
 */
void jetwatt_watch_close(void)
{
	vfree(watch.tables);
	watch.tables = NULL;
}
