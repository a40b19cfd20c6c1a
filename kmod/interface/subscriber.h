/* SPDX-License-Identifier: GPL-2.0 */
/* Subscribers to samples: sockets that get batches of samples. */
#ifndef JETWATT_SUBSCRIBER_H
#define JETWATT_SUBSCRIBER_H

#include <linux/types.h>

struct sock;

#define JETWATT_SUBSCRIBERS_MAX	32

/**
 * struct jetwatt_account - sent and lost samples of a subscriber
 * @port: netlink port of the subscriber's socket
 * @sent: number of samples sent to the socket
 * @lost: number of samples that could not be sent
 */
struct jetwatt_account {
	u32 port;
	u64 sent;
	u64 lost;
};

int jetwatt_subscriber_add(u32 port, struct sock *sk);
int jetwatt_subscriber_remove(u32 port, const struct sock *sk);
bool jetwatt_subscriber_account(unsigned int i, struct jetwatt_account *account);
u64 jetwatt_subscriber_lost(void);
int jetwatt_subscriber_init(void);
void jetwatt_subscriber_close(void);
void jetwatt_subscriber_exit(void);

#endif
