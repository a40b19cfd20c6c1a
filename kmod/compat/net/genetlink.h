/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JETWATT_COMPAT_NET_GENETLINK_H
#define JETWATT_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>
#include <linux/version.h>

/*
 * Return the attributes of a dump request: since 6.6, genl_info_dump() returns the struct that has
 * them, before 6.6 genl_dumpit_info().
 */
static inline struct nlattr **jetwatt_genl_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_info_dump(cb)->attrs;
#endif
}

#endif
