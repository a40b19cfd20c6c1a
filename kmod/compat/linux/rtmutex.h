/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The spinlock types of arm64 in 5.15 must be included before linux/rtmutex.h. With PREEMPT_RT they
 * include linux/rtmutex.h themselves, which leads to this file again; it must then include the
 * kernel's header, so there is no include guard here. The guards of both headers suffice.
 */
#include <linux/spinlock_types.h>
#include_next <linux/rtmutex.h>
