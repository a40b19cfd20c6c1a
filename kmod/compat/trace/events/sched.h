/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_TRACE_EVENTS_SCHED_H
#define JETWATT_COMPAT_TRACE_EVENTS_SCHED_H

#include_next <trace/events/sched.h>

/*
 * In newer kernels, the probe of the tracepoint sched_process_exit has a third parameter,
 * group_dead: true if the last thread of the process exits. With kCFI, a probe with a wrong
 * prototype crashes the kernel. Therefore a probe with and a probe without the parameter are
 * defined, and the type of check_trace_callback_type_sched_process_exit() selects the probe that
 * fits this kernel.
 */
#define JETWATT_PROCESS_EXIT_PROBE(name, gone)						\
static void __maybe_unused name##_task(void *unused, struct task_struct *task)		\
{											\
	gone(task);									\
}											\
static void __maybe_unused name##_group(void *unused, struct task_struct *task,	\
					bool group_dead)				\
{											\
	gone(task);									\
}

#define JETWATT_PROCESS_EXIT(name)							\
	__builtin_choose_expr(__builtin_types_compatible_p(				\
		typeof(&check_trace_callback_type_sched_process_exit),			\
		void (*)(void (*)(void *, struct task_struct *, bool))),		\
		name##_group, name##_task)

#endif
