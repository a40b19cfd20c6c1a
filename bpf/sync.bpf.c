// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * One record for each finished wait of a thread for the GPU.
 *
 * Where the kernel has uprobes, libcuda's own calls are watched (api.h); that is
 * the whole truth, provided the program reaches them by the addresses that the
 * library exports. Below it, CUDA on a Jetson sleeps in one of three ways:
 *
 *  - one ioctl, which returns 0 when the fence has passed: SYNCPOINT_WAIT of
 *    tegra-drm (JetPack 6), SYNCPT_WAIT* of nvhost-ctrl (JetPack 5);
 *  - an ioctl arms a pollfd, and a poll() that sees it ready, maybe after some
 *    that time out, ends the wait: TRIGGER_POLLFD of host1x-fence (JetPack 6),
 *    POLL_FD_TRIGGER_EVENT of nvhost-ctrl (JetPack 5). The fence is consumed by
 *    that poll. Several may be pending on one pollfd;
 *  - poll() of an event, which needs no arming: of nvgpu's channel groups
 *    (both), /dev/nvidia* (Thor).
 *
 * Only raw tracepoints, fixed offsets and helpers: stock Jetson kernels have
 * neither BTF, kprobes nor system call tracepoints. A number alone proves
 * nothing, so the descriptors are in the record: user space looks up what
 * they are. A system call that is not ours costs a few comparisons at entry and
 * one look-up at exit.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#include "state.h"
#include "api.h"
#include "wait.h"

/* A new program knows nothing of the old one's descriptors, a new process
 * nothing of the one that had its number. */
static __always_inline void begin_anew(u32 tgid)
{
	u32 *has = bpf_map_lookup_elem(&armers, &tgid);

	bpf_map_delete_elem(&callers, &tgid);
	if (has && *has & NAMED)
		forget(tgid, -1);
	if (has)
		bpf_map_delete_elem(&armers, &tgid);
}

/* The first thread goes alone, or to make room for another's exec. */
static __always_inline void orphan(u32 tgid)
{
	u32 gone = 2;

	bpf_map_update_elem(&followed, &tgid, &gone, BPF_EXIST);
}

SEC("raw_tracepoint/sys_enter")
int sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	long nr = (long)ctx->args[1];
	struct wait *w;
	u32 tgid, tid;
	u64 id;

	if (nr != NR_IOCTL && nr != NR_PPOLL && nr != NR_POLL && nr != NR_CLOSE && nr != NR_EXIT &&
	    nr != NR_EXECVE && nr != NR_EXECVEAT && nr != NR_DUP && nr != NR_DUP2 &&
	    nr != NR_DUP3 && nr != NR_FCNTL && nr != NR_CLOSE_RANGE)
		return 0;
	id = bpf_get_current_pid_tgid();
	tgid = id >> 32;
	tid = (u32)id;
	/* who has an entry is watched: one look-up where it matters */
	w = wait_of(tid);
	if (!w && !watched(tgid))
		return 0;
	if (nr == NR_EXIT || nr == NR_EXECVE || nr == NR_EXECVEAT) {
		if (nr != NR_EXIT)
			begin_anew(tgid);
		if (follow_set && (nr == NR_EXIT) == (tgid == tid))
			orphan(tgid);
		return 0;
	}
	if (only_forks || (callers_seen && waits_in_library(tgid)))
		return 0;
	if (nr == NR_IOCTL)
		enter_ioctl(ctx->args[0], tid, w);
	else if (nr == NR_CLOSE)
		enter_close((int)args(ctx->args[0]).v[ARG0], tgid);
	else if (nr == NR_CLOSE_RANGE)
		enter_close_range(ctx->args[0], tgid);
	else if (nr == NR_PPOLL || nr == NR_POLL)
		enter_poll(ctx->args[0], id, w);
	else
		enter_dup(ctx->args[0], nr, id, w);
	return 0;
}

static __always_inline void follow(u32 child)
{
	if (bpf_map_update_elem(&followed, &child, (void *)&one, BPF_ANY))
		count_lost();
}

/*
 * Without sched_process_fork: the parent's return value names the child as the
 * parent's pid namespace sees it, a thread as well as a process (no process has
 * a live thread's id, so that does no harm).
 */
static __always_inline void exit_fork(u64 regs, u32 tgid, long ret)
{
	long nr = (int)reg(regs, OFF_NR);

	if ((nr == NR_CLONE || nr == NR_CLONE3 || nr == NR_FORK || nr == NR_VFORK) && ret > 0 &&
	    watched(tgid))
		follow((u32)ret);
}

SEC("raw_tracepoint/sys_exit")
int sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	long ret = (long)ctx->args[1];
	u32 tid = (u32)id;
	struct wait *w = wait_of(tid);

	if (w)
		exit_wait(ctx->args[0], id, w, ret);
	if (follow_set && !fork_child_off)
		exit_fork(ctx->args[0], id >> 32, ret);
	return 0;
}

/* Called by the parent before the child runs. */
SEC("tracepoint/sched/sched_process_fork")
int process_fork(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32, child = 0;

	if (bpf_probe_read_kernel(&child, sizeof(child), ctx + fork_child_off))
		return 0;
	if (watched(tgid))
		follow(child);
	else if (follow_set && orphans)
		bpf_map_delete_elem(&followed, &child);
	return 0;
}

/*
 * Whether threads outlive the first one can't be told here. A system call has
 * told it, where those are seen; else a number stays in @followed until user
 * space finds that the process is gone, or it is given to a stranger.
 */
SEC("raw_tracepoint/sched_process_exit")
int process_exit(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32, tid = (u32)id, *state;

	leave(tid);
	if (callers_seen)
		bpf_map_delete_elem(&calls, &tid);
	if (queries_seen)
		bpf_map_delete_elem(&queries, &tid);
	if (tid == tgid)
		begin_anew(tgid);
	if (!follow_set)
		return 0;
	state = bpf_map_lookup_elem(&followed, &tid);
	if (!state)
		return 0;
	if (tid != tgid || (*state == 1 && sees_syscalls)) {
		bpf_map_delete_elem(&followed, &tid);
	} else if (*state == 1) {
		orphan(tgid);
		__sync_fetch_and_add(&orphans, 1);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
