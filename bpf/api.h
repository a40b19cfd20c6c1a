/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Uprobes on the functions of libcuda and libcudart that wait for the GPU, query it, copy, launch
 * work or request a callback, and on the callbacks.
 *
 * Only the uprobes detect waits in which libcuda spins on memory, because such waits make no system
 * call.
 *
 * A traced function may call another traced function (libcudart calls libcuda). Of nested calls
 * that wait, copy or query, only the outermost one counts. A call is an inner call if the stack
 * pointer at its entry is lower than at the entry of the outer call. If an outer call has ended
 * without a return (longjmp()), the thread's next call whose stack pointer is not lower replaces
 * the ended one.
 *
 * A loop of cu*Query() calls that repeats until an event or a stream is done counts as one wait
 * (see QUERIES_MIN).
 *
 * A program may also hand libcuda a function to call when the GPU has done the work queued so far
 * (cuLaunchHostFunc), and sleep on a lock of its own until then. JAX does. The library attaches
 * host_callback() to such functions. After QUIET_CALLBACKS calls of such functions without a wait
 * of the process in a function of libcuda, each call requested until the next such wait counts as a
 * wait. If host_callback() cannot be attached, system calls show the waits: see @unattached.
 */
#ifndef JETWATT_BPF_API_H
#define JETWATT_BPF_API_H

#include "state.h"

/* For each thread in a traced function that waits or copies: the outermost such call. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct call);
} calls SEC(".maps");

/* For each thread that has called a cu*Query() function: its loop of queries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);		/* tid */
	__type(value, struct query);
} queries SEC(".maps");

/* Functions of the program that libcuda is to call: see host_func(). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, struct callback_key);
	__type(value, u32);
} callbacks SEC(".maps");

/*
 * Processes with functions in @callbacks that have no uprobe; the library writes this map. Waits by
 * these functions are not seen, so system calls of the process are examined even if it also waits
 * in functions of libcuda.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, u32);		/* tgid */
	__type(value, u32);
} unattached SEC(".maps");

/* Calls of the program's functions that libcuda has yet to make. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct callback_key);
	__type(value, struct request);
} pending SEC(".maps");

/* For each thread: its last asynchronous copy that may have waited. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);		/* tid */
	__type(value, struct copied);
} copies SEC(".maps");

/* If @counting is 1: number of calls of each traced function of CUDA, including inner calls. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct entry_key);
	__type(value, u64);
} entries SEC(".maps");

/*
 * CUDA_ERROR_NOT_READY of libcuda; since CUDA 10.1, cudaErrorNotReady of libcudart has the same
 * number.
 */
#define CUDA_ERROR_NOT_READY	600

/*
 * Maximum time between two queries of a loop. After a longer gap the loop counts as ended, because
 * the thread did something else in between. Caching allocators, for example, query once whether a
 * block is free, and continue.
 */
#define QUERY_GAP_NS		10000000
/*
 * A thread waits in loops of queries if it has made one loop in which at least QUERIES_MIN queries,
 * at most QUERY_EVERY_NS apart on average, returned "not ready". PyTorch's thread that pins memory
 * queries one event a few times, once per allocation (CachingHostAllocator.h), and does not wait
 * for it.
 */
#define QUERIES_MIN		6
#define QUERY_EVERY_NS		2000000

/*
 * An asynchronous copy to memory that is not pinned waits for the work before it; to pinned memory
 * it returns at once. The call does not show which kind of memory it is. If an asynchronous copy
 * after a launch takes this long and the thread then waits in another call, without a launch in
 * between and with a shorter pause than the copy took, the wait began with the copy. Recorded on an
 * H100: 0.02 ms to pinned memory; to other memory, CuPy spends 58.2 ms in the copy, and 0.01 ms in
 * the synchronisation that follows.
 */
#define COPY_WAIT_NS		100000

/* Value of call::call: an asynchronous copy, which is not reported itself */
#define COPY_ASYNC		0x100

/*
 * A process with this number of callbacks since its last wait in a function of libcuda is taken to
 * wait by callbacks only.
 */
#define QUIET_CALLBACKS		32

static __always_inline u64 saved_reg(void *ctx, int off)
{
	return *(u64 *)(ctx + off);
}

/*
 * Return the entry of a process in @callers, which counts its launches since its last wait; add the
 * entry if it is missing.
 */
static __always_inline struct launched *launches_of(u32 tgid)
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
	struct entry_key key = { .address = saved_reg(ctx, OFF_PC), .tgid = tgid };
	u64 first = 1, *n;

	if (!counting)
		return;
	n = bpf_map_lookup_elem(&entries, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&entries, &key, &first, BPF_NOEXIST))
		count_lost();
}

/* Return whether a system call of a thread is, or may be, part of a wait in libcuda. */
static __always_inline int waits_in_library(u32 tgid, u32 tid)
{
	struct launched *l = bpf_map_lookup_elem(&callers, &tgid);

	if (!l || !(l->flags & WAITS))
		return 0;
	return !unattached_seen || !bpf_map_lookup_elem(&unattached, &tgid) ||
	       bpf_map_lookup_elem(&calls, &tid);
}

/*
 * End the thread's loop of queries without a wait, because the thread calls another CUDA function.
 */
static __always_inline void end_query_loop(u32 tid)
{
	struct query *q = queries_seen ? bpf_map_lookup_elem(&queries, &tid) : NULL;

	if (q)
		q->enter_ns = 0;
}

/*
 * Copy the number and time of the launches before the wait that ends now to @before, and reset
 * them and the number of callbacks.
 */
static __always_inline void reset_launches(u32 tgid, struct launched *before)
{
	struct launched *l = launches_of(tgid);

	if (!l)
		return;
	*before = *l;
	l->first_ns = 0;
	l->nr = 0;
	l->callbacks = 0;
}

/*
 * Return the start of the wait whose call begins at @now: @now, or the start of the asynchronous
 * copy before the call (see COPY_WAIT_NS). @launches: number of launches since the previous wait.
 */
static __always_inline u64 since_copy(u32 tid, u32 launches, u64 now)
{
	struct copied *copy = bpf_map_lookup_elem(&copies, &tid);
	u64 since = now;

	if (!copy)
		return now;
	if (copy->launches == launches && now - copy->exit_ns < copy->exit_ns - copy->enter_ns)
		since = copy->enter_ns;
	bpf_map_delete_elem(&copies, &tid);
	return since;
}

static __always_inline int enter_api(void *ctx, u32 call)
{
	u64 id = bpf_get_current_pid_tgid();
	struct call c = { .sp = saved_reg(ctx, OFF_SP), .call = call };
	u32 tid = (u32)id;
	struct launched *l;
	struct call *outer;

	if (!watched(id >> 32))
		return 0;
	count_entry(ctx, id >> 32);
	outer = bpf_map_lookup_elem(&calls, &tid);
	if (outer && c.sp < outer->sp)
		return 0;
	l = launches_of(id >> 32);
	/*
	 * A copy of memory without a launch before it does not count as a wait: see api_return().
	 */
	if (l && ((call != COPY_ASYNC && call != JETWATT_SYNC_RECORD_COPY) || l->nr))
		l->flags |= WAITS;
	end_query_loop(tid);
	c.enter_ns = bpf_ktime_get_ns();
	if (copies_seen && l && call != COPY_ASYNC)
		c.enter_ns = since_copy(tid, l->nr, c.enter_ns);
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
int api_copy_async(void *ctx)
{
	return enter_api(ctx, COPY_ASYNC);
}

SEC("uprobe")
int api_return(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now;
	struct launched before = { 0 }, *l;
	struct copied copy = { 0 };
	u32 tid = (u32)id;
	struct call *c;

	c = bpf_map_lookup_elem(&calls, &tid);
	if (!c || saved_reg(ctx, OFF_SP) < c->sp)
		return 0;
	now = bpf_ktime_get_ns();
	l = launches_of(id >> 32);
	if (c->call == COPY_ASYNC) {
		copy.enter_ns = c->enter_ns;
		copy.exit_ns = now;
		copy.launches = l ? l->nr : 0;
		if (copy.launches && now - c->enter_ns >= COPY_WAIT_NS &&
		    !bpf_map_update_elem(&copies, &tid, &copy, BPF_ANY))
			copies_seen = 1;
	} else if (c->call != JETWATT_SYNC_RECORD_COPY || (l && l->nr)) {
		/* A synchronous copy without a launch before it waits only for its own end, so
		 * it is not reported. */
		reset_launches(id >> 32, &before);
		emit(id, c->enter_ns, now, c->call, (int)saved_reg(ctx, OFF_RET), -1, -1, &before);
	}
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}

SEC("uprobe")
int api_query(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), sp = saved_reg(ctx, OFF_SP);
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
	q->asked = saved_reg(ctx, OFF_ARG0);
	q->begin_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * The first query that returns "not ready" begins a wait, and the query that returns "ready" or an
 * error ends it. Queries of other events or streams in between are ignored. If the first query
 * after a launch returns "ready", and the thread's last loop of queries was for the same event or
 * stream, this query counts as a wait too: the GPU was done before the loop began.
 */
SEC("uprobe")
int api_query_return(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now, enter_ns;
	u32 tid = (u32)id, ret = (u32)saved_reg(ctx, OFF_RET);
	struct launched before = { 0 }, *l;
	struct query *q = bpf_map_lookup_elem(&queries, &tid);

	if (!q || !q->sp || saved_reg(ctx, OFF_SP) < q->sp)
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
		q->polls = q->enter_ns ? q->polls + 1 : 1;
		q->enter_ns = enter_ns;
		q->handle = q->asked;
		return 0;
	}
	if (!q->waits && (q->polls < QUERIES_MIN || now - enter_ns > q->polls * QUERY_EVERY_NS)) {
		q->enter_ns = 0;
		q->polls = 0;
		return 0;
	}
	l = launches_of(id >> 32);
	if (!q->enter_ns && !(q->waits && q->handle == q->asked && l && l->nr))
		return 0;
	q->enter_ns = 0;
	q->waits++;
	if (l)
		l->flags |= WAITS;
	reset_launches(id >> 32, &before);
	emit(id, enter_ns, now, JETWATT_SYNC_RECORD_QUERY, (int)ret, -1, -1, &before);
	return 0;
}

static __always_inline int count_launch(void *ctx, u32 from)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32;
	struct launched *l;

	if (!watched(tgid))
		return 0;
	count_entry(ctx, tgid);
	end_query_loop((u32)id);
	l = launches_of(tgid);
	if (!l || (!from && l->flags & DRIVER))
		return 0;
	l->flags |= from;
	if (!l->first_ns)
		l->first_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&l->nr, 1);
	return 0;
}

/*
 * cuLaunchHostFunc(stream, function, data) and cuStreamAddCallback(stream, function, data, flags):
 * libcuda calls function(data), or function(stream, status, data).
 */
SEC("uprobe")
int host_func(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	struct callback_key key = { .fn = saved_reg(ctx, OFF_ARG1), .tgid = id >> 32 };
	struct request r = { .asked_ns = bpf_ktime_get_ns() };
	struct launched *l;

	if (!watched(id >> 32))
		return 0;
	count_entry(ctx, id >> 32);
	end_query_loop((u32)id);
	if (!bpf_map_lookup_elem(&callbacks, &key) &&
	    !bpf_map_update_elem(&callbacks, &key, (void *)&one, BPF_NOEXIST))
		__sync_fetch_and_add(&callbacks_seen, 1);
	l = launches_of(id >> 32);
	if (l && l->callbacks >= QUIET_CALLBACKS) {
		/* The callback does not wait for launches after its request. */
		r.first_ns = l->first_ns;
		r.nr = l->nr;
		r.report = 1;
		l->first_ns = 0;
		l->nr = 0;
	}
	key.fn = saved_reg(ctx, OFF_ARG2);
	if (bpf_map_update_elem(&pending, &key, &r, BPF_ANY))
		count_lost();
	return 0;
}

/* Attached to the functions in the map @callbacks. */
SEC("uprobe")
int host_callback(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	struct callback_key key = { .fn = saved_reg(ctx, OFF_ARG0), .tgid = id >> 32 };
	struct launched before = { 0 }, *l;
	struct request r, *at;

	if (!watched(id >> 32))
		return 0;
	at = bpf_map_lookup_elem(&pending, &key);
	if (!at) {
		key.fn = saved_reg(ctx, OFF_ARG2);
		at = bpf_map_lookup_elem(&pending, &key);
	}
	l = launches_of(id >> 32);
	if (!at || !l)
		return 0;
	r = *at;
	bpf_map_delete_elem(&pending, &key);
	l->callbacks++;
	if (!r.report)
		return 0;
	l->flags |= WAITS;
	before.first_ns = r.first_ns;
	before.nr = r.nr;
	emit(id, r.asked_ns, bpf_ktime_get_ns(), JETWATT_SYNC_RECORD_CALLBACK, 0, -1, -1, &before);
	return 0;
}

SEC("uprobe")
int api_launch(void *ctx)
{
	return count_launch(ctx, DRIVER);
}

SEC("uprobe")
int api_launch_runtime(void *ctx)
{
	return count_launch(ctx, 0);
}

#endif
