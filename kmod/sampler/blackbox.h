/* SPDX-License-Identifier: GPL-2.0 */
/* The black box: what the ring held when something happened, kept. */
#ifndef JETWATT_BLACKBOX_H
#define JETWATT_BLACKBOX_H

#include <linux/types.h>

struct jetwatt_sample;

/**
 * struct jetwatt_box - what is kept, and why
 * @cause: enum jetwatt_box_cause
 * @index: over-current: id of the rail; thermal: number of the zone
 * @time_ns: when it happened
 * @seq: first sample kept
 * @count: how many are kept
 * @missed: things that happened later and found the box taken
 */
struct jetwatt_box {
	u32 cause;
	u32 index;
	u64 time_ns;
	u64 seq;
	u32 count;
	u32 missed;
};

void jetwatt_box_alarm(u32 cause, u32 index);
int jetwatt_box_freeze(u32 cause, u32 index, u64 time_ns);
int jetwatt_box_clear(void);
int jetwatt_box_get(struct jetwatt_box *box);
unsigned int jetwatt_box_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max);
void jetwatt_box_exit(void);

#endif
