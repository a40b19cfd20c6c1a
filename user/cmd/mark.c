// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt mark: report a begin, an end or both of minibatches from a script. It writes one mark
 * to the file descriptor that jetwatt stat, or another verb that starts a command, passes in
 * JETWATT_MARK_FD (jetwatt_mark() of jetwatt.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "jetwatt.h"
#include "util/args.h"
#include "util/error.h"

struct mark_input {
	struct jetwatt_args args;
	const char *word[2];
	int words;
};

static const struct argp_option options[] = { { 0 } };

static error_t mark_parse(int key, char *arg, struct argp_state *state)
{
	struct mark_input *in = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (in->words == 2)
			argp_error(state, "unexpected \"%s\"", arg);
		else
			in->word[in->words++] = arg;
		break;
	case ARGP_KEY_END:
		if (!in->words)
			argp_error(state, "a mark needs a name");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int jetwatt_cmd_mark(int argc, char **argv)
{
	struct mark_input in = { 0 };
	const char *name;
	int err;

	jetwatt_args_parse("mark", "[begin|end] NAME",
			   "Mark the start and the end of a minibatch, in a program that jetwatt measures.\v"
			   "A mark without begin and end ends a minibatch and begins the next one.",
			   options, mark_parse, argc, argv, &in);
	name = in.word[in.words - 1];
	if (!getenv("JETWATT_MARK_FD"))
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "this program is not being measured: the environment variable JETWATT_MARK_FD is not set",
					 "start the program with jetwatt stat -- COMMAND or jetwatt record, and call jetwatt mark from inside it",
					 "cannot mark %s", name);
	/* Every mark of a script comes from its own short-lived process, so marks carry the pid of
	 * the parent, the script. */
	jetwatt_mark_for(getppid());
	if (in.words == 1)
		err = jetwatt_mark(name);
	else if (!strcmp(in.word[0], "begin"))
		err = jetwatt_mark_begin(name);
	else if (!strcmp(in.word[0], "end"))
		err = jetwatt_mark_end(name);
	else
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					 "jetwatt mark begin NAME, jetwatt mark end NAME, or jetwatt mark NAME",
					 "expected begin or end, not %s", in.word[0]);
	if (err == -EINVAL)
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "a name has 1 to 63 printable characters, without spaces and without @",
					 NULL, "not a valid name for a mark: %s", name);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot mark %s", name) : JETWATT_EXIT_OK;
}
