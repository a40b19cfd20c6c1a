/* SPDX-License-Identifier: GPL-2.0 */
/* The black box: a copy of the last seconds of the ring, made on an alarm or a request. */
#ifndef JETWATT_BLACKBOX_H
#define JETWATT_BLACKBOX_H

#include <linux/types.h>

struct jetwatt_sample;

/**
 * struct jetwatt_blackbox - contents of the black box
 * @cause: reason why the black box was filled, enum jetwatt_box_cause
 * @index: for over-current: id of the rail; for thermal: number of the zone; for a request: 0
 * @time_ns: time of the event, CLOCK_MONOTONIC
 * @seq: sequence number of the first sample
 * @count: number of samples
 * @missed: number of later alarms and requests, not stored because the black box was not empty;
 *	without the alarms that were dropped while another alarm was pending
 */
struct jetwatt_blackbox {
	u32 cause;
	u32 index;
	u64 time_ns;
	u64 seq;
	u32 count;
	u32 missed;
};

void jetwatt_blackbox_configure(u32 ms, bool running);
bool jetwatt_blackbox_armed(void);
void jetwatt_blackbox_alarm(u32 cause, u32 index);
void jetwatt_blackbox_committed(void);
int jetwatt_blackbox_freeze(u32 cause, u32 index, u64 time_ns);
int jetwatt_blackbox_clear(void);
int jetwatt_blackbox_get(struct jetwatt_blackbox *info);
unsigned int jetwatt_blackbox_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max);
void jetwatt_blackbox_exit(void);

#endif
