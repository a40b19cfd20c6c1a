// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/jetwatt.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "error.h"
#include "out/json.h"
#include "reach.h"
#include "screen.h"
#include "suggest.h"
#include "verbs.h"
#include "watch.h"

#define CHIPS_MAX	16
/* How long rails are looked at for a reading of now. */
#define GLANCE_MS	400

enum { JSON = JETWATT_ARGS_LONG };

struct input {
	struct jetwatt_args args;
	const char *what;
	int json;
};

static const char *const whats[] = { "rails", "chips", "clocks", "knobs", "modes", NULL };

static const struct argp_option options[] = {
	{ "json", JSON, NULL, 0, "As JSON", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;
	char fix[64] = "rails, chips, clocks, knobs or modes";
	const char *near;

	switch (key) {
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		for (int i = 0; whats[i]; i++)
			if (!strcmp(arg, whats[i]))
				in->what = whats[i];
		near = jetwatt_suggest(arg, whats);
		if (near)
			snprintf(fix, sizeof(fix), "did you mean \"%s\"?", near);
		if (!in->what)
			exit(jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, fix, "cannot list \"%s\"",
					       arg));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What the rails draw now: means over a glance, for who may look. */
struct glance {
	int64_t shunt_uv[JETWATT_RAILS_MAX], bus_uv[JETWATT_RAILS_MAX];
	unsigned int shunts[JETWATT_RAILS_MAX], buses[JETWATT_RAILS_MAX];
	const struct jetwatt_rail *rail;
	int nr;
};

static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct glance *g = arg;

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

static int look(struct jetwatt *jw, struct glance *g, struct jetwatt_rail *rail)
{
	struct pollfd p = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t until = jetwatt_watch_now() + GLANCE_MS * 1000000ull;
	int err = jetwatt_subscribe(jw, on_samples, g);

	if (err)
		return err;
	while (jetwatt_watch_now() < until)
		if (poll(&p, 1, 50) > 0 && jetwatt_dispatch(jw) < 0)
			break;
	/* Rates as read are those of a sampler that runs. */
	g->nr = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	return jetwatt_unsubscribe(jw);
}

static int live(const struct glance *g, int r, double *v, double *a)
{
	if (!g->shunts[r] || !g->buses[r] || !g->rail[r].shunt_uohm)
		return 0;
	*v = g->bus_uv[r] * 1e-6 / g->buses[r];
	*a = (double)g->shunt_uv[r] / g->shunts[r] / g->rail[r].shunt_uohm;
	return 1;
}

static void rail_line(const struct glance *g, int r, const struct jetwatt_chip *chip, int in_total,
		      const char *parent)
{
	const struct jetwatt_rail *rail = &g->rail[r];
	char at[16] = "?", power[48] = "       -      -       -";
	double v, a;

	if (chip)
		snprintf(at, sizeof(at), "%u-%02x.%u", chip->bus, chip->addr, rail->channel + 1);
	if (live(g, r, &v, &a))
		snprintf(power, sizeof(power), "%8.3f %6.3f %7.3f", v, a, v * a);
	printf("%-17s %-7s %5.1f %s %6.1f %6.1f  %s%s\n", rail->label, at,
	       rail->shunt_uohm * 1e-3, power, rail->read_mhz * 1e-3, rail->fresh_mhz * 1e-3,
	       !rail->enabled ? "disabled" : in_total ? "in total" : parent ? "inside " : "not counted",
	       rail->enabled && !in_total && parent ? parent : "");
}

static void rail_json(struct jetwatt_json *j, const struct glance *g, int r, int in_total,
		      const char *parent)
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
	if (live(g, r, &v, &a)) {
		jetwatt_json_real(j, "voltage_v", v, 6);
		jetwatt_json_real(j, "current_a", a, 6);
		jetwatt_json_real(j, "power_w", v * a, 6);
	}
	jetwatt_json_end(j);
}

static const struct jetwatt_chip *chip_of(const struct jetwatt_chip *chip, int n, uint32_t id)
{
	for (int i = 0; i < n && i < CHIPS_MAX; i++)
		if (chip[i].id == id)
			return &chip[i];
	return NULL;
}

static int list_rails(struct jetwatt *jw, struct jetwatt_board *board, const struct input *in)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[CHIPS_MAX];
	struct glance g = { .rail = rail };
	int total[JETWATT_RAILS_MAX], sum, chips, err;
	const char *scope = "";
	struct jetwatt_json j;
	double w = 0, v, a;

	g.nr = jetwatt_rails(jw, rail, JETWATT_RAILS_MAX);
	if (g.nr < 0)
		return jetwatt_reach_failed(jw, g.nr, "cannot list the rails");
	chips = jetwatt_chips(jw, chip, CHIPS_MAX);
	err = look(jw, &g, rail);
	sum = jetwatt_board_total(board, rail, g.nr, total, &scope);
	jetwatt_json_init(&j, stdout, 1);
	if (in->json)
		jetwatt_json_array(&j, NULL);
	else
		printf("RAIL              CHIP     mOhm        V      A       W read Hz  fresh\n");
	for (int r = 0; r < g.nr; r++) {
		const char *parent = jetwatt_board_parent(board, rail[r].label);
		int counted = 0;

		for (int i = 0; i < sum; i++)
			counted |= total[i] == r;
		if (counted && live(&g, r, &v, &a))
			w += v * a;
		if (in->json)
			rail_json(&j, &g, r, counted, parent);
		else
			rail_line(&g, r, chip_of(chip, chips, rail[r].chip), counted, parent);
	}
	if (in->json)
		jetwatt_json_end(&j);
	else if (!err)
		printf("%-17s %-37s %7.3f\n", scope, sum > 0 ? "(sum)" : "(no rail)", w);
	if (err == -EPERM)
		jetwatt_error_note("readings of now need root");
	return 0;
}

static int list_chips(struct jetwatt *jw, const struct input *in)
{
	struct jetwatt_chip chip[CHIPS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_chips(jw, chip, CHIPS_MAX);

	if (n < 0)
		return jetwatt_reach_failed(jw, n, "cannot list the chips");
	jetwatt_json_init(&j, stdout, 1);
	if (in->json)
		jetwatt_json_array(&j, NULL);
	else
		printf("CHIP     AT      BUS kHz  CONFIG  REFRESH Hz  ERRORS\n");
	for (int i = 0; i < n && i < CHIPS_MAX; i++) {
		const struct jetwatt_chip *c = &chip[i];

		if (!in->json) {
			printf("%-8s %u-%04x %8u  0x%04x %11.1f %7llu%s\n", c->model, c->bus, c->addr,
			       c->bus_hz / 1000, c->config, c->refresh_mhz * 1e-3,
			       (unsigned long long)c->errors, c->lost ? "  does not answer" : "");
			continue;
		}
		jetwatt_json_object(&j, NULL);
		jetwatt_json_uint(&j, "id", c->id);
		jetwatt_json_string(&j, "model", c->model);
		jetwatt_json_uint(&j, "bus", c->bus);
		jetwatt_json_uint(&j, "addr", c->addr);
		jetwatt_json_uint(&j, "bus_hz", c->bus_hz);
		jetwatt_json_uint(&j, "config", c->config);
		jetwatt_json_real(&j, "refresh_hz", c->refresh_mhz * 1e-3, 6);
		jetwatt_json_uint(&j, "errors", c->errors);
		jetwatt_json_bool(&j, "lost", c->lost);
		jetwatt_json_end(&j);
	}
	if (in->json)
		jetwatt_json_end(&j);
	return 0;
}

static int list_clocks(struct jetwatt *jw, const struct input *in)
{
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_clocks(jw, clock, JETWATT_CLOCKS_MAX);

	if (n < 0)
		return jetwatt_reach_failed(jw, n, "cannot list the clocks");
	jetwatt_json_init(&j, stdout, 1);
	if (in->json)
		jetwatt_json_array(&j, NULL);
	else
		printf("CLOCK                    NOW\n");
	for (int i = 0; i < n && i < JETWATT_CLOCKS_MAX; i++) {
		const struct jetwatt_clock *c = &clock[i];
		const char *unit = c->kind == JETWATT_SERIES_CORES ? "cores" :
				   c->kind == JETWATT_SERIES_TEMP_MC ? "mC" : "kHz";

		if (!in->json) {
			printf("%-18s %9d %s\n", c->label, c->value, unit);
			continue;
		}
		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "label", c->label);
		jetwatt_json_int(&j, "value", c->value);
		jetwatt_json_string(&j, "unit", unit);
		jetwatt_json_end(&j);
	}
	if (in->json)
		jetwatt_json_end(&j);
	return 0;
}

static void steps(struct jetwatt_json *j, const char *name, const char *unit, int n,
		  const uint32_t *v32, const uint64_t *v64, double scale)
{
	int at = printf(j ? "" : "%-6s", name);

	if (j)
		jetwatt_json_array(j, name);
	for (int i = 0; i < n; i++) {
		uint64_t v = v32 ? v32[i] : v64[i];

		if (j) {
			jetwatt_json_uint(j, NULL, v);
			continue;
		}
		if (at > 70)
			at = printf("\n%6s", "") - 1;
		at += printf(" %.0f", floor(v * scale + 0.5));
	}
	if (j)
		jetwatt_json_end(j);
	else
		printf(" %s\n", unit);
}

static int list_knobs(struct jetwatt_board *board, const struct input *in)
{
	const uint32_t *cores, *cpu;
	const uint64_t *gpu, *emc;
	struct jetwatt_mode now;
	struct jetwatt_json doc, *j = in->json ? &doc : NULL;
	char name[96] = "";
	int n;

	jetwatt_json_init(&doc, stdout, 1);
	if (j)
		jetwatt_json_object(j, NULL);
	n = jetwatt_board_cores(board, &cores);
	steps(j, "cores", "online", n, cores, NULL, 1);
	n = jetwatt_board_cpu_khz(board, &cpu);
	steps(j, j ? "cpu_khz" : "cpu", "MHz", n, cpu, NULL, 1e-3);
	n = jetwatt_board_gpu_hz(board, &gpu);
	steps(j, j ? "gpu_hz" : "gpu", "MHz", n, NULL, gpu, 1e-6);
	n = jetwatt_board_emc_hz(board, &emc);
	steps(j, j ? "emc_hz" : "emc", "MHz", n, NULL, emc, 1e-6);
	if (!jetwatt_board_read(board, &now))
		jetwatt_board_mode_format(&now, name, sizeof(name));
	if (j) {
		jetwatt_json_string(j, "now", name);
		jetwatt_json_end(j);
	} else {
		printf("now    %s\n", name);
	}
	return 0;
}

static int list_modes(struct jetwatt_board *board, const struct input *in)
{
	struct jetwatt_mode *mode = NULL;
	struct jetwatt_json j;
	int n = jetwatt_board_modes(board, &mode);
	char name[96];

	if (n < 0)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-n), NULL,
					 "cannot list the modes");
	jetwatt_json_init(&j, stdout, 1);
	if (in->json)
		jetwatt_json_array(&j, NULL);
	for (int i = 0; i < n; i++) {
		if (jetwatt_board_mode_format(&mode[i], name, sizeof(name)))
			continue;
		if (in->json)
			jetwatt_json_string(&j, NULL, name);
		else
			printf("%s\n", name);
	}
	if (in->json)
		jetwatt_json_end(&j);
	free(mode);
	return 0;
}

int jetwatt_cmd_list(int argc, char **argv)
{
	struct input in = { 0 };
	struct jetwatt_board *board = NULL;
	struct jetwatt_info info;
	struct jetwatt *jw = NULL;
	int err = 0;
	char what;

	jetwatt_args_parse("list", "[rails|chips|clocks|knobs|modes]",
			   "What there is to measure and to switch (rails).", options, parse, argc,
			   argv, &in);
	what = in.what ? in.what[1] : 'a';
	if (what != 'h' && what != 'l')
		err = jetwatt_reach_board(&board);
	if (!err && (what == 'a' || what == 'h' || what == 'l'))
		err = jetwatt_reach_module(&jw, &info);
	if (!err) {
		switch (what) {
		case 'h': err = list_chips(jw, &in); break;
		case 'l': err = list_clocks(jw, &in); break;
		case 'n': err = list_knobs(board, &in); break;
		case 'o': err = list_modes(board, &in); break;
		default: err = list_rails(jw, board, &in); break;
		}
	}
	jetwatt_close(jw);
	jetwatt_board_close(board);
	return err;
}
