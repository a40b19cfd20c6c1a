/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On arm64 with kernel 5.15, linux/spinlock_types.h must be included before linux/rtmutex.h. With
 * PREEMPT_RT, linux/spinlock_types.h itself includes linux/rtmutex.h, so the compiler enters this
 * file a second time. The second pass must reach the kernel's linux/rtmutex.h, so this file has no
 * include guard. The include guards of the two kernel headers prevent an endless recursion.
 */
#include <linux/spinlock_types.h>
#include_next <linux/rtmutex.h>
