// SPDX-License-Identifier: GPL-2.0
/* Netlink handlers for the black box. */
#include "interface/netlink.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <net/genetlink.h>
#include "sampler/blackbox.h"
#include "sampler/config.h"

static int put_box(struct sk_buff *skb, const struct jetwatt_blackbox *box)
{
	return nla_put_u32(skb, JETWATT_A_BOX_CAUSE, box->cause) ?:
	       nla_put_u32(skb, JETWATT_A_BOX_INDEX, box->index) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_BOX_TIME_NS, box->time_ns, JETWATT_A_BOX_PAD) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_BOX_SEQ, box->seq, JETWATT_A_BOX_PAD) ?:
	       nla_put_u32(skb, JETWATT_A_BOX_COUNT, box->count) ?:
	       nla_put_u32(skb, JETWATT_A_BOX_MISSED, box->missed);
}

static int box_result(struct genl_info *info, int err)
{
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "the black box is empty");
	return err;
}

/**
 * jetwatt_netlink_box_get() - handle JETWATT_CMD_BOX_GET
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_box_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	struct jetwatt_blackbox box;
	void *header;
	int err;

	err = jetwatt_blackbox_get(&box);
	if (err)
		return box_result(info, err);
	reply = jetwatt_netlink_reply_begin(info, JETWATT_CMD_BOX_GET, &header);
	if (!reply)
		return -ENOMEM;
	return jetwatt_netlink_reply_send(reply, info, header,
					  header ? put_box(reply, &box) : -EMSGSIZE);
}

/**
 * jetwatt_netlink_box_freeze() - handle JETWATT_CMD_BOX_FREEZE
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_box_freeze(struct sk_buff *skb, struct genl_info *info)
{
	int err = jetwatt_blackbox_freeze(JETWATT_BOX_CAUSE_REQUEST, 0, ktime_get_ns());

	switch (err) {
	case -EBUSY:
		NL_SET_ERR_MSG(info->extack, "the black box is not empty: read and clear it first");
		break;
	case -ENODATA:
		if (!jetwatt_config_box_ms())
			NL_SET_ERR_MSG(info->extack, "the length of the black box is 0 ms");
		else
			NL_SET_ERR_MSG(info->extack, "no samples: the sampler has not run recently");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG(info->extack, "no memory for the black box");
		break;
	}
	return err;
}

/**
 * jetwatt_netlink_box_clear() - handle JETWATT_CMD_BOX_CLEAR
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_box_clear(struct sk_buff *skb, struct genl_info *info)
{
	return box_result(info, jetwatt_blackbox_clear());
}
