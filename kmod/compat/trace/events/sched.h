/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_TRACE_EVENTS_SCHED_H
#define JETWATT_COMPAT_TRACE_EVENTS_SCHED_H

#include_next <trace/events/sched.h>

/*
 * Newer kernels tell the probe of sched_process_exit whether the whole process ends. A
 * probe of another prototype is a crash where the kernel checks indirect calls (kCFI).
 * The tracepoint's own type tells which of the two this kernel calls.
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
