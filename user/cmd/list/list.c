// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt list: print rails, chips, clocks, knobs, modes, presets or profiles, as a table or as
 * JSON.
 */
#include <inttypes.h>
#include <linux/jetwatt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/list/rails.h"
#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "out/terminal.h"
#include "tune/knob_option.h"
#include "tune/preset_print.h"
#include "tune/profile_query.h"
#include "tune/profile_store.h"
#include "util/args.h"
#include "util/error.h"
#include "util/suggest.h"

#define CHIPS_MAX	16

enum { JSON = JETWATT_ARGS_LONG, PRESETS };

enum what { RAILS, CHIPS, CLOCKS, KNOBS, MODES, PRESET_MODES, PROFILES };

struct list_input {
	struct jetwatt_args args;
	const char *db, *presets;
	unsigned int knobs;
	enum what what;
	int json;
};

static const char *const whats[] = {
	"rails", "chips", "clocks", "knobs", "modes", "presets", "profiles", NULL
};

static const struct argp_option options[] = {
	{ "json", JSON, NULL, 0, "Print the list as JSON", 0 },
	{ "presets", PRESETS, "FILE", 0, "Read the presets from FILE; default: /etc/nvpmodel.conf", 0 },
	{ 0 }
};

static error_t list_parse(int key, char *arg, struct argp_state *state)
{
	struct list_input *in = state->input;
	char fix[80] = "give one of: rails, chips, clocks, knobs, modes, presets, profiles";
	const char *near;
	int i;

	switch (key) {
	case JSON:
		in->json = 1;
		break;
	case PRESETS:
		in->presets = arg;
		break;
	case ARGP_KEY_ARG:
		for (i = 0; whats[i] && strcmp(arg, whats[i]); i++)
			;
		in->what = (enum what)i;
		near = jetwatt_suggest(arg, whats);
		if (near)
			snprintf(fix, sizeof(fix), "did you mean \"%s\"?", near);
		if (!whats[i])
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix,
					       "cannot list \"%s\": no such list",
					       arg));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int list_chips(struct jetwatt *jw, const struct list_input *in)
{
	struct jetwatt_chip chip[CHIPS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_chips(jw, chip, CHIPS_MAX);

	if (n < 0)
		return jetwatt_connect_error(jw, n, "cannot list the power sensor chips");
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
		/* Modules of the previous version report no conversion settings: @averages is 0. */
		if (c->averages) {
			jetwatt_json_uint(&j, "conversion_us", c->shunt_us);
			jetwatt_json_uint(&j, "averages", c->averages);
			jetwatt_json_real(&j, "shunt_step_nv", c->step_pv * 1e-3, 7);
			jetwatt_json_uint(&j, "clipped", c->clipped);
		}
		jetwatt_json_end(&j);
	}
	if (in->json)
		jetwatt_json_end(&j);
	return 0;
}

static void print_clock(const struct jetwatt_clock *c, const char *unit)
{
	if (c->value != JETWATT_VALUE_NONE)
		printf("%-18s %9d %s\n", c->label, c->value, unit);
	else
		printf("%-18s %9s %s\n", c->label, "unknown",
		       c->kind != JETWATT_SERIES_GPU_LOAD_PERMILLE ? unit :
		       "(not measured by the GPU's governor)");
}

/* Print the telemetry series that are read from sysfs instead of the module. */
static void list_sysfs(struct jetwatt_json *j, int json)
{
	char name[JETWATT_TELEMETRY_NAME_LEN];
	struct jetwatt_reading r;
	struct jetwatt_sysfs *fs;

	if (jetwatt_sysfs_open(&fs, NULL))
		return;
	jetwatt_sysfs_read(fs, &r);
	jetwatt_sysfs_close(fs);
	jetwatt_each_slot(s) {
		const char *unit = jetwatt_telemetry_row(s, NULL)->unit;

		if (r.of.value[s] == JETWATT_TELEMETRY_NONE)
			continue;
		jetwatt_telemetry_name(s, name);
		if (!json) {
			printf("%-18s %9" PRId64 " %s\n", name, r.of.value[s], unit);
			continue;
		}
		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "label", name);
		jetwatt_json_int(j, "value", r.of.value[s]);
		jetwatt_json_string(j, "unit", unit);
		jetwatt_json_end(j);
	}
}

static int list_clocks(struct jetwatt *jw, const struct list_input *in)
{
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_clocks(jw, clock, JETWATT_CLOCKS_MAX);

	if (n < 0)
		return jetwatt_connect_error(jw, n, "cannot list the clocks");
	jetwatt_json_init(&j, stdout, 1);
	if (in->json)
		jetwatt_json_array(&j, NULL);
	else
		printf("CLOCK                    NOW\n");
	for (int i = 0; i < n && i < JETWATT_CLOCKS_MAX; i++) {
		const struct jetwatt_clock *c = &clock[i];
		const struct jetwatt_series_row *row = jetwatt_series_row(c->kind);
		const char *unit = row ? row->unit : "";

		if (!in->json) {
			print_clock(c, unit);
			continue;
		}
		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "label", c->label);
		if (c->value == JETWATT_VALUE_NONE)
			jetwatt_json_null(&j, "value");
		else
			jetwatt_json_int(&j, "value", c->value);
		jetwatt_json_string(&j, "unit", unit);
		jetwatt_json_end(&j);
	}
	list_sysfs(&j, in->json);
	if (in->json)
		jetwatt_json_end(&j);
	return 0;
}

static void list_levels(struct jetwatt_json *j, const struct jetwatt_board *board,
			enum jetwatt_knob k)
{
	const struct jetwatt_error_text *lack = jetwatt_board_lacks(board, k);
	const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
	const uint64_t *v;
	int n = jetwatt_board_levels(board, k, &v), at;

	if (row->optional && lack)
		return;
	if (j) {
		jetwatt_json_array(j, row->column);
		for (int i = 0; i < n; i++)
			jetwatt_json_uint(j, NULL, v[i]);
		jetwatt_json_end(j);
		return;
	}
	at = printf("%-6s", row->key);
	/* The number of online cores is always available, so only clocks can be missing. */
	if (lack && row->hz) {
		printf(" missing: %s\n%6s fix: %s\n", lack->why, "", lack->fix);
		return;
	}
	for (int i = 0; i < n; i++) {
		if (at > 70)
			at = printf("\n%6s", "") - 1;
		at += printf(" %" PRIu64, row->hz ? jetwatt_terminal_mhz(v[i] * row->hz) : v[i]);
	}
	printf(" %s\n", row->hz ? "MHz" : "online");
}

/* Print the knobs that the board lacks. The levels of a knob that the board lacks have one entry,
 * which is never written. */
static void list_missing(struct jetwatt_json *j, const struct jetwatt_board *board)
{
	jetwatt_json_array(j, "missing");
	jetwatt_each_knob(k) {
		const struct jetwatt_error_text *lack = jetwatt_board_lacks(board, k);

		if (!lack || jetwatt_knob_row(k)->optional)
			continue;
		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "knob", jetwatt_knob_row(k)->key);
		jetwatt_json_string(j, "what", lack->what);
		jetwatt_json_string(j, "why", lack->why);
		jetwatt_json_string(j, "fix", lack->fix);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}

static int list_knobs(struct jetwatt_board *board, const struct list_input *in)
{
	struct jetwatt_mode now;
	struct jetwatt_json doc, *j = in->json ? &doc : NULL;
	char name[96] = "";

	jetwatt_json_init(&doc, stdout, 1);
	if (j)
		jetwatt_json_object(j, NULL);
	jetwatt_each_knob(k)
		list_levels(j, board, k);
	if (!jetwatt_board_read(board, &now))
		jetwatt_board_mode_format(&now, name, sizeof(name));
	if (j) {
		list_missing(j, board);
		jetwatt_json_string(j, "now", name);
		jetwatt_json_end(j);
	} else {
		printf("now    %s\n", name);
	}
	return 0;
}

static int list_modes(struct jetwatt_board *board, const struct list_input *in)
{
	struct jetwatt_mode *mode = NULL;
	struct jetwatt_json j;
	int n = jetwatt_board_modes(board, &mode);
	char name[96];

	if (n < 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-n),
					 jetwatt_error_advice(-n), "cannot list the modes");
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
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_db_argp, offsetof(struct list_input, db) },
		{ &jetwatt_knob_argp, offsetof(struct list_input, knobs) }, { NULL, 0 },
	};
	struct list_input in = { .what = RAILS };
	struct jetwatt_board *board = NULL;
	struct jetwatt_info info;
	struct jetwatt *jw = NULL;
	int err = 0;

	jetwatt_args_parse_with("list", "[rails|chips|clocks|knobs|modes|presets|profiles]",
				"List rails (default), sensor chips, clocks, knobs, power modes, presets "
				"or profiles.", options, list_parse, group, argc, argv, &in);
	if (in.what == PROFILES)
		return jetwatt_profiles_list(in.db, in.json, in.args.verbose);
	if (in.what != CHIPS && in.what != CLOCKS)
		err = jetwatt_open_board(&board);
	if (!err)
		err = jetwatt_knob_use(board, in.knobs);
	if (!err && in.what <= CLOCKS)
		err = jetwatt_open_module(&jw, &info);
	if (!err) {
		switch (in.what) {
		case CHIPS: err = list_chips(jw, &in); break;
		case CLOCKS: err = list_clocks(jw, &in); break;
		case KNOBS: err = list_knobs(board, &in); break;
		case MODES: err = list_modes(board, &in); break;
		case PRESET_MODES: err = jetwatt_presets_list(board, in.presets, in.json); break;
		default: err = jetwatt_rails_list(jw, board, in.json); break;
		}
	}
	jetwatt_close(jw);
	jetwatt_board_close(board);
	return err;
}
