/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection: lets a test reach every error path of the module. */
#ifndef JETWATT_FAULT_INJECT_H
#define JETWATT_FAULT_INJECT_H

#include <linux/types.h>

/**
 * enum jetwatt_fail - faults that can be injected
 * @JETWATT_FAIL_SKB: allocating a netlink message fails
 * @JETWATT_FAIL_ALLOC: allocating a subscriber or the state of a dump fails
 * @JETWATT_FAIL_ATTACH: attaching a chip fails
 * @JETWATT_FAIL_TRANSFER: an i2c transfer fails before it starts
 * @JETWATT_FAIL_CLOCK: reading a clock rate or a temperature from the firmware fails
 * @JETWATT_FAIL_SEND: sending a message to a subscriber's socket fails
 * @JETWATT_FAIL_HOOK: attaching to a tracepoint fails
 * @JETWATT_FAIL_ASLEEP: simulates five seconds of suspend
 * @JETWATT_FAIL_COPY: delays copying a batch for a subscriber by half a second
 * @JETWATT_FAIL_REAP: delays the work item that removes closed wait subscribers
 * @JETWATT_FAIL_LOOK: delays the timer handler of rt_throttle.c
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
