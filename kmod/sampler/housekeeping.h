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
 * @mask: gets the CPUs that the thread may use: its present CPUs except the isolated CPUs, or all
 *	its present CPUs if all of them are isolated
 *
 * The kernel keeps kernel threads off the CPUs of the boot parameter nohz_full=, but not off the
 * CPUs of isolcpus=; once a thread runs on a CPU of isolcpus=, the scheduler does not move it to
 * another CPU.
 *
 * The thread itself must call this function: since 6.14, the kernel sets the CPUs of a thread when
 * the thread first runs, which would override a setting made by the creator of the thread. Newer
 * kernels may replace the housekeeping masks at runtime, so the masks are read under RCU.
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
