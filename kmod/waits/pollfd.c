// SPDX-License-Identifier: GPL-2.0
#include "waits/pollfd.h"

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "fault_inject.h"
#include "waits/watch.h"

/*
 * Track descriptors that end a wait for the GPU when poll() finds them ready:
 *
 *  - Poll descriptors of host1x-fence and nvhost-ctrl. An ioctl arms a descriptor for a fence; the
 *    poll() that finds the descriptor ready consumes the fence. Several fences may be pending, and
 *    a thread may already sleep in poll() when another thread arms.
 *  - Events, which are always armed: BLOCKING_SYNC of a channel group of nvgpu, and /dev/nvidia* of
 *    the desktop driver on Thor. Events are recognised by their file, so events opened before the
 *    tracing started are found too.
 */
#define ARMED		1024
#define OWNERS		1024
#define BUCKETS_BITS	8

/* nvgpu: os/linux/ioctl_tsg.c, "nvgpu-event%d-fd%d"; 2 is the event id BLOCKING_SYNC */
#define NVGPU_EVENT		"nvgpu-event2-fd"
/* open-gpu-kernel-modules: kernel-open/common/inc/nv.h; the modeset minor has no poll() */
#define NVIDIA_MAJOR		195
#define NVIDIA_MODESET_MINOR	254

/* Time (ns) after an unsuccessful poll's end in which a poll of an event continues the wait. */
#define SAME_WAIT_NS	1000000

/**
 * struct owner - a process that has armed a descriptor or polled an event
 * @node: entry in the hash bucket, or in the list of free structs
 * @armed: list of the descriptors of the process
 * @tgid: id of the process
 *
 * An owner is dropped when the process ends or executes another program, and by
 * jetwatt_pollfd_unwatched().
 * The owner stays when its last descriptor is closed, because it will probably wait again.
 */
struct owner {
	struct hlist_node node;
	struct hlist_head armed;
	u32 tgid;
};

/**
 * struct armed - a descriptor with pending fences, or an event
 * @node: entry in the hash bucket, or in the list of free structs
 * @sibling: entry in the list of descriptors of one process (struct owner)
 * @armed_ns: time of the last arming; for an event: end of the last poll that did not find it ready
 * @enter_ns: start of the first poll after @armed_ns, or of a poll in progress then; 0: none yet
 * @tgid: id of the process
 * @fd: the descriptor
 * @ctl_fd: descriptor on which the arming ioctl was called; -1 for an event
 * @pending: maximum number of pending fences; 0 for an event
 * @pollers: number of threads that are polling @fd
 * @event: true if @fd is an event, which is always armed
 */
struct armed {
	struct hlist_node node;
	struct hlist_node sibling;
	u64 armed_ns;
	u64 enter_ns;
	u32 tgid;
	int fd;
	int ctl_fd;
	u32 pending;
	u32 pollers;
	bool event;
};

struct pollfd_tables {
	struct hlist_head armed[1 << BUCKETS_BITS];
	struct hlist_head owners[1 << BUCKETS_BITS];
	struct hlist_head free_armed;
	struct hlist_head free_owners;
	struct armed arm[ARMED];
	struct owner own[OWNERS];
};

/* @lock protects @tables and @nr_owners; @nr_owners is also read without @lock. */
static struct {
	raw_spinlock_t lock;
	struct pollfd_tables *tables;
	unsigned int nr_owners;
} pollfds = { .lock = __RAW_SPIN_LOCK_UNLOCKED(pollfds.lock) };

static struct hlist_head *bucket(u32 tgid, int fd)
{
	return &pollfds.tables->armed[hash_32(tgid ^ (u32)fd << 16, BUCKETS_BITS)];
}

static struct armed *find_armed(u32 tgid, int fd)
{
	struct armed *a;

	hlist_for_each_entry(a, bucket(tgid, fd), node)
		if (a->tgid == tgid && a->fd == fd)
			return a;
	return NULL;
}

static struct owner *find_owner(u32 tgid)
{
	struct owner *o;

	hlist_for_each_entry(o, &pollfds.tables->owners[hash_32(tgid, BUCKETS_BITS)], node)
		if (o->tgid == tgid)
			return o;
	return NULL;
}

static struct owner *add_owner(u32 tgid)
{
	struct owner *o;

	if (hlist_empty(&pollfds.tables->free_owners))
		return NULL;
	o = hlist_entry(pollfds.tables->free_owners.first, struct owner, node);
	hlist_del(&o->node);
	hlist_add_head(&o->node, &pollfds.tables->owners[hash_32(tgid, BUCKETS_BITS)]);
	INIT_HLIST_HEAD(&o->armed);
	o->tgid = tgid;
	WRITE_ONCE(pollfds.nr_owners, pollfds.nr_owners + 1);
	return o;
}

static void drop_armed(struct armed *a)
{
	hlist_del(&a->node);
	hlist_del(&a->sibling);
	hlist_add_head(&a->node, &pollfds.tables->free_armed);
}

static struct armed *add_armed(u32 tgid, int fd)
{
	struct owner *o = find_owner(tgid) ?: add_owner(tgid);
	struct armed *a;

	if (!o || hlist_empty(&pollfds.tables->free_armed)) {
		jetwatt_watch_lose_for_all();
		return NULL;
	}
	a = hlist_entry(pollfds.tables->free_armed.first, struct armed, node);
	hlist_del(&a->node);
	hlist_add_head(&a->node, bucket(tgid, fd));
	hlist_add_head(&a->sibling, &o->armed);
	a->tgid = tgid;
	a->fd = fd;
	a->ctl_fd = -1;
	a->pending = 0;
	a->pollers = 0;
	a->armed_ns = 0;
	a->enter_ns = 0;
	a->event = false;
	return a;
}

/* Test whether descriptor @fd of the current process is an event. */
static bool is_event(int fd)
{
	const struct inode *inode;
	bool yes = false;
	struct file *f;

	f = fget(fd);
	if (!f)
		return false;
	inode = file_inode(f);
	if (inode->i_sb->s_magic == ANON_INODE_FS_MAGIC)
		yes = !strncmp(f->f_path.dentry->d_name.name, NVGPU_EVENT, strlen(NVGPU_EVENT));
	else if (S_ISCHR(inode->i_mode))
		yes = MAJOR(inode->i_rdev) == NVIDIA_MAJOR &&
		      MINOR(inode->i_rdev) != NVIDIA_MODESET_MINOR;
	fput(f);
	return yes;
}

/**
 * jetwatt_pollfd_arm() - record that a descriptor was armed for one more fence
 * @fd: the descriptor, of the current process
 * @ctl_fd: descriptor on which the arming ioctl was called
 *
 * Context: handler of sys_exit.
 */
void jetwatt_pollfd_arm(int fd, int ctl_fd)
{
	struct armed *a;

	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, fd) ?: add_armed(current->tgid, fd);
	if (a) {
		/*
		 * One poll consumes all fences that have passed, so @pending may be too high. So a
		 * wait begins with the first poll after this arming, unless a thread already polls.
		 */
		if (!a->pollers)
			a->enter_ns = 0;
		a->event = false;
		a->pending++;
		a->armed_ns = ktime_get_ns();
		a->ctl_fd = ctl_fd;
	}
	raw_spin_unlock(&pollfds.lock);
}

/**
 * jetwatt_pollfd_duplicate() - copy the state of a descriptor to its duplicate
 * @from: the descriptor
 * @to: its duplicate
 *
 * Context: handler of sys_exit.
 */
void jetwatt_pollfd_duplicate(int from, int to)
{
	struct armed *a, *copy;

	if (!READ_ONCE(pollfds.nr_owners) || from == to)
		return;
	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, from);
	copy = a && !a->event ? find_armed(current->tgid, to) ?: add_armed(current->tgid, to) : NULL;
	if (copy) {
		copy->armed_ns = a->armed_ns;
		copy->enter_ns = a->enter_ns;
		copy->ctl_fd = a->ctl_fd;
		copy->pending = a->pending;
		copy->event = false;
	}
	raw_spin_unlock(&pollfds.lock);
}

static void drop_owner(struct owner *o)
{
	struct hlist_node *next;
	struct armed *a;

	hlist_for_each_entry_safe(a, next, &o->armed, sibling)
		drop_armed(a);
	hlist_del(&o->node);
	hlist_add_head(&o->node, &pollfds.tables->free_owners);
	WRITE_ONCE(pollfds.nr_owners, pollfds.nr_owners - 1);
}

/**
 * jetwatt_pollfd_closed() - drop descriptors that the current process closes
 * @first: the lowest closed descriptor
 * @last: the highest closed descriptor; if @last is below @first, nothing is dropped
 *
 * Context: handler of sys_enter.
 */
void jetwatt_pollfd_closed(u32 first, u32 last)
{
	struct hlist_node *next;
	struct armed *a;
	struct owner *o;

	if (!READ_ONCE(pollfds.nr_owners))
		return;
	raw_spin_lock(&pollfds.lock);
	if (first == last) {
		a = find_armed(current->tgid, first);
		if (a)
			drop_armed(a);
	} else {
		o = find_owner(current->tgid);
		if (o)
			hlist_for_each_entry_safe(a, next, &o->armed, sibling)
				if ((u32)a->fd >= first && (u32)a->fd <= last)
					drop_armed(a);
	}
	raw_spin_unlock(&pollfds.lock);
}

/**
 * jetwatt_pollfd_process_gone() - drop a process that ends or executes another program
 * @tgid: id of the process
 *
 * For a process that is not an owner, the cost is one lookup.
 *
 * Context: handlers of sched_process_exit and sched_process_exec.
 */
void jetwatt_pollfd_process_gone(u32 tgid)
{
	struct owner *o;

	if (!READ_ONCE(pollfds.nr_owners))
		return;
	raw_spin_lock(&pollfds.lock);
	o = find_owner(tgid);
	if (o)
		drop_owner(o);
	raw_spin_unlock(&pollfds.lock);
}

/**
 * jetwatt_pollfd_unwatched() - drop the processes for which jetwatt_watch_may_want() is false
 * The system calls of unwatched processes are not traced, so their stored state would become wrong.
 *
 * Context: after jetwatt_tracepoints_synchronize().
 */
void jetwatt_pollfd_unwatched(void)
{
	struct hlist_node *next;
	struct owner *o;
	unsigned int i;

	raw_spin_lock(&pollfds.lock);
	for (i = 0; i < ARRAY_SIZE(pollfds.tables->owners); i++)
		hlist_for_each_entry_safe(o, next, &pollfds.tables->owners[i], node)
			if (!jetwatt_watch_may_want(o->tgid))
				drop_owner(o);
	raw_spin_unlock(&pollfds.lock);
}

/**
 * jetwatt_pollfd_begin() - record that the current thread starts to poll a descriptor
 * @fd: the descriptor
 * @now: CLOCK_MONOTONIC
 *
 * Context: handler of sys_enter.
 * Return: true if @fd is tracked; pass the result to jetwatt_pollfd_end() as @counted.
 */
bool jetwatt_pollfd_begin(int fd, u64 now)
{
	struct armed *a;
	bool event;

	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, fd);
	event = !a || a->event;
	raw_spin_unlock(&pollfds.lock);
	event = event && is_event(fd);

	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, fd);
	/* dup2() may have replaced the event by another file. */
	if (a && a->event && !event) {
		drop_armed(a);
		a = NULL;
	}
	if (!a && event) {
		a = add_armed(current->tgid, fd);
		if (a)
			a->event = true;
	}
	if (a) {
		if (a->event && !a->pollers && now - a->armed_ns > SAME_WAIT_NS)
			a->enter_ns = 0;
		if (!a->enter_ns)
			a->enter_ns = now;
		a->pollers++;
	}
	raw_spin_unlock(&pollfds.lock);
	return a;
}

/**
 * jetwatt_pollfd_end() - record that the current thread has finished polling a descriptor
 * @fd: the descriptor
 * @counted: result of jetwatt_pollfd_begin()
 * @ready: true if poll() has found the descriptor ready
 * @now: CLOCK_MONOTONIC
 * @enter_ns: gets the time at which the wait began
 * @ctl_fd: gets the descriptor on which the arming ioctl was called; -1 for an event
 *
 * Context: handlers of sys_exit and sys_enter. Return: true if a wait has ended.
 */
bool jetwatt_pollfd_end(int fd, bool counted, bool ready, u64 now, u64 *enter_ns, int *ctl_fd)
{
	struct armed *a;
	bool ended;

	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, fd);
	if (a && a->pollers && counted)
		a->pollers--;
	ended = a && ready;
	if (ended) {
		*enter_ns = a->enter_ns ?: a->armed_ns;
		*ctl_fd = a->ctl_fd;
		a->enter_ns = 0;
		if (!a->event && !--a->pending)
			drop_armed(a);
	} else if (a && a->event) {
		a->armed_ns = now;
	}
	raw_spin_unlock(&pollfds.lock);
	return ended;
}

/**
 * jetwatt_pollfd_owner() - test whether the current process is an owner (see struct owner)
 *
 * Polls without a tracked descriptor, and calls of dup() and the like, are stored for owners only.
 *
 * Context: handler of sys_enter. Return: true if the process is an owner.
 */
bool jetwatt_pollfd_owner(void)
{
	bool owner;

	if (!READ_ONCE(pollfds.nr_owners))
		return false;
	raw_spin_lock(&pollfds.lock);
	owner = find_owner(current->tgid);
	raw_spin_unlock(&pollfds.lock);
	return owner;
}

/**
 * jetwatt_pollfd_open() - allocate the tables, before the tracepoints are attached
 * Return: 0 or -ENOMEM.
 */
int jetwatt_pollfd_open(void)
{
	unsigned int i;

	pollfds.tables = jetwatt_fail_vzalloc(sizeof(*pollfds.tables));
	if (!pollfds.tables)
		return -ENOMEM;
	for (i = 0; i < ARMED; i++)
		hlist_add_head(&pollfds.tables->arm[i].node, &pollfds.tables->free_armed);
	for (i = 0; i < OWNERS; i++)
		hlist_add_head(&pollfds.tables->own[i].node, &pollfds.tables->free_owners);
	pollfds.nr_owners = 0;
	return 0;
}

/**
 * jetwatt_pollfd_close() - free the tables, after the tracepoints were detached
 */
void jetwatt_pollfd_close(void)
{
	vfree(pollfds.tables);
	pollfds.tables = NULL;
}
