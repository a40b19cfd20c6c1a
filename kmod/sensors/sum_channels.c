// SPDX-License-Identifier: GPL-2.0
/*
 * Determine, from the readings of an INA3221, which channels the chip includes in its sum of shunt
 * voltages.
 */
#include "sensors/sum_channels.h"

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

/*
 * The bits that select the channels of the sum (SCC1-3) are in register 0x0F, and reading that
 * register clears alerts. Instead of reading the bits, the module compares the sum with the sums of
 * all subsets of channels. An observation is a tick in which all shunts and the sum were read. An
 * observation is only used if no shunt voltage has changed by more than QUIET_LSB since the
 * previous observation; then averaging and the order of reading do not matter. The channels are
 * known if, in two consecutive windows, the same subset fits (mean error of at most FITS_LSB) and
 * all other subsets have a mean error of more than OFF_LSB. If a rail draws almost no current, two
 * subsets fit; then the channels are unknown, and the sum is not used.
 */
#define WINDOW		16	/* number of observations in a window */
#define QUIET_LSB	3	/* maximum change of a shunt voltage between observations, in LSB */
#define FITS_LSB	1	/* maximum mean error of the right subset (LSB); noise is 0.5 LSB */
#define OFF_LSB		4	/* mean error that all other subsets must exceed, in LSB */

static bool is_quiet(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv, s32 lsb_uv)
{
	unsigned int channel;
	bool quiet = true;

	for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++) {
		if (!(enabled & BIT(channel)))
			continue;
		quiet &= abs(shunt_uv[channel] - sum->last_uv[channel]) <= QUIET_LSB * lsb_uv;
		sum->last_uv[channel] = shunt_uv[channel];
	}
	return quiet;
}

/* Return: mask of the only subset of channels that fits, by the rules above; 0 if there is none. */
static u8 find_fit(const struct jetwatt_sum *sum, unsigned int enabled, s32 lsb_uv)
{
	unsigned int mask;
	u8 fits = 0;
	s32 error;

	for (mask = 0; mask < JETWATT_SUM_MASKS; mask++) {
		if (mask & ~enabled)
			continue;
		error = abs((s32)div_s64(sum->error_uv[mask], WINDOW));
		if (error > OFF_LSB * lsb_uv)
			continue;
		if (error > FITS_LSB * lsb_uv || fits || !mask)
			return 0;
		fits = mask;
	}
	return fits;
}

/**
 * jetwatt_sum_observe() - evaluate shunt voltages and their sum that were read in one tick
 * @sum: state of the chip's sum; updated
 * @enabled: mask of the channels that are converted
 * @shunt_uv: shunt voltages in microvolts, by channel
 * @sum_uv: the sum in microvolts
 * @lsb_uv: LSB of the shunt voltages in microvolts
 *
 * Return: true if @sum->channels has changed.
 */
bool jetwatt_sum_observe(struct jetwatt_sum *sum, unsigned int enabled, const s32 *shunt_uv,
			 s32 sum_uv, s32 lsb_uv)
{
	unsigned int mask, channel;
	u8 before = sum->channels, guess;
	s64 error;

	if (!is_quiet(sum, enabled, shunt_uv, lsb_uv))
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
	guess = find_fit(sum, enabled, lsb_uv);
	WRITE_ONCE(sum->channels, guess == sum->guess ? guess : 0);
	sum->guess = guess;
	sum->seen = 0;
	memset(sum->error_uv, 0, sizeof(sum->error_uv));
	return sum->channels != before;
}

/**
 * jetwatt_sum_forget() - reset the state, for example after the chip's configuration has changed
 * @sum: state of the chip's sum
 */
void jetwatt_sum_forget(struct jetwatt_sum *sum)
{
	WRITE_ONCE(sum->channels, 0);
	sum->guess = 0;
	sum->seen = 0;
	memset(sum->error_uv, 0, sizeof(sum->error_uv));
}
