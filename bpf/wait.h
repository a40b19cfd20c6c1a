/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Handlers for the entry and exit of system calls that arm, duplicate or close a descriptor, or
 * that begin or end a wait. Used by sync.bpf.c.
 */
#ifndef JETWATT_BPF_WAIT_H
#define JETWATT_BPF_WAIT_H

#include "state.h"

#define TRIGGER_POLLFD		0xC0105811	/* host1x-fence */
#define NVHOST_TRIGGER_EVENT	0x40104811	/* nvhost-ctrl */
#define EVENT_ID_CTRL		0xC0105407	/* nvgpu: creates the descriptor of an event */
#define EVENT_BLOCKING_SYNC	2

/*
 * A poll of an event that begins within this time (ns) after the end of an unsuccessful poll
 * continues the wait; a later one is a new wait.
 */
#define SAME_WAIT_NS		1000000

#define F_DUPFD			0
#define F_DUPFD_CLOEXEC		1030

#define POLLFDS		16	/* maximum number of examined entries of a poll() */

/*
 * Errors after which a wait goes on. ERESTART*: kernel-internal return values of a system call that
 * a signal or a stop has interrupted.
 */
#define ERESTARTSYS		512
#define ERESTART_RESTARTBLOCK	516
#define EINTR			4
#define EAGAIN			11
#define ETIMEDOUT		110

/* Return the entry of a thread with its present call; NULL: the thread has no entry. */
static __always_inline struct wait_call *wait_of(u32 tid)
{
	u32 i = tid & (WAIT_SLOTS - 1);
	struct wait_slot *p = bpf_map_lookup_elem(&places, &i);

	if (!p || !p->tid)
		return NULL;
	return p->tid == tid ? &p->w : bpf_map_lookup_elem(&waits, &tid);
}

/*
 * Return the entry of a thread; add an entry if @w, the result of wait_of(), is NULL. NULL: the map
 * @waits is full.
 */
static __always_inline struct wait_call *get_wait_slot(u32 tid, struct wait_call *w)
{
	struct wait_call none = { .name = { -1, -1 } };
	u32 i = tid & (WAIT_SLOTS - 1);
	struct wait_slot *p;

	if (w)
		return w;
	p = bpf_map_lookup_elem(&places, &i);
	if (p && (!p->tid || p->tid == SLOT_FREED)) {
		p->tid = tid;
		p->w = none;
		return &p->w;
	}
	if (bpf_map_update_elem(&waits, &tid, &none, BPF_ANY))
		count_lost();
	return bpf_map_lookup_elem(&waits, &tid);
}

/* Free the entry of a thread that exits. */
static __always_inline void free_wait_slot(u32 tid)
{
	u32 i = tid & (WAIT_SLOTS - 1);
	struct wait_slot *p = bpf_map_lookup_elem(&places, &i);

	if (p && p->tid == tid)
		p->tid = SLOT_FREED;
	else if (p && p->tid)
		bpf_map_delete_elem(&waits, &tid);
}

/*
 * Read the fence (u32 id, u32 threshold) from the argument of a waiting ioctl. In the structure of
 * tegra-drm the fence follows an s64 timeout; in the three structures of nvhost-ctrl it is the
 * first member. If the memory cannot be read, return @ptr instead.
 */
static __always_inline u64 fence_at(u32 kind, u64 ptr)
{
	u64 fence;

	return bpf_probe_read_user(&fence, sizeof(fence),
				   (void *)(ptr + (is_drm_wait(kind) ? 8 : 0))) ? ptr : fence;
}

static __always_inline int is_trigger(u32 kind)
{
	return kind == TRIGGER_POLLFD || kind == NVHOST_TRIGGER_EVENT;
}

static __always_inline void enter_ioctl(u64 regs, u32 tid, struct wait_call *w)
{
	struct args a = read_args(regs);
	u32 kind = (u32)a.v[ARG1];
	int fd = (int)a.v[ARG0];

	if (!is_trigger(kind) && kind != EVENT_ID_CTRL && !is_syncpoint_wait(kind))
		return;
	w = get_wait_slot(tid, w);
	if (!w)
		return;
	/*
	 * The thread's previous call was interrupted or timed out; this call continues the same
	 * wait.
	 */
	if (w->state == UNFINISHED && w->kind == kind && w->fd == fd &&
	    w->fence == fence_at(kind, a.v[ARG2])) {
		w->state = RUNNING;
		return;
	}
	if (!is_trigger(kind))
		w->enter_ns = bpf_ktime_get_ns();
	w->ptr = a.v[ARG2];
	w->kind = kind;
	w->fd = fd;
	w->state = RUNNING;
}

/*
 * Read the i-th struct pollfd of the poll in the entry @w: fd in the lower 32 bits, revents in the
 * upper 16 bits.
 */
static __always_inline int read_pollfd(struct wait_call *w, u32 i, u64 *entry)
{
	return (int)i < w->fd &&
	       !bpf_probe_read_user(entry, sizeof(*entry), (void *)(w->ptr + i * 8));
}

/*
 * Report the end of a wait, because a poll has found its descriptor ready, unless another thread
 * has already consumed the fence. If other threads poll the descriptor, only the thread that
 * deletes the entry of the descriptor reports the wait for its last fence.
 */
static __always_inline void consume_fence(u64 id, struct wait_call *w, struct fd_key *key,
					  struct armed_fd *a, u64 now, int ret)
{
	u64 enter_ns = a->enter_ns ? a->enter_ns : a->armed_ns;
	int fd = key->fd, ctl_fd = a->ctl_fd;

	if (!a->pending)
		return;
	a->enter_ns = 0;
	if (!a->event && !--a->pending && a->pollers && bpf_map_delete_elem(&armed_fds, key))
		return;
	name_fds(w, key, ctl_fd);
	emit(id, enter_ns, now, JETWATT_SYNC_RECORD_POLLFD | helper_flag(), ret, fd, ctl_fd, NULL);
}

/*
 * The verifier examines a function that is not static once, instead of once for each call and each
 * state of the caller. Therefore the work for one descriptor of a poll is done in the following
 * three functions. They keep what they find in the thread's entry, because each value that a loop
 * computes multiplies the states that the verifier examines.
 *
 * @i: number of the descriptor in the list of the poll, less than POLLFDS
 * Return: 1 if no descriptor is left to be examined, else 0
 */

/* Process the start of the poll in the thread's entry. */
__noinline int begin_poll_of_fd(u64 id, u32 i)
{
	struct fd_key key = { .tgid = id >> 32 };
	struct wait_call *w = wait_of((u32)id);
	struct armed_fd *a;
	u64 entry;

	if (!w || !read_pollfd(w, i, &entry))
		return 1;
	key.fd = (int)entry;
	a = bpf_map_lookup_elem(&armed_fds, &key);
	if (!a)
		return 0;
	if (a->event && !a->pollers && w->enter_ns - a->armed_ns > SAME_WAIT_NS)
		a->enter_ns = 0;
	if (a->pending && !a->enter_ns)
		a->enter_ns = w->enter_ns;
	__sync_fetch_and_add(&a->pollers, 1);
	w->fence |= 1u << (i & 31);
	return 0;
}

/* Process the end of the poll at @now. */
__noinline int end_poll_of_fd(u64 id, u32 i, u64 now)
{
	struct fd_key key = { .tgid = id >> 32 };
	struct wait_call *w = wait_of((u32)id);
	struct armed_fd *a;
	u64 entry;

	if (!w || !read_pollfd(w, i, &entry))
		return 1;
	key.fd = (int)entry;
	a = bpf_map_lookup_elem(&armed_fds, &key);
	if (!a)
		return 0;
	if (entry >> 48)
		w->hits |= 1u << (i & 31);
	if (a->pollers && (w->fence & (1u << (i & 31))))
		__sync_fetch_and_add(&a->pollers, -1);
	if (a->event)
		a->armed_ns = now;
	return 0;
}

/* Report the wait for the descriptor if end_poll_of_fd() has found that it is ready. */
__noinline int report_fd(u64 id, u32 i, u64 now, int ret)
{
	struct fd_key key = { .tgid = id >> 32 };
	struct wait_call *w = wait_of((u32)id);
	struct armed_fd *a;
	u64 entry;

	i &= 31;
	if (!w || !(w->hits >> i))
		return 1;
	if (!(w->hits & (1u << i)))
		return 0;
	if (!read_pollfd(w, i, &entry))
		return 1;
	key.fd = (int)entry;
	a = bpf_map_lookup_elem(&armed_fds, &key);
	if (a)
		consume_fence(id, w, &key, a, now, ret);
	return 0;
}

/* Report the waits that the poll in the thread's entry has ended. */
static __always_inline void exit_poll(u64 id, struct wait_call *w, int ret)
{
	u64 now = bpf_ktime_get_ns();
	u32 i;

	w->hits = 0;
	for (i = 0; i < POLLFDS; i++)
		if (end_poll_of_fd(id, i, now))
			break;
	if (ret <= 0)
		return;
	for (i = 0; i < POLLFDS; i++)
		if (report_fd(id, i, now, ret))
			break;
}

/* Return whether the process has armed a pollfd or had a driver event since its last execve(). */
static __always_inline int has_armed(u32 tgid)
{
	u32 *has = bpf_map_lookup_elem(&armers, &tgid);

	return has && *has & ARMED;
}

static __always_inline void enter_poll(u64 regs, u64 id, struct wait_call *w)
{
	struct args arg;
	u32 i;

	if (!(w && w->armer) && !has_armed(id >> 32))
		return;
	w = get_wait_slot((u32)id, w);
	if (!w)
		return;
	w->armer = 1;
	/*
	 * The thread's previous poll was interrupted, and a signal handler polls now: end the
	 * previous poll.
	 */
	if (w->kind == WAIT_POLL && w->state == UNFINISHED)
		exit_poll(id, w, -EINTR);
	arg = read_args(regs);
	w->enter_ns = bpf_ktime_get_ns();
	w->ptr = arg.v[ARG0];
	w->fd = (int)arg.v[ARG1];
	w->fence = 0;
	w->kind = WAIT_POLL;
	for (i = 0; i < POLLFDS; i++)
		if (begin_poll_of_fd(id, i))
			break;
	w->state = RUNNING;
}

/* Drop the state of descriptor @fd, which close() closes, or which dup2() or dup3() replaces. */
static __always_inline void enter_close(int fd, u32 tgid)
{
	struct fd_key key = { .tgid = tgid, .fd = fd };

	if (!bpf_map_lookup_elem(&armers, &tgid))
		return;
	bpf_map_delete_elem(&armed_fds, &key);
	emit_forget(tgid, fd);
}

/*
 * close_range(). A BPF program cannot search a map for a range of keys, so it looks up each
 * descriptor, at most 1,024 of them, the usual limit of descriptors per process. A program that
 * closes more descriptors at once is usually about to call execve(). Descriptors beyond the limit
 * stay in @armed_fds.
 */
#define CLOSED_AT_ONCE		1024
#define CLOSED_PER_CALL		32
#define CLOSE_RANGE_UNSHARE	2	/* other flags: the call fails, or closes nothing yet */

/* Drop the state of @n descriptors from @first, at most CLOSED_PER_CALL. */
__noinline int forget_fds(u32 tgid, u32 first, u32 n)
{
	struct fd_key key = { .tgid = tgid };
	u32 i;

	for (i = 0; i < CLOSED_PER_CALL && i < n; i++) {
		key.fd = (int)(first + i);
		bpf_map_delete_elem(&armed_fds, &key);
	}
	return 0;
}

static __always_inline void enter_close_range(u64 regs, u32 tgid)
{
	u32 *has = bpf_map_lookup_elem(&armers, &tgid);
	struct args a;
	u64 first, end, i;

	if (!has)
		return;
	a = read_args(regs);
	first = (u32)a.v[ARG0];
	end = (u64)(u32)a.v[ARG1] + 1;
	if (end <= first || ((u32)a.v[ARG2] & ~CLOSE_RANGE_UNSHARE))
		return;
	for (i = 0; i < CLOSED_AT_ONCE && first + i < end; i += CLOSED_PER_CALL)
		forget_fds(tgid, first + i, end - first - i);
	/* Tell user space to look up the files of all descriptors of the process again. */
	if (*has & NAMED)
		emit_forget(tgid, -1);
}

static __always_inline void enter_dup(u64 regs, long nr, u64 id, struct wait_call *w)
{
	u32 tgid = id >> 32, *has = bpf_map_lookup_elem(&armers, &tgid);
	struct args a;
	int fd;

	if (!has)
		return;
	a = read_args(regs);
	fd = (int)a.v[ARG0];
	if (nr == NR_FCNTL && a.v[ARG1] != F_DUPFD && a.v[ARG1] != F_DUPFD_CLOEXEC)
		return;
	if ((nr == NR_DUP2 || nr == NR_DUP3) && (int)a.v[ARG1] != fd)
		enter_close((int)a.v[ARG1], tgid);
	w = *has & ARMED ? get_wait_slot((u32)id, w) : NULL;
	if (!w)
		return;
	w->kind = DUPLICATE;
	w->fd = fd;
	w->state = RUNNING;
}

/*
 * Copy the state of an armed descriptor to its duplicate, because both refer to the same fences or
 * to the same event.
 */
static __always_inline void exit_dup(u64 id, struct wait_call *w, int to)
{
	struct fd_key key = { .tgid = id >> 32, .fd = w->fd };
	struct armed_fd *a = bpf_map_lookup_elem(&armed_fds, &key), copy;

	if (!a || to < 0 || to == w->fd)
		return;
	copy = *a;
	copy.pollers = 0;
	key.fd = to;
	if (bpf_map_update_elem(&armed_fds, &key, &copy, BPF_ANY))
		count_lost();
}

/* Add a descriptor to @armed_fds. */
static __always_inline void add_armed_fd(struct fd_key *key, struct armed_fd *fresh)
{
	u32 armer = ARMED, *has = bpf_map_lookup_elem(&armers, &key->tgid);

	if (has)
		*has |= ARMED;
	if ((!has && bpf_map_update_elem(&armers, &key->tgid, &armer, BPF_ANY)) ||
	    bpf_map_update_elem(&armed_fds, key, fresh, BPF_ANY))
		count_lost();
}

/*
 * The argument of both arming ioctls is a structure that begins with the descriptor to arm (s32).
 */
static __always_inline void exit_trigger(u64 id, struct wait_call *w)
{
	struct fd_key key = { .tgid = id >> 32 };
	struct armed_fd fresh = { .pending = 1 };
	struct armed_fd *a;

	if (bpf_probe_read_user(&key.fd, sizeof(key.fd), (void *)w->ptr)) {
		count_lost();
		return;
	}
	fresh.armed_ns = bpf_ktime_get_ns();
	fresh.ctl_fd = w->fd;
	a = bpf_map_lookup_elem(&armed_fds, &key);
	if (a) {
		/*
		 * One poll consumes all fences that have passed, so the counted @pending may be too
		 * high. Therefore, unless a thread is in poll() now, reset @enter_ns, so that no
		 * recorded wait begins before this arming.
		 */
		if (!a->pollers)
			a->enter_ns = 0;
		a->armed_ns = fresh.armed_ns;
		a->ctl_fd = w->fd;
		a->event = 0;
		__sync_fetch_and_add(&a->pending, 1);
		return;
	}
	add_armed_fd(&key, &fresh);
}

/* The argument of EVENT_ID_CTRL is struct { u32 cmd, event_id; s32 event_fd; u32 padding; }. */
static __always_inline void exit_event(u64 id, struct wait_call *w)
{
	struct armed_fd fresh = { .pending = 1, .ctl_fd = -1, .event = 1 };
	struct fd_key key = { .tgid = id >> 32 };
	u32 arg[3] = { 0 };

	if (bpf_probe_read_user(arg, sizeof(arg), (void *)w->ptr)) {
		count_lost();
		return;
	}
	key.fd = (int)arg[2];
	if (arg[1] == EVENT_BLOCKING_SYNC)
		add_armed_fd(&key, &fresh);
}

/* Return: 1 if the thread is expected to resume the wait with another call, else 0. */
static __always_inline int will_resume(long ret)
{
	return ret == -EINTR || ret == -EAGAIN || ret == -ETIMEDOUT ||
	       (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK);
}

/*
 * Process the end of a system call of a thread with an entry. If the entry is RUNNING, the call
 * that ends is the call in the entry, because a thread makes one call at a time. If the entry is
 * UNFINISHED, the call that ends is another one, unless it is the restart_syscall() of a poll.
 */
static __always_inline void exit_wait(u64 regs, u64 id, struct wait_call *w, long ret)
{
	struct fd_key key = { .tgid = id >> 32 };

	if (w->state == IDLE)
		return;
	if (w->state == UNFINISHED &&
	    (w->kind != WAIT_POLL || (int)read_reg(regs, OFF_NR) != NR_RESTART_SYSCALL))
		return;
	/* Of interrupted calls, only a poll is resumed by restart_syscall(), after a stop. */
	if (w->kind == WAIT_POLL && ret == -ERESTART_RESTARTBLOCK) {
		w->state = UNFINISHED;
		return;
	}
	if (is_syncpoint_wait(w->kind) && will_resume(ret)) {
		w->fence = fence_at(w->kind, w->ptr);
		w->state = UNFINISHED;
		return;
	}
	w->state = IDLE;
	if (w->kind == WAIT_POLL) {
		exit_poll(id, w, ret);
	} else if (w->kind == DUPLICATE) {
		exit_dup(id, w, ret);
	} else if (ret) {
		return;
	} else if (is_trigger(w->kind)) {
		exit_trigger(id, w);
	} else if (w->kind == EVENT_ID_CTRL) {
		exit_event(id, w);
	} else {
		key.fd = w->fd;
		name_fds(w, &key, -1);
		emit(id, w->enter_ns, bpf_ktime_get_ns(),
		     JETWATT_SYNC_RECORD_SYNCPT | helper_flag(), ret, w->fd, -1, NULL);
	}
}

#endif
