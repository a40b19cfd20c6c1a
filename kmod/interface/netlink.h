/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family: registration, permissions and handlers. */
#ifndef JETWATT_NETLINK_H
#define JETWATT_NETLINK_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct netlink_callback;
struct netlink_ext_ack;
struct sk_buff;

extern struct genl_family jetwatt_netlink_family;

int jetwatt_netlink_init(void);
void jetwatt_netlink_exit(void);

bool jetwatt_netlink_observer(const struct sk_buff *skb);
int jetwatt_netlink_observe(const struct sk_buff *skb, struct netlink_ext_ack *extack);

/* netlink.c: replies, and handlers for the table in netlink_family.c */
struct sk_buff *jetwatt_netlink_reply_begin(struct genl_info *info, u8 cmd, void **header);
int jetwatt_netlink_reply_send(struct sk_buff *skb, struct genl_info *info, void *header, int err);
int jetwatt_netlink_info_get(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_config_get(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_config_set(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_subscribe(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_unsubscribe(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_stats_get(struct sk_buff *skb, struct genl_info *info);

/* Handlers in netlink_dump.c, netlink_waits.c, netlink_box.c and netlink_samples.c */
int jetwatt_netlink_chip_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_rail_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_clock_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_energy_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_subscriber_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_waits_watch(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_waits_unwatch(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_box_get(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_box_freeze(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_box_clear(struct sk_buff *skb, struct genl_info *info);
int jetwatt_netlink_box_samples_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_samples_dump(struct sk_buff *skb, struct netlink_callback *cb);
int jetwatt_netlink_samples_done(struct netlink_callback *cb);

#endif
