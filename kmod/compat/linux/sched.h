/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_SCHED_H
#define JETWATT_COMPAT_LINUX_SCHED_H

#include_next <linux/sched.h>

/*
 * task_is_running() exists since 5.14; before 5.14, the state is in task->state instead of
 * task->__state.
 */
#ifndef task_is_running
#define task_is_running(task)	(READ_ONCE((task)->state) == TASK_RUNNING)
#endif

#endif
