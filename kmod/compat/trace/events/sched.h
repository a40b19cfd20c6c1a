/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_TRACE_EVENTS_SCHED_H
#define JETWATT_COMPAT_TRACE_EVENTS_SCHED_H

#include_next <trace/events/sched.h>

/*
 * Newer kernels pass to the probe of sched_process_exit whether the whole process ends. With kCFI,
 * a probe with a wrong prototype crashes the kernel. Therefore both probes are defined, and the
 * type of the tracepoint's check function selects the one that this kernel calls.
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
