// SPDX-License-Identifier: GPL-2.0
/*
 * Energy counters of the rails and of the total: integrate the power of the samples, and count the
 * time for which the power is unknown (blind time).
 */
#include "sampler/energy.h"

#include <linux/bitops.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "fault_inject.h"
#include "sampler/ring.h"
#include "sensors/board.h"
#include "sensors/rail_graph.h"

#define FJ_PER_UJ	1000000000LL

/*
 * Maximum interval between two samples. During longer intervals the power is unknown; their length
 * is counted as blind time.
 */
#define BLIND_NS	(2 * NSEC_PER_SEC)
/* Limits the debt of struct energy_counter to the energy of one LSB of the ADC over this time. */
#define DEBT_NS		((u64)NSEC_PER_SEC)
/* Limits the power, so that the energy of BLIND_NS in femtojoules fits into 63 bits. */
#define POWER_MAX_UW	2000000000LL

/**
 * struct energy_counter - energy counter of one rail
 * @uj: energy in whole microjoules
 * @blind_ns: see struct jetwatt_energy_reading
 * @blind_in_total_ns: part of @blind_ns in which the rail belonged to the total, since the last
 *	change of the total's rails
 * @in_total: true if the rail was part of the total at the last sample
 * @time_ns: time of the last sample; 0: none yet
 * @bus_ns: time of the sample in which the bus voltage was read last; 0: never
 * @suspended_ns: value of suspended_ns() at the last sample
 * @freeze: value of the variable freezes at the last sample
 * @uw: power of the last sample, in microwatts
 * @bus_uv: bus voltage last read, in microvolts; JETWATT_VALUE_NONE: never read
 * @read_nv: shunt voltage last read, in nanovolts; samples only have microvolts
 * @shunt_nv: shunt voltage of the last sample, in nanovolts
 * @rest_fj: energy below one microjoule, in femtojoules. Noise around zero current causes negative
 *	power readings. A negative reading makes @rest_fj negative (a debt), and @uj grows again
 *	only after later readings have repaid the debt. Therefore noise raises the counted energy
 *	only a little, and @uj never decreases. If the ADC has an offset, readings can be negative
 *	for days, so the debt is limited to the energy of one LSB over DEBT_NS. A load whose power
 *	is n LSB repays the debt within DEBT_NS / n. Its later energy is counted.
 *
 * Only the sampler thread writes the fields. Only the sampler thread reads @rest_fj, @suspended_ns,
 * @freeze, @in_total, @read_nv and @blind_in_total_ns. Other threads may read any other field, but
 * two fields they read may belong to different samples.
 */
struct energy_counter {
	u64 uj;
	u64 blind_ns;
	u64 blind_in_total_ns;
	u64 time_ns;
	u64 bus_ns;
	u64 suspended_ns;
	unsigned int freeze;
	bool in_total;
	s64 uw;
	s64 rest_fj;
	s32 bus_uv;
	s32 read_nv;
	s32 shunt_nv;
};

static struct energy_counter counters[JETWATT_RAILS_MAX] = {
	[0 ... JETWATT_RAILS_MAX - 1] = { .bus_uv = JETWATT_VALUE_NONE },
};

/**
 * struct total - energy counter of the total; the counter is not reset when the set of rails in the
 * total changes
 * @uj: energy in whole microjoules
 * @blind_ns: blind time of the total: @blind_before_ns plus the largest blind_in_total_ns of all
 *	rails
 * @rails: mask of the rails in the total; used by the sampler thread only
 * @blind_before_ns: value of @blind_ns at the last change of @rails; used by the sampler thread
 *	only
 */
static struct total {
	u64 uj;
	u64 blind_ns;
	unsigned long rails;
	u64 blind_before_ns;
} total;

/* Number of times that the sampler thread was frozen. Used by the sampler thread only. */
static unsigned int freezes;

/* Suspend time simulated by JETWATT_FAIL_ASLEEP. Used by the sampler thread only. */
#define SIMULATED_NS	(5 * NSEC_PER_SEC)
static u64 simulated_ns;

/*
 * Return the time that the machine was suspended since boot, in nanoseconds. CLOCK_MONOTONIC, the
 * time of the samples, does not advance during suspend.
 */
static u64 suspended_ns(void)
{
	if (jetwatt_fail(JETWATT_FAIL_ASLEEP))
		simulated_ns += SIMULATED_NS;
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT)) + simulated_ns;
}

/**
 * jetwatt_energy_frozen() - mark the interval to the next sample as blind
 *
 * Called after the thread was frozen, because the power is unknown while the machine suspends and
 * resumes.
 *
 * Context: the sampler thread.
 */
void jetwatt_energy_frozen(void)
{
	freezes++;
}

/*
 * Trapezoidal rule: uW x ns = fJ. Return: the whole microjoules in @rest_fj, from which they are
 * subtracted.
 */
static u64 integrate(struct energy_counter *c, const struct jetwatt_sensor_rail *rail, s64 uw,
		     u64 ns)
{
	s64 whole = 0;

	c->rest_fj += (c->uw + uw) * (s64)ns / 2;
	if (c->rest_fj < 0)
		c->rest_fj = max(c->rest_fj, -(s64)(jetwatt_energy_lsb_uw(rail) * DEBT_NS));
	if (c->rest_fj >= FJ_PER_UJ) {
		whole = div_s64(c->rest_fj, FJ_PER_UJ);
		c->rest_fj -= whole * FJ_PER_UJ;
	}
	return whole;
}

/**
 * jetwatt_energy_lsb_uw() - return the power of one LSB of the ADC on a rail
 * @rail: the rail
 *
 * The power is calculated with the bus voltage last read.
 *
 * Context: any.
 * Return: microwatts, rounded down; 0 if the shunt's resistance or the bus voltage is unknown, or
 * the bus voltage is not positive.
 */
u32 jetwatt_energy_lsb_uw(const struct jetwatt_sensor_rail *rail)
{
	const struct jetwatt_sensor_chip *chip = jetwatt_chip_at(rail->chip);
	s32 bus_uv = READ_ONCE(counters[rail->id].bus_uv);

	if (!rail->shunt_uohm || bus_uv == JETWATT_VALUE_NONE || bus_uv <= 0)
		return 0;
	/* pV x uV / uOhm = pW; the product is at most 40 uV x 128 V. */
	return div64_u64((u64)bus_uv * jetwatt_chip_range(chip)->shunt.lsb_pv,
			 rail->shunt_uohm * 1000000ULL);
}

static u64 count_interval(struct energy_counter *c, const struct jetwatt_sensor_rail *rail,
			  u64 time_ns, u64 suspended_ns)
{
	s64 uw = div_s64(jetwatt_nw_of(c->bus_uv, c->shunt_nv, rail->shunt_uohm), 1000);
	u64 ns = time_ns - c->time_ns + suspended_ns - c->suspended_ns, uj = 0;

	uw = clamp(uw, -POWER_MAX_UW, POWER_MAX_UW);
	if (c->time_ns && ns <= BLIND_NS && c->freeze == freezes && c->suspended_ns == suspended_ns)
		uj = integrate(c, rail, uw, ns);
	else if (c->time_ns)
		WRITE_ONCE(c->blind_ns, c->blind_ns + ns);
	WRITE_ONCE(c->uj, c->uj + uj);
	WRITE_ONCE(c->uw, uw);
	WRITE_ONCE(c->time_ns, time_ns);
	c->suspended_ns = suspended_ns;
	c->freeze = freezes;
	return uj;
}

static void change_total(unsigned long rails)
{
	unsigned int i;

	total.rails = rails;
	total.blind_before_ns = total.blind_ns;
	for (i = 0; i < JETWATT_RAILS_MAX; i++)
		counters[i].blind_in_total_ns = 0;
}

/*
 * Add @ns of blind time of a rail that belonged to the total both before and after the blind
 * time.
 */
static void blind_in_total(struct energy_counter *c, u64 ns)
{
	c->blind_in_total_ns += ns;
	WRITE_ONCE(total.blind_ns, max(total.blind_ns, total.blind_before_ns + c->blind_in_total_ns));
}

static s32 value_at(const struct jetwatt_sample *sample, int slot)
{
	return slot < sample->nr_series ? sample->value[slot] : JETWATT_VALUE_NONE;
}

/**
 * jetwatt_energy_shunt() - store a shunt voltage for the next jetwatt_energy_sample()
 * @rail: the rail
 * @nv: shunt voltage in nanovolts; the sample only has microvolts
 *
 * Context: the sampler thread.
 */
void jetwatt_energy_shunt(const struct jetwatt_sensor_rail *rail, s32 nv)
{
	counters[rail->id].read_nv = nv;
}

/**
 * jetwatt_energy_sample() - add the energy since the previous sample to the counters
 * @sample: the sample
 * @time_ns: time of the sample, CLOCK_MONOTONIC
 *
 * For a bus voltage that was not read in this tick, the last value is used. A rail whose shunt was
 * not read in this tick is skipped; the energy since its last sample is added with its next sample.
 * A rail whose bus voltage was never read, or whose shunt resistance is unknown, is skipped too. An
 * interval longer than BLIND_NS, or in which the sampler thread was frozen or the machine
 * suspended, is blind time as a whole.
 *
 * Context: the sampler thread.
 */
void jetwatt_energy_sample(const struct jetwatt_sample *sample, u64 time_ns)
{
	const struct jetwatt_sensor_rail *rail;
	unsigned long rails = jetwatt_graph_total(NULL);
	u64 suspended = suspended_ns(), uj, blind;
	struct energy_counter *c;
	unsigned int i;
	bool in_total;
	s32 read;

	if (rails != total.rails)
		change_total(rails);
	for (i = 0; i < jetwatt_rail_count(); i++) {
		rail = jetwatt_rail_at(i);
		c = &counters[i];
		read = value_at(sample, rail->bus_slot);
		if (read != JETWATT_VALUE_NONE) {
			WRITE_ONCE(c->bus_uv, read);
			WRITE_ONCE(c->bus_ns, time_ns);
		}
		read = value_at(sample, rail->shunt_slot);
		if (read == JETWATT_VALUE_NONE || c->bus_uv == JETWATT_VALUE_NONE ||
		    !rail->shunt_uohm)
			continue;
		WRITE_ONCE(c->shunt_nv, c->read_nv);
		blind = c->blind_ns;
		uj = count_interval(c, rail, time_ns, suspended);
		in_total = rails & BIT(i);
		if (in_total)
			WRITE_ONCE(total.uj, total.uj + uj);
		if (in_total && c->in_total)
			blind_in_total(c, c->blind_ns - blind);
		c->in_total = in_total;
	}
}

/**
 * jetwatt_energy_rail() - return the energy counter of a rail
 * @rail: id of the rail
 * @energy: gets the counter
 *
 * Context: any. Each field of @energy belongs to the last sample or to the sample before it.
 */
void jetwatt_energy_rail(unsigned int rail, struct jetwatt_energy_reading *energy)
{
	const struct energy_counter *c = &counters[rail];
	u32 uohm = jetwatt_rail_at(rail)->shunt_uohm;
	s32 bus_uv = READ_ONCE(c->bus_uv);

	energy->uj = READ_ONCE(c->uj);
	energy->blind_ns = READ_ONCE(c->blind_ns);
	energy->time_ns = READ_ONCE(c->time_ns);
	energy->bus_ns = READ_ONCE(c->bus_ns);
	energy->uw = READ_ONCE(c->uw);
	energy->bus_uv = bus_uv == JETWATT_VALUE_NONE ? 0 : bus_uv;
	energy->ua = uohm ? div_s64((s64)READ_ONCE(c->shunt_nv) * 1000, uohm) : 0;
}

/**
 * jetwatt_energy_total() - return the energy counter of the total
 * @energy: gets the counter; its @time_ns is the oldest sample time of the rails in the total
 *
 * Context: any.
 */
void jetwatt_energy_total(struct jetwatt_energy_reading *energy)
{
	unsigned long rails = jetwatt_graph_total(NULL);
	struct jetwatt_energy_reading one;
	unsigned int i;
	bool any = false;

	*energy = (struct jetwatt_energy_reading){
		.uj = READ_ONCE(total.uj),
		.blind_ns = READ_ONCE(total.blind_ns),
	};
	for_each_set_bit(i, &rails, JETWATT_RAILS_MAX) {
		jetwatt_energy_rail(i, &one);
		energy->uw += one.uw;
		energy->time_ns = any ? min(energy->time_ns, one.time_ns) : one.time_ns;
		any = true;
	}
}
