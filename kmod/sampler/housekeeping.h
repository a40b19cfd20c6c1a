/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps the module's threads off isolated CPUs. */
#ifndef JETWATT_HOUSEKEEPING_H
#define JETWATT_HOUSEKEEPING_H

#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>

/**
 * jetwatt_housekeeping() - keep the current kernel thread off isolated CPUs
 * @mask: gets the CPUs that the thread may use: its present ones without the isolated ones, or all
 *	present ones if all are isolated
 *
 * The kernel keeps its threads off the CPUs of nohz_full=, but not off those of isolcpus=, where
 * the scheduler does not move a thread away again.
 *
 * The thread itself must call this: since 6.14, the kernel sets the CPUs of a thread when it first
 * runs, which would override what its creator has set. Newer kernels may replace the housekeeping
 * masks at runtime, hence RCU.
 *
 * Context: the thread itself; sleeps.
 */
static inline void jetwatt_housekeeping(struct cpumask *mask)
{
	bool any;

	rcu_read_lock();
	any = cpumask_and(mask, current->cpus_ptr, housekeeping_cpumask(HK_TYPE_DOMAIN)) &&
	      cpumask_and(mask, mask, housekeeping_cpumask(HK_TYPE_KTHREAD));
	rcu_read_unlock();
	if (!any)
		cpumask_copy(mask, current->cpus_ptr);
	if (!cpumask_equal(mask, current->cpus_ptr))
		set_cpus_allowed_ptr(current, mask);
}

#endif
