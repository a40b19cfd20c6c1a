// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt apply: switch the board to one power mode. The work is done by tune/mode_guard.h and
 * board/; this file parses the arguments and prints the knobs before and after the switch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "out/terminal.h"
#include "tune/mode_guard.h"
#include "util/args.h"
#include "util/error.h"

enum { JSON = JETWATT_ARGS_LONG, DRY_RUN };

struct apply_input {
	struct jetwatt_args args;
	const char *mode;
	int json, dry_run;
};

static const struct argp_option options[] = {
	{ "dry-run", DRY_RUN, NULL, 0, "Print the changes without switching", 0 },
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 },
	{ 0 }
};

static error_t apply_parse(int key, char *arg, struct argp_state *state)
{
	struct apply_input *in = state->input;

	switch (key) {
	case DRY_RUN:
		in->dry_run = 1;
		break;
	case JSON:
		in->json = 1;
		break;
	case ARGP_KEY_ARG:
		if (in->mode)
			argp_error(state, "only one mode can be applied at a time");
		in->mode = arg;
		break;
	case ARGP_KEY_END:
		if (!in->mode)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt apply c8-1728000-g624750000-e3199000000, or jetwatt apply MAXN; jetwatt list modes prints all modes",
					       "no mode is given"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void apply_print_knob(int missing, const char *what, double from, double to,
			     const char *unit)
{
	if (missing)
		printf("  %-6s %8s\n", what, "missing");
	else if (from == to)
		printf("  %-6s %8.0f %s\n", what, to, unit);
	else
		printf("  %-6s %8.0f -> %.0f %s\n", what, from, to, unit);
}

static void apply_print(const struct jetwatt_board *b, const struct jetwatt_mode *from,
			const struct jetwatt_mode *to)
{
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t was = jetwatt_mode_get(from, k), is = jetwatt_mode_get(to, k);

		if (row->optional && !is)
			continue;
		if (row->hz)
			apply_print_knob(jetwatt_board_lacks(b, k) != NULL, row->key,
					 jetwatt_terminal_mhz(was * row->hz),
					 jetwatt_terminal_mhz(is * row->hz), "MHz");
		else
			apply_print_knob(0, row->key, was, is, "online");
	}
}

static void apply_print_json(const char *before, const char *after, int applied)
{
	struct jetwatt_json j;

	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "before", before);
	jetwatt_json_string(&j, "mode", after);
	jetwatt_json_bool(&j, "applied", applied);
	jetwatt_json_end(&j);
}

static int apply_mode(struct jetwatt_board *board, const struct apply_input *in)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_mode_guard guard;
	struct jetwatt_mode to;
	char was[96] = "", is[96] = "";
	int err;

	if (jetwatt_board_mode_parse(board, in->mode, &to))
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "a mode is cCORES-CPU_KHZ-gGPU_HZ-eEMC_HZ, or MAXN",
					 "jetwatt list modes prints all modes of this board",
					 "not a mode: %s", in->mode);
	/* A dry run refuses the modes that a switch refuses. */
	err = jetwatt_board_check_mode(board, &to, &e);
	if (err)
		return jetwatt_error_board(err, &e);
	/* Add the optional knobs that the mode sets to the grid, so that their present values are
	 * read and can be printed. */
	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->optional && jetwatt_mode_get(&to, k))
			jetwatt_board_grid_include(board, k);
	err = jetwatt_mode_guard_open(&guard, board);
	if (!err && !in->dry_run)
		err = jetwatt_mode_guard_apply(&guard, &to);
	if (err) {
		/* A refused switch has been rolled back. If the rollback failed, restore the board;
		 * otherwise this call does nothing. */
		jetwatt_mode_guard_restore(&guard);
		return err;
	}
	jetwatt_board_mode_format(&guard.before, was, sizeof(was));
	jetwatt_board_mode_format(&to, is, sizeof(is));
	if (in->json) {
		apply_print_json(was, is, !in->dry_run);
	} else if (!in->args.quiet) {
		apply_print(board, &guard.before, &to);
		printf(in->dry_run ? "dry run: no knob was written (--dry-run)\n" :
		       "all knobs were written and read back; to undo: jetwatt restore\n");
	}
	return 0;
}

int jetwatt_cmd_apply(int argc, char **argv)
{
	struct apply_input in = { 0 };
	struct jetwatt_board *board = NULL;
	sigset_t set;
	int err;

	jetwatt_args_parse("apply", "MODE",
			   "Switch to a power mode: every knob is saved, written and read back. "
			   "If a knob fails, all knobs are rolled back."
			   "\vMODE is a power mode as jetwatt list modes prints it, for example "
			   "c8-1728000-g624750000-e3199000000, or MAXN.", options, apply_parse, argc,
			   argv, &in);
	jetwatt_block_signals(&set);
	err = jetwatt_open_knobs(&board);
	if (!err)
		err = apply_mode(board, &in);
	jetwatt_board_close(board);
	return err;
}
