/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the multicast group of the netlink family: any part of the module posts them, a work
 * item sends them.
 */
#ifndef JETWATT_EVENT_H
#define JETWATT_EVENT_H

#include <linux/types.h>

#define JETWATT_EVENT_NO_CHIP	(~0U)

/**
 * struct jetwatt_posted_event - an event that waits to be sent
 * @time_ns: time at which the event was posted, CLOCK_MONOTONIC
 * @value: number whose meaning depends on @kind, see enum jetwatt_event_kind
 * @kind: enum jetwatt_event_kind
 * @chip: id of the chip, or JETWATT_EVENT_NO_CHIP if the event is not about one chip
 */
struct jetwatt_posted_event {
	u64 time_ns;
	u64 value;
	u32 kind;
	u32 chip;
};

void jetwatt_event_post(u32 kind, u32 chip, u64 value);
void jetwatt_event_open(void (*send)(const struct jetwatt_posted_event *event));
void jetwatt_event_close(void);

#endif
