// SPDX-License-Identifier: GPL-2.0
/* Attach handlers to the kernel's tracepoints of system calls and processes. */
#include "waits/tracepoint.h"

#include <linux/binfmts.h>
#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/unistd.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>
#include "fault_inject.h"
#include "waits/pollfd.h"
#include "waits/wait.h"
#include "waits/watch.h"

/*
 * This tracing is for kernels that cannot trace with BPF (stock JetPack 5 has no BPF_EVENTS). These
 * kernels have the raw_syscalls tracepoints, but not always tracepoints for single system calls,
 * kprobes or BTF.
 *
 * Since 6.13, the handlers of system calls are preemptible. Therefore the handlers use no per-CPU
 * data; raw spinlocks, each held for a short time, protect the shared data. A handler runs in the
 * context of the traced task with interrupts enabled, and a task runs only one handler at a time.
 */

/*
 * The number of the system call is checked first, so that for system calls that cannot be part of a
 * wait this check is the only cost at entry.
 */
static bool may_wait(long nr)
{
	switch (nr) {
	case __NR_ioctl:
	case __NR_ppoll:
#ifdef __NR_poll
	case __NR_poll:
#endif
	case __NR_close:
	case __NR_close_range:
	case __NR_dup:
#ifdef __NR_dup2
	case __NR_dup2:
#endif
	case __NR_dup3:
	case __NR_fcntl:
	case __NR_restart_syscall:
		return !in_compat_syscall();
	default:
		return false;
	}
}

static void on_enter(void *unused, struct pt_regs *regs, long nr)
{
	if (may_wait(nr) && jetwatt_watch_may_want(current->tgid))
		jetwatt_wait_enter(regs, nr);
}

static void on_exit(void *unused, struct pt_regs *regs, long ret)
{
	if (jetwatt_wait_pending() && jetwatt_watch_may_want(current->tgid))
		jetwatt_wait_exit(regs, ret);
}

static void on_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (child->tgid != parent->tgid)
		jetwatt_watch_forked(parent->tgid, child->tgid);
}

static void task_exited(struct task_struct *task)
{
	jetwatt_wait_thread_gone(task->pid);
	/* Other threads of the process may still run if the main thread exits. */
	if (atomic_read(&task->signal->live) > 0)
		return;
	jetwatt_pollfd_process_gone(task->tgid);
	jetwatt_watch_exited(task->tgid);
}

JETWATT_PROCESS_EXIT_PROBE(on_gone, task_exited)

/*
 * The new program does not use the descriptors that the old program has armed, and continues none
 * of the old program's waits. exec gives the calling thread the id of the main thread, so the waits
 * of both ids are dropped.
 */
static void on_exec(void *unused, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	jetwatt_wait_thread_gone(old_pid);
	jetwatt_wait_thread_gone(task->pid);
	jetwatt_pollfd_process_gone(task->tgid);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *point;
	bool attached;
} handlers[] = {
	{ "sys_enter", on_enter },
	{ "sys_exit", on_exit },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", JETWATT_PROCESS_EXIT(on_gone) },
	{ "sched_process_exec", on_exec },
};

/*
 * Never called. The function only ensures that compilation fails if a tracepoint has another
 * prototype than its handler.
 */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sys_enter(on_enter);
	check_trace_callback_type_sys_exit(on_exit);
	check_trace_callback_type_sched_process_fork(on_fork);
	check_trace_callback_type_sched_process_exit(JETWATT_PROCESS_EXIT(on_gone));
	check_trace_callback_type_sched_process_exec(on_exec);
}

static void find_tracepoint(struct tracepoint *point, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		if (!strcmp(point->name, handlers[i].name))
			handlers[i].point = point;
}

/**
 * jetwatt_tracepoints_attach() - attach the handlers to the tracepoints
 *
 * Context: sleeps; callers must exclude each other. Return: 0; -EOPNOTSUPP if the kernel lacks one
 * of the tracepoints; -ENOMEM.
 */
int jetwatt_tracepoints_attach(void)
{
	unsigned int i;
	int err = 0;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(handlers) && !err; i++) {
		if (!handlers[i].point)
			err = -EOPNOTSUPP;
		else if (jetwatt_fail(JETWATT_FAIL_HOOK))
			err = -ENOMEM;
		else
			err = tracepoint_probe_register(handlers[i].point, handlers[i].probe, NULL);
		handlers[i].attached = !err;
	}
	if (err)
		jetwatt_tracepoints_detach();
	return err;
}

/**
 * jetwatt_tracepoints_detach() - detach the handlers from the tracepoints
 *
 * Context: sleeps until no handler runs any more; callers must exclude each other.
 */
void jetwatt_tracepoints_detach(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		if (handlers[i].attached)
			tracepoint_probe_unregister(handlers[i].point, handlers[i].probe, NULL);
	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		handlers[i].attached = false;
	tracepoint_synchronize_unregister();
}

/**
 * jetwatt_tracepoints_synchronize() - wait for the handlers that run now
 *
 * Handlers that start after this call see all data that the caller has written before the call.
 *
 * Context: sleeps for RCU grace periods.
 */
void jetwatt_tracepoints_synchronize(void)
{
	tracepoint_synchronize_unregister();
}
