// SPDX-License-Identifier: GPL-2.0-only
/* Computes the second page of jetwatt top: clocks, temperature and other telemetry over the window. */
#include "cmd/top/top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Return: value of a series in a sample; NAN: unknown. @s: number of a knob, or JETWATT_KNOBS
 * plus the number of a telemetry slot. */
static double value_of(const struct jetwatt_power *p, unsigned int s)
{
	if (s < JETWATT_KNOBS) {
		uint64_t v = jetwatt_mode_get(&p->clock, (enum jetwatt_knob)s);

		return v ? (double)v : NAN;
	}
	s -= JETWATT_KNOBS;
	return p->telemetry.value[s] == JETWATT_TELEMETRY_NONE ? NAN : (double)p->telemetry.value[s];
}

/* Set the title and the unit of a series. @per: set to the number of the sample's units in one such
 * unit. */
static void name_series(struct jetwatt_top_series *to, unsigned int s, double *per)
{
	char title[JETWATT_TELEMETRY_NAME_LEN];

	if (s < JETWATT_KNOBS) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row((enum jetwatt_knob)s);

		snprintf(to->title, sizeof(to->title), "%s", row->label);
		to->unit = row->hz ? "MHz" : "";
		*per = row->hz ? 1e6 / row->hz : 1;
	} else {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s - JETWATT_KNOBS, NULL);

		snprintf(to->title, sizeof(to->title), "%s", jetwatt_telemetry_title(s - JETWATT_KNOBS, title));
		to->unit = row->base;
		*per = row->per;
	}
}

/* Hold each value for up to two sampling intervals, because the chart can have more values than there
 * are samples. The rest of a longer gap stays empty. */
static void hold_values(const struct jetwatt_top *t, struct jetwatt_top_series *s, int nr)
{
	int most = t->hz > 0 ? (int)(2 * nr / (t->hz * t->window_s)) : 0, held = 0;

	for (int k = 1; k < nr; k++) {
		held = isnan(s->value[k]) ? held + 1 : 0;
		if (held && held <= most)
			s->value[k] = s->value[k - 1];
	}
}

void jetwatt_top_history(struct jetwatt_top *t, const struct jetwatt_session *w)
{
	uint64_t span = t->window_s * 1e9, from_ns = t->now_ns > span ? t->now_ns - span : 0;
	double per;

	t->nr_series = 0;
	for (unsigned int s = 0; s < JETWATT_KNOBS + JETWATT_TELEMETRY_SLOTS; s++) {
		struct jetwatt_top_series *to = &t->series[t->nr_series];
		int nr = 2 * t->nr_columns;

		name_series(to, s, &per);
		to->now = to->least = to->most = NAN;
		for (int k = 0; k < nr; k++)
			to->value[k] = NAN;
		for (size_t i = 0; i < w->nr_power; i++) {
			double v = value_of(&w->power[i], s) / per;
			int k = ((double)w->power[i].time_ns - from_ns) / span * nr;

			if (w->power[i].time_ns < from_ns || isnan(v))
				continue;
			to->value[k < nr ? k : nr - 1] = to->now = v;
			to->least = fmin(to->least, v);
			to->most = fmax(to->most, v);
		}
		hold_values(t, to, nr);
		t->nr_series += !isnan(to->now);
	}
}
