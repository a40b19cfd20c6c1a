// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's part of a report: chips, rates and rails, and for each rail the power that the hwmon
 * driver reports at the same time. The report does not change the sampling rate.
 */
#include "cmd/doctor/report.h"

#include <dirent.h>
#include <linux/jetwatt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "measure/session.h"
#include "util/clock.h"

#define CHIPS_MAX	16
/* Length of the measurement in ms: enough to tell a rate of 19.8 new values per second from 20. */
#define MEASURE_MS		5000
#define HWMON_MS	100

/* Sums of the power readings of a rail, in W: @n readings by the module, @nr_hwmon by hwmon. */
struct rail_seen {
	double module_w, hwmon_w;
	unsigned int n, nr_hwmon;
	/* hwmon directory of the chip, empty if no hwmon driver is bound to the chip */
	char hwmon[160];
};

struct rails_measured {
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[CHIPS_MAX];
	struct rail_seen seen[JETWATT_RAILS_MAX];
	unsigned long samples;
	int rails, chips;
};

static const struct jetwatt_chip *report_chip_of(const struct rails_measured *l, int r)
{
	for (int i = 0; i < l->chips; i++)
		if (l->chip[i].id == l->rail[r].chip)
			return &l->chip[i];
	return NULL;
}

static void find_hwmon(const char *root, struct rails_measured *l, int r)
{
	const struct jetwatt_chip *chip = report_chip_of(l, r);
	char dir[128];
	struct dirent *e;
	DIR *d;

	if (!chip)
		return;
	snprintf(dir, sizeof(dir), "%.60s/sys/bus/i2c/devices/%u-%04x/hwmon", root, chip->bus,
		 chip->addr);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "hwmon", 5))
			snprintf(l->seen[r].hwmon, sizeof(l->seen[r].hwmon), "%s/%.24s", dir,
				 e->d_name);
	if (d)
		closedir(d);
}

static double read_hwmon_input(const struct rail_seen *s, const char *kind, unsigned int nr)
{
	char path[192];
	double v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%u_input", s->hwmon, kind, nr);
	f = *s->hwmon ? fopen(path, "re") : NULL;
	if (f && fscanf(f, "%lf", &v) != 1)
		v = -1;
	if (f)
		fclose(f);
	return v;
}

static void rails_on_power(const struct jetwatt_power *p, void *arg)
{
	struct rails_measured *l = arg;

	l->samples++;
	for (uint32_t i = 0; i < p->nr && i < (uint32_t)l->rails; i++)
		if (p->valid & (1u << i)) {
			l->seen[i].module_w += p->uw[i] * 1e-6;
			l->seen[i].n++;
		}
}

/* The INA3221 has in1 and curr1 for its first channel, and no power attribute; the other chips have
 * power1 (drivers/hwmon/ina3221.c, ina238.c, ina2xx.c). Return: power of a rail by the hwmon
 * driver, in W; -1 if unknown. */
static double hwmon_power(const struct rails_measured *l, int r)
{
	const struct jetwatt_chip *chip = report_chip_of(l, r);
	unsigned int nr = l->rail[r].channel + 1;
	double mv, ma, uw;

	if (chip && strcmp(chip->model, "ina3221")) {
		uw = read_hwmon_input(&l->seen[r], "power", 1);
		return uw < 0 ? -1 : uw * 1e-6;
	}
	mv = read_hwmon_input(&l->seen[r], "in", nr);
	ma = read_hwmon_input(&l->seen[r], "curr", nr);
	return mv < 0 || ma < 0 ? -1 : mv * ma * 1e-6;
}

static void read_hwmon(struct rails_measured *l)
{
	for (int i = 0; i < l->rails; i++) {
		double w = hwmon_power(l, i);

		if (w < 0)
			continue;
		l->seen[i].hwmon_w += w;
		l->seen[i].nr_hwmon++;
	}
}

static int measure_rails(struct jetwatt *jw, struct rails_measured *l)
{
	struct pollfd p = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t now = jetwatt_clock_ns(), until = now + MEASURE_MS * 1000000ull, next = now;
	struct jetwatt_join *join;
	int err = jetwatt_join_new(&join, jw, 500);

	if (err)
		return err;
	jetwatt_join_set(join, rails_on_power, NULL, l);
	err = jetwatt_subscribe(jw, jetwatt_join_samples, join);
	while (!err && now < until) {
		if (poll(&p, 1, 20) > 0 && jetwatt_dispatch(jw) < 0)
			break;
		now = jetwatt_clock_ns();
		if (now >= next) {
			read_hwmon(l);
			next += HWMON_MS * 1000000ull;
		}
	}
	jetwatt_join_flush(join);
	/* Read the rails again before the sampler stops: the module measures the rate at which it
	 * reads a rail only while the sampler runs. */
	if (!err) {
		jetwatt_rails(jw, l->rail, JETWATT_RAILS_MAX);
		jetwatt_unsubscribe(jw);
	}
	jetwatt_join_free(join);
	return err;
}

static void report_chip(struct jetwatt_gather *g, const struct jetwatt_chip *c)
{
	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_uint(&g->j, "id", c->id);
	jetwatt_json_string(&g->j, "model", c->model);
	jetwatt_json_uint(&g->j, "bus", c->bus);
	jetwatt_json_uint(&g->j, "addr", c->addr);
	jetwatt_json_uint(&g->j, "bus_hz", c->bus_hz);
	jetwatt_json_uint(&g->j, "config", c->config);
	jetwatt_json_real(&g->j, "refresh_hz", c->refresh_mhz * 1e-3, 6);
	jetwatt_json_uint(&g->j, "errors", c->errors);
	jetwatt_json_bool(&g->j, "lost", c->lost);
	jetwatt_json_uint(&g->j, "sum_channels", c->sum_channels);
	jetwatt_json_end(&g->j);
	fprintf(g->text, "chip     %s at %u-%04x, bus %u kHz, refreshes at %.1f Hz\n", c->model, c->bus,
		c->addr, c->bus_hz / 1000, c->refresh_mhz * 1e-3);
}

static void report_rail(struct jetwatt_gather *g, const struct rails_measured *l, int r,
			bool counted, const char *parent)
{
	const struct jetwatt_rail *rail = &l->rail[r];
	const struct rail_seen *s = &l->seen[r];
	char module_w[32] = "-", hwmon_w[32] = "-";

	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_uint(&g->j, "id", rail->id);
	jetwatt_json_string(&g->j, "label", rail->label);
	jetwatt_json_uint(&g->j, "chip", rail->chip);
	jetwatt_json_uint(&g->j, "channel", rail->channel);
	jetwatt_json_uint(&g->j, "shunt_uohm", rail->shunt_uohm);
	jetwatt_json_bool(&g->j, "enabled", rail->enabled);
	jetwatt_json_bool(&g->j, "in_total", counted);
	jetwatt_json_string(&g->j, "part_of", parent);
	jetwatt_json_real(&g->j, "read_hz", rail->read_mhz * 1e-3, 6);
	jetwatt_json_real(&g->j, "fresh_hz", rail->fresh_mhz * 1e-3, 6);
	if (s->n) {
		snprintf(module_w, sizeof(module_w), "%.3f", s->module_w / s->n);
		jetwatt_json_real(&g->j, "power_w", s->module_w / s->n, 6);
	}
	if (s->nr_hwmon) {
		snprintf(hwmon_w, sizeof(hwmon_w), "%.3f", s->hwmon_w / s->nr_hwmon);
		jetwatt_json_real(&g->j, "hwmon_w", s->hwmon_w / s->nr_hwmon, 6);
	}
	jetwatt_json_end(&g->j);
	fprintf(g->text, "rail     %-17s %6.1f mOhm  %8s W  hwmon %8s W  fresh %.1f Hz%s\n",
		rail->label, rail->shunt_uohm * 1e-3, module_w, hwmon_w, rail->fresh_mhz * 1e-3,
		counted ? "  in total" : "");
}

static void report_clocks(struct jetwatt_gather *g, struct jetwatt *jw)
{
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	int n = jetwatt_clocks(jw, clock, JETWATT_CLOCKS_MAX);

	jetwatt_json_array(&g->j, "clocks");
	for (int i = 0; i < n && i < JETWATT_CLOCKS_MAX; i++) {
		jetwatt_json_object(&g->j, NULL);
		jetwatt_json_string(&g->j, "label", clock[i].label);
		jetwatt_json_uint(&g->j, "kind", clock[i].kind);
		if (clock[i].value == JETWATT_VALUE_NONE)
			jetwatt_json_null(&g->j, "value");
		else
			jetwatt_json_int(&g->j, "value", clock[i].value);
		jetwatt_json_end(&g->j);
	}
	jetwatt_json_end(&g->j);
}

static void report_sampler(struct jetwatt_gather *g, struct jetwatt *jw,
			   const struct rails_measured *l)
{
	struct jetwatt_config config;
	struct jetwatt_stats s;

	jetwatt_json_object(&g->j, "sampler");
	if (!jetwatt_config_get(jw, &config)) {
		jetwatt_json_uint(&g->j, "rate_hz", config.rate_hz);
		jetwatt_json_uint(&g->j, "rate_max_hz", config.rate_max_hz);
		jetwatt_json_uint(&g->j, "bus_share_pct", config.bus_share_pct);
	}
	if (!jetwatt_stats(jw, &s)) {
		jetwatt_json_uint(&g->j, "ticks", s.ticks);
		jetwatt_json_uint(&g->j, "missed", s.missed);
		jetwatt_json_uint(&g->j, "i2c_errors", s.i2c_errors);
		jetwatt_json_uint(&g->j, "late_p50_ns", s.late_p50_ns);
		jetwatt_json_uint(&g->j, "late_p99_ns", s.late_p99_ns);
		jetwatt_json_uint(&g->j, "tick_ns", s.tick_ns);
		jetwatt_json_uint(&g->j, "bus_permille", s.bus_permille);
		jetwatt_json_uint(&g->j, "throttled", s.throttled);
	}
	jetwatt_json_uint(&g->j, "samples", l->samples);
	jetwatt_json_uint(&g->j, "looked_ms", l->samples ? MEASURE_MS : 0);
	jetwatt_json_end(&g->j);
}

void jetwatt_gather_module(struct jetwatt_gather *g, struct jetwatt *jw,
			   const struct jetwatt_board *board)
{
	struct rails_measured *l = calloc(1, sizeof(*l));
	int total[JETWATT_RAILS_MAX], sum = 0;
	const char *scope = NULL;

	if (!l)
		return;
	l->rails = jetwatt_rails(jw, l->rail, JETWATT_RAILS_MAX);
	l->chips = jetwatt_chips(jw, l->chip, CHIPS_MAX);
	l->rails = l->rails < 0 ? 0 : l->rails;
	l->chips = l->chips < 0 ? 0 : l->chips > CHIPS_MAX ? CHIPS_MAX : l->chips;
	for (int i = 0; i < l->rails; i++)
		find_hwmon(g->root, l, i);
	/* Without permission to read samples, the rails are reported without readings. */
	measure_rails(jw, l);
	if (board)
		sum = jetwatt_board_total(board, l->rail, l->rails, total, &scope);
	jetwatt_json_array(&g->j, "chips");
	for (int i = 0; i < l->chips; i++)
		report_chip(g, &l->chip[i]);
	jetwatt_json_end(&g->j);
	jetwatt_json_array(&g->j, "rails");
	for (int r = 0; r < l->rails; r++) {
		bool counted = !board && l->rail[r].in_total;

		for (int i = 0; i < sum; i++)
			counted |= total[i] == r;
		report_rail(g, l, r, counted, board ?
			    jetwatt_board_parent(board, l->rail[r].label) : NULL);
	}
	jetwatt_json_end(&g->j);
	jetwatt_json_string(&g->j, "scope", scope);
	report_clocks(g, jw);
	report_sampler(g, jw, l);
	free(l);
}
