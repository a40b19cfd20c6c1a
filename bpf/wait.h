/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Entry and exit of the calls that arm, begin and end a wait.
 */
#ifndef JETWATT_BPF_WAIT_H
#define JETWATT_BPF_WAIT_H

#include "state.h"

/* tegra-drm, with and without a time stamp in the reply; host1x-fence */
#define SYNCPOINT_WAIT_NVIDIA	0xC0206462
#define SYNCPOINT_WAIT_MAINLINE	0xC0186462
#define TRIGGER_POLLFD		0xC0105811

#define WAIT_POLL		1

#define POLLFDS		16	/* entries of a poll() looked at */

/* what the kernel returns inside when a signal interrupts a call */
#define ERESTARTSYS		512
#define ERESTART_RESTARTBLOCK	516
#define EINTR			4
#define EAGAIN			11
#define ETIMEDOUT		110

static __always_inline int is_syncpoint_wait(u32 cmd)
{
	return cmd == SYNCPOINT_WAIT_NVIDIA || cmd == SYNCPOINT_WAIT_MAINLINE;
}

/* struct drm_tegra_syncpoint_wait: s64 timeout, u32 id, u32 threshold, ... */
static __always_inline void enter_ioctl(u64 regs, u32 tid)
{
	struct wait w = { .kind = (u32)reg(regs, OFF_ARG1) };
	struct wait *old;

	if (w.kind != TRIGGER_POLLFD && !is_syncpoint_wait(w.kind))
		return;
	w.enter_ns = bpf_ktime_get_ns();
	w.ptr = reg(regs, OFF_ARG2);
	w.fd = (int)reg(regs, OFF_ARG0);
	if (w.kind != TRIGGER_POLLFD) {
		if (bpf_probe_read_user(&w.fence, sizeof(w.fence), (void *)(w.ptr + 8)))
			w.fence = w.ptr;
		/* interrupted or timed out before: the wait goes on */
		old = bpf_map_lookup_elem(&waits, &tid);
		if (old && old->kind == w.kind && old->fd == w.fd && old->fence == w.fence)
			return;
	}
	if (bpf_map_update_elem(&waits, &tid, &w, BPF_ANY))
		count_lost();
}

static __always_inline void exit_poll(u64 id, struct wait *w, int ret)
{
	struct fd_key key = { .tgid = id >> 32 };
	u64 now = bpf_ktime_get_ns(), enter_ns, entry;
	struct armed *a;
	int i, ctl_fd;

	for (i = 0; i < POLLFDS; i++) {
		if (i >= w->fd || bpf_probe_read_user(&entry, sizeof(entry), (void *)(w->ptr + i * 8)))
			break;
		key.fd = (int)entry;
		a = bpf_map_lookup_elem(&armed_fds, &key);
		if (!a)
			continue;
		if (a->pollers && (w->fence & (1u << i)))
			__sync_fetch_and_add(&a->pollers, -1);
		if (ret <= 0 || !(entry >> 48))	/* revents */
			continue;
		enter_ns = a->enter_ns ? a->enter_ns : a->armed_ns;
		ctl_fd = a->ctl_fd;
		if (a->pending > 1) {
			a->pending--;
			a->enter_ns = 0;
		} else if (bpf_map_delete_elem(&armed_fds, &key)) {
			continue;	/* another thread's poll saw it first */
		}
		emit(id, enter_ns, now, JETWATT_SYNC_RECORD_POLLFD, ret, key.fd, ctl_fd);
	}
}

static __always_inline void enter_poll(u64 regs, u64 id)
{
	u32 tid = (u32)id;
	struct fd_key key = { .tgid = id >> 32 };
	struct wait w = { .kind = WAIT_POLL };
	struct wait *old;
	struct armed *a;
	u64 entry;
	int i;

	if (!bpf_map_lookup_elem(&armers, &key.tgid))
		return;
	w.enter_ns = bpf_ktime_get_ns();
	w.ptr = reg(regs, OFF_ARG0);
	w.fd = (int)reg(regs, OFF_ARG1);
	/* a signal handler ran where restart_syscall() was expected */
	old = bpf_map_lookup_elem(&waits, &tid);
	if (old && old->kind == WAIT_POLL)
		exit_poll(id, old, -EINTR);
	for (i = 0; i < POLLFDS; i++) {
		if (i >= w.fd || bpf_probe_read_user(&entry, sizeof(entry), (void *)(w.ptr + i * 8)))
			break;
		key.fd = (int)entry;
		a = bpf_map_lookup_elem(&armed_fds, &key);
		if (!a)
			continue;
		if (!a->enter_ns)
			a->enter_ns = w.enter_ns;
		__sync_fetch_and_add(&a->pollers, 1);
		w.fence |= 1u << i;
	}
	if (bpf_map_update_elem(&waits, &tid, &w, BPF_ANY))
		count_lost();
}

static __always_inline void enter_close(u64 regs, u32 tgid)
{
	struct fd_key key = { .tgid = tgid };

	if (!bpf_map_lookup_elem(&armers, &tgid))
		return;
	key.fd = (int)reg(regs, OFF_ARG0);
	bpf_map_delete_elem(&armed_fds, &key);
}

/* struct { s32 fd; u32 id, threshold, reserved; } */
static __always_inline void exit_trigger(u64 id, struct wait *w)
{
	struct fd_key key = { .tgid = id >> 32 };
	struct armed fresh = { .pending = 1 };
	struct armed *a;
	u32 one = 1;

	if (bpf_probe_read_user(&key.fd, sizeof(key.fd), (void *)w->ptr)) {
		count_lost();
		return;
	}
	fresh.armed_ns = bpf_ktime_get_ns();
	fresh.ctl_fd = w->fd;
	a = bpf_map_lookup_elem(&armed_fds, &key);
	if (a) {
		/* A poll consumes all fences that have passed, so the count may
		 * be too high: no wait begins before the last arming unless a
		 * thread is asleep on it. */
		if (!a->pollers)
			a->enter_ns = 0;
		a->armed_ns = fresh.armed_ns;
		a->ctl_fd = w->fd;
		__sync_fetch_and_add(&a->pending, 1);
		return;
	}
	if (bpf_map_update_elem(&armers, &key.tgid, &one, BPF_ANY) ||
	    bpf_map_update_elem(&armed_fds, &key, &fresh, BPF_ANY))
		count_lost();
}

/* Will the same wait be taken up again? */
static __always_inline int unfinished(long ret)
{
	return ret == -EINTR || ret == -EAGAIN || ret == -ETIMEDOUT ||
	       (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK);
}

static __always_inline void exit_wait(u64 regs, long nr, u64 id, long ret)
{
	u32 tid = (u32)id;
	struct wait *p, w;

	p = bpf_map_lookup_elem(&waits, &tid);
	if (!p)
		return;
	/* one that was interrupted may never be taken up again */
	if (p->kind != (nr == NR_IOCTL ? (u32)reg(regs, OFF_ARG1) : WAIT_POLL))
		return;
	if (is_syncpoint_wait(p->kind) && unfinished(ret))
		return;
	/* restart_syscall() goes on with a poll that a stop interrupted */
	if (p->kind == WAIT_POLL && ret == -ERESTART_RESTARTBLOCK)
		return;
	w = *p;
	bpf_map_delete_elem(&waits, &tid);
	if (w.kind == WAIT_POLL)
		exit_poll(id, &w, ret);
	else if (ret)
		return;
	else if (w.kind == TRIGGER_POLLFD)
		exit_trigger(id, &w);
	else
		emit(id, w.enter_ns, bpf_ktime_get_ns(), JETWATT_SYNC_RECORD_SYNCPT, ret,
		     w.fd, -1);
}

#endif
