// SPDX-License-Identifier: GPL-2.0
/* Netlink dumps of samples, from the ring or from the black box. */
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
 * struct cursor - state of a dump of samples
 * @next: sequence number of the next sample
 * @last: sequence number of the newest sample when the dump began; later samples are not dumped
 * @lost: number of requested samples that the ring or the black box does not hold
 * @expected: @next was requested by the client, or follows a dumped sample
 * @cmd: JETWATT_CMD_SAMPLES_GET for the ring, JETWATT_CMD_BOX_SAMPLES_GET for the black box
 * @row: copies of the samples of one message
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
 * Called from the first call of the dump, not as a start handler: up to 6.1, a start handler cannot
 * return an error message.
 */
static int begin_dump(struct netlink_callback *cb, u8 cmd)
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

/* Return: number of samples of @series values that still fit into the message and cursor->row. */
static unsigned int count_fitting(const struct sk_buff *skb, unsigned int series)
{
	unsigned int n = ARRAY_SIZE(((struct cursor *)NULL)->row);

	while (n && jetwatt_batch_size(n, series) + GENL_HDRLEN + NLMSG_HDRLEN > skb_tailroom(skb))
		n--;
	return n;
}

static unsigned int read_rows(const struct cursor *cursor, u64 *from, struct jetwatt_sample *rows,
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
		err = begin_dump(cb, cmd);
		if (err)
			return err;
	}
	cursor = (struct cursor *)cb->args[0];
	while (cursor->next <= cursor->last) {
		n = count_fitting(skb, jetwatt_series_count());
		if (!n)
			return skb->len ?: -EMSGSIZE;
		from = cursor->next;
		n = read_rows(cursor, &from, cursor->row,
			      min_t(u64, n, cursor->last - cursor->next + 1));
		/*
		 * If the client requested no first sample, the dump starts at the oldest sample of
		 * the ring, and older samples do not count as lost.
		 */
		if (cursor->expected)
			cursor->lost += from - cursor->next;
		cursor->next = from;
		if (!n && cmd == JETWATT_CMD_BOX_SAMPLES_GET)
			break;	/* the black box was cleared meanwhile */
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
 * jetwatt_netlink_samples_dump() - dump for JETWATT_CMD_SAMPLES_GET
 * @skb: message to fill
 * @cb: state of the dump
 *
 * Return: number of bytes in @skb, 0 at the end; -EPERM, -EMSGSIZE, -ENOMEM.
 */
int jetwatt_netlink_samples_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_samples(skb, cb, JETWATT_CMD_SAMPLES_GET);
}

/**
 * jetwatt_netlink_box_samples_dump() - dump for JETWATT_CMD_BOX_SAMPLES_GET
 * @skb: message to fill
 * @cb: state of the dump
 *
 * Return: number of bytes in @skb, 0 at the end; -EPERM, -EMSGSIZE, -ENOMEM, -ENOENT.
 */
int jetwatt_netlink_box_samples_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_samples(skb, cb, JETWATT_CMD_BOX_SAMPLES_GET);
}

/**
 * jetwatt_netlink_samples_done() - free the state of a dump of samples
 * @cb: state of the dump
 *
 * Return: 0.
 */
int jetwatt_netlink_samples_done(struct netlink_callback *cb)
{
	vfree((void *)cb->args[0]);
	return 0;
}
