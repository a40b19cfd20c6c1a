/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_SCHED_H
#define JETWATT_COMPAT_LINUX_SCHED_H

#include_next <linux/sched.h>

/* Before 5.14 everybody looks at the state himself. */
#ifndef task_is_running
#define task_is_running(task)	(READ_ONCE((task)->state) == TASK_RUNNING)
#endif

#endif
