// SPDX-License-Identifier: GPL-2.0-only
/* Computes energy and time per work unit over the window of jetwatt top, from readings of the counters. */
#include "cmd/top/top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "energy/energy.h"

/* Add a reading to a counter. The oldest half of the readings is dropped when there is no room. */
static void add_reading(struct jetwatt_top_counter *c, uint64_t time_ns, double value)
{
	double since = c->n ? c->units[c->n - 1] : 0;

	if (c->n == JETWATT_TOP_READINGS) {
		c->n /= 2;
		memmove(c->time_ns, c->time_ns + c->n, c->n * sizeof(*c->time_ns));
		memmove(c->units, c->units + c->n, c->n * sizeof(*c->units));
	}
	/* A program that has restarted counts from 0. */
	c->units[c->n] = c->n ? since + (value < c->value ? value : value - c->value) : 0;
	c->time_ns[c->n++] = time_ns;
	c->value = value;
}

void jetwatt_top_count(struct jetwatt_top_counters *c, const struct jetwatt_units *u,
		       const struct jetwatt_unit_reading *r)
{
	for (int i = 0; i < u->nr; i++)
		if (u->unit[i].source == r->source && !r->err && !isnan(r->value[i]))
			add_reading(&c->of[i], r->begin_ns + (r->end_ns - r->begin_ns) / 2, r->value[i]);
}

/* Compute the figures between the first and the last reading in the window. */
static void fill_unit(struct jetwatt_top_unit *to, const struct jetwatt_session *w,
		      const struct jetwatt_top_counter *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t first = 0, last = c->n;
	double units, uj;

	while (first < c->n && c->time_ns[first] < from_ns)
		first++;
	while (last > first && c->time_ns[last - 1] > to_ns)
		last--;
	if (last < first + 2)
		return;
	units = c->units[--last] - c->units[first];
	if (!(units > 0) || jetwatt_batch_energy(w->power, w->nr_power, w->total, w->nr_total, c->time_ns[first],
						 c->time_ns[last], &uj, NULL))
		return;
	to->cost.joule = uj * 1e-6 / units;
	to->cost.ms = (double)(c->time_ns[last] - c->time_ns[first]) * 1e-6 / units;
	to->cost.per_s = 1e3 / to->cost.ms;
}

void jetwatt_top_units(struct jetwatt_top *t, const struct jetwatt_session *w,
		       const struct jetwatt_top_counters *c, const struct jetwatt_units *u)
{
	uint64_t span = t->window_s * 1e9, from_ns = t->now_ns > span ? t->now_ns - span : 0;

	if (from_ns < w->power[0].time_ns)
		from_ns = w->power[0].time_ns;
	t->nr_units = u->nr;
	for (int i = 0; i < u->nr; i++) {
		snprintf(t->unit[i].name, sizeof(t->unit[i].name), "%s", u->unit[i].name);
		fill_unit(&t->unit[i], w, &c->of[i], from_ns, t->now_ns);
	}
}
