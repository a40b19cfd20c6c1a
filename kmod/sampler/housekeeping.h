/* SPDX-License-Identifier: GPL-2.0 */
/* Keep our threads off isolated CPUs. */
#ifndef JETWATT_HOUSEKEEPING_H
#define JETWATT_HOUSEKEEPING_H

#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>

/**
 * jetwatt_housekeeping() - keep the current kernel thread off isolated CPUs
 * @mask: gets the CPUs that it may use: those that the kernel has given it, except isolated
 *	ones, or all of them if none is left
 *
 * The kernel keeps its threads off the CPUs of nohz_full=, but not off those of
 * isolcpus=, where the scheduler does not move a thread away again.
 *
 * Called by the thread itself: since 6.14 the kernel gives a thread its CPUs when it runs for
 * the first time, which would undo what its creator has set before. The masks may
 * be replaced at runtime in newer kernels, hence RCU.
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
