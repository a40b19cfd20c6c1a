// SPDX-License-Identifier: GPL-2.0
/* Netlink handlers for information, configuration, subscriptions and statistics. */
#include "interface/netlink.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <net/genetlink.h>
#include "fault_inject.h"
#include "interface/subscriber.h"
#include "sampler/config.h"
#include "sampler/ring.h"
#include "sampler/sampler.h"
#include "sampler/stats.h"
#include "sampler/transfer.h"
#include "sensors/board.h"
#include "sensors/rail_graph.h"

/**
 * jetwatt_netlink_reply_begin() - allocate the reply to a request
 * @info: the request
 * @cmd: command of the reply
 * @header: gets the address of the reply's header, or NULL if the header does not fit
 *
 * Return: the message, or NULL if there is no memory.
 */
struct sk_buff *jetwatt_netlink_reply_begin(struct genl_info *info, u8 cmd, void **header)
{
	struct sk_buff *skb = NULL;

	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb) {
		NL_SET_ERR_MSG(info->extack, "no memory for a reply");
		return NULL;
	}
	*header = genlmsg_put_reply(skb, info, &jetwatt_netlink_family, 0, cmd);
	return skb;
}

/**
 * jetwatt_netlink_reply_send() - send a reply
 * @skb: the reply
 * @info: the request
 * @header: header of the reply
 * @err: nonzero if the header or an attribute did not fit into the reply, which is then freed
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_reply_send(struct sk_buff *skb, struct genl_info *info, void *header, int err)
{
	if (err) {
		NL_SET_ERR_MSG(info->extack, "the reply does not fit into a message");
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static const char *board_name(void)
{
	struct device_node *root = of_find_node_by_path("/");
	const char *name;

	/* The string stays valid, because the root node is never removed. */
	if (!root || of_property_read_string_index(root, "compatible", 0, &name))
		name = "";
	of_node_put(root);
	return name;
}

static int put_info(struct sk_buff *skb)
{
	u32 scope;

	jetwatt_graph_total(&scope);
	return nla_put_string(skb, JETWATT_A_INFO_VERSION, THIS_MODULE->version) ?:
	       nla_put_string(skb, JETWATT_A_INFO_BOARD, board_name()) ?:
	       nla_put_u32(skb, JETWATT_A_INFO_CHIPS, jetwatt_chip_count()) ?:
	       nla_put_u32(skb, JETWATT_A_INFO_RAILS, jetwatt_rail_count()) ?:
	       nla_put_u32(skb, JETWATT_A_INFO_RING, jetwatt_ring_size()) ?:
	       nla_put_u32(skb, JETWATT_A_INFO_RUNNING, !!jetwatt_sampler_hz()) ?:
	       nla_put_u32(skb, JETWATT_A_INFO_TOTAL_SCOPE, scope);
}

/**
 * jetwatt_netlink_info_get() - handle JETWATT_CMD_INFO_GET
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_info_get(struct sk_buff *skb, struct genl_info *info)
{
	void *header;
	struct sk_buff *reply = jetwatt_netlink_reply_begin(info, JETWATT_CMD_INFO_GET, &header);

	if (!reply)
		return -ENOMEM;
	return jetwatt_netlink_reply_send(reply, info, header,
					  header ? put_info(reply) : -EMSGSIZE);
}

static int put_config(struct sk_buff *skb)
{
	struct jetwatt_sampler_config config = jetwatt_config_get();
	struct jetwatt_limit limit = jetwatt_plan_limit(config.bus_share_pct);

	return nla_put_u32(skb, JETWATT_A_CONFIG_RATE_HZ, config.rate_hz) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_BATCH, config.batch) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_BATCH_AGE_MS, config.batch_age_ms) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_BUS_SHARE_PCT, config.bus_share_pct) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_BOX_MS, config.box_ms) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_CPU, config.cpu) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_RATE_MAX_HZ, limit.hz) ?:
	       nla_put_u32(skb, JETWATT_A_CONFIG_ACTIVE_HZ, jetwatt_sampler_hz());
}

/**
 * jetwatt_netlink_config_get() - handle JETWATT_CMD_CONFIG_GET
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_config_get(struct sk_buff *skb, struct genl_info *info)
{
	void *header;
	struct sk_buff *reply = jetwatt_netlink_reply_begin(info, JETWATT_CMD_CONFIG_GET, &header);

	if (!reply)
		return -ENOMEM;
	return jetwatt_netlink_reply_send(reply, info, header,
					  header ? put_config(reply) : -EMSGSIZE);
}

static void refuse_rate(struct netlink_ext_ack *extack, const struct jetwatt_limit *limit,
			u32 share_pct)
{
	switch (limit->reason) {
	case JETWATT_LIMIT_BUS:
		NL_SET_ERR_MSG_FMT(extack, "at most %u Hz: %u %% of i2c-%u at %u kHz", limit->hz,
				   share_pct, limit->bus_nr, limit->bus_hz / 1000);
		break;
	case JETWATT_LIMIT_TICK:
		NL_SET_ERR_MSG_FMT(extack, "at most %u Hz: limited by the duration of transfers",
				   limit->hz);
		break;
	case JETWATT_LIMIT_CPU:
		NL_SET_ERR_MSG_FMT(extack, "at most %u Hz: limited by CPU overhead",
				   limit->hz);
		break;
	case JETWATT_LIMIT_CHIP:
		NL_SET_ERR_MSG_FMT(extack, "at most %u Hz: no chip converts faster", limit->hz);
		break;
	case JETWATT_LIMIT_HARD:
		NL_SET_ERR_MSG_FMT(extack, "at most %u Hz: limit of the module", limit->hz);
		break;
	}
}

/*
 * Held from reading the present configuration until the changed configuration is set, so that
 * concurrent requests do not undo each other's changes. Taken before config.lock.
 */
static DEFINE_MUTEX(set_lock);

/**
 * jetwatt_netlink_config_set() - handle JETWATT_CMD_CONFIG_SET
 * @skb: the request
 * @info: parsed request; all attributes are optional, and the policy has checked the ranges of all
 *	but the rate and the CPU
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_config_set(struct sk_buff *skb, struct genl_info *info)
{
	struct jetwatt_sampler_config config;
	struct jetwatt_limit limit;
	bool rate_given = false;
	int err;

	mutex_lock(&set_lock);
	config = jetwatt_config_get();
	if (info->attrs[JETWATT_A_CONFIG_RATE_HZ]) {
		config.rate_hz = nla_get_u32(info->attrs[JETWATT_A_CONFIG_RATE_HZ]);
		rate_given = true;
	}
	if (info->attrs[JETWATT_A_CONFIG_BATCH])
		config.batch = nla_get_u32(info->attrs[JETWATT_A_CONFIG_BATCH]);
	if (info->attrs[JETWATT_A_CONFIG_BATCH_AGE_MS])
		config.batch_age_ms = nla_get_u32(info->attrs[JETWATT_A_CONFIG_BATCH_AGE_MS]);
	if (info->attrs[JETWATT_A_CONFIG_BUS_SHARE_PCT])
		config.bus_share_pct = nla_get_u32(info->attrs[JETWATT_A_CONFIG_BUS_SHARE_PCT]);
	if (info->attrs[JETWATT_A_CONFIG_BOX_MS])
		config.box_ms = nla_get_u32(info->attrs[JETWATT_A_CONFIG_BOX_MS]);
	if (info->attrs[JETWATT_A_CONFIG_CPU])
		config.cpu = nla_get_u32(info->attrs[JETWATT_A_CONFIG_CPU]);

	err = jetwatt_config_set(&config, rate_given, &limit);
	mutex_unlock(&set_lock);
	if (err == -EINVAL)
		NL_SET_ERR_MSG_FMT(info->extack, "CPU %u is not online", config.cpu);
	else if (err == -ENODEV)
		NL_SET_ERR_MSG(info->extack, "no sensor chip to read");
	else if (err == -ERANGE)
		refuse_rate(info->extack, &limit, config.bus_share_pct);
	return err;
}

/**
 * jetwatt_netlink_subscribe() - handle JETWATT_CMD_SUBSCRIBE
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_subscribe(struct sk_buff *skb, struct genl_info *info)
{
	int err = jetwatt_netlink_observe(skb, info->extack);

	if (err)
		return err;
	err = -ENODEV;
	if (jetwatt_chip_attached())
		err = jetwatt_subscriber_add(info->snd_portid, NETLINK_CB(skb).sk);
	switch (err) {
	case -ENODEV:
		NL_SET_ERR_MSG(info->extack, "no sensor chip to read");
		break;
	case -EALREADY:
		NL_SET_ERR_MSG(info->extack, "this socket has subscribed already");
		break;
	case -EUSERS:
		NL_SET_ERR_MSG(info->extack, "too many subscribers");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG(info->extack, "no memory for a subscriber");
		break;
	case -ESHUTDOWN:
		NL_SET_ERR_MSG(info->extack, "the module is being unloaded");
		break;
	}
	return err;
}

/**
 * jetwatt_netlink_unsubscribe() - handle JETWATT_CMD_UNSUBSCRIBE
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_unsubscribe(struct sk_buff *skb, struct genl_info *info)
{
	int err = jetwatt_subscriber_remove(info->snd_portid, NETLINK_CB(skb).sk);

	if (err)
		NL_SET_ERR_MSG(info->extack, "this socket has not subscribed");
	return err;
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, JETWATT_A_STATS_PAD);
}

static int put_stats(struct sk_buff *skb)
{
	struct jetwatt_sampler_stats stats;

	jetwatt_stats_get(&stats);
	return put_u64(skb, JETWATT_A_STATS_TICKS, stats.ticks) ?:
	       put_u64(skb, JETWATT_A_STATS_MISSED, stats.missed) ?:
	       put_u64(skb, JETWATT_A_STATS_I2C_ERRORS, stats.i2c_errors) ?:
	       put_u64(skb, JETWATT_A_STATS_LATE_P50_NS, stats.late_p50_ns) ?:
	       put_u64(skb, JETWATT_A_STATS_LATE_P99_NS, stats.late_p99_ns) ?:
	       put_u64(skb, JETWATT_A_STATS_LATE_MAX_NS, stats.late_max_ns) ?:
	       put_u64(skb, JETWATT_A_STATS_TICK_NS, stats.tick_ns) ?:
	       nla_put_u32(skb, JETWATT_A_STATS_BUS_PERMILLE, jetwatt_read_busy_permille()) ?:
	       put_u64(skb, JETWATT_A_STATS_LOST, jetwatt_subscriber_lost()) ?:
	       put_u64(skb, JETWATT_A_STATS_THROTTLED, stats.throttled) ?:
	       put_u64(skb, JETWATT_A_STATS_CPU_NS, stats.cpu_ns);
}

/**
 * jetwatt_netlink_stats_get() - handle JETWATT_CMD_STATS_GET
 * @skb: the request
 * @info: parsed request
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_stats_get(struct sk_buff *skb, struct genl_info *info)
{
	void *header;
	struct sk_buff *reply = jetwatt_netlink_reply_begin(info, JETWATT_CMD_STATS_GET, &header);

	if (!reply)
		return -ENOMEM;
	return jetwatt_netlink_reply_send(reply, info, header,
					  header ? put_stats(reply) : -EMSGSIZE);
}
