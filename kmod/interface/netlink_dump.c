// SPDX-License-Identifier: GPL-2.0
/* Netlink dumps of chips, rails, auxiliary series, energy counters and subscribers. */
#include "interface/netlink.h"

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <net/genetlink.h>
#include "interface/subscriber.h"
#include "sampler/aux_series.h"
#include "sampler/config.h"
#include "sampler/energy.h"
#include "sampler/read_schedule.h"
#include "sampler/sampler.h"
#include "sensors/board.h"
#include "sensors/rail_graph.h"

/*
 * Fill one message of a dump. put() writes item number i; an item that does not fit is written
 * again into the next message.
 */
static int dump_list(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, unsigned int count,
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

/*
 * A maximum error of 0 means that the data sheet does not specify this error; the attribute is then
 * left out.
 */
static int put_max_error(struct sk_buff *skb, int type, u32 most)
{
	return most ? nla_put_u32(skb, type, most) : 0;
}

/*
 * Write the properties of the chip (conversion, LSB, errors) that a client needs to interpret its
 * values, so that clients need no table of chip models.
 */
static int put_model(struct sk_buff *skb, const struct jetwatt_sensor_chip *chip)
{
	const struct jetwatt_conversion conv = jetwatt_chip_conversion(chip);
	const struct jetwatt_range *range = jetwatt_chip_range(chip);
	const struct jetwatt_chip_ops *ops = chip->ops;

	return nla_put_u32(skb, JETWATT_A_CHIP_SHUNT_US, conv.shunt_us) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_AVERAGES, conv.averages) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_FILTER, conv.filter) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_STEP_PV, range->shunt.lsb_pv) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_CHIP_BUS_STEP_PV, ops->bus_field.lsb_pv,
				 JETWATT_A_CHIP_PAD) ?:
	       put_max_error(skb, JETWATT_A_CHIP_OFFSET_NV, range->offset_nv) ?:
	       put_max_error(skb, JETWATT_A_CHIP_GAIN_PPM, ops->gain_ppm) ?:
	       put_max_error(skb, JETWATT_A_CHIP_BUS_OFFSET_UV, ops->bus_offset_uv) ?:
	       put_max_error(skb, JETWATT_A_CHIP_BUS_GAIN_PPM, ops->bus_gain_ppm) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_CHIP_CLIPPED, READ_ONCE(chip->clipped),
				 JETWATT_A_CHIP_PAD);
}

static int put_chip(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_sensor_chip *chip = jetwatt_chip_at(i);
	u8 sum = READ_ONCE(chip->sum.channels);

	return nla_put_u32(skb, JETWATT_A_CHIP_ID, chip->id) ?:
	       nla_put_string(skb, JETWATT_A_CHIP_MODEL, chip->ops->name) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_BUS, READ_ONCE(chip->bus_nr)) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_ADDR, chip->addr) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_BUS_HZ, READ_ONCE(chip->bus_hz)) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_CONFIG, READ_ONCE(chip->config[0])) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_REFRESH_MHZ,
			   jetwatt_chip_refresh_mhz(chip)) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_CHIP_ERRORS, READ_ONCE(chip->errors),
				 JETWATT_A_CHIP_PAD) ?:
	       nla_put_u32(skb, JETWATT_A_CHIP_LOST, READ_ONCE(chip->lost)) ?:
	       (sum ? nla_put_u32(skb, JETWATT_A_CHIP_SUM_CHANNELS, sum) : 0) ?:
	       put_model(skb, chip);
}

/**
 * jetwatt_netlink_chip_dump() - dump for JETWATT_CMD_CHIP_GET
 * @skb: message to fill
 * @cb: state of the dump between its messages
 *
 * Return: number of bytes in @skb.
 */
int jetwatt_netlink_chip_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	if (!cb->args[0])
		jetwatt_chip_refresh_bus_hz();
	return dump_list(skb, cb, JETWATT_CMD_CHIP_GET, jetwatt_chip_count(), put_chip);
}

static u32 requested_mhz(void)
{
	u32 hz = jetwatt_config_get().rate_hz;

	/*
	 * A requested rate of 0 means the highest rate at which every tick reads all shunts, and
	 * the sampler then runs at that rate; the result is 0 while the sampler is parked.
	 */
	return (hz ?: jetwatt_sampler_hz()) * 1000;
}

/*
 * Write the attributes of a rail that any client may read: constants, settings and rates. They
 * reveal no voltage, current or power.
 */
static int put_rail(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_sensor_rail *rail = jetwatt_rail_at(i);
	const struct jetwatt_sensor_chip *chip = jetwatt_chip_at(rail->chip);
	bool enabled = jetwatt_chip_channels(chip) & BIT(rail->channel);
	u32 read = enabled ? READ_ONCE(chip->read_mhz) : 0;
	u32 fresh = jetwatt_chip_refresh_mhz(chip);
	u32 parent = jetwatt_graph_parent(i);

	return nla_put_u32(skb, JETWATT_A_RAIL_ID, rail->id) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_CHIP, rail->chip) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_CHANNEL, rail->channel) ?:
	       nla_put_string(skb, JETWATT_A_RAIL_LABEL, rail->label) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_SHUNT_UOHM, rail->shunt_uohm) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_ENABLED, enabled) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_REQUESTED_MHZ, requested_mhz()) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_READ_MHZ, read) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_FRESH_MHZ, min(read, fresh)) ?:
	       (parent == JETWATT_GRAPH_NO_PARENT ? 0 :
		nla_put_u32(skb, JETWATT_A_RAIL_PARENT, parent)) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_IN_TOTAL,
			   !!(jetwatt_graph_total(NULL) & BIT(i))) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_SKEW_NS, jetwatt_plan_skew_ns(i));
}

/*
 * The power of one LSB is for privileged clients only, because it is proportional to the bus
 * voltage: a client that polls it would learn the voltage.
 */
static int put_rail_and_lsb(struct sk_buff *skb, unsigned int i)
{
	return put_rail(skb, i) ?:
	       nla_put_u32(skb, JETWATT_A_RAIL_STEP_UW,
			   jetwatt_energy_lsb_uw(jetwatt_rail_at(i)));
}

/**
 * jetwatt_netlink_rail_dump() - dump for JETWATT_CMD_RAIL_GET
 * @skb: message to fill
 * @cb: state of the dump between its messages
 *
 * Return: number of bytes in @skb.
 */
int jetwatt_netlink_rail_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_list(skb, cb, JETWATT_CMD_RAIL_GET, jetwatt_rail_count(),
		    jetwatt_netlink_observer(cb->skb) ? put_rail_and_lsb : put_rail);
}

static int put_clock(struct sk_buff *skb, unsigned int i)
{
	const struct jetwatt_aux *series = jetwatt_aux_at(i);

	return nla_put_u32(skb, JETWATT_A_CLOCK_KIND, series->kind) ?:
	       nla_put_u32(skb, JETWATT_A_CLOCK_INDEX, series->index) ?:
	       nla_put_string(skb, JETWATT_A_CLOCK_LABEL, series->label) ?:
	       nla_put_s32(skb, JETWATT_A_CLOCK_VALUE, jetwatt_aux_recent(series));
}

/**
 * jetwatt_netlink_clock_dump() - dump for JETWATT_CMD_CLOCK_GET
 * @skb: message to fill
 * @cb: state of the dump between its messages
 *
 * Return: number of bytes in @skb.
 */
int jetwatt_netlink_clock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	/*
	 * The slow series are read again for privileged clients only, because unprivileged clients
	 * must not be able to cause firmware calls.
	 */
	if (!cb->args[0] && netlink_capable(cb->skb, CAP_NET_ADMIN))
		jetwatt_aux_refresh();
	return dump_list(skb, cb, JETWATT_CMD_CLOCK_GET, jetwatt_aux_count(), put_clock);
}

static int put_energy(struct sk_buff *skb, unsigned int i)
{
	struct jetwatt_energy_reading energy;

	if (!i)
		jetwatt_energy_total(&energy);
	else
		jetwatt_energy_rail(i - 1, &energy);
	if (i && nla_put_u32(skb, JETWATT_A_ENERGY_RAIL, i - 1))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, JETWATT_A_ENERGY_UJ, energy.uj, JETWATT_A_ENERGY_PAD) ?:
	       nla_put_s32(skb, JETWATT_A_ENERGY_UW, clamp_t(s64, energy.uw, S32_MIN, S32_MAX)) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_ENERGY_TIME_NS, energy.time_ns,
				 JETWATT_A_ENERGY_PAD) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_ENERGY_BLIND_NS, energy.blind_ns,
				 JETWATT_A_ENERGY_PAD);
}

/**
 * jetwatt_netlink_energy_dump() - dump for JETWATT_CMD_ENERGY_GET
 * @skb: message to fill
 * @cb: state of the dump between its messages
 *
 * A client that polls the energy counters learns as much as from the stream of samples, so both
 * need the same permissions.
 *
 * Return: number of bytes in @skb, or -EPERM.
 */
int jetwatt_netlink_energy_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	int err = cb->args[0] ? 0 : jetwatt_netlink_observe(cb->skb, cb->extack);

	if (err)
		return err;
	return dump_list(skb, cb, JETWATT_CMD_ENERGY_GET, 1 + jetwatt_rail_count(), put_energy);
}

static int put_subscriber(struct sk_buff *skb, unsigned int i)
{
	struct jetwatt_account account;

	/*
	 * The subscriber may have been removed after the subscribers were counted; the dump then
	 * ends before the counted number.
	 */
	if (!jetwatt_subscriber_account(i, &account))
		return -ENOENT;
	return nla_put_u32(skb, JETWATT_A_SUBSCRIBER_PORT, account.port) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_SUBSCRIBER_SENT, account.sent,
				 JETWATT_A_SUBSCRIBER_PAD) ?:
	       nla_put_u64_64bit(skb, JETWATT_A_SUBSCRIBER_LOST, account.lost,
				 JETWATT_A_SUBSCRIBER_PAD);
}

/**
 * jetwatt_netlink_subscriber_dump() - dump for JETWATT_CMD_SUBSCRIBER_GET
 * @skb: message to fill
 * @cb: state of the dump between its messages
 *
 * Return: number of bytes in @skb.
 */
int jetwatt_netlink_subscriber_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct jetwatt_account account;
	unsigned int count = 0;

	while (jetwatt_subscriber_account(count, &account))
		count++;
	return dump_list(skb, cb, JETWATT_CMD_SUBSCRIBER_GET, count, put_subscriber);
}
