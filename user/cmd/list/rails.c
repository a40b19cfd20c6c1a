// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt list rails: prints each rail with its chip, shunt, current readings and rates, and what
 * it is part of.
 */
#include "cmd/list/rails.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <poll.h>
#include <stdio.h>

#include "measure/connect.h"
#include "measure/session.h"
#include "out/json.h"
#include "util/clock.h"
#include "util/error.h"

#define CHIPS_MAX	16
/* Time over which the readings of a rail are averaged, in ms. */
#define READING_MS	400

/* For each rail, sums of the readings in uV and number of readings. The sums stay empty if the
 * caller may not read samples. */
struct rail_readings {
	int64_t shunt_uv[JETWATT_RAILS_MAX], bus_uv[JETWATT_RAILS_MAX];
	unsigned int shunts[JETWATT_RAILS_MAX], buses[JETWATT_RAILS_MAX];
	const struct jetwatt_rail *rail;
	int nr;
};

static void rails_on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct rail_readings *g = arg;

	for (uint32_t k = 0; k < s->nr_series; k++) {
		const struct jetwatt_series_view *v = &s->series[k];
		int bus = v->kind == JETWATT_SERIES_BUS_UV, r = 0;

		while (r < g->nr && g->rail[r].id != v->index)
			r++;
		if (r == g->nr || (!bus && v->kind != JETWATT_SERIES_SHUNT_UV))
			continue;
		for (uint32_t i = 0; i < s->count; i++) {
			if (v->value[i] == JETWATT_VALUE_NONE)
				continue;
			*(bus ? &g->bus_uv[r] : &g->shunt_uv[r]) += v->value[i];
			++*(bus ? &g->buses[r] : &g->shunts[r]);
		}
	}
}

static int sample_rails(struct jetwatt *jw, struct rail_readings *g, struct jetwatt_rail *rail)
{
	struct pollfd p = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t until = jetwatt_clock_ns() + READING_MS * 1000000ull;
	int err = jetwatt_subscribe(jw, rails_on_samples, g);

	if (err)
		return err;
	while (jetwatt_clock_ns() < until)
		if (poll(&p, 1, 50) > 0 && jetwatt_dispatch(jw) < 0)
			break;
	/* Read the rates of the rails while the sampler runs, because they are measured then. */
	g->nr = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	return jetwatt_unsubscribe(jw);
}

static int rail_reading(const struct rail_readings *g, int r, double *v, double *a)
{
	if (!g->shunts[r] || !g->buses[r] || !g->rail[r].shunt_uohm)
		return 0;
	*v = g->bus_uv[r] * 1e-6 / g->buses[r];
	*a = (double)g->shunt_uv[r] / g->shunts[r] / g->rail[r].shunt_uohm;
	return 1;
}

static void print_rail(const struct rail_readings *g, int r, const struct jetwatt_chip *chip,
		       int in_total, const char *parent)
{
	const struct jetwatt_rail *rail = &g->rail[r];
	char at[16] = "?", power[48] = "     -      -       -";
	double v, a;

	if (chip)
		snprintf(at, sizeof(at), "%u-%02x.%u", chip->bus, chip->addr, rail->channel + 1);
	if (rail_reading(g, r, &v, &a))
		snprintf(power, sizeof(power), "%6.2f %6.2f %7.2f", v, a, v * a);
	else if (!rail->shunt_uohm && g->buses[r])
		snprintf(power, sizeof(power), "%6.2f      -       -", g->bus_uv[r] * 1e-6 / g->buses[r]);
	printf("%-17s %-6s %4.1f %s %5.0f %5.0f  %s%s\n", rail->label, at,
	       rail->shunt_uohm * 1e-3, power, rail->read_mhz * 1e-3, rail->fresh_mhz * 1e-3,
	       !rail->enabled ? "disabled" : !rail->shunt_uohm ? "no shunt known" :
	       in_total ? "in total" : parent ? "in " : "not counted",
	       rail->enabled && rail->shunt_uohm && !in_total && parent ? parent : "");
}

static void print_rail_json(struct jetwatt_json *j, const struct rail_readings *g, int r,
			    int in_total, const char *parent)
{
	const struct jetwatt_rail *rail = &g->rail[r];
	double v, a;

	jetwatt_json_object(j, NULL);
	jetwatt_json_uint(j, "id", rail->id);
	jetwatt_json_string(j, "label", rail->label);
	jetwatt_json_uint(j, "chip", rail->chip);
	jetwatt_json_uint(j, "channel", rail->channel);
	jetwatt_json_uint(j, "shunt_uohm", rail->shunt_uohm);
	jetwatt_json_bool(j, "enabled", rail->enabled);
	jetwatt_json_bool(j, "in_total", in_total);
	jetwatt_json_string(j, "part_of", parent);
	jetwatt_json_real(j, "requested_hz", rail->requested_mhz * 1e-3, 6);
	jetwatt_json_real(j, "read_hz", rail->read_mhz * 1e-3, 6);
	jetwatt_json_real(j, "fresh_hz", rail->fresh_mhz * 1e-3, 6);
	if (rail_reading(g, r, &v, &a)) {
		jetwatt_json_real(j, "voltage_v", v, 6);
		jetwatt_json_real(j, "current_a", a, 6);
		jetwatt_json_real(j, "power_w", v * a, 6);
	}
	jetwatt_json_end(j);
}

static const struct jetwatt_chip *find_rail_chip(const struct jetwatt_chip *chip, int n,
						 uint32_t id)
{
	for (int i = 0; i < n && i < CHIPS_MAX; i++)
		if (chip[i].id == id)
			return &chip[i];
	return NULL;
}

int jetwatt_rails_list(struct jetwatt *jw, const struct jetwatt_board *board, int as_json)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[CHIPS_MAX];
	struct rail_readings g = { .rail = rail };
	int total[JETWATT_RAILS_MAX], sum, chips, err;
	const char *scope = "";
	struct jetwatt_json j;
	int unknown = 0;
	double w = 0, v, a;

	g.nr = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	if (g.nr < 0)
		return jetwatt_connect_error(jw, g.nr, "cannot list the rails");
	chips = jetwatt_chips(jw, chip, CHIPS_MAX);
	err = sample_rails(jw, &g, rail);
	sum = jetwatt_board_total(board, rail, g.nr, total, &scope);
	jetwatt_json_init(&j, stdout, 1);
	if (as_json)
		jetwatt_json_array(&j, NULL);
	else
		printf("RAIL              CHIP   mOhm      V      A       W  read fresh Hz\n");
	for (int r = 0; r < g.nr; r++) {
		const char *parent = jetwatt_board_parent(board, rail[r].label);
		int counted = 0;

		unknown += rail[r].enabled && !rail[r].shunt_uohm;
		for (int i = 0; i < sum; i++)
			counted |= total[i] == r;
		if (counted && rail_reading(&g, r, &v, &a))
			w += v * a;
		if (as_json)
			print_rail_json(&j, &g, r, counted, parent);
		else
			print_rail(&g, r, find_rail_chip(chip, chips, rail[r].chip), counted,
				   parent);
	}
	if (as_json)
		jetwatt_json_end(&j);
	else if (!err)
		printf("%-17s %-25s %7.2f\n", scope, sum > 0 ? "(sum)" : "(no rail)", w);
	if (unknown)
		jetwatt_notice("without its shunt, a rail has no power: jetwatt doctor");
	if (err == -EPERM)
		jetwatt_notice("live readings need root");
	return 0;
}
