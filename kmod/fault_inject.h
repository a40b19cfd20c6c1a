/* SPDX-License-Identifier: GPL-2.0 */
/* Injected faults, so that a test reaches every error path. */
#ifndef JETWATT_FAULT_INJECT_H
#define JETWATT_FAULT_INJECT_H

#include <linux/types.h>

/**
 * enum jetwatt_fail - faults that can be injected
 * @JETWATT_FAIL_SKB: allocation of a netlink message
 * @JETWATT_FAIL_ALLOC: allocation of a subscriber or of the state of a dump
 * @JETWATT_FAIL_ATTACH: attaching a chip
 * @JETWATT_FAIL_TRANSFER: an i2c transfer, before it starts
 * @JETWATT_FAIL_CLOCK: reading a clock or temperature from the firmware
 * @JETWATT_FAIL_SEND: sending a batch to a subscriber's socket
 * @JETWATT_FAIL_HOOK: attaching to a tracepoint
 * @JETWATT_FAIL_ASLEEP: a delay, not a failure: five seconds of suspend are simulated
 * @JETWATT_FAIL_COPY: a delay: copying a batch for a subscriber takes half a second
 * @JETWATT_FAIL_REAP: a delay of the work item that removes closed wait subscribers
 * @JETWATT_FAIL_LOOK: a delay in the timer handler of rt_throttle.c
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
