/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_HRTIMER_H
#define JETWATT_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>
#include <linux/version.h>

/*
 * hrtimer_setup() exists since 6.13; before 6.13, hrtimer_init() is followed by assigning the
 * handler to timer->function.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void jetwatt_hrtimer_setup(struct hrtimer *timer,
					 enum hrtimer_restart (*function)(struct hrtimer *),
					 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

#define hrtimer_setup jetwatt_hrtimer_setup
#endif

#endif
