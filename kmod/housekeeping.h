/* SPDX-License-Identifier: GPL-2.0 */
/* Keep our threads off isolated CPUs. */
#ifndef JETWATT_HOUSEKEEPING_H
#define JETWATT_HOUSEKEEPING_H

#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>

/**
 * jetwatt_housekeeping() - keep a kernel thread off isolated CPUs
 * @task: the thread, with the CPUs that the kernel has given it
 * @mask: gets those of them that are not isolated, or all if none is left
 *
 * The kernel keeps its threads off the CPUs of nohz_full=, but not off those of
 * isolcpus=, where the scheduler does not move a thread away again.
 *
 * Context: sleeps.
 */
static inline void jetwatt_housekeeping(struct task_struct *task, struct cpumask *mask)
{
	if (!cpumask_and(mask, task->cpus_ptr, housekeeping_cpumask(HK_TYPE_DOMAIN)))
		cpumask_copy(mask, task->cpus_ptr);
	if (!cpumask_equal(mask, task->cpus_ptr))
		set_cpus_allowed_ptr(task, mask);
}

#endif
