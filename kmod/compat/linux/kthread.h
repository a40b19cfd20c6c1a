/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_KTHREAD_H
#define JETWATT_COMPAT_LINUX_KTHREAD_H

#include_next <linux/kthread.h>

/* Before 6.14 a worker runs from the moment that it is created. */
#ifndef kthread_run_worker
#define kthread_run_worker	kthread_create_worker
#endif

#endif
