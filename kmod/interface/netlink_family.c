// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: its commands, attribute policies and permissions, and the multicast
 * group of events. The handlers are in netlink*.c.
 */
#include "interface/netlink.h"

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/module.h>
#include <net/genetlink.h>
#include "event.h"
#include "fault_inject.h"
#include "sampler/config.h"

static const struct nla_policy none_policy[] = {
	[1] = { .type = NLA_REJECT },
};

static struct netlink_range_validation age_range = { .min = 1, .max = JETWATT_BATCH_AGE_MAX };

static struct netlink_range_validation box_range = { .max = JETWATT_BOX_MS_MAX };

static const struct nla_policy config_policy[JETWATT_A_CONFIG_MAX + 1] = {
	/*
	 * The policy has no range for the rate, because the handler checks the rate and names the
	 * highest possible rate in its error message.
	 */
	[JETWATT_A_CONFIG_RATE_HZ] = { .type = NLA_U32 },
	[JETWATT_A_CONFIG_BATCH] = NLA_POLICY_RANGE(NLA_U32, 1, JETWATT_BATCH_MAX),
	[JETWATT_A_CONFIG_BATCH_AGE_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &age_range),
	[JETWATT_A_CONFIG_BUS_SHARE_PCT] = NLA_POLICY_RANGE(NLA_U32, 1, JETWATT_BUS_SHARE_MAX),
	[JETWATT_A_CONFIG_CPU] = { .type = NLA_U32 },
	[JETWATT_A_CONFIG_BOX_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &box_range),
	[JETWATT_A_CONFIG_RATE_MAX_HZ] = { .type = NLA_REJECT, .reject_message = "read only" },
	[JETWATT_A_CONFIG_ACTIVE_HZ] = { .type = NLA_REJECT, .reject_message = "read only" },
};

static const struct nla_policy samples_policy[JETWATT_A_SAMPLES_SEQ + 1] = {
	[JETWATT_A_SAMPLES_SEQ] = { .type = NLA_U64 },
};

/*
 * In an earlier version of the interface, the flags that use this type were u32 attributes, so
 * clients of that version still send the u32 0 or 1.
 */
#define JETWATT_NLA_FLAG_OR_U32	{ .type = NLA_BINARY, .len = sizeof(u32) }

static const struct nla_policy waits_policy[JETWATT_A_WAITS_CHILDREN + 1] = {
	[JETWATT_A_WAITS_TGIDS] = { .type = NLA_BINARY, .len = 4 * JETWATT_WAITS_TGIDS_MAX },
	[JETWATT_A_WAITS_CHILDREN] = JETWATT_NLA_FLAG_OR_U32,
};

#define NO_ATTRIBUTES	.policy = none_policy, .maxattr = ARRAY_SIZE(none_policy) - 1

static const struct genl_ops ops[] = {
	{
		.cmd = JETWATT_CMD_INFO_GET,
		.doit = jetwatt_netlink_info_get,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_CHIP_GET,
		.dumpit = jetwatt_netlink_chip_dump,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_RAIL_GET,
		.dumpit = jetwatt_netlink_rail_dump,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_CLOCK_GET,
		.dumpit = jetwatt_netlink_clock_dump,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_CONFIG_GET,
		.doit = jetwatt_netlink_config_get,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_CONFIG_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_config_set,
		.policy = config_policy,
		.maxattr = JETWATT_A_CONFIG_MAX,
	}, {
		.cmd = JETWATT_CMD_SAMPLES_GET,
		.flags = GENL_ADMIN_PERM,
		.dumpit = jetwatt_netlink_samples_dump,
		.done = jetwatt_netlink_samples_done,
		.policy = samples_policy,
		.maxattr = JETWATT_A_SAMPLES_SEQ,
	}, {
		.cmd = JETWATT_CMD_SUBSCRIBE,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_subscribe,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_UNSUBSCRIBE,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_unsubscribe,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_STATS_GET,
		.doit = jetwatt_netlink_stats_get,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_SUBSCRIBER_GET,
		.flags = GENL_ADMIN_PERM,
		.dumpit = jetwatt_netlink_subscriber_dump,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_ENERGY_GET,
		.flags = GENL_ADMIN_PERM,
		.dumpit = jetwatt_netlink_energy_dump,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_BOX_GET,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_box_get,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_BOX_FREEZE,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_box_freeze,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_BOX_CLEAR,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_box_clear,
		NO_ATTRIBUTES,
	}, {
		.cmd = JETWATT_CMD_BOX_SAMPLES_GET,
		.flags = GENL_ADMIN_PERM,
		.dumpit = jetwatt_netlink_box_samples_dump,
		.done = jetwatt_netlink_samples_done,
		.policy = samples_policy,
		.maxattr = JETWATT_A_SAMPLES_SEQ,
	}, {
		.cmd = JETWATT_CMD_WAITS_WATCH,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_waits_watch,
		.policy = waits_policy,
		.maxattr = JETWATT_A_WAITS_CHILDREN,
	}, {
		.cmd = JETWATT_CMD_WAITS_UNWATCH,
		.flags = GENL_ADMIN_PERM,
		.doit = jetwatt_netlink_waits_unwatch,
		NO_ATTRIBUTES,
	},
};

/**
 * jetwatt_netlink_observer() - test whether the sender of a request may observe other processes
 * @skb: the request
 *
 * A power trace at a high rate is a side channel, and waits reveal what a process does. Therefore
 * samples, energy and waits need, in addition to CAP_NET_ADMIN, the capability that
 * perf_event_open() needs to observe the whole machine. CAP_NET_ADMIN alone is not enough, because
 * containers with the host's network often have CAP_NET_ADMIN. Both the process that opened the
 * socket and the sending process need the capabilities, in the initial user namespace.
 *
 * Context: request handler or dump. Return: true if the sender has the capabilities.
 */
bool jetwatt_netlink_observer(const struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_NET_ADMIN) &&
	       (netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN));
}

/**
 * jetwatt_netlink_observe() - refuse a request whose sender may not observe other processes
 * @skb: the request
 * @extack: gets the error message
 *
 * For requests that need CAP_NET_ADMIN, generic netlink has already checked that capability.
 *
 * Context: request handler or dump. Return: 0 or -EPERM.
 */
int jetwatt_netlink_observe(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (jetwatt_netlink_observer(skb))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON in addition to CAP_NET_ADMIN: run as root");
	return -EPERM;
}

static const struct genl_multicast_group groups[] = {
	{ .name = JETWATT_MCGRP_EVENTS },
};

/*
 * The family is only available in the initial network namespace (netnsok is not set). Handlers and
 * dumps run in parallel (parallel_ops). Without parallel_ops they would hold the lock of generic
 * netlink, and requests to other families would wait for the i2c transfers and firmware calls of
 * this family. Because handlers run in parallel, generic netlink does not protect the state that
 * they share.
 */
struct genl_family jetwatt_netlink_family = {
	.name = JETWATT_GENL_NAME,
	.version = JETWATT_GENL_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int put_event(struct sk_buff *skb, const struct jetwatt_posted_event *event)
{
	if (nla_put_u32(skb, JETWATT_A_EVENT_KIND, event->kind) ||
	    nla_put_u64_64bit(skb, JETWATT_A_EVENT_TIME_NS, event->time_ns, JETWATT_A_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, JETWATT_A_EVENT_VALUE, event->value, JETWATT_A_EVENT_PAD))
		return -EMSGSIZE;
	if (event->chip == JETWATT_EVENT_NO_CHIP)
		return 0;
	return nla_put_u32(skb, JETWATT_A_EVENT_CHIP, event->chip);
}

static void send_event(const struct jetwatt_posted_event *event)
{
	struct sk_buff *skb = NULL;
	void *header;

	if (!genl_has_listeners(&jetwatt_netlink_family, &init_net, 0))
		return;
	if (!jetwatt_fail(JETWATT_FAIL_SKB))
		skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	header = genlmsg_put(skb, 0, 0, &jetwatt_netlink_family, 0, JETWATT_CMD_EVENT_NTF);
	if (!header || put_event(skb, event)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast(&jetwatt_netlink_family, skb, 0, 0, GFP_KERNEL);
}

/**
 * jetwatt_netlink_init() - register the netlink family
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_netlink_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	err = genl_register_family(&jetwatt_netlink_family);
	if (err)
		return err;
	jetwatt_event_open(send_event);
	return 0;
}

/**
 * jetwatt_netlink_exit() - unregister the netlink family
 *
 * Context: sleeps until no handler runs any more. A dump in progress holds a reference to the
 * module, so the module cannot be unloaded before the dump is finished.
 */
void jetwatt_netlink_exit(void)
{
	/*
	 * Stop sending events before the family is unregistered, because afterwards the id of the
	 * multicast group may be assigned to another family.
	 */
	jetwatt_event_close();
	genl_unregister_family(&jetwatt_netlink_family);
}
