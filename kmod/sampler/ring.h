/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of samples: one writer, which never waits, and any number of readers. */
#ifndef JETWATT_RING_H
#define JETWATT_RING_H

#include <linux/types.h>
#include "sensors/series.h"

/**
 * struct jetwatt_sample - the values of one tick
 * @seq: sequence number; 0 if the slot was never written or is being written
 * @time_ns: CLOCK_MONOTONIC in the middle of the tick's transfers
 * @nr_series: number of valid entries of @value
 * @value: values, by column of the list of series (sensors/series.h)
 */
struct jetwatt_sample {
	u64 seq;
	u64 time_ns;
	u32 nr_series;
	s32 value[JETWATT_SERIES_SLOTS];
};

struct jetwatt_sample *jetwatt_ring_begin(unsigned int nr_series);
u64 jetwatt_ring_commit(u64 time_ns);
u64 jetwatt_ring_head(void);
u64 jetwatt_ring_time(u64 seq);
unsigned int jetwatt_ring_size(void);
unsigned int jetwatt_ring_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max);
int jetwatt_ring_init(void);
void jetwatt_ring_exit(void);

#endif
