/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_KTHREAD_H
#define JETWATT_COMPAT_LINUX_KTHREAD_H

#include_next <linux/kthread.h>

/*
 * kthread_run_worker() exists since 6.14; before 6.14, kthread_create_worker() creates the worker
 * thread and also starts it.
 */
#ifndef kthread_run_worker
#define kthread_run_worker	kthread_create_worker
#endif

#endif
