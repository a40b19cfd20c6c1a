// SPDX-License-Identifier: GPL-2.0
#include "waits/wait.h"

#include <linux/close_range.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/hash.h>
#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include "fault_inject.h"
#include "waits/ioctls.h"
#include "waits/pollfd.h"
#include "waits/watch.h"

/*
 * Recognise waits for the GPU in system calls. CUDA on a Jetson sleeps in one of three ways:
 *
 *  - One ioctl, which returns 0 when the fence has passed, and is repeated if it was interrupted or
 *    timed out: SYNCPOINT_WAIT of tegra-drm (JetPack 6, mainline); SYNCPT_WAIT, _WAITEX and
 *    _WAITMEX of nvhost-ctrl (JetPack 5).
 *  - One ioctl arms a descriptor for a fence, and the poll() that finds the descriptor ready ends
 *    the wait; earlier polls may time out: TRIGGER_POLLFD of host1x-fence (JetPack 6),
 *    POLL_FD_TRIGGER_EVENT of nvhost-ctrl (JetPack 5).
 *  - poll() of an event, which needs no arming (JetPack 5 and 6, and Thor): see pollfd.c.
 *
 * Other drivers may use the same ioctl numbers, so the record contains the descriptors, and the
 * reader of the record looks up the files behind them.
 */
#define WAIT_POLL	1
#define DUPLICATE	2	/* dup(), F_DUPFD: not waits, but stored in the same table */
#define POLLFDS		16	/* maximum number of checked entries of a poll() */
#define BUCKETS_BITS	8
#define WAITS		1024

/**
 * struct wait - a system call in progress, or one whose wait another call may continue
 * @node: in its bucket, or in the list of free entries
 * @enter_ns: entry into the first call of the wait, CLOCK_MONOTONIC
 * @ptr: address of the argument in user memory
 * @fence: waiting ioctl: id and threshold of the syncpoint, or @ptr if they could not be read;
 *	poll: bit mask of the poll entries that jetwatt_pollfd_begin() has counted
 * @tid: id of the thread
 * @tgid: id of the thread's process
 * @kind: number of the ioctl, WAIT_POLL or DUPLICATE
 * @fd: ioctl and DUPLICATE: the descriptor; poll: number of entries in the array of descriptors
 * @unfinished: the call has returned without ending the wait; another call may continue it
 */
struct wait {
	struct hlist_node node;
	u64 enter_ns;
	u64 ptr;
	u64 fence;
	u32 tid;
	u32 tgid;
	u32 kind;
	int fd;
	bool unfinished;
};

struct wait_tables {
	struct hlist_head waits[1 << BUCKETS_BITS];
	struct hlist_head free;
	struct wait wait[WAITS];
};

/* @lock protects @tables and @nr (number of stored calls); @nr is also read without @lock. */
static struct {
	raw_spinlock_t lock;
	struct wait_tables *tables;
	unsigned int nr;
} waits = { .lock = __RAW_SPIN_LOCK_UNLOCKED(waits.lock) };

static struct wait *find_wait(u32 tid)
{
	struct wait *w;

	hlist_for_each_entry(w, &waits.tables->waits[hash_32(tid, BUCKETS_BITS)], node)
		if (w->tid == tid)
			return w;
	return NULL;
}

static void drop_wait(struct wait *w)
{
	hlist_del(&w->node);
	hlist_add_head(&w->node, &waits.tables->free);
	WRITE_ONCE(waits.nr, waits.nr - 1);
}

/* Store a call of the current thread; it replaces the thread's previous call. */
static void store_wait(const struct wait *new)
{
	struct wait *w = find_wait(new->tid);
	struct hlist_node node;

	if (!w) {
		if (hlist_empty(&waits.tables->free)) {
			jetwatt_watch_lose_for_all();
			return;
		}
		w = hlist_entry(waits.tables->free.first, struct wait, node);
		hlist_del(&w->node);
		hlist_add_head(&w->node, &waits.tables->waits[hash_32(new->tid, BUCKETS_BITS)]);
		WRITE_ONCE(waits.nr, waits.nr + 1);
	}
	node = w->node;
	*w = *new;
	w->node = node;
	w->tgid = current->tgid;
}

/* Read user memory only if its page is present: a page fault could delay the traced program. */
static int peek(void *to, u64 from, size_t size)
{
	const void __user *src = (const void __user *)(unsigned long)from;
	unsigned long left = size;

	if (!access_ok(src, size))
		return -EFAULT;
	pagefault_disable();
	left = __copy_from_user_inatomic(to, src, size);
	pagefault_enable();
	return left ? -EFAULT : 0;
}

static u64 fence_of(const struct wait *w)
{
	u64 fence;

	return peek(&fence, w->ptr + fence_offset(w->kind), sizeof(fence)) ? w->ptr : fence;
}

static void emit(u64 enter_ns, u64 exit_ns, u32 call, int ret, int fd, int ctl_fd)
{
	struct jetwatt_wait_record record = {
		.enter_ns = enter_ns, .exit_ns = exit_ns, .tgid = current->tgid,
		.tid = current->pid, .call = call, .ret = ret, .fd = fd, .ctl_fd = ctl_fd,
	};

	jetwatt_watch_store(&record);
}

static void enter_ioctl(const unsigned long *args)
{
	struct wait w = {
		.tid = current->pid, .kind = args[1], .ptr = args[2], .fd = args[0],
	};
	struct wait *old;

	if (!is_trigger(w.kind)) {
		if (!is_syncpoint_wait(w.kind))
			return;
		w.fence = fence_of(&w);
	}
	w.enter_ns = ktime_get_ns();
	raw_spin_lock(&waits.lock);
	old = find_wait(w.tid);
	/* The thread's previous call was interrupted or timed out: this call continues its wait. */
	if (old && old->unfinished && old->kind == w.kind && old->fd == w.fd &&
	    old->fence == w.fence)
		old->unfinished = false;
	else
		store_wait(&w);
	raw_spin_unlock(&waits.lock);
}

/* same layout as struct pollfd of user space */
struct poll_entry {
	int fd;
	s16 events;
	s16 revents;
};

static unsigned int peek_entries(struct poll_entry *entry, u64 ptr, unsigned long n)
{
	n = min_t(unsigned long, n, POLLFDS);
	return peek(entry, ptr, n * sizeof(*entry)) ? 0 : n;
}

static void exit_poll(const struct wait *w, long ret)
{
	struct poll_entry entry[POLLFDS];
	unsigned int i, n = peek_entries(entry, w->ptr, w->fd);
	u64 now = ktime_get_ns(), enter_ns;
	int ctl_fd;

	for (i = 0; i < n; i++)
		if (jetwatt_pollfd_end(entry[i].fd, w->fence & BIT(i), ret > 0 && entry[i].revents,
				       now, &enter_ns, &ctl_fd))
			emit(enter_ns, now, JETWATT_WAIT_POLLFD, ret, entry[i].fd, ctl_fd);
}

static void enter_poll(const unsigned long *args)
{
	struct wait w = {
		.tid = current->pid, .kind = WAIT_POLL, .ptr = args[0], .fd = args[1],
		.enter_ns = ktime_get_ns(),
	};
	struct poll_entry entry[POLLFDS];
	struct wait *old, before;
	unsigned int i, n;

	raw_spin_lock(&waits.lock);
	old = find_wait(w.tid);
	before.kind = 0;
	if (old)
		before = *old;
	raw_spin_unlock(&waits.lock);
	/* A signal handler ran, so restart_syscall() has not continued the interrupted poll. */
	if (before.kind == WAIT_POLL)
		exit_poll(&before, -EINTR);
	n = peek_entries(entry, w.ptr, args[1]);
	for (i = 0; i < n; i++)
		if (jetwatt_pollfd_begin(entry[i].fd, w.enter_ns))
			w.fence |= BIT(i);
	/*
	 * The polls of an owner (pollfd.c) are stored even without a tracked entry: another thread
	 * may arm one meanwhile. Other polls must not fill the table.
	 */
	if (!w.fence && !jetwatt_pollfd_owner())
		return;
	raw_spin_lock(&waits.lock);
	store_wait(&w);
	raw_spin_unlock(&waits.lock);
}

/* Duplicates of armed descriptors must be tracked; events are recognised by their file. */
static void enter_dup(const unsigned long *args)
{
	struct wait w = { .tid = current->pid, .kind = DUPLICATE, .fd = args[0] };

	if (!jetwatt_pollfd_owner())
		return;
	raw_spin_lock(&waits.lock);
	store_wait(&w);
	raw_spin_unlock(&waits.lock);
}

/* With any flag but CLOSE_RANGE_UNSHARE, close_range() fails or closes nothing yet. */
static void enter_close_range(const unsigned long *args)
{
	if (!((u32)args[2] & ~CLOSE_RANGE_UNSHARE))
		jetwatt_pollfd_closed(args[0], args[1]);
}

/* The argument of both arming ioctls is a structure that begins with s32 fd. */
static void exit_trigger(const struct wait *w)
{
	int fd;

	if (peek(&fd, w->ptr, sizeof(fd))) {
		jetwatt_watch_lose_for_all();
		return;
	}
	jetwatt_pollfd_arm(fd, w->fd);
}

/* Return: true if the ioctl is expected to be repeated for the same wait. */
static bool is_repeated(long ret)
{
	return ret == -EINTR || ret == -EAGAIN || ret == -ETIMEDOUT ||
	       (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK);
}

/*
 * Update @w when a call of its thread returns: the call stored in @w or, while @w is unfinished,
 * any other call, of which only restart_syscall() continues @w, and only if @w is a poll.
 * Return: true if the call, or its wait, has ended.
 */
static bool wait_ended(struct wait *w, struct pt_regs *regs, long ret)
{
	if (w->unfinished && (w->kind != WAIT_POLL ||
			      syscall_get_nr(current, regs) != __NR_restart_syscall))
		return false;
	w->unfinished = w->kind == WAIT_POLL ? ret == -ERESTART_RESTARTBLOCK :
			is_syncpoint_wait(w->kind) && is_repeated(ret);
	return !w->unfinished;
}

/**
 * jetwatt_wait_pending() - test whether any call is stored that is in progress or unfinished
 *
 * Context: any. Return: true if one is; if false, no system call that returns now ends a wait.
 */
bool jetwatt_wait_pending(void)
{
	return READ_ONCE(waits.nr);
}

/**
 * jetwatt_wait_enter() - process the entry of the current thread into a system call
 * @regs: registers of the thread
 * @nr: number of the system call, one of those that tracepoint.c selects
 *
 * Context: handler of sys_enter.
 */
void jetwatt_wait_enter(struct pt_regs *regs, long nr)
{
	unsigned long args[6];

	syscall_get_arguments(current, regs, args);
	switch (nr) {
	case __NR_ioctl:
		enter_ioctl(args);
		break;
	case __NR_close:
		jetwatt_pollfd_closed(args[0], args[0]);
		break;
	case __NR_close_range:
		enter_close_range(args);
		break;
#ifdef __NR_dup2
	case __NR_dup2:
#endif
	case __NR_dup3:
		if (args[0] != args[1])
			jetwatt_pollfd_closed(args[1], args[1]);
		enter_dup(args);
		break;
	case __NR_fcntl:
		if (args[1] != F_DUPFD && args[1] != F_DUPFD_CLOEXEC)
			break;
		fallthrough;
	case __NR_dup:
		enter_dup(args);
		break;
	case __NR_restart_syscall:
		break;
	default:
		enter_poll(args);
		break;
	}
}

/**
 * jetwatt_wait_exit() - process the return of the current thread from a system call
 * @regs: registers of the thread
 * @ret: return value of the system call
 *
 * Context: handler of sys_exit.
 */
void jetwatt_wait_exit(struct pt_regs *regs, long ret)
{
	struct wait *found, w;

	raw_spin_lock(&waits.lock);
	found = find_wait(current->pid);
	if (found && wait_ended(found, regs, ret)) {
		w = *found;
		drop_wait(found);
	} else {
		found = NULL;
	}
	raw_spin_unlock(&waits.lock);
	if (!found)
		return;
	if (w.kind == WAIT_POLL)
		exit_poll(&w, ret);
	else if (w.kind == DUPLICATE && ret >= 0)
		jetwatt_pollfd_duplicate(w.fd, ret);
	else if (ret)
		return;
	else if (is_trigger(w.kind))
		exit_trigger(&w);
	else
		emit(w.enter_ns, ktime_get_ns(), JETWATT_WAIT_SYNCPT, ret, w.fd, -1);
}

/**
 * jetwatt_wait_thread_gone() - drop the wait of a thread that exits or executes another program
 * @tid: id of the thread
 *
 * Context: handlers of sched_process_exit and sched_process_exec.
 */
void jetwatt_wait_thread_gone(u32 tid)
{
	struct wait *w;

	if (!READ_ONCE(waits.nr))
		return;
	raw_spin_lock(&waits.lock);
	w = find_wait(tid);
	if (w)
		drop_wait(w);
	raw_spin_unlock(&waits.lock);
}

/**
 * jetwatt_wait_unwatched() - drop waits of processes for which jetwatt_watch_may_want() is false
 *
 * The handlers skip the system calls of unwatched processes. If a stored wait stayed, and the
 * process were watched again, the return of an unrelated call would end it.
 *
 * Context: after jetwatt_tracepoints_synchronize(), so that no handler adds such entries.
 */
void jetwatt_wait_unwatched(void)
{
	struct hlist_node *next;
	struct wait *w;
	unsigned int i;

	raw_spin_lock(&waits.lock);
	for (i = 0; i < ARRAY_SIZE(waits.tables->waits); i++)
		hlist_for_each_entry_safe(w, next, &waits.tables->waits[i], node)
			if (!jetwatt_watch_may_want(w->tgid))
				drop_wait(w);
	raw_spin_unlock(&waits.lock);
	jetwatt_pollfd_unwatched();
}

/**
 * jetwatt_wait_open() - allocate the tables, before the tracepoints are attached
 * Return: 0 or -ENOMEM.
 */
int jetwatt_wait_open(void)
{
	unsigned int i;

	waits.tables = jetwatt_fail_vzalloc(sizeof(*waits.tables));
	if (!waits.tables)
		return -ENOMEM;
	if (jetwatt_pollfd_open()) {
		vfree(waits.tables);
		return -ENOMEM;
	}
	for (i = 0; i < WAITS; i++)
		hlist_add_head(&waits.tables->wait[i].node, &waits.tables->free);
	waits.nr = 0;
	return 0;
}

/**
 * jetwatt_wait_close() - free the tables, after the tracepoints were detached
 */
void jetwatt_wait_close(void)
{
	jetwatt_pollfd_close();
	vfree(waits.tables);
	waits.tables = NULL;
}
