/* SPDX-License-Identifier: GPL-2.0 */
/* Events: noted by anybody, told to the multicast group later. */
#ifndef JETWATT_EVENT_H
#define JETWATT_EVENT_H

#include <linux/types.h>

#define JETWATT_EVENT_NO_CHIP	(~0U)

/**
 * struct jetwatt_posted_event - one event
 * @time_ns: when
 * @value: see enum jetwatt_event
 * @kind: enum jetwatt_event
 * @chip: id of the chip or JETWATT_EVENT_NO_CHIP
 */
struct jetwatt_posted_event {
	u64 time_ns;
	u64 value;
	u32 kind;
	u32 chip;
};

void jetwatt_event_post(u32 kind, u32 chip, u64 value);
void jetwatt_event_open(void (*send)(const struct jetwatt_posted_event *note));
void jetwatt_event_close(void);

#endif
