/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64's spinlock types of 5.15 refuse to be included by linux/rtmutex.h first. With PREEMPT_RT
 * they include linux/rtmutex.h themselves, which comes back to this file and has to find the
 * kernel's own behind it: so there is no include guard here. Theirs suffice.
 */
#include <linux/spinlock_types.h>
#include_next <linux/rtmutex.h>
