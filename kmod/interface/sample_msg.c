// SPDX-License-Identifier: GPL-2.0
/* Encode samples as a netlink message. */
#include "interface/sample_msg.h"

#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <net/netlink.h>
#include "sampler/ring.h"

/*
 * The attribute of one series in the message, laid out as one structure. Most of a message consists
 * of series, and most of the time to encode a message would be spent on encoding the attributes of
 * the series one by one. All fields are aligned, so no padding is needed.
 */
struct series {
	struct nlattr nest;
	struct nlattr kind_attr;
	u32 kind;
	struct nlattr index_attr;
	u32 index;
	struct nlattr values_attr;
	s32 value[];
};

/**
 * jetwatt_batch_size() - return the size of a batch in a message
 * @samples: number of samples
 * @series: number of series
 *
 * Return: number of bytes after the generic netlink header.
 */
size_t jetwatt_batch_size(unsigned int samples, unsigned int series)
{
	size_t one = struct_size((struct series *)NULL, value, samples);

	return 2 * nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u32)) +
	       nla_total_size_64bit(samples * sizeof(u64)) + series * one;
}

static int put_times(struct sk_buff *skb, const struct jetwatt_sample *rows, unsigned int n)
{
	struct nlattr *attr = nla_reserve_64bit(skb, JETWATT_A_SAMPLES_TIME_NS, n * sizeof(u64),
						JETWATT_A_SAMPLES_PAD);
	unsigned int i;
	u64 *time;

	if (!attr)
		return -EMSGSIZE;
	for (time = nla_data(attr), i = 0; i < n; i++)
		time[i] = rows[i].time_ns;
	return 0;
}

static struct nlattr attr_of(u16 type, size_t payload)
{
	return (struct nlattr){ .nla_type = type, .nla_len = nla_attr_size(payload) };
}

static int put_series(struct sk_buff *skb, const struct jetwatt_sample *rows, unsigned int n)
{
	size_t one = struct_size((struct series *)NULL, value, n);
	unsigned int i, slot, nr = rows[0].nr_series;
	struct jetwatt_series_desc desc;
	struct series *series;

	if (skb_tailroom(skb) < nr * one)
		return -EMSGSIZE;
	series = skb_put(skb, nr * one);
	for (slot = 0; slot < nr; slot++, series = (void *)series + one) {
		desc = jetwatt_series_at(slot);
		series->nest = attr_of(JETWATT_A_SAMPLES_SERIES | NLA_F_NESTED, one - NLA_HDRLEN);
		series->kind_attr = attr_of(JETWATT_A_SERIES_KIND, sizeof(series->kind));
		series->kind = desc.kind;
		series->index_attr = attr_of(JETWATT_A_SERIES_INDEX, sizeof(series->index));
		series->index = desc.index;
		series->values_attr = attr_of(JETWATT_A_SERIES_VALUES, n * sizeof(s32));
		for (i = 0; i < n; i++)
			series->value[i] = rows[i].value[slot];
	}
	return 0;
}

/**
 * jetwatt_batch_put() - write a batch of samples into a message
 * @skb: the message, with its header; on an error the caller must cancel the message
 * @rows: the samples, consecutive and with the same number of series
 * @n: number of samples
 * @lost: number of samples that the reader has lost so far
 * @lost_at: gets the address, in the message, of the number of lost samples, for
 *	jetwatt_batch_set_lost(); may be NULL
 *
 * Return: 0 or -EMSGSIZE.
 */
int jetwatt_batch_put(struct sk_buff *skb, const struct jetwatt_sample *rows, unsigned int n,
		      u64 lost, void **lost_at)
{
	struct nlattr *attr;

	if (nla_put_u64_64bit(skb, JETWATT_A_SAMPLES_SEQ, rows[0].seq, JETWATT_A_SAMPLES_PAD) ||
	    nla_put_u32(skb, JETWATT_A_SAMPLES_COUNT, n))
		return -EMSGSIZE;
	attr = nla_reserve_64bit(skb, JETWATT_A_SAMPLES_LOST, sizeof(u64), JETWATT_A_SAMPLES_PAD);
	if (!attr)
		return -EMSGSIZE;
	jetwatt_batch_set_lost(nla_data(attr), lost);
	if (lost_at)
		*lost_at = nla_data(attr);
	if (put_times(skb, rows, n) || put_series(skb, rows, n))
		return -EMSGSIZE;
	return 0;
}

/**
 * jetwatt_batch_set_lost() - change the number of lost samples in a message
 * @at: address of the number of lost samples, from jetwatt_batch_put(), or the same in a copy
 * @lost: the number
 */
void jetwatt_batch_set_lost(void *at, u64 lost)
{
	memcpy(at, &lost, sizeof(lost));
}
