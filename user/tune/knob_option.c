// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses --knob and adds optional knobs to the grid of the board.
 */
#include "tune/knob_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/args.h"
#include "util/error.h"

enum { KNOB = JETWATT_ARGS_COMMON + 0x60 };

static const struct argp_option options[] = {
	{ "knob", KNOB, "NAME", 0, "Vary this optional knob too; can be given several times", 0 },
	{ 0 }
};

static int __attribute__((noreturn)) knob_unknown(const char *name)
{
	char names[16 * JETWATT_KNOBS] = "";

	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->optional)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.12s",
				 *names ? ", " : "", jetwatt_knob_row(k)->key);
	exit(jetwatt_error_report(JETWATT_EXIT_USAGE, "the other knobs are part of every mode",
			       *names ? names : "omit --knob",
			       "--knob: \"%s\" is not an optional knob", name));
}

static error_t knob_parse(int key, char *arg, struct argp_state *state)
{
	unsigned int *knobs = state->input;

	if (key != KNOB)
		return ARGP_ERR_UNKNOWN;
	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->optional && !strcmp(arg, jetwatt_knob_row(k)->key)) {
			*knobs |= 1u << k;
			return 0;
		}
	knob_unknown(arg);
}

const struct argp jetwatt_knob_argp = { options, knob_parse, NULL, NULL, NULL, NULL, NULL };

int jetwatt_knob_use(struct jetwatt_board *board, unsigned int knobs)
{
	jetwatt_each_knob(k)
		if (board && knobs & 1u << k && jetwatt_board_grid_include(board, k))
			return jetwatt_error_board(-ENODEV, jetwatt_board_lacks(board, k));
	return 0;
}
