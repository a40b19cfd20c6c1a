/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Settings, maps and helpers of sync.bpf.c: which processes are watched, what is known about them,
 * and how a record gets into the ring buffer.
 */
#ifndef JETWATT_BPF_STATE_H
#define JETWATT_BPF_STATE_H

#include "arch.h"
#include "wait_slot.h"
#include "sync.h"

#ifndef NULL
#define NULL ((void *)0)
#endif

/* Settings; the library sets them before it loads the program. */
const volatile __u32 only_tgid;		/* watch this process only; 0: see follow_set */
const volatile __u32 follow_set;		/* 1: watch the processes in the map @followed */
const volatile __u64 only_cgroup;	/* watch this cgroup only; 0: any */
const volatile __u32 cgroup_level;	/* its depth, to include descendants; 0: without them */
/* 1: system calls are traced, so they show the ends of processes: see process_exit(). */
const volatile __u32 sees_syscalls;
/* 1: system calls are traced only to follow forks. */
const volatile __u32 only_forks;
/* 1: wake the reader for every record. */
const volatile __u32 prompt;
/* 1: count the calls of each entry point. */
const volatile __u32 counting;
/* Offset of the child's pid in sched_process_fork; 0: use the return value of clone(). */
const volatile __u32 fork_child_off;

/* Number of records and map entries that were lost because a buffer or map was full. */
__u64 lost;
/* Number of processes ever added to @callers; of processes in @followed with value 2. */
__u64 callers_seen, orphans;
/* Number of threads ever added to @queries. */
__u64 queries_seen;
/* Generation of @named: incremented when an entry is removed. */
__u64 names_gen;
__u64 last_wake_ns;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);	/* bytes; the library may change it */
} records SEC(".maps");

/* Per thread: the present call, in a slot; see wait_slot.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAIT_SLOTS);
	__type(key, u32);		/* lower bits of the tid */
	__type(value, struct wait_slot);
} places SEC(".maps");

/* Per thread without a slot in @places: the present call. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct wait);
} waits SEC(".maps");

/* Armed descriptors. LRU, because a process that dies leaves its entries behind. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, struct armed);
} armed_fds SEC(".maps");

/* Per process: ARMED, NAMED. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} armers SEC(".maps");

/* Values for map entries: constants, because values on the stack cost the verifier more. */
const volatile __u32 one = 1, has_names = NAMED;

/* Descriptors that records contain. The library caches which files they are. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, u32);
} named SEC(".maps");

/*
 * Processes that have called libcuda. If such a process waits there (WAITS), its system calls are
 * not examined, because they are part of those waits.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, struct launched);
} callers SEC(".maps");

/* 1: the process is followed; 2: its first thread has exited, other threads may be alive. */
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

static __always_inline u64 read_reg(u64 regs, u32 off)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)(regs + off));
	return v;
}

struct args {
	u64 v[3];
};

static __always_inline struct args read_args(u64 regs)
{
	struct args a = { 0 };

	bpf_probe_read_kernel(&a, sizeof(a), (void *)(regs + OFF_ARGS));
	return a;
}

/* Does the current thread, of process @tgid, belong to the watched processes? */
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
 * Minimum time between two wake-ups of the reader. The reader polls again 20 ms after it was
 * woken, so most records need no wake-up, which would cost the job more than all the rest.
 */
#define WAKE_NS		10000000

/* JETWATT_SYNC_RECORD_HELPER if the current thread has the name of libcuda's thread, else 0. */
static __always_inline u32 helper_flag(void)
{
	u64 comm[2] = { 0 };

	bpf_get_current_comm(comm, sizeof(comm));
	/* "cuda-EvtHandlr" has 14 bytes; the kernel may use the last byte of the buffer. */
	return comm[0] == 0x7476452d61647563ull && comm[1] << 8 == 0x726c646e6148ull << 8 ?
	       JETWATT_SYNC_RECORD_HELPER : 0;
}

/* Put a record into the ring buffer. @l: launches before the wait; NULL: not traced. */
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


/* The file behind @fd may have changed (-1: behind all descriptors): let the library drop it. */
static __always_inline void emit_forget(u32 tgid, int fd)
{
	struct fd_key key = { .tgid = tgid, .fd = fd };

	if (fd >= 0 && bpf_map_delete_elem(&named, &key))
		return;
	__sync_fetch_and_add(&names_gen, 1);
	emit((u64)tgid << 32, 0, bpf_ktime_get_ns(), JETWATT_SYNC_RECORD_FORGET, 0, fd, -1, NULL);
}

/* Add @key and @ctl_fd (-1: none) to @named: the next record of the thread @w contains them. */
static __always_inline void name_fds(struct wait *w, struct fd_key *key, int ctl_fd)
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
