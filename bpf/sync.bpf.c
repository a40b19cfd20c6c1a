// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * One record for each finished wait of a thread for the GPU.
 *
 * CUDA on a Jetson sleeps in one of two ways (what the kernels' uapi offers;
 * which of them a given release takes is not documented):
 *
 *  - SYNCPOINT_WAIT of tegra-drm: one ioctl, which returns 0 when the fence
 *    has passed;
 *  - TRIGGER_POLLFD of host1x-fence: arms a pollfd; a poll() that sees it
 *    ready, maybe after some that time out, ends the wait. The fence is
 *    consumed by that poll. Several may be pending on one pollfd.
 *
 * Only raw tracepoints, fixed offsets and helpers: stock Jetson kernels have
 * neither BTF, kprobes nor system call tracepoints. A number alone proves
 * nothing, so the descriptors are in the record: user space looks up what
 * they are. A system call that is not ours costs one comparison at entry and
 * one eight-byte read at exit.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#include "state.h"
#include "wait.h"

SEC("raw_tracepoint/sys_enter")
int sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	long nr = (long)ctx->args[1];
	u64 id;

	if (nr != NR_IOCTL && nr != NR_PPOLL && nr != NR_POLL && nr != NR_CLOSE && nr != NR_EXIT &&
	    nr != NR_EXECVE && nr != NR_EXECVEAT)
		return 0;
	id = bpf_get_current_pid_tgid();
	if (!watched(id >> 32))
		return 0;
	if (nr == NR_IOCTL) {
		enter_ioctl(ctx->args[0], (u32)id);
	} else if (nr == NR_CLOSE) {
		enter_close(ctx->args[0], id >> 32);
	} else if (nr == NR_PPOLL || nr == NR_POLL) {
		enter_poll(ctx->args[0], id);
	} else if (follow_set && (nr == NR_EXIT) == (id >> 32 == (u32)id)) {
		/* the first thread goes alone, or to make room for another's exec */
		u32 tgid = id >> 32, gone = 2;

		bpf_map_update_elem(&followed, &tgid, &gone, BPF_EXIST);
	}
	return 0;
}

static __always_inline void follow(u32 child)
{
	u32 one = 1;

	if (bpf_map_update_elem(&followed, &child, &one, BPF_ANY))
		count_lost();
}

SEC("raw_tracepoint/sys_exit")
int sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	long nr = (int)reg(ctx->args[0], OFF_NR);
	long ret = (long)ctx->args[1];
	u64 id;

	if (nr == NR_IOCTL || nr == NR_PPOLL || nr == NR_POLL || nr == NR_RESTART_SYSCALL) {
		id = bpf_get_current_pid_tgid();
		if (watched(id >> 32))
			exit_wait(ctx->args[0], nr, id, ret);
		return 0;
	}
	/*
	 * Without sched_process_fork: the parent's return value names the child
	 * as the parent's pid namespace sees it, a thread as well as a process
	 * (no process has a live thread's id, so that does no harm).
	 */
	if (follow_set && !fork_child_off &&
	    (nr == NR_CLONE || nr == NR_CLONE3 || nr == NR_FORK || nr == NR_VFORK) && ret > 0) {
		id = bpf_get_current_pid_tgid();
		if (watched(id >> 32))
			follow((u32)ret);
	}
	return 0;
}

/* Called by the parent before the child runs. */
SEC("tracepoint/sched/sched_process_fork")
int process_fork(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32, child = 0;

	if (watched(tgid) &&
	    !bpf_probe_read_kernel(&child, sizeof(child), ctx + fork_child_off))
		follow(child);
	return 0;
}

SEC("raw_tracepoint/sched_process_exit")
int process_exit(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32, tid = (u32)id, *state;

	bpf_map_delete_elem(&waits, &tid);
	if (!follow_set)
		return 0;
	state = bpf_map_lookup_elem(&followed, &tid);
	if (state && (tid != tgid || *state == 1))
		bpf_map_delete_elem(&followed, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
