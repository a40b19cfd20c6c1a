/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_LINUX_NETLINK_H
#define JETWATT_COMPAT_LINUX_NETLINK_H

#include_next <linux/netlink.h>
#include <linux/atomic.h>
#include <linux/kernel.h>

/*
 * NL_SET_ERR_MSG_FMT() exists since 6.2. Before 6.2, the kernel copies the error message after the
 * request handler has returned, so the buffer of the text must outlive the handler. Only privileged
 * clients get formatted error messages, and few of them at the same time, so 32 static buffers are
 * enough.
 */
#ifndef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, fmt, args...) do {				\
	static char __texts[32][80];						\
	static atomic_t __next;							\
	struct netlink_ext_ack *__extack = (extack);				\
	char *__text = __texts[atomic_inc_return(&__next) & 31];		\
										\
	snprintf(__text, sizeof(__texts[0]), fmt, ##args);			\
	if (__extack)								\
		__extack->_msg = __text;					\
} while (0)
#endif

#endif
