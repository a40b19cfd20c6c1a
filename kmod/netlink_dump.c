// SPDX-License-Identifier: GPL-2.0
#include "netlink.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "batch.h"
#include "chip.h"
#include "clock.h"
#include "config.h"
#include "fail.h"
#include "ring.h"
#include "sampler.h"
#include "subscriber.h"

/* One message of a dump: put() writes the item of that number. */
static int dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, unsigned int count,
		int (*put)(struct sk_buff *skb, unsigned int i))
{
	void *header;

	for (; cb->args[0] < count; cb->args[0]++) {
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     &jetwatt_netlink_family, NLM_F_MULTI, cmd);
		if (!header)
			break;
		if (put(skb, cb->args[0])) {
			genlmsg_cancel(skb, header);
			break;
		}
		genlmsg_end(skb, header);
	}
	return skb->len;
}

static int put_chip(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_chip *chip = jetwatt_chip_at(i);
	u16 config = READ_ONCE(chip->config);

	return nla_put_u32(skb, JETWATT_A_CHIP_ID, chip->id) ?:
	       nla_put_string(skb, JETWATT_A_CHIP_MODEL, "ina3221") ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_BUS, READ_ONCE(chip->bus_nr)) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_ADDR, chip->addr) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_BUS_HZ, READ_ONCE(chip->bus_hz)) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_CONFIG, config) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_REFRESH_MHZ,
			   jetwatt_ina3221_refresh_mhz(config)) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_CHIP_ERRORS, READ_ONCE(chip->errors),
				 JETWATT_A_CHIP_PAD) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_LOST, READ_ONCE(chip->lost));
}

/**
 * jetwatt_netlink_chip_dump() - JETWATT_CMD_CHIP_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb.
 */
int jetwatt_netlink_chip_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	if (!cb->args[0])
		jetwatt_chip_look();
	return dump(skb, cb, JETWATT_CMD_CHIP_GET, jetwatt_chip_count(), put_chip);
}

static u32 requested_mhz(void)
{
	u32 hz = jetwatt_config_get().rate_hz;

	/* Who asks for the highest possible asks for what it is now. */
	return (hz ?: jetwatt_sampler_hz()) * 1000;
}

static int put_rail(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_rail *rail = jetwatt_rail_at(i);
	const struct jetwatt_chip *chip = jetwatt_chip_at(rail->chip);
	bool enabled = jetwatt_chip_channels(chip) & BIT(rail->channel);
	u32 read = enabled ? READ_ONCE(chip->read_mhz) : 0;
	u32 fresh = jetwatt_ina3221_refresh_mhz(READ_ONCE(chip->config));

	return nla_put_u32(skb, JETWATT_A_RAIL_ID, rail->id) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_CHIP, rail->chip) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_CHANNEL, rail->channel) ?:
	       nla_put_string(skb, JETWATT_A_RAIL_LABEL, rail->label) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_SHUNT_UOHM, rail->shunt_uohm) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_ENABLED, enabled) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_REQUESTED_MHZ, requested_mhz()) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_READ_MHZ, read) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_FRESH_MHZ, min(read, fresh));
}

/**
 * jetwatt_netlink_rail_dump() - JETWATT_CMD_RAIL_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb.
 */
int jetwatt_netlink_rail_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, JETWATT_CMD_RAIL_GET, jetwatt_rail_count(), put_rail);
}

static int put_clock(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_clock *clock = jetwatt_clock_at(i);

	return nla_put_u32(skb, JETWATT_A_CLOCK_KIND, clock->kind) ?:
	       nla_put_u32(skb, JETWATT_A_CLOCK_INDEX, clock->index) ?:
	       nla_put_string(skb, JETWATT_A_CLOCK_LABEL, clock->label) ?:
	       nla_put_s32(skb, JETWATT_A_CLOCK_VALUE, jetwatt_clock_value(clock));
}

/**
 * jetwatt_netlink_clock_dump() - JETWATT_CMD_CLOCK_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb.
 */
int jetwatt_netlink_clock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	if (!cb->args[0])
		jetwatt_clock_refresh();
	return dump(skb, cb, JETWATT_CMD_CLOCK_GET, jetwatt_clock_count(), put_clock);
}

static int put_subscriber(struct sk_buff *skb, unsigned int i)
{
	struct jetwatt_account account;

	/* It may have gone since they were counted: an item less. */
	if (!jetwatt_subscriber_account(i, &account))
		return -ENOENT;
	return nla_put_u32(skb, JETWATT_A_SUBSCRIBER_PORT, account.port) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_SUBSCRIBER_SENT, account.sent,
				 JETWATT_A_SUBSCRIBER_PAD) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_SUBSCRIBER_LOST, account.lost,
				 JETWATT_A_SUBSCRIBER_PAD);
}

/**
 * jetwatt_netlink_subscriber_dump() - JETWATT_CMD_SUBSCRIBER_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb.
 */
int jetwatt_netlink_subscriber_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct jetwatt_account account;
	unsigned int count = 0;

	while (jetwatt_subscriber_account(count, &account))
		count++;
	return dump(skb, cb, JETWATT_CMD_SUBSCRIBER_GET, count, put_subscriber);
}

/**
 * struct cursor - how far a dump of samples has come
 * @next: the next sample
 * @last: the newest one when the dump began: it does not chase the sampler
 * @lost: samples that were overwritten before they could be dumped
 * @expected: @next is what the reader has asked for, or follows what it has got
 * @row: copies of samples that are being written
 */
struct cursor {
	u64 next;
	u64 last;
	u64 lost;
	bool expected;
	struct jetwatt_sample row[JETWATT_BATCH_MAX / 4];
};

/*
 * In the first call of the dump and not in a start handler, which up to 6.1
 * has no place to put the reason of a refusal.
 */
static int begin(struct netlink_callback *cb)
{
	struct nlattr *seq = jetwatt_genl_dump_attrs(cb)[JETWATT_A_SAMPLES_SEQ];
	struct cursor *cursor;

	cursor = jetwatt_fail(JETWATT_FAIL_ALLOC) ? NULL : kvzalloc(sizeof(*cursor), GFP_KERNEL);
	if (!cursor) {
		NL_SET_ERR_MSG(cb->extack, "no memory for a dump");
		return -ENOMEM;
	}
	cursor->last = jetwatt_ring_head();
	cursor->expected = seq;
	if (seq)
		cursor->next = max_t(u64, nla_get_u64(seq), 1);
	else if (cursor->last > jetwatt_ring_size())
		cursor->next = cursor->last - jetwatt_ring_size() + 1;
	else
		cursor->next = 1;
	cb->args[0] = (long)cursor;
	return 0;
}

/* As many samples as the message has room for, but one at least must fit. */
static unsigned int fitting(const struct sk_buff *skb, unsigned int series)
{
	unsigned int n = ARRAY_SIZE(((struct cursor *)NULL)->row);

	while (n && jetwatt_batch_size(n, series) + GENL_HDRLEN + NLMSG_HDRLEN > skb_tailroom(skb))
		n--;
	return n;
}

/**
 * jetwatt_netlink_samples_dump() - JETWATT_CMD_SAMPLES_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb, 0 when done, -EMSGSIZE, -ENOMEM.
 */
int jetwatt_netlink_samples_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *cursor;
	unsigned int n;
	void *header;
	u64 from;
	int err;

	if (!cb->args[0]) {
		err = begin(cb);
		if (err)
			return err;
	}
	cursor = (struct cursor *)cb->args[0];
	while (cursor->next <= cursor->last) {
		n = fitting(skb, jetwatt_series_count());
		if (!n)
			return skb->len ?: -EMSGSIZE;
		from = cursor->next;
		n = jetwatt_ring_read(&from, cursor->row,
				      min_t(u64, n, cursor->last - cursor->next + 1));
		/* Who asks for the oldest one has not lost what comes before it. */
		if (cursor->expected)
			cursor->lost += from - cursor->next;
		cursor->next = from;
		if (!n)
			continue;
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     &jetwatt_netlink_family, NLM_F_MULTI,
				     JETWATT_CMD_SAMPLES_GET);
		if (!header || jetwatt_batch_put(skb, cursor->row, n, cursor->lost, NULL)) {
			genlmsg_cancel(skb, header);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, header);
		cursor->next += n;
		cursor->expected = true;
	}
	return skb->len;
}

/**
 * jetwatt_netlink_samples_done() - JETWATT_CMD_SAMPLES_GET is over
 * @cb: the dump
 *
 * Return: 0.
 */
int jetwatt_netlink_samples_done(struct netlink_callback *cb)
{
	kvfree((void *)cb->args[0]);
	return 0;
}
