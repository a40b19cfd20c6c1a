// SPDX-License-Identifier: GPL-2.0
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

/* Samples further apart are not joined by a line: the power in between is unknown. */
#define BLIND_NS	(2 * NSEC_PER_SEC)
/* Bound of the debt (see struct counter): one step of the ADC for this long. */
#define DEBT_NS		((u64)NSEC_PER_SEC)
/* So that the power of two samples, over that time, fits into 63 bits of fJ. */
#define POWER_MAX_UW	2000000000LL

/**
 * struct counter - of one rail
 * @uj: whole microjoules
 * @blind_ns: see struct jetwatt_energy
 * @blind_in_total_ns: the part of it in which the rail belonged to the total, since that
 *	has been made of its present rails
 * @in_total: it belonged to the total at its last sample
 * @time_ns: of the last sample, 0: none yet
 * @asleep_ns: what asleep_ns() said then
 * @freeze: value of @freezes then
 * @uw: power of the last sample
 * @bus_uv: voltage as last read, JETWATT_VALUE_NONE: never
 * @read_nv: shunt voltage as last read, nanovolts: finer than the samples'
 * @shunt_nv: shunt voltage of the last sample
 * @rest_fj: energy that is not yet a whole microjoule. Negative readings, which
 *	noise around zero current causes, make it a debt, which is repaid before
 *	the counter goes on: so noise causes no bias and the counter never runs
 *	back. The debt is bounded by DEBT_NS, because an offset of the ADC reads
 *	negative for days: a load of n steps is counted after DEBT_NS / n at
 *	the latest.
 *
 * Written by the sampler's thread only, which alone reads @rest_fj, @asleep_ns, @freeze,
 * @in_total, @read_nv and @blind_in_total_ns. The others are read elsewhere too, each for itself.
 */
struct counter {
	u64 uj;
	u64 blind_ns;
	u64 blind_in_total_ns;
	u64 time_ns;
	u64 asleep_ns;
	unsigned int freeze;
	bool in_total;
	s64 uw;
	s64 rest_fj;
	s32 bus_uv;
	s32 read_nv;
	s32 shunt_nv;
};

static struct counter counters[JETWATT_RAILS_MAX] = {
	[0 ... JETWATT_RAILS_MAX - 1] = { .bus_uv = JETWATT_VALUE_NONE },
};

/**
 * struct total - counters of the total, which go on where its rails change
 * @uj: whole microjoules
 * @blind_ns: blind time of the rail with the longest one, added to @blind_before_ns
 * @rails: mask of the rails that make it up; the thread's own
 * @blind_before_ns: @blind_ns at the last change of @rails; the thread's own
 */
static struct total {
	u64 uj;
	u64 blind_ns;
	unsigned long rails;
	u64 blind_before_ns;
} total;

/* How often the sampler's thread was frozen. Its own. */
static unsigned int freezes;

/* Time that JETWATT_FAIL_ASLEEP adds to what the machine has slept. The thread's own. */
#define PRETENDED_NS	(5 * NSEC_PER_SEC)
static u64 pretended_ns;

/*
 * How long the machine has slept since it was booted. CLOCK_MONOTONIC, the time of the
 * samples, stands still meanwhile.
 */
static u64 asleep_ns(void)
{
	if (jetwatt_fail(JETWATT_FAIL_ASLEEP))
		pretended_ns += PRETENDED_NS;
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT)) + pretended_ns;
}

/**
 * jetwatt_energy_frozen() - the sampler's thread was frozen
 *
 * The power is unknown while the machine goes to sleep, sleeps, and wakes up: the next
 * sample is not joined to the last one.
 *
 * Context: the sampler's thread.
 */
void jetwatt_energy_frozen(void)
{
	freezes++;
}

/* Trapezoid: uW x ns = fJ. Return: whole microjoules that have accumulated. */
static u64 integrate(struct counter *c, const struct jetwatt_rail *rail, s64 uw, u64 ns)
{
	s64 whole = 0;

	c->rest_fj += (c->uw + uw) * (s64)ns / 2;
	if (c->rest_fj < 0)
		c->rest_fj = max(c->rest_fj, -(s64)(jetwatt_energy_step_uw(rail) * DEBT_NS));
	if (c->rest_fj >= FJ_PER_UJ) {
		whole = div_s64(c->rest_fj, FJ_PER_UJ);
		c->rest_fj -= whole * FJ_PER_UJ;
	}
	return whole;
}

/**
 * jetwatt_energy_step_uw() - power of one step of the ADC on a rail
 * @rail: the rail
 *
 * At the bus voltage that was read last.
 *
 * Context: any. Return: microwatts, 0 without a shunt's resistance or a voltage.
 */
u32 jetwatt_energy_step_uw(const struct jetwatt_rail *rail)
{
	const struct jetwatt_chip *chip = jetwatt_chip_at(rail->chip);
	s32 bus_uv = READ_ONCE(counters[rail->id].bus_uv);

	if (!rail->shunt_uohm || bus_uv == JETWATT_VALUE_NONE || bus_uv <= 0)
		return 0;
	/* pV x uV / uOhm = pW, and at most 40 uV x 128 V */
	return div64_u64((u64)bus_uv * jetwatt_chip_range(chip)->shunt.lsb_pv,
			 rail->shunt_uohm * 1000000ULL);
}

static u64 count_step(struct counter *c, const struct jetwatt_rail *rail, u64 time_ns,
		      u64 asleep_ns)
{
	s64 uw = div_s64(jetwatt_nw_of(c->bus_uv, c->shunt_nv, rail->shunt_uohm), 1000);
	u64 ns = time_ns - c->time_ns + asleep_ns - c->asleep_ns, uj = 0;

	uw = clamp(uw, -POWER_MAX_UW, POWER_MAX_UW);
	if (c->time_ns && ns <= BLIND_NS && c->freeze == freezes && c->asleep_ns == asleep_ns)
		uj = integrate(c, rail, uw, ns);
	else if (c->time_ns)
		WRITE_ONCE(c->blind_ns, c->blind_ns + ns);
	WRITE_ONCE(c->uj, c->uj + uj);
	WRITE_ONCE(c->uw, uw);
	WRITE_ONCE(c->time_ns, time_ns);
	c->asleep_ns = asleep_ns;
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

/* A rail that belonged to the total before and after this time was not seen in it. */
static void blind_in_total(struct counter *c, u64 ns)
{
	c->blind_in_total_ns += ns;
	WRITE_ONCE(total.blind_ns, max(total.blind_ns, total.blind_before_ns + c->blind_in_total_ns));
}

static s32 value_at(const struct jetwatt_sample *sample, int slot)
{
	return slot < sample->nr_series ? sample->value[slot] : JETWATT_VALUE_NONE;
}

/**
 * jetwatt_energy_shunt() - a shunt voltage was read, which the next sample has in it
 * @rail: the rail
 * @nv: the voltage in nanovolts; a sample has whole microvolts
 *
 * Context: the sampler's thread.
 */
void jetwatt_energy_shunt(const struct jetwatt_rail *rail, s32 nv)
{
	counters[rail->id].read_nv = nv;
}

/**
 * jetwatt_energy_sample() - count what was drawn up to a sample
 * @sample: the sample
 * @time_ns: its time
 *
 * A voltage that was not read in this tick is the last one that was. A rail
 * whose shunt was not read is left as it is: its next sample is joined to its
 * last one. Time in which the machine sleeps is blind.
 *
 * Context: the sampler's thread.
 */
void jetwatt_energy_sample(const struct jetwatt_sample *sample, u64 time_ns)
{
	const struct jetwatt_rail *rail;
	unsigned long rails = jetwatt_graph_total(NULL);
	u64 asleep = asleep_ns(), uj, blind;
	struct counter *c;
	unsigned int i;
	bool in_total;
	s32 read;

	if (rails != total.rails)
		change_total(rails);
	for (i = 0; i < jetwatt_rail_count(); i++) {
		rail = jetwatt_rail_at(i);
		c = &counters[i];
		read = value_at(sample, rail->bus_slot);
		if (read != JETWATT_VALUE_NONE)
			WRITE_ONCE(c->bus_uv, read);
		read = value_at(sample, rail->shunt_slot);
		if (read == JETWATT_VALUE_NONE || c->bus_uv == JETWATT_VALUE_NONE ||
		    !rail->shunt_uohm)
			continue;
		WRITE_ONCE(c->shunt_nv, c->read_nv);
		blind = c->blind_ns;
		uj = count_step(c, rail, time_ns, asleep);
		in_total = rails & BIT(i);
		if (in_total)
			WRITE_ONCE(total.uj, total.uj + uj);
		if (in_total && c->in_total)
			blind_in_total(c, c->blind_ns - blind);
		c->in_total = in_total;
	}
}

/**
 * jetwatt_energy_rail() - what a rail has drawn
 * @rail: its id
 * @energy: where to
 *
 * Context: any. The parts are each of the last sample or of the one before.
 */
void jetwatt_energy_rail(unsigned int rail, struct jetwatt_energy *energy)
{
	const struct counter *c = &counters[rail];
	u32 uohm = jetwatt_rail_at(rail)->shunt_uohm;
	s32 bus_uv = READ_ONCE(c->bus_uv);

	energy->uj = READ_ONCE(c->uj);
	energy->blind_ns = READ_ONCE(c->blind_ns);
	energy->time_ns = READ_ONCE(c->time_ns);
	energy->uw = READ_ONCE(c->uw);
	energy->bus_uv = bus_uv == JETWATT_VALUE_NONE ? 0 : bus_uv;
	energy->ua = uohm ? div_s64((s64)READ_ONCE(c->shunt_nv) * 1000, uohm) : 0;
}

/**
 * jetwatt_energy_total() - what the rails of the total have drawn
 * @energy: where to; its time is that of the rail that was read longest ago
 *
 * Context: any.
 */
void jetwatt_energy_total(struct jetwatt_energy *energy)
{
	unsigned long rails = jetwatt_graph_total(NULL);
	struct jetwatt_energy one;
	unsigned int i;
	bool any = false;

	*energy = (struct jetwatt_energy){
		.uj = READ_ONCE(total.uj), .blind_ns = READ_ONCE(total.blind_ns),
	};
	for_each_set_bit(i, &rails, JETWATT_RAILS_MAX) {
		jetwatt_energy_rail(i, &one);
		energy->uw += one.uw;
		energy->time_ns = any ? min(energy->time_ns, one.time_ns) : one.time_ns;
		any = true;
	}
}
