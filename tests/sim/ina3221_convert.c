// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conversions of an INA3221.
 *
 * The value of a conversion is the mean over its window: the plant's energy at the end of the
 * window minus that at its start. The simulation adds Gaussian noise, with a standard deviation of
 * at least 0.3 LSB, so that a mean over many conversions has a finer resolution than one LSB, as
 * with the real chip. Then it rounds to the nearest LSB. Averaging is a recursive filter:
 * out += (new - out) / N at each conversion.
 */
#include "chip.h"

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>

/*
 * After more than SILENCE_NS without access to the chip, only about the latest CATCH_UP conversions
 * are simulated one by one. Earlier conversions are replaced by their mean.
 */
#define CATCH_UP	512
#define SILENCE_NS	(60 * NSEC_PER_MSEC)	/* duration of about CATCH_UP short conversions */

static uint adc_noise = 500;
module_param(adc_noise, uint, 0644);
MODULE_PARM_DESC(adc_noise, "standard deviation of a conversion, 1/1000 LSB (default 500; at least 300)");

static int adc_offset_uv;
module_param(adc_offset_uv, int, 0644);
MODULE_PARM_DESC(adc_offset_uv, "offset that is added to all shunt voltages, uV (default 0)");

static uint conv_permille = 1000;
module_param(conv_permille, uint, 0644);
MODULE_PARM_DESC(conv_permille, "duration of conversions relative to the data sheet, permille, 500 to 2000 (default 1000)");

static u32 conversion_ns(u32 code)
{
	static const u32 us[] = { 140, 204, 332, 588, 1100, 2116, 4156, 8244 };

	return us[code & 7] * clamp(conv_permille, 500U, 2000U);	/* us x 1000 */
}

static u32 averages(const struct sim_chip *chip)
{
	static const u32 n[] = { 1, 4, 16, 64, 128, 256, 512, 1024 };

	return n[(chip->reg[REG_CONFIG] >> 9) & 7];
}

static u64 cycle_ns(const struct sim_chip *chip)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < chip->steps; i++)
		ns += chip->step_ns[chip->sequence[i] & 1];
	return ns;
}

/* Return: result of the ADC in LSB, with noise, for the ideal value @exact in 1/65536 LSB. */
static s32 digitise(struct sim_chip *chip, s64 exact)
{
	s64 noise = (s64)sim_noise_gauss(&chip->noise) * max(adc_noise, 300U);

	return clamp_t(s64, (exact + div_s64(noise, 1000) + 32768) >> 16, -4096, 4095);
}

/*
 * Return: value in 1/65536 LSB, without noise but with adc_offset_uv, while the channel's line draws
 * @uw. @what: an entry of struct sim_chip.sequence.
 */
static s64 ideal(const struct sim_chip *chip, u8 what, u64 uw)
{
	const struct sim_channel *ch = &chip->channel[what >> 1];
	u32 mv = 0;
	u64 ua = 0;

	if (ch->wire)
		sim_wire_electric(ch->wire, uw, &mv, &ua);
	if (what & 1)
		return ((s64)mv << 16) / 8;
	/* uA x uOhm = pV; the LSB is 40 uV */
	return div_s64((s64)(ua * ch->shunt_uohm) / 1000 * 65536, 40000) +
	       (s64)adc_offset_uv * 65536 / 40;
}

static void filter(s64 *avg, s64 value, u32 n)
{
	*avg += div_s64((value << 16) - *avg, n);
}

static u16 pack(s64 avg)
{
	return (u16)(((avg + 32768) >> 16) << 3);
}

static void check_shunt(struct sim_chip *chip, int ch)
{
	struct sim_channel *c = &chip->channel[ch];

	if (c->shunt_single > (s16)chip->reg[REG_CRIT1 + 2 * ch] >> 3)
		chip->reg[REG_MASK] |= MASK_CF(ch);
	if ((s16)chip->reg[REG_SHUNT1 + 2 * ch] >> 3 > (s16)chip->reg[REG_WARN1 + 2 * ch] >> 3)
		chip->reg[REG_MASK] |= MASK_WF(ch);
}

static void finish_cycle(struct sim_chip *chip)
{
	u16 mask = chip->reg[REG_MASK];
	bool all_valid = true;
	s32 sum = 0;
	int i;

	for (i = 0; i < SIM_CHANNELS; i++) {
		bool enabled = chip->reg[REG_CONFIG] & (0x4000 >> i);
		s16 bus = chip->reg[REG_BUS1 + 2 * i];

		if (enabled && (mask & MASK_SCC(i)))
			sum += chip->channel[i].shunt_single;
		all_valid = all_valid && enabled && bus > (s16)chip->reg[REG_PV_HIGH];
		if (enabled && bus < (s16)chip->reg[REG_PV_LOW])
			mask &= ~MASK_PVF;
	}
	chip->reg[REG_SUM] = (u16)(clamp(sum, -16384, 16383) << 1);
	if (sum > (s16)chip->reg[REG_SUM_LIMIT] >> 1)
		mask |= MASK_SF;
	if (all_valid)
		mask |= MASK_PVF;
	chip->reg[REG_MASK] = mask | MASK_CVRF;
	if (chip->once)
		chip->steps = 0;
}

static void finish_step(struct sim_chip *chip, u64 uw)
{
	u8 what = chip->sequence[chip->step];
	struct sim_channel *ch = &chip->channel[what >> 1];
	s32 value = digitise(chip, ideal(chip, what, uw));

	if (what & 1) {
		filter(&ch->bus_avg, value, averages(chip));
		chip->reg[REG_BUS1 + (what & ~1)] = pack(ch->bus_avg);
	} else {
		ch->shunt_single = value;
		filter(&ch->shunt_avg, value, averages(chip));
		chip->reg[REG_SHUNT1 + (what & ~1)] = pack(ch->shunt_avg);
		check_shunt(chip, what >> 1);
	}
	if (++chip->step == chip->steps) {
		chip->step = 0;
		finish_cycle(chip);
	}
}

/*
 * If many cycles of conversions have ended by time @t, skip all but about CATCH_UP conversions, and
 * feed the mean of the skipped ones into the averaging filters.
 */
static void skip(struct sim_chip *chip, u64 t)
{
	u64 cycle = cycle_ns(chip), cycles = div64_u64(t - chip->start, cycle), end, pj[SIM_RAILS];
	u32 i;

	if (cycles <= CATCH_UP / chip->steps + 1)
		return;
	cycles -= CATCH_UP / chip->steps;
	end = chip->start + cycles * cycle;
	sim_plant_energy(end, pj);
	for (i = 0; i < chip->steps; i++) {
		u8 what = chip->sequence[i];
		struct sim_channel *ch = &chip->channel[what >> 1];
		s64 *avg = what & 1 ? &ch->bus_avg : &ch->shunt_avg;
		u64 uw = sim_wire_uw(ch->wire, chip->pj, pj, cycles * cycle);

		*avg += div_s64((ideal(chip, what, uw) - *avg) * (s64)min_t(u64, cycles, 4096),
				max_t(u64, averages(chip), min_t(u64, cycles, 4096)));
	}
	memcpy(chip->pj, pj, sizeof(pj));
	chip->start = end;
}

void sim_chip_convert(struct sim_chip *chip, u64 t)
{
	if (chip->steps && !chip->once && t > chip->start + SILENCE_NS)
		skip(chip, t);
	while (chip->steps) {
		u32 ns = chip->step_ns[chip->sequence[chip->step] & 1];
		const struct sim_wire *wire = chip->channel[chip->sequence[chip->step] >> 1].wire;
		u64 pj[SIM_RAILS], uw;

		if (chip->start + ns > t)
			return;
		chip->start += ns;
		sim_plant_energy(chip->start, pj);
		uw = sim_wire_uw(wire, chip->pj, pj, ns);
		memcpy(chip->pj, pj, sizeof(pj));
		finish_step(chip, uw);
	}
}

void sim_chip_restart(struct sim_chip *chip, u64 t)
{
	u16 config = chip->reg[REG_CONFIG];
	/* After power-down, the chip takes 40 us to start the first conversion. */
	u32 wake = chip->steps ? 0 : 40000;
	int i;

	chip->steps = 0;
	chip->step = 0;
	chip->once = !(config & 4);
	for (i = 0; i < SIM_CHANNELS; i++) {
		if (!(config & (0x4000 >> i)))
			continue;
		if (config & 1)
			chip->sequence[chip->steps++] = 2 * i;
		if (config & 2)
			chip->sequence[chip->steps++] = 2 * i + 1;
	}
	chip->step_ns[0] = conversion_ns(config >> 3);
	chip->step_ns[1] = conversion_ns(config >> 6);
	chip->start = t + wake;
	sim_plant_energy(t, chip->pj);
}
