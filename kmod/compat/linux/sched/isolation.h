/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_SCHED_ISOLATION_H
#define JETWATT_COMPAT_LINUX_SCHED_ISOLATION_H

#include_next <linux/sched/isolation.h>
#include <linux/version.h>

/* Before 5.18, the constants that select a housekeeping mask are named HK_FLAG_*, not HK_TYPE_*. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define HK_TYPE_DOMAIN	HK_FLAG_DOMAIN
#define HK_TYPE_KTHREAD	HK_FLAG_KTHREAD
#endif

#endif
