/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Settings, maps and helpers of sync.bpf.c: the set of watched processes, the state that is stored
 * for them, and writing a record into the ring buffer.
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
const volatile __u32 only_tgid;		/* tgid of the only process to watch; 0: see follow_set */
const volatile __u32 follow_set;		/* 1: watch only processes in the map @followed */
const volatile __u64 only_cgroup;	/* id of the only cgroup to watch; 0: all cgroups */
const volatile __u32 cgroup_level;	/* depth of only_cgroup; 0: without its descendants */
/* 1: system calls are traced, so sys_enter() sees exit() and execve() calls: see process_exit(). */
const volatile __u32 sees_syscalls;
/* 1: system calls are traced only to detect forks, exits and execs, not to detect waits. */
const volatile __u32 only_forks;
/* 1: wake the reader for every record. */
const volatile __u32 prompt;
/* 1: count the calls of each traced function of libcuda and libcudart in @entries. */
const volatile __u32 counting;
/*
 * Offset of the child's pid in the record of the tracepoint sched_process_fork; 0: take the pid
 * from the return value of clone().
 */
const volatile __u32 fork_child_off;

/*
 * Number of records and map entries that were lost because a buffer or map was full, or because the
 * memory of the process could not be read.
 */
__u64 lost;
/*
 * callers_seen: number of processes ever added to @callers. orphans: number of processes whose
 * value in @followed process_exit() has set to 2.
 */
__u64 callers_seen, orphans;
/* Number of threads ever added to @queries, and of functions ever added to @callbacks. */
__u64 queries_seen, callbacks_seen;
/* 1: the library has added an entry to @unattached since the start. */
__u64 unattached_seen;
/* 1: an entry has been added to @copies since the start. */
__u64 copies_seen;
/* Generation of the map @named: incremented when entries of the map may become invalid. */
__u64 names_gen;
__u64 last_wake_ns;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);	/* bytes; the library may change the size */
} records SEC(".maps");

/* Present call of each thread, in the slot of the thread; see wait_slot.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAIT_SLOTS);
	__type(key, u32);		/* lower bits of the tid */
	__type(value, struct wait_slot);
} places SEC(".maps");

/* Present call of each thread whose slot in @places belongs to another thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct wait_call);
} waits SEC(".maps");

/*
 * Armed descriptors. The map is an LRU map, because the entries of a process that dies are not
 * deleted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, struct armed_fd);
} armed_fds SEC(".maps");

/* Flags of each process: ARMED, NAMED; see wait_slot.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} armers SEC(".maps");

/*
 * Values for map entries. The values are global constants, because values on the stack would make
 * the verification of the program slower.
 */
const volatile __u32 one = 1, has_names = NAMED;

/*
 * Descriptors that records contain. The library caches the name of the file behind each of these
 * descriptors.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct fd_key);
	__type(value, u32);
} named SEC(".maps");

/*
 * Processes that have called a traced function of libcuda or libcudart; queries count only if they
 * were a wait. If a process waits or has waited in one (flag WAITS), its system calls are not
 * examined for waits, because they are part of waits in libcuda.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);		/* tgid */
	__type(value, struct launched);
} callers SEC(".maps");

/*
 * Followed processes. Value 1: the process is followed; 2: the process is followed and its first
 * thread has exited, but other threads may be alive.
 */
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

/* Return 1 if the current thread, which belongs to process @tgid, is to be watched, else 0. */
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
 * Minimum time between two wake-ups of the reader, unless @prompt is 1. The reader polls again 20 ms
 * after it was woken, so most records need no wake-up. A wake-up costs the job more than everything
 * else that this program does.
 */
#define WAKE_NS		10000000

/*
 * Return JETWATT_SYNC_RECORD_HELPER if the current thread has the name of libcuda's helper thread,
 * cuda-EvtHandlr, else 0.
 */
static __always_inline u32 helper_flag(void)
{
	u64 comm[2] = { 0 };

	bpf_get_current_comm(comm, sizeof(comm));
	/*
	 * The name has 14 characters and a 0 in byte 14; byte 15 of the buffer is not compared,
	 * because the kernel may use it.
	 */
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


/*
 * Tell the library to drop the cached file name of descriptor @fd (-1: of all descriptors of the
 * process), because another file may be behind it now.
 */
__noinline int emit_forget(u32 tgid, int fd)
{
	struct fd_key key = { .tgid = tgid, .fd = fd };

	if (fd >= 0 && bpf_map_delete_elem(&named, &key))
		return 0;
	__sync_fetch_and_add(&names_gen, 1);
	emit((u64)tgid << 32, 0, bpf_ktime_get_ns(), JETWATT_SYNC_RECORD_FORGET, 0, fd, -1, NULL);
	return 0;
}

/*
 * Add the descriptors @key and @ctl_fd (-1: none) to the map @named, because the next record of the
 * thread with the entry @w contains them.
 */
static __always_inline void name_fds(struct wait_call *w, struct fd_key *key, int ctl_fd)
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
