/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_COMPAT_LINUX_HRTIMER_H
#define SIM_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>
#include <linux/version.h>

/* hrtimer_setup() exists since Linux 6.13; before, a driver assigns the timer's function itself. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
