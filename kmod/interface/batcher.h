/* SPDX-License-Identifier: GPL-2.0 */
/* Sends the samples of the ring in batches. */
#ifndef JETWATT_BATCHER_H
#define JETWATT_BATCHER_H

#include <linux/types.h>

struct sk_buff;

/**
 * struct jetwatt_parcel - a batch of samples as a message, built once for all subscribers
 * @skb: the message; NULL if @samples is 0, building it failed, or a subscriber got it
 * @lost: offset in @skb of the subscriber's count of lost samples, in bytes
 * @samples: number of samples in the batch, even if @skb is NULL
 * @skipped: number of samples between the previous batch and this one that the ring has overwritten
 *	before they could be sent
 */
struct jetwatt_parcel {
	struct sk_buff *skb;
	size_t lost;
	unsigned int samples;
	u64 skipped;
};

void jetwatt_batcher_listeners(unsigned int n);
void jetwatt_batcher_new_sample(u64 seq);
void jetwatt_batcher_address(struct sk_buff *skb, const struct jetwatt_parcel *parcel, u32 port,
			     u64 lost);
int jetwatt_batcher_init(void (*out)(struct jetwatt_parcel *parcel));
void jetwatt_batcher_exit(void);

#endif
