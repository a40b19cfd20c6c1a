/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_RTMUTEX_H
#define JETWATT_COMPAT_LINUX_RTMUTEX_H

/* arm64's spinlock types of 5.15 refuse to be included by linux/rtmutex.h first. */
#include <linux/spinlock_types.h>
#include_next <linux/rtmutex.h>

#endif
