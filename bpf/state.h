/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What the programs remember between calls, whom they watch, and how a record
 * leaves.
 */
#ifndef JETWATT_BPF_STATE_H
#define JETWATT_BPF_STATE_H

#include "arch.h"
#include "sync.h"

/* Set before load. */
const volatile __u32 only_tgid;		/* this process, 0: see follow_set */
const volatile __u32 follow_set;		/* those in the map @followed */
const volatile __u64 only_cgroup;
/* sched_process_fork's field, 0: take what clone() returns */
const volatile __u32 fork_child_off;

/* Records and states that found no room. */
__u64 lost;
__u64 last_wake_ns;

/* A call in progress, from its entry to its exit. */
struct wait {
	u64 enter_ns;
	u64 ptr;	/* its argument in user memory */
	u64 fence;	/* SYNCPOINT_WAIT: id and threshold; poll: bit i: entry i was armed */
	u32 kind;	/* the ioctl's number, or WAIT_POLL */
	int fd;		/* ioctl: its descriptor; poll: number of entries */
};

/* A pollfd with fences pending. The first poll after the arming begins the
 * wait; a thread may be asleep in poll() before another one arms. */
struct armed {
	u64 armed_ns, enter_ns;
	u32 pending, pollers;
	int ctl_fd;
	u32 pad;
};

struct fd_key {
	u32 tgid;
	int fd;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);	/* the library may ask for another */
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct wait);
} waits SEC(".maps");

/* Least recently used: a process that dies leaves its entries behind. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, struct armed);
} armed_fds SEC(".maps");

/* Processes that have ever armed a pollfd: only their polls are looked at. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} armers SEC(".maps");

/* 1: followed; 2: its first thread has gone, others may live */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} followed SEC(".maps");

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&lost, 1);
}

static __always_inline u64 reg(u64 regs, u32 off)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)(regs + off));
	return v;
}

static __always_inline int watched(u32 tgid)
{
	if (only_tgid && tgid != only_tgid)
		return 0;
	if (follow_set && !bpf_map_lookup_elem(&followed, &tgid))
		return 0;
	if (only_cgroup && bpf_get_current_cgroup_id() != only_cgroup)
		return 0;
	return 1;
}

/*
 * A reader that was woken looks again 20 ms later, so it need not be woken for
 * each record: that would cost the job more than all the rest.
 */
#define WAKE_NS		10000000

static __always_inline void emit(u64 id, u64 enter_ns, u64 exit_ns, u32 call, int ret,
				 int fd, int ctl_fd)
{
	struct jetwatt_sync_record *r;
	u64 flags = BPF_RB_NO_WAKEUP;

	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		count_lost();
		return;
	}
	r->enter_ns = enter_ns;
	r->exit_ns = exit_ns;
	r->cgroup = bpf_get_current_cgroup_id();
	r->tgid = id >> 32;
	r->tid = (u32)id;
	r->call = call;
	r->ret = ret;
	r->fd = fd;
	r->ctl_fd = ctl_fd;
	if (exit_ns - last_wake_ns >= WAKE_NS) {
		last_wake_ns = exit_ns;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	bpf_ringbuf_submit(r, flags);
}

#endif
