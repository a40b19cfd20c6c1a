// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt restore: write back the saved knobs, and the saved settings of the power sensors. */
#include <errno.h>
#include <stdio.h>

#include "cmd/verbs.h"
#include "measure/connect.h"
#include "out/json.h"
#include "out/terminal.h"
#include "util/args.h"
#include "util/error.h"

struct restore_input {
	struct jetwatt_args args;
	int json;
};

/* @knobs: 1: the knobs were restored; 0: no knobs are saved. @sensors: result of
 * jetwatt_board_sensors_restore(). */
static void restore_print(struct jetwatt_board *board, const struct restore_input *in, int knobs, int sensors)
{
	static const char * const text_of[2][3] = {
		{ "nothing to restore: there is no saved state", "the settings of the power sensors were restored",
		  "no knobs to restore; a running process still uses the changed settings of the power sensors" },
		{ "all knobs were restored", "all knobs and the settings of the power sensors were restored",
		  "all knobs were restored; a running process still uses the changed settings of the power sensors" },
	};
	int of_sensors = !sensors ? 1 : sensors == -EBUSY ? 2 : 0, unread;
	struct jetwatt_mode mode;
	struct jetwatt_json j;
	char name[96] = "", text[64];

	/* If the mode cannot be read, print the rest. */
	unread = jetwatt_board_read(board, &mode);
	if (!unread)
		jetwatt_board_mode_format(&mode, name, sizeof(name));
	if (in->json) {
		jetwatt_json_init(&j, stdout, 0);
		jetwatt_json_object(&j, NULL);
		jetwatt_json_bool(&j, "restored", knobs || !sensors);
		if (!unread)
			jetwatt_json_string(&j, "mode", name);
		jetwatt_json_end(&j);
	} else if (!in->args.quiet) {
		printf("%s%s%s\n", text_of[knobs][of_sensors], unread ? "" : ": ",
		       unread ? "" : jetwatt_terminal_mode(&mode, text, sizeof(text)));
	}
}

int jetwatt_cmd_restore(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_args_json_argp, offsetof(struct restore_input, json) }, { NULL, 0 },
	};
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_board *board = NULL;
	sigset_t set;
	struct restore_input in = { 0 };
	int err, sensors, code = 0;

	jetwatt_args_parse_with("restore", NULL, "Restore the knob values from before the first switch.",
				NULL, NULL, group, argc, argv, &in);
	jetwatt_block_signals(&set);
	err = jetwatt_open_board(&board);
	if (err)
		return err;
	sensors = jetwatt_board_sensors_restore(board, &e);
	/* -EBUSY: another process still uses the changed sensor settings and restores them when it
	 * ends. */
	if (sensors && sensors != -ENOENT && sensors != -EBUSY)
		code = jetwatt_error_board(sensors, &e);
	err = jetwatt_board_restore(board, &e);
	if (err && err != -ENOENT)
		code = jetwatt_error_board(err, &e);
	else if (!err || !code)
		restore_print(board, &in, !err, sensors);
	jetwatt_board_close(board);
	return code;
}
