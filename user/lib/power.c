// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts the series of a sample to the power of each rail, and adds the clocks and telemetry
 * values. Part of the join.
 *
 * The module reads bus voltages in rotation, so most samples use a bus voltage that is several
 * ticks old. An old bus voltage is accurate enough: bus voltages change by millivolts when currents
 * change by amperes.
 */
#include "lib/join.h"

#include <linux/jetwatt.h>
#include <string.h>

/* Maximum number of samples to skip until the voltages of all enabled rails are known; the number
 * is limited because a chip may never answer. */
#define SKIP_MAX	64
/* Maximum age of a telemetry value, ns; older values are not used. Telemetry is read about once per
 * second or more often. */
#define TELEMETRY_NS	3000000000ull

void jetwatt_power_init(struct jetwatt_power_state *st, const struct jetwatt_rail *rail, int nr)
{
	memset(st, 0, sizeof(*st));
	if (nr > JETWATT_RAILS_MAX)
		nr = JETWATT_RAILS_MAX;
	memcpy(st->rail, rail, nr * sizeof(*rail));
	jetwatt_telemetry_clear(&st->telemetry);
	st->changed = 1;
	st->nr_rails = nr;
}

static int power_rail(const struct jetwatt_power_state *st, uint32_t id)
{
	int r;

	for (r = 0; r < st->nr_rails; r++)
		if (st->rail[r].id == id)
			return r;
	return -1;
}

/* Values of one tick: the rails whose shunt voltage was read, the clock of the first CPU policy
 * (@cpu is 1 if it is known already), and telemetry (valid if @any is 1: most ticks have none). */
struct tick {
	uint32_t shunts;
	uint32_t cpu_index, cpu_khz;
	int cpu, any;
	struct jetwatt_telemetry telemetry;
};

/* If a kind of series has several indices but one telemetry channel, the channel gets the highest
 * value, for example the temperature of the hottest thermal zone. */
static void update_telemetry(const struct jetwatt_series_view *v, int32_t value, struct tick *t)
{
	const struct jetwatt_series_row *row = jetwatt_series_row(v->kind);
	int s = row ? jetwatt_telemetry_slot(v->kind, row->channels > 1 ? v->index : 1) : -1;

	if (s < 0)
		return;
	if (!t->any)
		jetwatt_telemetry_clear(&t->telemetry);
	t->any = 1;
	if (value > t->telemetry.value[s])
		t->telemetry.value[s] = value;
}

/* @r: rail of the series, for series of rails. */
static void update_series(struct jetwatt_power_state *st, const struct jetwatt_series_view *v, int r,
			  int32_t value, struct tick *t)
{
	switch (v->kind) {
	case JETWATT_SERIES_SHUNT_UV:
		st->shunt_uv[r] = value;
		st->shunt_known |= 1u << r;
		t->shunts |= 1u << r;
		break;
	case JETWATT_SERIES_BUS_UV:
		st->bus_uv[r] = value;
		st->bus_known |= 1u << r;
		break;
	case JETWATT_SERIES_CPU_KHZ:
		/* Use the clock of the first CPU policy that has a value; other policies may be
		 * offline. */
		if (value > 0 && (!t->cpu || v->index < t->cpu_index)) {
			t->cpu = 1;
			t->cpu_index = v->index;
			t->cpu_khz = value;
		}
		break;
	case JETWATT_SERIES_GPU_KHZ:
		st->clock.gpu_hz = (uint64_t)(uint32_t)value * 1000;
		break;
	case JETWATT_SERIES_EMC_KHZ:
		st->clock.emc_hz = (uint64_t)(uint32_t)value * 1000;
		break;
	case JETWATT_SERIES_CORES:
		st->clock.cores = value;
		break;
	default:
		update_telemetry(v, value, t);
	}
}

void jetwatt_power_reading(struct jetwatt_power_state *st, const struct jetwatt_reading *r)
{
	jetwatt_each_slot(s)
		if (jetwatt_telemetry_row(s, NULL)->reader == JETWATT_SERIES_READER_SYSFS) {
			st->telemetry.value[s] = r->of.value[s];
			st->read_ns[s] = r->time_ns;
		}
	st->changed = 1;
}

/* Store the telemetry of a tick at the time @now. */
static void store_telemetry(struct jetwatt_power_state *st, const struct tick *t, uint64_t now)
{
	jetwatt_each_slot(s)
		if (t->telemetry.value[s] != JETWATT_TELEMETRY_NONE) {
			st->telemetry.value[s] = t->telemetry.value[s];
			st->read_ns[s] = now;
		}
	if (t->telemetry.value[JETWATT_TELEMETRY_TEMP_MC] != JETWATT_TELEMETRY_NONE)
		st->temp_mc = (int32_t)t->telemetry.value[JETWATT_TELEMETRY_TEMP_MC];
	st->changed = 1;
}

/* Compute @st->shown for the time @now, and until when it stays valid if no value changes. */
static void show_telemetry(struct jetwatt_power_state *st, uint64_t now)
{
	st->changed = 0;
	st->shown_ns = now;
	st->until_ns = UINT64_MAX;
	jetwatt_each_slot(s) {
		uint64_t read = st->read_ns[s];

		st->shown.value[s] = st->telemetry.value[s];
		if (st->shown.value[s] == JETWATT_TELEMETRY_NONE)
			continue;
		/* Batches arrive late, so a sample may be older than the reading of sysfs. */
		if (now > read && now - read > TELEMETRY_NS)
			st->shown.value[s] = JETWATT_TELEMETRY_NONE;
		else if (read + TELEMETRY_NS < st->until_ns)
			st->until_ns = read + TELEMETRY_NS;
	}
}

static int all_rails_read(const struct jetwatt_power_state *st)
{
	uint32_t both = st->bus_known & st->shunt_known;
	int r;

	for (r = 0; r < st->nr_rails; r++)
		if (st->rail[r].enabled && !(both & (1u << r)))
			return 0;
	return 1;
}

/* Return: 1 if the series has a value in one of the samples of the batch. */
static int has_value(const struct jetwatt_samples *s, const struct jetwatt_series_view *v)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (v->value[i] != JETWATT_VALUE_NONE)
			return 1;
	return 0;
}

/* Set @st->used to the series of the batch that are needed. Most series have a value once a second or less
 * often. */
static void find_used(struct jetwatt_power_state *st, const struct jetwatt_samples *s)
{
	st->nr_used = 0;
	for (uint32_t k = 0; k < s->nr_series && st->nr_used < JETWATT_PARSE_SERIES; k++) {
		const struct jetwatt_series_view *v = &s->series[k];
		int rails = v->kind == JETWATT_SERIES_SHUNT_UV || v->kind == JETWATT_SERIES_BUS_UV, r = 0;

		if (!has_value(s, v))
			continue;
		if (rails)
			r = power_rail(st, v->index);
		if (r < 0)
			continue;
		st->used[st->nr_used].series = v;
		st->used[st->nr_used++].rail = r;
	}
}

int jetwatt_power_sample(struct jetwatt_power_state *st, const struct jetwatt_samples *s,
			 uint32_t i, struct jetwatt_power *p)
{
	struct tick t;
	uint32_t k;
	int r;

	t.shunts = 0;
	t.cpu = t.any = 0;
	if (!i)
		find_used(st, s);
	for (k = 0; k < st->nr_used; k++) {
		const struct jetwatt_series_view *v = st->used[k].series;

		if (v->value[i] != JETWATT_VALUE_NONE)
			update_series(st, v, st->used[k].rail, v->value[i], &t);
	}
	if (t.cpu)
		st->clock.cpu_khz = t.cpu_khz;
	if (t.any)
		store_telemetry(st, &t, s->time_ns[i]);
	if (!i && s->gap)
		st->gap = 1;
	memset(p, 0, sizeof(*p));
	p->seq = s->seq + i;
	p->time_ns = s->time_ns[i];
	if (st->changed || p->time_ns < st->shown_ns || p->time_ns > st->until_ns)
		show_telemetry(st, p->time_ns);
	p->telemetry = st->shown;
	if (st->skipped < SKIP_MAX && !all_rails_read(st)) {
		st->skipped++;
		return 0;
	}
	st->skipped = SKIP_MAX;

	p->nr = st->nr_rails;
	p->valid = t.shunts & st->bus_known;
	p->gap = st->gap;
	st->gap = 0;
	p->clock = st->clock;
	p->temp_mc = st->temp_mc;
	for (r = 0; r < st->nr_rails; r++)
		if (st->rail[r].shunt_uohm && (st->bus_known & st->shunt_known & (1u << r)))
			p->uw[r] = st->bus_uv[r] * st->shunt_uv[r] / st->rail[r].shunt_uohm;
	return 1;
}
