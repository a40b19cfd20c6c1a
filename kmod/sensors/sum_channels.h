/* SPDX-License-Identifier: GPL-2.0 */
/* Detection of the channels that an INA3221 includes in its sum of shunt voltages. */
#ifndef JETWATT_SUM_CHANNELS_H
#define JETWATT_SUM_CHANNELS_H

#include <linux/bits.h>
#include <linux/types.h>
#include "sensors/chip_ops.h"

#define JETWATT_SUM_MASKS	BIT(JETWATT_CHANNELS_MAX)

/**
 * struct jetwatt_sum - state of detecting the channels in a chip's sum of shunt voltages
 * @channels: mask of the channels in the sum; 0 if the channels are unknown, and the sum must not
 *	be used
 * @guess: the only mask of channels that fitted in the last window of observations, by the rules in
 *	sum_channels.c; 0 if there was none, or no window has ended since the last reset
 * @seen: number of observations used in the current window
 * @last_uv: shunt voltages of the previous observation, in microvolts
 * @error_uv: for each mask of channels, the sum minus the shunt voltages of these channels,
 *	added up over the current window
 *
 * Protected by jetwatt_board.lock; only @channels may also be read without the lock.
 */
struct jetwatt_sum {
	u8 channels;
	u8 guess;
	unsigned int seen;
	s32 last_uv[JETWATT_CHANNELS_MAX];
	s64 error_uv[JETWATT_SUM_MASKS];
};

bool jetwatt_sum_observe(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv,
			 s32 sum_uv, s32 lsb_uv);
void jetwatt_sum_forget(struct jetwatt_sum *sum);

#endif
