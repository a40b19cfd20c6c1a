// SPDX-License-Identifier: GPL-2.0
#include "wait.h"

#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include "fail.h"
#include "watcher.h"

/*
 * CUDA on a Jetson sleeps in one of two ways (the kernels' uapi offers both;
 * which a given release takes is not documented):
 *
 *  - SYNCPOINT_WAIT of tegra-drm: one ioctl, which returns 0 when the fence has
 *    passed; one that was interrupted or timed out is taken up again;
 *  - TRIGGER_POLLFD of host1x-fence: arms a pollfd; a poll() that sees it ready,
 *    maybe after some that time out, ends the wait, and the fence is consumed by
 *    it. Several may be pending on one pollfd, and a thread may already be
 *    asleep in poll() before another one arms.
 *
 * A number alone proves nothing, so the descriptors are in the record: whoever
 * reads it looks up what they are.
 */
#define SYNCPOINT_WAIT_NVIDIA	0xc0206462	/* _IOWR('d', 0x62, 32 bytes) */
#define SYNCPOINT_WAIT_MAINLINE	0xc0186462	/* 24 bytes: no time in the reply */
#define TRIGGER_POLLFD		0xc0105811	/* _IOWR('X', 0x11, 16 bytes) */

#define WAIT_POLL	1
#define POLLFDS		16	/* entries of a poll() looked at */
#define BUCKETS_BITS	8
#define WAITS		1024
#define ARMED		1024

/**
 * struct wait - a call under way, from its entry to its exit
 * @node: in its bucket, or in the list of free ones
 * @enter_ns: when it began
 * @ptr: its argument in user memory
 * @fence: SYNCPOINT_WAIT: id and threshold; poll: bit i: entry i was armed
 * @tid: the thread
 * @kind: the ioctl's number, or WAIT_POLL
 * @fd: ioctl: its descriptor; poll: number of entries
 */
struct wait {
	struct hlist_node node;
	u64 enter_ns;
	u64 ptr;
	u64 fence;
	u32 tid;
	u32 kind;
	int fd;
};

/**
 * struct armed - a pollfd with fences pending
 * @node: in its bucket, or in the list of free ones
 * @armed_ns: when that was done last
 * @enter_ns: when the first poll after it began, 0: none yet
 * @tgid: the process, 0: free
 * @fd: the pollfd
 * @ctl_fd: what it was armed through
 * @pending: fences
 * @pollers: threads asleep on it
 */
struct armed {
	struct hlist_node node;
	u64 armed_ns;
	u64 enter_ns;
	u32 tgid;
	int fd;
	int ctl_fd;
	u32 pending;
	u32 pollers;
};

struct tables {
	struct hlist_head waits[1 << BUCKETS_BITS];
	struct hlist_head armed[1 << BUCKETS_BITS];
	struct hlist_head free_waits;
	struct hlist_head free_armed;
	struct wait wait[WAITS];
	struct armed arm[ARMED];
};

/* Protects the tables. The counts are also read without. */
static DEFINE_RAW_SPINLOCK(lock);
static struct tables *t;
static unsigned int nr_waits, nr_armed;
static bool ever_armed;	/* before that no poll can be a wait */

static struct wait *find_wait(u32 tid)
{
	struct wait *w;

	hlist_for_each_entry(w, &t->waits[hash_32(tid, BUCKETS_BITS)], node)
		if (w->tid == tid)
			return w;
	return NULL;
}

static void drop_wait(struct wait *w)
{
	hlist_del(&w->node);
	hlist_add_head(&w->node, &t->free_waits);
	WRITE_ONCE(nr_waits, nr_waits - 1);
}

/* Replaces what the thread did before. */
static void keep_wait(const struct wait *new)
{
	struct wait *w = find_wait(new->tid);
	struct hlist_node node;

	if (!w) {
		if (hlist_empty(&t->free_waits)) {
			jetwatt_watcher_lost();
			return;
		}
		w = hlist_entry(t->free_waits.first, struct wait, node);
		hlist_del(&w->node);
		hlist_add_head(&w->node, &t->waits[hash_32(new->tid, BUCKETS_BITS)]);
		WRITE_ONCE(nr_waits, nr_waits + 1);
	}
	node = w->node;
	*w = *new;
	w->node = node;
}

static struct hlist_head *armed_bucket(u32 tgid, int fd)
{
	return &t->armed[hash_32(tgid ^ (u32)fd << 16, BUCKETS_BITS)];
}

static struct armed *find_armed(u32 tgid, int fd)
{
	struct armed *a;

	hlist_for_each_entry(a, armed_bucket(tgid, fd), node)
		if (a->tgid == tgid && a->fd == fd)
			return a;
	return NULL;
}

static void drop_armed(struct armed *a)
{
	hlist_del(&a->node);
	hlist_add_head(&a->node, &t->free_armed);
	a->tgid = 0;
	WRITE_ONCE(nr_armed, nr_armed - 1);
}

static struct armed *new_armed(u32 tgid, int fd)
{
	struct armed *a;

	if (hlist_empty(&t->free_armed)) {
		jetwatt_watcher_lost();
		return NULL;
	}
	a = hlist_entry(t->free_armed.first, struct armed, node);
	hlist_del(&a->node);
	hlist_add_head(&a->node, armed_bucket(tgid, fd));
	WRITE_ONCE(nr_armed, nr_armed + 1);
	WRITE_ONCE(ever_armed, true);
	a->tgid = tgid;
	a->fd = fd;
	a->pending = 1;
	a->pollers = 0;
	a->enter_ns = 0;
	return a;
}

/* What is not in memory is not waited for: this is somebody else's system call. */
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

static bool is_syncpoint_wait(u32 cmd)
{
	return cmd == SYNCPOINT_WAIT_NVIDIA || cmd == SYNCPOINT_WAIT_MAINLINE;
}

static void emit(u64 enter_ns, u64 exit_ns, u32 call, int ret, int fd, int ctl_fd)
{
	const struct jetwatt_wait_record record = {
		.enter_ns = enter_ns, .exit_ns = exit_ns, .tgid = current->tgid,
		.tid = current->pid, .call = call, .ret = ret, .fd = fd, .ctl_fd = ctl_fd,
	};

	jetwatt_watcher_record(&record);
}

/* struct drm_tegra_syncpoint_wait: s64 timeout, u32 id, u32 threshold, ... */
static void enter_ioctl(const unsigned long *args)
{
	struct wait w = {
		.tid = current->pid, .kind = args[1], .ptr = args[2], .fd = args[0],
		.enter_ns = ktime_get_ns(),
	};
	struct wait *old;

	if (w.kind != TRIGGER_POLLFD && !is_syncpoint_wait(w.kind))
		return;
	if (w.kind != TRIGGER_POLLFD && peek(&w.fence, w.ptr + 8, sizeof(w.fence)))
		w.fence = w.ptr;
	raw_spin_lock(&lock);
	old = find_wait(w.tid);
	/* Interrupted or timed out before: the wait goes on. */
	if (w.kind == TRIGGER_POLLFD || !old || old->kind != w.kind || old->fd != w.fd ||
	    old->fence != w.fence)
		keep_wait(&w);
	raw_spin_unlock(&lock);
}

/* An entry of poll(): descriptor, wanted and returned events. */
struct entry {
	int fd;
	s16 events;
	s16 revents;
};

static unsigned int peek_entries(struct entry *entry, u64 ptr, unsigned long n)
{
	n = min_t(unsigned long, n, POLLFDS);
	return peek(entry, ptr, n * sizeof(*entry)) ? 0 : n;
}

static void exit_poll(const struct wait *w, long ret)
{
	struct entry entry[POLLFDS];
	unsigned int i, n = peek_entries(entry, w->ptr, w->fd);
	u64 now = ktime_get_ns(), enter_ns;
	struct armed *a;
	int ctl_fd;

	for (i = 0; i < n; i++) {
		raw_spin_lock(&lock);
		a = find_armed(current->tgid, entry[i].fd);
		if (a && a->pollers && w->fence & BIT(i))
			a->pollers--;
		if (!a || ret <= 0 || !entry[i].revents) {
			raw_spin_unlock(&lock);
			continue;
		}
		enter_ns = a->enter_ns ?: a->armed_ns;
		ctl_fd = a->ctl_fd;
		a->enter_ns = 0;
		if (!--a->pending)
			drop_armed(a);
		raw_spin_unlock(&lock);
		emit(enter_ns, now, JETWATT_WAIT_POLLFD, ret, entry[i].fd, ctl_fd);
	}
}

static void enter_poll(const unsigned long *args)
{
	struct wait w = {
		.tid = current->pid, .kind = WAIT_POLL, .ptr = args[0], .fd = args[1],
		.enter_ns = ktime_get_ns(),
	};
	struct entry entry[POLLFDS];
	struct wait *old, before;
	unsigned int i, n;
	struct armed *a;

	if (!READ_ONCE(ever_armed))
		return;
	raw_spin_lock(&lock);
	old = find_wait(w.tid);
	before.kind = 0;
	if (old)
		before = *old;
	raw_spin_unlock(&lock);
	/* A signal handler ran where restart_syscall() was expected. */
	if (before.kind == WAIT_POLL)
		exit_poll(&before, -EINTR);
	n = peek_entries(entry, w.ptr, args[1]);
	raw_spin_lock(&lock);
	for (i = 0; i < n; i++) {
		a = find_armed(current->tgid, entry[i].fd);
		if (!a)
			continue;
		if (!a->enter_ns)
			a->enter_ns = w.enter_ns;
		a->pollers++;
		w.fence |= BIT(i);
	}
	/* Also one that sees none: another thread may arm while it sleeps. */
	keep_wait(&w);
	raw_spin_unlock(&lock);
}

static void enter_close(const unsigned long *args)
{
	struct armed *a;

	if (!READ_ONCE(nr_armed))
		return;
	raw_spin_lock(&lock);
	a = find_armed(current->tgid, args[0]);
	if (a)
		drop_armed(a);
	raw_spin_unlock(&lock);
}

/* struct { s32 fd; u32 id, threshold, reserved; } */
static void exit_trigger(const struct wait *w)
{
	struct armed *a;
	int fd;

	if (peek(&fd, w->ptr, sizeof(fd))) {
		jetwatt_watcher_lost();
		return;
	}
	raw_spin_lock(&lock);
	a = find_armed(current->tgid, fd);
	if (a) {
		/*
		 * A poll consumes all fences that have passed, so the count may be
		 * too high: no wait begins before the last arming, unless a thread
		 * is asleep on it.
		 */
		if (!a->pollers)
			a->enter_ns = 0;
		a->pending++;
	} else {
		a = new_armed(current->tgid, fd);
	}
	if (a) {
		a->armed_ns = ktime_get_ns();
		a->ctl_fd = w->fd;
	}
	raw_spin_unlock(&lock);
}

/* Will the same wait be taken up again? */
static bool unfinished(long ret)
{
	return ret == -EINTR || ret == -EAGAIN || ret == -ETIMEDOUT ||
	       (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK);
}

/* restart_syscall() goes on with a poll that a stop has interrupted. */
static bool ends(const struct wait *w, struct pt_regs *regs, long ret)
{
	bool ioctl = syscall_get_nr(current, regs) == __NR_ioctl;

	if (ioctl == (w->kind == WAIT_POLL))
		return false;
	if (is_syncpoint_wait(w->kind))
		return !unfinished(ret);
	return w->kind != WAIT_POLL || ret != -ERESTART_RESTARTBLOCK;
}

/**
 * jetwatt_wait_pending() - is any thread in a call that may be a wait?
 *
 * Context: any. Return: false: no system call that returns now can be one.
 */
bool jetwatt_wait_pending(void)
{
	return READ_ONCE(nr_waits);
}

/**
 * jetwatt_wait_enter() - the current thread enters a system call
 * @regs: its registers
 * @nr: the call
 *
 * Context: sys_enter.
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
		enter_close(args);
		break;
	case __NR_restart_syscall:
		break;
	default:
		enter_poll(args);
		break;
	}
}

/**
 * jetwatt_wait_exit() - the current thread leaves a system call
 * @regs: its registers
 * @ret: what it returns
 *
 * Context: sys_exit.
 */
void jetwatt_wait_exit(struct pt_regs *regs, long ret)
{
	struct wait *found, w;

	raw_spin_lock(&lock);
	found = find_wait(current->pid);
	if (found && ends(found, regs, ret)) {
		w = *found;
		drop_wait(found);
	} else {
		found = NULL;
	}
	raw_spin_unlock(&lock);
	if (!found)
		return;
	if (w.kind == WAIT_POLL)
		exit_poll(&w, ret);
	else if (ret)
		return;
	else if (w.kind == TRIGGER_POLLFD)
		exit_trigger(&w);
	else
		emit(w.enter_ns, ktime_get_ns(), JETWATT_WAIT_SYNCPT, ret, w.fd, -1);
}

/**
 * jetwatt_wait_thread_gone() - a thread ends
 * @tid: the thread
 *
 * Context: sched_process_exit.
 */
void jetwatt_wait_thread_gone(u32 tid)
{
	struct wait *w;

	if (!READ_ONCE(nr_waits))
		return;
	raw_spin_lock(&lock);
	w = find_wait(tid);
	if (w)
		drop_wait(w);
	raw_spin_unlock(&lock);
}

/**
 * jetwatt_wait_process_gone() - a process ends
 * @tgid: the process
 *
 * Context: sched_process_exit.
 */
void jetwatt_wait_process_gone(u32 tgid)
{
	unsigned int i;

	if (!READ_ONCE(nr_armed))
		return;
	for (i = 0; i < ARMED; i++) {
		raw_spin_lock(&lock);
		if (t->arm[i].tgid == tgid)
			drop_armed(&t->arm[i]);
		raw_spin_unlock(&lock);
	}
}

/**
 * jetwatt_wait_open() - get ready: called before the hooks are attached
 *
 * Return: 0 or -ENOMEM.
 */
int jetwatt_wait_open(void)
{
	unsigned int i;

	t = jetwatt_fail_vzalloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (i = 0; i < WAITS; i++)
		hlist_add_head(&t->wait[i].node, &t->free_waits);
	for (i = 0; i < ARMED; i++)
		hlist_add_head(&t->arm[i].node, &t->free_armed);
	nr_waits = 0;
	nr_armed = 0;
	ever_armed = false;
	return 0;
}

/**
 * jetwatt_wait_close() - forget everything: called after they were detached
 */
void jetwatt_wait_close(void)
{
	vfree(t);
	t = NULL;
}
