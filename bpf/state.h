/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What the programs remember between calls, whom they watch, and how a record
 * leaves.
 */
#ifndef JETWATT_BPF_STATE_H
#define JETWATT_BPF_STATE_H

#include "arch.h"
#include "place.h"
#include "sync.h"

#ifndef NULL
#define NULL ((void *)0)
#endif

/* Set before load. */
const volatile __u32 only_tgid;		/* this process, 0: see follow_set */
const volatile __u32 follow_set;		/* those in the map @followed */
const volatile __u64 only_cgroup;
const volatile __u32 cgroup_level;	/* its depth: descendants too; 0: that one alone */
/* The ends of processes are seen in system calls: see process_exit(). */
const volatile __u32 sees_syscalls;
/* They serve to follow forks, no more. */
const volatile __u32 only_forks;
/* The reader acts on each wait: wake it for every one. */
const volatile __u32 prompt;
/* Calls are counted by their address. */
const volatile __u32 counting;
/* sched_process_fork's field, 0: take what clone() returns */
const volatile __u32 fork_child_off;

/* Records and states that found no room. */
__u64 lost;
/* Processes in @callers, so far; first threads gone in @followed, unseen. */
__u64 callers_seen, orphans;
/* Threads in @queries, so far. */
__u64 queries_seen;
/* How often something in @named was forgotten. */
__u64 names_gen;
__u64 last_wake_ns;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);	/* the library may ask for another */
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, u32);		/* tid, its lower bits */
	__type(value, struct place);
} places SEC(".maps");

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

/* ARMED, NAMED */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} armers SEC(".maps");

/* Values for entries of maps: what has its place on the stack costs the verifier more. */
const volatile __u32 one = 1, has_names = NAMED;

/* Descriptors that stand in records: user space remembers what they are. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, u32);
} named SEC(".maps");

/* Processes that were seen to call libcuda. Below a wait there (WAITS) system calls are
 * no news. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, struct launched);
} callers SEC(".maps");

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

struct args {
	u64 v[3];
};

static __always_inline struct args args(u64 regs)
{
	struct args a = { 0 };

	bpf_probe_read_kernel(&a, sizeof(a), (void *)(regs + OFF_ARGS));
	return a;
}

static __always_inline int watched(u32 tgid)
{
	if (only_tgid && tgid != only_tgid)
		return 0;
	if (follow_set && !bpf_map_lookup_elem(&followed, &tgid))
		return 0;
	if (only_cgroup && only_cgroup != (cgroup_level ?
	    bpf_get_current_ancestor_cgroup_id(cgroup_level) : bpf_get_current_cgroup_id()))
		return 0;
	return 1;
}

/*
 * A reader that was woken looks again 20 ms later, so it need not be woken for
 * each record: that would cost the job more than all the rest.
 */
#define WAKE_NS		10000000

/* Has libcuda started the current thread, to wait for others? Its name: cuda-EvtHandlr. */
static __always_inline u32 helper(void)
{
	u64 comm[2] = { 0 };

	bpf_get_current_comm(comm, sizeof(comm));
	/* The last byte is the kernel's. */
	return comm[0] == 0x7476452d61647563ull && comm[1] << 8 == 0x726c646e6148ull << 8 ?
	       JETWATT_SYNC_RECORD_HELPER : 0;
}

static __always_inline void emit(u64 id, u64 enter_ns, u64 exit_ns, u32 call, int ret,
				 int fd, int ctl_fd, const struct launched *l)
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
	r->launch_ns = l ? l->first_ns : 0;
	r->launches = l ? l->nr : 0;
	r->lost = (u32)lost;
	if (prompt || exit_ns - last_wake_ns >= WAKE_NS) {
		last_wake_ns = exit_ns;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	bpf_ringbuf_submit(r, flags);
}


static __always_inline void forget(u32 tgid, int fd)
{
	struct fd_key key = { .tgid = tgid, .fd = fd };

	if (fd >= 0 && bpf_map_delete_elem(&named, &key))
		return;
	__sync_fetch_and_add(&names_gen, 1);
	emit((u64)tgid << 32, 0, bpf_ktime_get_ns(), JETWATT_SYNC_RECORD_FORGET, 0, fd, -1, NULL);
}

/* Both descriptors are about to stand in a record of the thread @w; @ctl_fd -1: only one. */
static __always_inline void name(struct wait *w, struct fd_key *key, int ctl_fd)
{
	u32 gen = (u32)names_gen, *has;
	int fd = key->fd;

	if (w->names_gen == gen && w->name[0] == fd && w->name[1] == ctl_fd)
		return;
	w->names_gen = gen;
	w->name[0] = fd;
	w->name[1] = ctl_fd;
	bpf_map_update_elem(&named, key, (void *)&one, BPF_ANY);
	has = bpf_map_lookup_elem(&armers, &key->tgid);
	if (has)
		*has |= NAMED;
	else
		bpf_map_update_elem(&armers, &key->tgid, (void *)&has_names, BPF_ANY);
	if (ctl_fd < 0)
		return;
	key->fd = ctl_fd;
	bpf_map_update_elem(&named, key, (void *)&one, BPF_ANY);
}

#endif
