/* SPDX-License-Identifier: GPL-2.0 */
/* Encodes samples as a netlink message. */
#ifndef JETWATT_SAMPLE_MSG_H
#define JETWATT_SAMPLE_MSG_H

#include <linux/types.h>

struct jetwatt_sample;
struct sk_buff;

size_t jetwatt_batch_size(unsigned int samples, unsigned int series);
int jetwatt_batch_put(struct sk_buff *skb, const struct jetwatt_sample *rows, unsigned int n,
		      u64 lost, void **lost_at);
void jetwatt_batch_set_lost(void *at, u64 lost);

#endif
