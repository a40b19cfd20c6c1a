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
 * Two kinds of descriptors end a wait for the GPU:
 *
 *  - poll descriptors of host1x-fence and nvhost-ctrl: an ioctl arms one for a fence, the
 *    poll() that sees it ready consumes the fence. Several may be pending on one, and a
 *    thread may already be asleep in poll() before another one arms.
 *  - events, which are always armed: BLOCKING_SYNC of one of nvgpu's channel groups, and
 *    /dev/nvidia* of the desktop's driver, which Thor has. They are known by the file, so
 *    it doesn't matter whether they were opened before anybody watched.
 */
#define ARMED		1024
#define OWNERS		1024
#define BUCKETS_BITS	8

/* nvgpu: os/linux/ioctl_tsg.c, "nvgpu-event%d-fd%d"; 2: NVGPU_IOCTL_CHANNEL_EVENT_ID_BLOCKING_SYNC */
#define NVGPU_EVENT		"nvgpu-event2-fd"
/* open-gpu-kernel-modules: kernel-open/common/inc/nv.h, nv-modeset's minor has no poll() */
#define NVIDIA_MAJOR		195
#define NVIDIA_MODESET_MINOR	254

/* A poll of an event this long after one that timed out begins another wait. */
#define SAME_WAIT_NS	1000000

/**
 * struct owner - a process that has armed a descriptor or polled an event
 * @node: in its bucket, or in the list of free ones
 * @armed: its descriptors
 * @tgid: the process
 *
 * It stays until the process ends or runs another program, with descriptors or without:
 * a process that waits for the GPU does so again.
 */
struct owner {
	struct hlist_node node;
	struct hlist_head armed;
	u32 tgid;
};

/**
 * struct armed - a descriptor with fences pending, or an event
 * @node: in its bucket, or in the list of free ones
 * @sibling: among the descriptors of its process
 * @armed_ns: when it was armed last; event: when the last poll of it timed out
 * @enter_ns: when the first poll after that began, 0: none yet
 * @tgid: the process
 * @fd: the descriptor
 * @ctl_fd: what it was armed through, -1: an event
 * @pending: fences
 * @pollers: threads asleep on it
 * @event: is always armed
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

/* Protects the tables. The count is also read without. */
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

/* Is descriptor @fd of the current process an event? */
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
 * jetwatt_pollfd_arm() - a fence is pending on a descriptor of the current process
 * @fd: the descriptor
 * @ctl_fd: what that was done through
 *
 * Context: sys_exit.
 */
void jetwatt_pollfd_arm(int fd, int ctl_fd)
{
	struct armed *a;

	raw_spin_lock(&pollfds.lock);
	a = find_armed(current->tgid, fd) ?: add_armed(current->tgid, fd);
	if (a) {
		/*
		 * A poll consumes all fences that have passed, so the count may be
		 * too high: no wait begins before the last arming, unless a thread
		 * is asleep on it.
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
 * jetwatt_pollfd_duplicate() - what is pending on a descriptor is so on another one
 * @from: the descriptor
 * @to: its duplicate
 *
 * Context: sys_exit.
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
 * jetwatt_pollfd_closed() - the current process closes descriptors
 * @first: the lowest number
 * @last: the highest one; nothing is closed if it is lower
 *
 * Context: sys_enter.
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
 * jetwatt_pollfd_process_gone() - a process ends, or runs another program
 * @tgid: the process
 *
 * Costs a process that owns nothing one look-up.
 *
 * Context: sched_process_exit, sched_process_exec.
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
 * jetwatt_pollfd_unwatched() - forget descriptors of processes that are not watched any more
 *
 * What they arm, poll and close from now on is not seen.
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
 * jetwatt_pollfd_begin() - the current thread begins to poll a descriptor
 * @fd: the descriptor
 * @now: the time
 *
 * Context: sys_enter. Return: is it one of ours, so that jetwatt_pollfd_end() must be
 * given true?
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
	/* dup2() may have put another file where it was. */
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
 * jetwatt_pollfd_end() - the current thread has polled a descriptor
 * @fd: the descriptor
 * @counted: what jetwatt_pollfd_begin() said
 * @ready: has it become ready?
 * @now: the time
 * @enter_ns: out: when the wait began
 * @ctl_fd: out: what the descriptor was armed through, else -1
 *
 * Context: sys_exit, sys_enter. Return: has a wait ended?
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
 * jetwatt_pollfd_owner() - has the current process armed a descriptor or polled an event?
 *
 * Polls and duplicates of other processes are not kept.
 *
 * Context: sys_enter. Return: true if it has, since it began its program.
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
 * jetwatt_pollfd_open() - get ready: called before the hooks are attached
 *
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
 * jetwatt_pollfd_close() - forget everything: called after the hooks were detached
 */
void jetwatt_pollfd_close(void)
{
	vfree(pollfds.tables);
	pollfds.tables = NULL;
}
