/* SPDX-License-Identifier: GPL-2.0 */
/* Subscribers to waits: sockets that get records of finished waits. */
#ifndef JETWATT_WAIT_SUBSCRIBER_H
#define JETWATT_WAIT_SUBSCRIBER_H

#include <linux/types.h>

struct sock;

int jetwatt_wait_subscriber_add(u32 port, struct sock *sk, const u32 *tgids, unsigned int n,
			bool children);
int jetwatt_wait_subscriber_remove(u32 port, const struct sock *sk);
int jetwatt_wait_subscriber_init(void);
void jetwatt_wait_subscriber_exit(void);

#endif
