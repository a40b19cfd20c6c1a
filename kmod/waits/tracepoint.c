// SPDX-License-Identifier: GPL-2.0
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
 * For kernels that cannot trace with BPF (stock JetPack 5: no BPF_EVENTS). The
 * raw_syscalls tracepoints exist on all of them; system call tracepoints,
 * kprobes and BTF do not.
 *
 * From 6.13 on the handlers of system calls are preemptible. Nothing here is
 * per CPU; what is shared is behind raw spinlocks, held for a few lines each.
 * Handlers of system calls run in the task's own context with interrupts on,
 * and the same task is in one of them at a time.
 */

/* What cannot be a wait costs this comparison and no more. */
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

static void gone(struct task_struct *task)
{
	jetwatt_wait_thread_gone(task->pid);
	/* Threads of the process may still be there if its first one goes. */
	if (atomic_read(&task->signal->live) > 0)
		return;
	jetwatt_pollfd_process_gone(task->tgid);
	jetwatt_watch_exited(task->tgid);
}

JETWATT_PROCESS_EXIT_PROBE(on_gone, gone)

/*
 * A new program knows nothing of the descriptors that the old one has armed, nor of waits
 * that it might have gone on with. The thread has taken over the id of the process.
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
} hooks[] = {
	{ "sys_enter", on_enter },
	{ "sys_exit", on_exit },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", JETWATT_PROCESS_EXIT(on_gone) },
	{ "sched_process_exec", on_exec },
};

/* Never called: does not compile where a tracepoint has another prototype. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sys_enter(on_enter);
	check_trace_callback_type_sys_exit(on_exit);
	check_trace_callback_type_sched_process_fork(on_fork);
	check_trace_callback_type_sched_process_exit(JETWATT_PROCESS_EXIT(on_gone));
	check_trace_callback_type_sched_process_exec(on_exec);
}

static void note(struct tracepoint *point, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(point->name, hooks[i].name))
			hooks[i].point = point;
}

/**
 * jetwatt_tracepoints_attach() - have system calls looked at
 *
 * Context: sleeps; callers exclude each other. Return: 0; -EOPNOTSUPP: this
 * kernel has not got the tracepoints; -ENOMEM.
 */
int jetwatt_tracepoints_attach(void)
{
	unsigned int i;
	int err = 0;

	for_each_kernel_tracepoint(note, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks) && !err; i++) {
		if (!hooks[i].point)
			err = -EOPNOTSUPP;
		else if (jetwatt_fail(JETWATT_FAIL_HOOK))
			err = -ENOMEM;
		else
			err = tracepoint_probe_register(hooks[i].point, hooks[i].probe, NULL);
		hooks[i].attached = !err;
	}
	if (err)
		jetwatt_tracepoints_detach();
	return err;
}

/**
 * jetwatt_tracepoints_detach() - leave them alone again
 *
 * Context: sleeps until no handler is running any more; callers exclude each
 * other.
 */
void jetwatt_tracepoints_detach(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].attached)
			tracepoint_probe_unregister(hooks[i].point, hooks[i].probe, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		hooks[i].attached = false;
	tracepoint_synchronize_unregister();
}

/**
 * jetwatt_tracepoints_synchronize() - wait for the handlers that run now
 *
 * Handlers that start later see what the caller has written before.
 *
 * Context: sleeps for grace periods of RCU.
 */
void jetwatt_tracepoints_synchronize(void)
{
	tracepoint_synchronize_unregister();
}
