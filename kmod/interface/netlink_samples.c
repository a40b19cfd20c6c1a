// SPDX-License-Identifier: GPL-2.0
#include "interface/netlink.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/vmalloc.h>
#include <net/genetlink.h>
#include "fault_inject.h"
#include "interface/sample_msg.h"
#include "sampler/blackbox.h"
#include "sampler/ring.h"
#include "sensors/series.h"

/**
 * struct cursor - how far a dump of samples has come
 * @next: the next sample
 * @last: the newest one when the dump began: it does not chase the sampler
 * @cmd: SAMPLES_GET: out of the ring; BOX_SAMPLES_GET: out of the black box
 * @lost: samples that were overwritten before they could be dumped
 * @expected: @next is what the reader has asked for, or follows what it has got
 * @row: copies of samples that are being written
 */
struct cursor {
	u64 next;
	u64 last;
	u64 lost;
	bool expected;
	u8 cmd;
	struct jetwatt_sample row[JETWATT_BATCH_MAX / 4];
};

/*
 * In the first call of the dump and not in a start handler, which up to 6.1
 * has no place to put the reason of a refusal.
 */
static int begin(struct netlink_callback *cb, u8 cmd)
{
	struct nlattr *seq = jetwatt_genl_dump_attrs(cb)[JETWATT_A_SAMPLES_SEQ];
	struct jetwatt_blackbox box;
	struct cursor *cursor;
	int err;

	err = jetwatt_netlink_observe(cb->skb, cb->extack);
	if (err)
		return err;
	if (cmd == JETWATT_CMD_BOX_SAMPLES_GET && jetwatt_blackbox_get(&box)) {
		NL_SET_ERR_MSG(cb->extack, "the black box is empty");
		return -ENOENT;
	}
	cursor = jetwatt_fail_vzalloc(sizeof(*cursor));
	if (!cursor) {
		NL_SET_ERR_MSG(cb->extack, "no memory for a dump");
		return -ENOMEM;
	}
	cursor->cmd = cmd;
	cursor->expected = seq;
	cursor->last = jetwatt_ring_head();
	if (cmd == JETWATT_CMD_BOX_SAMPLES_GET)
		cursor->last = box.seq + box.count - 1;
	if (seq)
		cursor->next = max_t(u64, nla_get_u64(seq), 1);
	else if (cmd == JETWATT_CMD_BOX_SAMPLES_GET)
		cursor->next = box.seq;
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

static unsigned int fetch(const struct cursor *cursor, u64 *from, struct jetwatt_sample *rows,
			  unsigned int max)
{
	if (cursor->cmd == JETWATT_CMD_BOX_SAMPLES_GET)
		return jetwatt_blackbox_read(from, rows, max);
	return jetwatt_ring_read(from, rows, max);
}

static int dump_samples(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	struct cursor *cursor;
	unsigned int n;
	void *header;
	u64 from;
	int err;

	if (!cb->args[0]) {
		err = begin(cb, cmd);
		if (err)
			return err;
	}
	cursor = (struct cursor *)cb->args[0];
	while (cursor->next <= cursor->last) {
		n = fitting(skb, jetwatt_series_count());
		if (!n)
			return skb->len ?: -EMSGSIZE;
		from = cursor->next;
		n = fetch(cursor, &from, cursor->row,
			  min_t(u64, n, cursor->last - cursor->next + 1));
		/* Who asks for the oldest one has not lost what comes before it. */
		if (cursor->expected)
			cursor->lost += from - cursor->next;
		cursor->next = from;
		if (!n && cmd == JETWATT_CMD_BOX_SAMPLES_GET)
			break;	/* it was cleared meanwhile */
		if (!n)
			continue;
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     &jetwatt_netlink_family, NLM_F_MULTI,
				     cmd);
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
 * jetwatt_netlink_samples_dump() - JETWATT_CMD_SAMPLES_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb, 0 when done, -EMSGSIZE, -ENOMEM.
 */
int jetwatt_netlink_samples_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_samples(skb, cb, JETWATT_CMD_SAMPLES_GET);
}

/**
 * jetwatt_netlink_box_samples_dump() - JETWATT_CMD_BOX_SAMPLES_GET
 * @skb: where to
 * @cb: the dump
 *
 * Return: bytes in @skb, 0 when done, -EMSGSIZE, -ENOMEM, -ENOENT.
 */
int jetwatt_netlink_box_samples_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_samples(skb, cb, JETWATT_CMD_BOX_SAMPLES_GET);
}

/**
 * jetwatt_netlink_samples_done() - a dump of samples is over
 * @cb: the dump
 *
 * Return: 0.
 */
int jetwatt_netlink_samples_done(struct netlink_callback *cb)
{
	vfree((void *)cb->args[0]);
	return 0;
}
