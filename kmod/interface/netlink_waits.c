// SPDX-License-Identifier: GPL-2.0
/* Netlink handlers for subscriptions to waits. */
#include "interface/netlink.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <net/genetlink.h>
#include "interface/wait_subscriber.h"

/**
 * jetwatt_netlink_waits_watch() - handle JETWATT_CMD_WAITS_WATCH
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_waits_watch(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[JETWATT_A_WAITS_TGIDS];
	u32 tgids[JETWATT_WAITS_TGIDS_MAX];
	bool children = false;
	unsigned int n = 0;
	int err;

	err = jetwatt_netlink_observe(skb, info->extack);
	if (err)
		return err;
	if (attr) {
		n = min_t(unsigned int, nla_len(attr) / sizeof(u32), ARRAY_SIZE(tgids));
		/*
		 * An empty list of process ids is an error, because a length of 0 means all
		 * processes to jetwatt_wait_subscriber_add().
		 */
		if (!n || nla_len(attr) != n * sizeof(u32)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "must be a list of process ids");
			return -EINVAL;
		}
		nla_memcpy(tgids, attr, n * sizeof(u32));
	}
	attr = info->attrs[JETWATT_A_WAITS_CHILDREN];
	if (attr && nla_len(attr) && nla_len(attr) != sizeof(u32)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "must be a flag");
		return -EINVAL;
	}
	if (attr)
		children = !nla_len(attr) || nla_get_u32(attr);

	err = jetwatt_wait_subscriber_add(info->snd_portid, NETLINK_CB(skb).sk, tgids, n, children);
	switch (err) {
	case -EALREADY:
		NL_SET_ERR_MSG(info->extack, "this socket already watches waits");
		break;
	case -EUSERS:
		NL_SET_ERR_MSG(info->extack, "too many sockets watch waits");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG(info->extack, "no memory to watch waits");
		break;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG(info->extack, "this kernel has no raw_syscalls tracepoints");
		break;
	}
	return err;
}

/**
 * jetwatt_netlink_waits_unwatch() - handle JETWATT_CMD_WAITS_UNWATCH
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_waits_unwatch(struct sk_buff *skb, struct genl_info *info)
{
	int err = jetwatt_wait_subscriber_remove(info->snd_portid, NETLINK_CB(skb).sk);

	if (err)
		NL_SET_ERR_MSG(info->extack, "this socket does not watch waits");
	return err;
}
