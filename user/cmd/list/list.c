// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt list: print one of the lists in kinds[], as a table or as JSON. */
#include <inttypes.h>
#include <linux/jetwatt.h>
#include <stdbool.h>
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

struct list_input {
	struct jetwatt_args args;
	const char *db, *presets;
	unsigned int knobs;
	const struct list_kind *kind;
	struct jetwatt *jw;		/* open if the list has @module */
	struct jetwatt_board *board;	/* open if the list has @board */
	int json;
};

static int list_chips(const struct list_input *in)
{
	struct jetwatt_chip chip[CHIPS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_chips(in->jw, chip, CHIPS_MAX);

	if (n < 0)
		return jetwatt_connect_error(in->jw, n, "cannot list the power sensor chips");
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
		/* Older modules report no conversion settings: @averages is 0. */
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

static int list_clocks(const struct list_input *in)
{
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	struct jetwatt_json j;
	int n = jetwatt_clocks(in->jw, clock, JETWATT_CLOCKS_MAX);

	if (n < 0)
		return jetwatt_connect_error(in->jw, n, "cannot list the clocks");
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

/* Print the required knobs that the board lacks. The levels of a knob that the board lacks have one
 * entry, which is never written. */
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

static int list_knobs(const struct list_input *in)
{
	struct jetwatt_mode now;
	struct jetwatt_json doc, *j = in->json ? &doc : NULL;
	char name[96] = "";

	jetwatt_json_init(&doc, stdout, 1);
	if (j)
		jetwatt_json_object(j, NULL);
	jetwatt_each_knob(k)
		list_levels(j, in->board, k);
	if (!jetwatt_board_read(in->board, &now))
		jetwatt_board_mode_format(&now, name, sizeof(name));
	if (j) {
		list_missing(j, in->board);
		jetwatt_json_string(j, "now", name);
		jetwatt_json_end(j);
	} else {
		printf("now    %s\n", name);
	}
	return 0;
}

static int list_modes(const struct list_input *in)
{
	struct jetwatt_mode *mode = NULL;
	struct jetwatt_json j;
	int n = jetwatt_board_modes(in->board, &mode);
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

static int list_rails(const struct list_input *in)
{
	return jetwatt_rails_list(in->jw, in->board, in->json);
}

static int list_presets(const struct list_input *in)
{
	return jetwatt_presets_list(in->board, in->presets, in->json);
}

static int list_profiles(const struct list_input *in)
{
	return jetwatt_profiles_list(in->db, in->json, in->args.verbose);
}

/* The lists; the first one is the default. @module, @board: @print needs the module, the board. */
static const struct list_kind {
	const char *name;
	bool module, board;
	int (*print)(const struct list_input *in);
} kinds[] = {
	{ "rails", true, true, list_rails },
	{ "chips", true, false, list_chips },
	{ "clocks", true, false, list_clocks },
	{ "knobs", false, true, list_knobs },
	{ "modes", false, true, list_modes },
	{ "presets", false, true, list_presets },
	{ "profiles", false, false, list_profiles },
};

#define NR (sizeof(kinds) / sizeof(kinds[0]))

/* Write the names of all lists, separated by @by, to @buf. Return: @buf. */
static const char *list_names(const char *by, char *buf, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < NR && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? by : "", kinds[i].name);
	return buf;
}

static int unknown_list(const char *name)
{
	const char *word[NR + 1] = { NULL }, *near;
	char fix[128], names[96];

	for (size_t i = 0; i < NR; i++)
		word[i] = kinds[i].name;
	near = jetwatt_suggest(name, word);
	if (near)
		snprintf(fix, sizeof(fix), "did you mean \"%s\"?", near);
	else
		snprintf(fix, sizeof(fix), "give one of: %s",
			 list_names(", ", names, sizeof(names)));
	return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, "cannot list \"%s\": no such list",
				    name);
}

static const struct argp_option options[] = {
	{ "json", JSON, NULL, 0, "Print the list as JSON", 0 },
	{ "presets", PRESETS, "FILE", 0, "Read the presets from FILE; default: /etc/nvpmodel.conf", 0 },
	{ 0 }
};

static error_t list_parse(int key, char *arg, struct argp_state *state)
{
	struct list_input *in = state->input;
	size_t i = 0;

	switch (key) {
	case JSON:
		in->json = 1;
		break;
	case PRESETS:
		in->presets = arg;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "call jetwatt list once for each list",
					       "more than one list"));
		while (i < NR && strcmp(arg, kinds[i].name))
			i++;
		if (i == NR)
			exit(unknown_list(arg));
		in->kind = &kinds[i];
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int jetwatt_cmd_list(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_db_argp, offsetof(struct list_input, db) },
		{ &jetwatt_knob_argp, offsetof(struct list_input, knobs) }, { NULL, 0 },
	};
	struct list_input in = { .kind = kinds };
	struct jetwatt_info info;
	char names[96], usage[100];
	int err = 0;

	snprintf(usage, sizeof(usage), "[%s]", list_names("|", names, sizeof(names)));
	jetwatt_args_parse_with("list", usage, "Print one of these lists; the default is rails.",
				options, list_parse, group, argc, argv, &in);
	if (in.kind->board)
		err = jetwatt_open_board(&in.board);
	if (!err)
		err = jetwatt_knob_use(in.board, in.knobs);
	if (!err && in.kind->module)
		err = jetwatt_open_module(&in.jw, &info);
	if (!err)
		err = in.kind->print(&in);
	jetwatt_close(in.jw);
	jetwatt_board_close(in.board);
	return err;
}
