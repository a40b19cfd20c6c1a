/* SPDX-License-Identifier: GPL-2.0 */
/* Which channels an INA3221's sum of shunt voltages is made of. */
#ifndef JETWATT_SUM_CHANNELS_H
#define JETWATT_SUM_CHANNELS_H

#include <linux/bits.h>
#include <linux/types.h>
#include "sensors/chip_ops.h"

#define JETWATT_SUM_MASKS	BIT(JETWATT_CHANNELS_MAX)

/**
 * struct jetwatt_sum - what has been found out so far
 * @channels: the channels; 0: not known, so the sum is not to be used
 * @guess: what the last window says, 0: nothing clear
 * @seen: quiet observations in this window
 * @last_uv: shunt voltages of the observation before
 * @error_uv: by mask: sum less those channels, added up over the window
 *
 * Belongs to the sampler's thread, under jetwatt_board.lock; @channels may be
 * read without.
 */
struct jetwatt_sum {
	u8 channels;
	u8 guess;
	unsigned int seen;
	s32 last_uv[JETWATT_CHANNELS_MAX];
	s64 error_uv[JETWATT_SUM_MASKS];
};

bool jetwatt_sum_observe(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv,
			 s32 sum_uv, s32 step_uv);
void jetwatt_sum_forget(struct jetwatt_sum *sum);

#endif
