/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: makes an operation of the module fail or delays it on request, so that tests
 * reach error paths and races.
 */
#ifndef JETWATT_FAULT_INJECT_H
#define JETWATT_FAULT_INJECT_H

#include <linux/types.h>

/**
 * enum jetwatt_fail - faults that can be injected
 * @JETWATT_FAIL_SKB: allocating a netlink message fails
 * @JETWATT_FAIL_ALLOC: allocating memory fails: for a subscriber to samples, the state of a dump of
 *	samples, the black box, or the tables of the waits
 * @JETWATT_FAIL_ATTACH: attaching a chip fails
 * @JETWATT_FAIL_TRANSFER: an i2c transfer is not started and counts as failed
 * @JETWATT_FAIL_CLOCK: reading the memory clock or a temperature fails
 * @JETWATT_FAIL_SEND: sending a batch of samples to a subscriber's socket fails
 * @JETWATT_FAIL_HOOK: attaching to a tracepoint fails
 * @JETWATT_FAIL_ASLEEP: the energy counters act as if the machine had been suspended for five
 *	seconds
 * @JETWATT_FAIL_COPY: sending a batch of samples to a subscriber is delayed by half a second
 * @JETWATT_FAIL_REAP: the work item that removes subscribers to waits whose sockets are closed is
 *	delayed by 100 ms
 * @JETWATT_FAIL_LOOK: the timer handler that detects RT throttling (rt_throttle.c) is delayed by 2
 *	ms
 */
enum jetwatt_fail {
	JETWATT_FAIL_SKB,
	JETWATT_FAIL_ALLOC,
	JETWATT_FAIL_ATTACH,
	JETWATT_FAIL_TRANSFER,
	JETWATT_FAIL_CLOCK,
	JETWATT_FAIL_SEND,
	JETWATT_FAIL_HOOK,
	JETWATT_FAIL_LOOK,
	JETWATT_FAIL_ASLEEP,
	JETWATT_FAIL_COPY,
	JETWATT_FAIL_REAP,
	JETWATT_FAIL_COUNT
};

bool jetwatt_fail(enum jetwatt_fail what);
void *jetwatt_fail_vzalloc(size_t size);
int jetwatt_fail_step(void);
int jetwatt_fail_init(void);
void jetwatt_fail_exit(void);

#endif
