/* SPDX-License-Identifier: GPL-2.0 */
/* Faults on request, so that a test reaches every error path. */
#ifndef JETWATT_FAULT_INJECT_H
#define JETWATT_FAULT_INJECT_H

#include <linux/types.h>

/**
 * enum jetwatt_fail - what can be told to fail
 * @JETWATT_FAIL_SKB: room for a message
 * @JETWATT_FAIL_ALLOC: memory for a subscriber or a dump
 * @JETWATT_FAIL_ATTACH: taking hold of a chip
 * @JETWATT_FAIL_TRANSFER: a transfer on the bus, before it starts
 * @JETWATT_FAIL_CLOCK: reading a slow clock
 * @JETWATT_FAIL_SEND: handing a batch to a subscriber's socket
 * @JETWATT_FAIL_HOOK: attaching to a tracepoint
 * @JETWATT_FAIL_ASLEEP: no failure: the machine seems to have slept for five seconds
 * @JETWATT_FAIL_COPY: no failure: copying a batch for a subscriber takes half a second
 * @JETWATT_FAIL_REAP: no failure: the work item that drops watchers that have gone is late
 * @JETWATT_FAIL_LOOK: no failure: the timer's handler of rt_throttle.c takes long
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
