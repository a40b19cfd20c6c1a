/* SPDX-License-Identifier: GPL-2.0 */
/* The black box: what the ring held when something happened, kept. */
#ifndef JETWATT_BLACKBOX_H
#define JETWATT_BLACKBOX_H

#include <linux/types.h>

struct jetwatt_sample;

/**
 * struct jetwatt_blackbox - what is kept, and why
 * @cause: enum jetwatt_box_cause
 * @index: over-current: id of the rail; thermal: number of the zone
 * @time_ns: when it happened
 * @seq: first sample kept
 * @count: how many are kept
 * @missed: things that happened later and found the box taken
 */
struct jetwatt_blackbox {
	u32 cause;
	u32 index;
	u64 time_ns;
	u64 seq;
	u32 count;
	u32 missed;
};

void jetwatt_blackbox_alarm(u32 cause, u32 index);
int jetwatt_blackbox_freeze(u32 cause, u32 index, u64 time_ns);
int jetwatt_blackbox_clear(void);
int jetwatt_blackbox_get(struct jetwatt_blackbox *box);
unsigned int jetwatt_blackbox_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max);
void jetwatt_blackbox_exit(void);

#endif
