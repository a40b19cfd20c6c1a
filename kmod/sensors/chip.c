// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the chips: their configuration, failures and read rates, and the decoding of their
 * shunt voltages.
 */
#include "sensors/chip.h"

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "event.h"
#include "sensors/board.h"
#include "sensors/rail_graph.h"

/**
 * jetwatt_chip_configured() - store the value of a configuration register
 * @chip: the chip
 * @n: index of the register
 * @value: the value that was read
 *
 * Must be called after every read of a configuration register, because a change is detected by
 * comparing the value with the stored one. A new value may switch a channel on or off; therefore
 * the channels of the chip's sum must be determined again, and the rail graph is updated.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_chip_configured(struct jetwatt_sensor_chip *chip, unsigned int n, u16 value)
{
	unsigned int channel, mask;

	if (value == chip->config[n])
		return;
	WRITE_ONCE(chip->config[n], value);
	mask = jetwatt_chip_conversion(chip).channels;
	for (channel = 0; channel < JETWATT_CHANNELS_MAX; channel++)
		if (chip->rail[channel] == JETWATT_NO_RAIL)
			mask &= ~BIT(channel);
	WRITE_ONCE(chip->channels, mask);
	chip->bus->planned = false;
	jetwatt_sum_forget(&chip->sum);
	jetwatt_graph_update();
}

/**
 * jetwatt_chip_conversion() - return the conversion settings of a chip
 * @chip: the chip
 *
 * Context: any. Return: the settings, decoded from the configuration registers as last read.
 */
struct jetwatt_conversion jetwatt_chip_conversion(const struct jetwatt_sensor_chip *chip)
{
	struct jetwatt_conversion conv = {};

	chip->ops->conversion(chip->config, &conv);
	return conv;
}

/**
 * jetwatt_chip_refresh_mhz() - return the rate at which each channel of a chip gets new values
 * @chip: the chip
 *
 * Context: any. Return: millihertz, 0 if the chip does not convert continuously.
 */
u32 jetwatt_chip_refresh_mhz(const struct jetwatt_sensor_chip *chip)
{
	u32 us = jetwatt_chip_conversion(chip).refresh_us;

	return us ? (u32)div_u64(1000000000ULL, us) : 0;
}

/*
 * Correct a shunt voltage by the offset of its rail. As in L4T's hwmon driver, the offset is
 * subtracted from the absolute value of the voltage.
 */
static s64 corrected_pv(const struct jetwatt_sensor_rail *rail, s64 pv)
{
	s64 uv = jetwatt_pv_to(pv, JETWATT_PV_PER_UV), offset = rail->offset.uv;
	unsigned int i;

	for (i = 0; i < rail->offset.nr; i++)
		if (uv >= rail->offset.range[i].start && uv <= rail->offset.range[i].end) {
			offset = rail->offset.range[i].uv;
			break;
		}
	offset *= JETWATT_PV_PER_UV;
	return pv < 0 ? pv + offset : pv - offset;
}

/**
 * jetwatt_rail_shunt_pv() - decode a shunt voltage, and count it if it is clipped
 * @rail: the rail
 * @reg: contents of the register
 *
 * Context: jetwatt_board.lock held.
 * Return: shunt voltage in picovolts, corrected by the offset of the rail.
 */
s64 jetwatt_rail_shunt_pv(const struct jetwatt_sensor_rail *rail, u64 reg)
{
	struct jetwatt_sensor_chip *chip = &jetwatt_board.chips[rail->chip];
	const struct jetwatt_range *range = jetwatt_chip_range(chip);
	s64 raw = jetwatt_field_raw(&range->shunt, reg);

	if (raw >= range->max_raw || raw <= -range->max_raw)
		WRITE_ONCE(chip->clipped, chip->clipped + 1);
	return corrected_pv(rail, jetwatt_field_pv(&range->shunt, reg));
}

/**
 * jetwatt_rail_limit_uv() - decode a warning or critical limit of a shunt voltage
 * @rail: the rail
 * @reg: contents of the register
 *
 * Return: limit in microvolts, corrected by the offset of the rail.
 */
s32 jetwatt_rail_limit_uv(const struct jetwatt_sensor_rail *rail, u64 reg)
{
	const struct jetwatt_range *range = jetwatt_chip_range(&jetwatt_board.chips[rail->chip]);
	s64 pv = corrected_pv(rail, jetwatt_field_pv(&range->limit, reg));

	return (s32)jetwatt_pv_to(pv, JETWATT_PV_PER_UV);
}

/**
 * jetwatt_chip_failed() - record a failed transfer of registers of a chip
 * @chip: the chip
 * @now: CLOCK_MONOTONIC
 * @took_ns: duration of the transfer
 *
 * A chip is lost after JETWATT_ERRORS_LOST consecutive failures, and at once if the transfer timed
 * out. A timeout means that the bus is stuck, and every retry then delays all other chips by
 * another timeout; the delay before a retry is therefore at least ten times @took_ns.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_chip_failed(struct jetwatt_sensor_chip *chip, u64 now, u64 took_ns)
{
	bool stuck = took_ns >= JETWATT_STUCK_NS;

	chip->bus->planned = false;
	WRITE_ONCE(chip->errors, chip->errors + 1);
	chip->retry_due = now + max_t(u64, NSEC_PER_SEC, stuck ? 10 * took_ns : 0);
	if (stuck)
		chip->consecutive_errors = JETWATT_ERRORS_LOST;
	if (chip->lost || (!stuck && ++chip->consecutive_errors < JETWATT_ERRORS_LOST))
		return;
	WRITE_ONCE(chip->lost, true);
	jetwatt_event_post(JETWATT_EVENT_CHIP_LOST, chip->id, 0);
}

/**
 * jetwatt_chip_answered() - record a successful transfer of registers of a chip
 * @chip: the chip
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_chip_answered(struct jetwatt_sensor_chip *chip)
{
	if (!chip->consecutive_errors && !chip->lost)
		return;
	chip->bus->planned = false;
	chip->consecutive_errors = 0;
	if (!chip->lost)
		return;
	WRITE_ONCE(chip->lost, false);
	jetwatt_event_post(JETWATT_EVENT_CHIP_BACK, chip->id, 0);
}

/**
 * jetwatt_chip_refresh_bus_hz() - update the bus clock of every attached chip
 *
 * The function makes no i2c transfer, so requests of unprivileged clients may call it.
 *
 * Context: takes jetwatt_board.lock.
 */
void jetwatt_chip_refresh_bus_hz(void)
{
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_board.nr_chips; i++)
		if (jetwatt_board.chips[i].client) {
			jetwatt_bus_refresh_hz(jetwatt_board.chips[i].bus);
			WRITE_ONCE(jetwatt_board.chips[i].bus_hz, jetwatt_bus_hz(jetwatt_board.chips[i].bus));
		}
	rt_mutex_unlock(&jetwatt_board.lock);
}

static u32 rate_mhz(u64 n, u64 ns)
{
	return ns ? (u32)div64_u64(n * 1000 * NSEC_PER_SEC, ns) : 0;
}

/**
 * jetwatt_chip_update_rates() - update the read rate and the bus clock of each chip
 * @now: CLOCK_MONOTONIC
 *
 * Called by ticks, at most four times a second. Each call stores the time and the number of reads
 * in one of eight entries; the read rate is the number of reads since the oldest entry, divided by
 * the time since then.
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_chip_update_rates(u64 now)
{
	struct jetwatt_sensor_chip *chip;
	unsigned int i, slot;

	for (i = 0; i < jetwatt_board.nr_chips; i++) {
		chip = &jetwatt_board.chips[i];
		slot = chip->windows % ARRAY_SIZE(chip->window_time);
		if (chip->windows >= ARRAY_SIZE(chip->window_time))
			WRITE_ONCE(chip->read_mhz, rate_mhz(chip->reads - chip->window_reads[slot],
							    now - chip->window_time[slot]));
		else if (chip->windows)
			WRITE_ONCE(chip->read_mhz, rate_mhz(chip->reads - chip->window_reads[0],
							    now - chip->window_time[0]));
		chip->window_time[slot] = now;
		chip->window_reads[slot] = chip->reads;
		chip->windows++;
		if (chip->client)
			WRITE_ONCE(chip->bus_hz, jetwatt_bus_hz(chip->bus));
	}
}

/**
 * jetwatt_chip_parked() - reset the read rates of all chips when the sampler starts or stops
 *
 * Context: the sampler thread; takes jetwatt_board.lock.
 */
void jetwatt_chip_parked(void)
{
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_board.nr_chips; i++) {
		jetwatt_board.chips[i].windows = 0;
		WRITE_ONCE(jetwatt_board.chips[i].read_mhz, 0);
	}
	rt_mutex_unlock(&jetwatt_board.lock);
}
