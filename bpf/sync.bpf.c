// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * BPF program that writes one record for each finished wait of a thread for the GPU.
 * user/lib/probe_bpf.c loads the program.
 *
 * If the kernel has uprobes and the caller wants them, functions of libcuda, and of a CUDA runtime
 * that does not call them at the addresses that libcuda exports, are traced (api.h). Waits that
 * spin in libcuda are then detected too.
 *
 * Below libcuda, CUDA on a Jetson blocks in one of three ways:
 *
 *  - one ioctl, which returns 0 when the fence has passed: SYNCPOINT_WAIT of tegra-drm (JetPack 6),
 *    SYNCPT_WAIT* of nvhost-ctrl (JetPack 5);
 *  - an ioctl arms a descriptor ("pollfd") for a fence: TRIGGER_POLLFD of host1x-fence (JetPack 6),
 *    POLL_FD_TRIGGER_EVENT of nvhost-ctrl (JetPack 5). The poll() that finds the pollfd ready ends
 *    the wait and consumes the fence; polls before it may time out. Several fences may be pending
 *    on one pollfd;
 *  - poll() of an event of the GPU's driver, which needs no arming: an event of nvgpu's channel
 *    groups (JetPack 5 and 6), or /dev/nvidia* (Thor).
 *
 * To trace system calls, the program uses only raw tracepoints, fixed offsets and BPF helpers,
 * because stock Jetson kernels have neither BTF nor kprobes nor system call tracepoints. Other
 * drivers may use the same ioctl numbers as the GPU's drivers, so the record contains the
 * descriptors, and user space looks up the files behind them. For a system call that is not
 * examined, the program costs a few comparisons at entry and usually one map lookup at exit.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#include "state.h"
#include "api.h"
#include "wait.h"

/*
 * Delete the entries in @callers and @armers of a process whose first thread exits or that calls
 * execve(), because its process id may soon stand for another process or program.
 */
static __always_inline void forget_process(u32 tgid)
{
	u32 *has = bpf_map_lookup_elem(&armers, &tgid);

	bpf_map_delete_elem(&callers, &tgid);
	if (unattached_seen)
		bpf_map_delete_elem(&unattached, &tgid);
	if (has && *has & NAMED)
		emit_forget(tgid, -1);
	if (has)
		bpf_map_delete_elem(&armers, &tgid);
}

/* Delete the entries of a thread that exits, or whose id no thread has after its execve(). */
static __always_inline void forget_thread(u32 tid)
{
	free_wait_slot(tid);
	if (callers_seen)
		bpf_map_delete_elem(&calls, &tid);
	if (queries_seen)
		bpf_map_delete_elem(&queries, &tid);
}

/*
 * Mark in @followed that the first thread of a process has ended or is about to end, while other
 * threads may live on.
 */
static __always_inline void mark_first_exited(u32 tgid)
{
	u32 gone = 2;

	bpf_map_update_elem(&followed, &tgid, &gone, BPF_EXIST);
}

SEC("raw_tracepoint/sys_enter")
int sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	long nr = (long)ctx->args[1];
	struct wait_call *w;
	u32 tgid, tid;
	u64 id;

	if (nr != NR_IOCTL && nr != NR_PPOLL && nr != NR_POLL && nr != NR_CLOSE && nr != NR_EXIT &&
	    nr != NR_EXECVE && nr != NR_EXECVEAT && nr != NR_DUP && nr != NR_DUP2 &&
	    nr != NR_DUP3 && nr != NR_FCNTL && nr != NR_CLOSE_RANGE)
		return 0;
	id = bpf_get_current_pid_tgid();
	tgid = id >> 32;
	tid = (u32)id;
	/*
	 * A thread that has an entry (wait_of()) is watched, so watched() need not be called for
	 * it.
	 */
	w = wait_of(tid);
	if (!w && !watched(tgid))
		return 0;
	if (nr == NR_EXIT || nr == NR_EXECVE || nr == NR_EXECVEAT) {
		if (nr != NR_EXIT)
			forget_process(tgid);
		/* After execve(), the thread has the id of the first thread. */
		if (nr != NR_EXIT && tgid != tid)
			forget_thread(tid);
		if (follow_set && (nr == NR_EXIT) == (tgid == tid))
			mark_first_exited(tgid);
		return 0;
	}
	if (only_forks || (callers_seen && waits_in_library(tgid, tid)))
		return 0;
	if (nr == NR_IOCTL)
		enter_ioctl(ctx->args[0], tid, w);
	else if (nr == NR_CLOSE)
		enter_close((int)read_args(ctx->args[0]).v[ARG0], tgid);
	else if (nr == NR_CLOSE_RANGE)
		enter_close_range(ctx->args[0], tgid);
	else if (nr == NR_PPOLL || nr == NR_POLL)
		enter_poll(ctx->args[0], id, w);
	else
		enter_dup(ctx->args[0], nr, id, w);
	return 0;
}

static __always_inline void follow_child(u32 child)
{
	if (bpf_map_update_elem(&followed, &child, (void *)&one, BPF_ANY))
		count_lost();
}

/*
 * Follow the child that clone() or fork() returns; used if the tracepoint sched_process_fork is not
 * available. The return value is the child's id in the pid namespace of the parent. If the child is
 * a thread, adding its id to @followed is harmless, because no process has the id of a live thread.
 */
static __always_inline void exit_fork(u64 regs, u32 tgid, long ret)
{
	long nr = (int)read_reg(regs, OFF_NR);

	if ((nr == NR_CLONE || nr == NR_CLONE3 || nr == NR_FORK || nr == NR_VFORK) && ret > 0 &&
	    watched(tgid))
		follow_child((u32)ret);
}

SEC("raw_tracepoint/sys_exit")
int sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	long ret = (long)ctx->args[1];
	u32 tid = (u32)id;
	struct wait_call *w = wait_of(tid);

	if (w)
		exit_wait(ctx->args[0], id, w, ret);
	if (follow_set && !fork_child_off)
		exit_fork(ctx->args[0], id >> 32, ret);
	return 0;
}

/* The tracepoint is hit in the parent, before the child runs. */
SEC("tracepoint/sched/sched_process_fork")
int process_fork(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32, child = 0;

	if (bpf_probe_read_kernel(&child, sizeof(child), ctx + fork_child_off))
		return 0;
	if (watched(tgid))
		follow_child(child);
	else if (follow_set && orphans)
		bpf_map_delete_elem(&followed, &child);
	return 0;
}

/*
 * When the first thread of a process exits, this tracepoint does not show whether other threads are
 * still alive. If system calls are traced and other threads live on, sys_enter() has already set
 * the process's value in @followed to 2. If they are not traced, this function sets it to 2. A
 * process with the value 2 stays in @followed until user space finds that it is gone or, if this
 * function has set the value 2 of any process, until another process gets its number.
 */
SEC("raw_tracepoint/sched_process_exit")
int process_exit(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32, tid = (u32)id, *state;

	forget_thread(tid);
	if (tid == tgid)
		forget_process(tgid);
	if (!follow_set)
		return 0;
	state = bpf_map_lookup_elem(&followed, &tid);
	if (!state)
		return 0;
	if (tid != tgid || (*state == 1 && sees_syscalls)) {
		bpf_map_delete_elem(&followed, &tid);
	} else if (*state == 1) {
		mark_first_exited(tgid);
		__sync_fetch_and_add(&orphans, 1);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
