/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Entry to and return from the calls of libcuda and libcudart that wait for
 * the GPU, and launches.
 *
 * This sees what system calls do not: a wait that spins on memory. One call is
 * made of others (cudart's of libcuda's): the outermost counts. Frames tell
 * them apart: what was called from inside has a lower stack pointer. One that
 * never returned (longjmp, a cancelled thread) is known by the same rule.
 *
 * A loop that asks for the state of an event or stream until it is done is one wait.
 */
#ifndef JETWATT_BPF_API_H
#define JETWATT_BPF_API_H

#include "state.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct query);
} queries SEC(".maps");

/* Calls of each entry point, also those from inside another one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct entry_key);
	__type(value, u64);
} entries SEC(".maps");

/* cudaErrorNotReady is the same number since CUDA 10.1. */
#define CUDA_ERROR_NOT_READY	600

/*
 * A thread that asks less often than this does something else in between. Caching
 * allocators do that: they ask once whether a block is free again, and go on.
 */
#define QUERY_GAP_NS		10000000

static __always_inline u64 saved(void *ctx, int off)
{
	return *(u64 *)(ctx + off);
}

/* What the process has launched since its last wait. */
static __always_inline struct launched *launched(u32 tgid)
{
	struct launched none = { 0 }, *l = bpf_map_lookup_elem(&callers, &tgid);

	if (l)
		return l;
	bpf_map_update_elem(&callers, &tgid, &none, BPF_NOEXIST);
	__sync_fetch_and_add(&callers_seen, 1);
	return bpf_map_lookup_elem(&callers, &tgid);
}

static __always_inline void count_entry(void *ctx, u32 tgid)
{
	struct entry_key key = { .address = saved(ctx, OFF_PC), .tgid = tgid };
	u64 first = 1, *n;

	if (!counting)
		return;
	n = bpf_map_lookup_elem(&entries, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&entries, &key, &first, BPF_NOEXIST))
		count_lost();
}

static __always_inline int waits_in_library(u32 tgid)
{
	struct launched *l = bpf_map_lookup_elem(&callers, &tgid);

	return l && l->flags & WAITS;
}

/* The thread does something else: it was not waiting for what it has asked for. */
static __always_inline void forget_query(u32 tid)
{
	struct query *q = queries_seen ? bpf_map_lookup_elem(&queries, &tid) : NULL;

	if (q)
		q->enter_ns = 0;
}

/* The launches up to this wait, which ends here. */
static __always_inline void take_launches(u32 tgid, struct launched *before)
{
	struct launched *l = launched(tgid);

	if (!l)
		return;
	*before = *l;
	l->first_ns = 0;
	l->nr = 0;
}

static __always_inline int enter_api(void *ctx, u32 call)
{
	u64 id = bpf_get_current_pid_tgid();
	struct call c = { .sp = saved(ctx, OFF_SP), .call = call };
	u32 tid = (u32)id;
	struct launched *l;
	struct call *outer;

	if (!watched(id >> 32))
		return 0;
	count_entry(ctx, id >> 32);
	outer = bpf_map_lookup_elem(&calls, &tid);
	if (outer && c.sp < outer->sp)
		return 0;
	l = launched(id >> 32);
	/* One with nothing launched before is no wait: see api_return(). */
	if (l && (call != JETWATT_SYNC_RECORD_COPY || l->nr))
		l->flags |= WAITS;
	forget_query(tid);
	c.enter_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&calls, &tid, &c, BPF_ANY))
		count_lost();
	return 0;
}

SEC("uprobe")
int api_stream(void *ctx)
{
	return enter_api(ctx, JETWATT_SYNC_RECORD_STREAM);
}

SEC("uprobe")
int api_event(void *ctx)
{
	return enter_api(ctx, JETWATT_SYNC_RECORD_EVENT);
}

SEC("uprobe")
int api_context(void *ctx)
{
	return enter_api(ctx, JETWATT_SYNC_RECORD_CONTEXT);
}

SEC("uprobe")
int api_copy(void *ctx)
{
	return enter_api(ctx, JETWATT_SYNC_RECORD_COPY);
}

SEC("uprobe")
int api_return(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now;
	struct launched before = { 0 };
	u32 tid = (u32)id;
	struct call *c;

	c = bpf_map_lookup_elem(&calls, &tid);
	if (!c || saved(ctx, OFF_SP) < c->sp)
		return 0;
	now = bpf_ktime_get_ns();
	take_launches(id >> 32, &before);
	/* A copy with nothing launched before it waits for itself only. */
	if (c->call != JETWATT_SYNC_RECORD_COPY || before.nr)
		emit(id, c->enter_ns, now, c->call, (int)saved(ctx, OFF_RET), -1, -1, &before);
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}

SEC("uprobe")
int api_query(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), sp = saved(ctx, OFF_SP);
	struct query none = { 0 }, *q;
	u32 tid = (u32)id;
	struct call *outer;

	if (!watched(id >> 32))
		return 0;
	count_entry(ctx, id >> 32);
	outer = bpf_map_lookup_elem(&calls, &tid);
	if (outer && sp < outer->sp)
		return 0;
	q = bpf_map_lookup_elem(&queries, &tid);
	if (!q) {
		if (bpf_map_update_elem(&queries, &tid, &none, BPF_NOEXIST))
			count_lost();
		__sync_fetch_and_add(&queries_seen, 1);
		q = bpf_map_lookup_elem(&queries, &tid);
	}
	if (!q || (q->sp && sp < q->sp))
		return 0;
	q->sp = sp;
	q->asked = saved(ctx, OFF_ARG0);
	q->begin_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * The first query that finds the GPU busy begins a wait, the one that finds it done ends
 * it. Queries of other events in between are not looked at. Where a thread that has waited
 * for an event like this finds it done at once, after a launch, that was a short wait: it
 * came late.
 */
SEC("uprobe")
int api_query_return(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now, enter_ns;
	u32 tid = (u32)id, ret = (u32)saved(ctx, OFF_RET);
	struct launched before = { 0 }, *l;
	struct query *q = bpf_map_lookup_elem(&queries, &tid);

	if (!q || !q->sp || saved(ctx, OFF_SP) < q->sp)
		return 0;
	q->sp = 0;
	if (q->enter_ns && q->begin_ns - q->last_ns > QUERY_GAP_NS)
		q->enter_ns = 0;
	if (q->enter_ns && q->handle != q->asked)
		return 0;
	now = bpf_ktime_get_ns();
	q->last_ns = now;
	enter_ns = q->enter_ns ? q->enter_ns : q->begin_ns;
	if (ret == CUDA_ERROR_NOT_READY) {
		q->enter_ns = enter_ns;
		q->handle = q->asked;
		return 0;
	}
	l = launched(id >> 32);
	if (!q->enter_ns && !(q->waits && q->handle == q->asked && l && l->nr))
		return 0;
	q->enter_ns = 0;
	q->waits++;
	if (l)
		l->flags |= WAITS;
	take_launches(id >> 32, &before);
	emit(id, enter_ns, now, JETWATT_SYNC_RECORD_QUERY, (int)ret, -1, -1, &before);
	return 0;
}

static __always_inline int launches(void *ctx, u32 from)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32;
	struct launched *l;

	if (!watched(tgid))
		return 0;
	count_entry(ctx, tgid);
	forget_query((u32)id);
	l = launched(tgid);
	if (!l || (!from && l->flags & DRIVER))
		return 0;
	l->flags |= from;
	if (!l->first_ns)
		l->first_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&l->nr, 1);
	return 0;
}

SEC("uprobe")
int api_launch(void *ctx)
{
	return launches(ctx, DRIVER);
}

SEC("uprobe")
int api_launch_runtime(void *ctx)
{
	return launches(ctx, 0);
}

#endif
