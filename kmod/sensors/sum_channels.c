// SPDX-License-Identifier: GPL-2.0
#include "sensors/sum_channels.h"

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

/*
 * The bits that say so (SCC1-3) are in register 0x0F, which cannot be read
 * without clearing alerts. So the sum is compared with all sums that it could
 * be, over observations in which shunts and sum were read in one tick and no
 * shunt had changed much since the one before: then neither averaging nor the
 * order of reading matters. One of them has to fit and all others have to be
 * clearly off, in two windows running. A rail that draws next to nothing makes
 * two of them fit: then nothing is known, and the sum is not used.
 */
#define WINDOW		16
#define QUIET_STEPS	3	/* a shunt may have changed by so much */
#define FITS_STEPS	1	/* mean error of the right one; noise is half a step */
#define OFF_STEPS	4	/* and of all wrong ones, at least */

static bool quiet(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv, s32 step_uv)
{
	unsigned int channel;
	bool is = true;

	for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++) {
		if (!(enabled & BIT(channel)))
			continue;
		is &= abs(shunt_uv[channel] - sum->last_uv[channel]) <= QUIET_STEPS * step_uv;
		sum->last_uv[channel] = shunt_uv[channel];
	}
	return is;
}

/* The only mask that fits, 0 if there is none. */
static u8 judge(const struct jetwatt_sum *sum, unsigned int enabled, s32 step_uv)
{
	unsigned int mask;
	u8 fits = 0;
	s32 error;

	for (mask = 0; mask < JETWATT_SUM_MASKS; mask++) {
		if (mask & ~enabled)
			continue;
		error = abs((s32)div_s64(sum->error_uv[mask], WINDOW));
		if (error > OFF_STEPS * step_uv)
			continue;
		if (error > FITS_STEPS * step_uv || fits || !mask)
			return 0;
		fits = mask;
	}
	return fits;
}

/**
 * jetwatt_sum_observe() - shunts and sum were read in one tick
 * @sum: what is known; updated
 * @enabled: mask of the channels that are converted
 * @shunt_uv: their shunt voltages, by channel
 * @sum_uv: the sum
 * @step_uv: a step of the shunt voltages
 *
 * Return: true if what is known has changed.
 */
bool jetwatt_sum_observe(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv,
			 s32 sum_uv, s32 step_uv)
{
	unsigned int mask, channel;
	u8 before = sum->channels, guess;
	s64 error;

	if (!quiet(sum, enabled, shunt_uv, step_uv))
		return false;
	for (mask = 0; mask < JETWATT_SUM_MASKS; mask++) {
		error = sum_uv;
		for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++)
			if (mask & BIT(channel))
				error -= shunt_uv[channel];
		sum->error_uv[mask] += error;
	}
	if (++sum->seen < WINDOW)
		return false;
	guess = judge(sum, enabled, step_uv);
	WRITE_ONCE(sum->channels, guess == sum->guess ? guess : 0);
	sum->guess = guess;
	sum->seen = 0;
	memset(sum->error_uv, 0, sizeof(sum->error_uv));
	return sum->channels != before;
}

/**
 * jetwatt_sum_forget() - begin anew
 * @sum: what is known
 */
void jetwatt_sum_forget(struct jetwatt_sum *sum)
{
	WRITE_ONCE(sum->channels, 0);
	sum->guess = 0;
	sum->seen = 0;
	memset(sum->error_uv, 0, sizeof(sum->error_uv));
}
