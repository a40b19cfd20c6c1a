/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Entry to and return from the calls of libcuda and libcudart that wait for
 * the GPU, and launches.
 *
 * This sees what system calls do not: a wait that spins on memory. One call is
 * made of others (cudart's of libcuda's): the outermost counts. Frames tell
 * them apart: what was called from inside has a lower stack pointer. One that
 * never returned (longjmp, a cancelled thread) is known by the same rule.
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

static __always_inline int enter_api(void *ctx, u32 call)
{
	u64 id = bpf_get_current_pid_tgid();
	struct call c = { .sp = saved(ctx, OFF_SP), .call = call };
	u32 tid = (u32)id;
	struct call *outer;

	if (!watched(id >> 32))
		return 0;
	outer = bpf_map_lookup_elem(&calls, &tid);
	if (outer && c.sp < outer->sp)
		return 0;
	launched(id >> 32);
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
int api_return(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now;
	struct launched *l, before = { 0 };
	u32 tid = (u32)id;
	struct call *c;

	c = bpf_map_lookup_elem(&calls, &tid);
	if (!c || saved(ctx, OFF_SP) < c->sp)
		return 0;
	now = bpf_ktime_get_ns();
	l = launched(id >> 32);
	if (l) {
		before = *l;
		l->first_ns = 0;
		l->nr = 0;
	}
	emit(id, c->enter_ns, now, c->call, (int)saved(ctx, OFF_RET), -1, -1, &before);
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}

SEC("uprobe")
int api_launch(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct launched *l;

	if (!watched(tgid))
		return 0;
	l = launched(tgid);
	if (!l)
		return 0;
	if (!l->first_ns)
		l->first_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&l->nr, 1);
	return 0;
}

#endif
