/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_COMPAT_LINUX_CPUFREQ_H
#define SIM_COMPAT_LINUX_CPUFREQ_H

#include_next <linux/cpufreq.h>
#include <linux/version.h>

/*
 * Up to Linux 6.12, the driver must add the attribute scaling_available_frequencies; in 7.2, the
 * cpufreq core adds it for every driver with a frequency table, and does not export it to drivers.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define SIM_CPUFREQ_ATTRS	&cpufreq_freq_attr_scaling_available_freqs,
#else
#define SIM_CPUFREQ_ATTRS
#endif

/*
 * Up to Linux 6.8 at least, the cpufreq core calls ->exit without checking that it exists if the
 * driver has ->offline. Since 6.11, ->exit returns nothing.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static inline int sim_cpufreq_exit(struct cpufreq_policy *policy)
{
	return 0;
}
#else
static inline void sim_cpufreq_exit(struct cpufreq_policy *policy) { }
#endif

#endif
