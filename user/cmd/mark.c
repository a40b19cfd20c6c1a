// SPDX-License-Identifier: GPL-2.0-only
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

static error_t parse(int key, char *arg, struct argp_state *state)
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
			argp_error(state, "no name");
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
			   "Without begin and end: one minibatch ends here and the next starts.",
			   options, parse, argc, argv, &in);
	name = in.word[in.words - 1];
	if (!getenv("JETWATT_MARK_FD"))
		return jetwatt_error_say(JETWATT_EXIT_FAILED,
					 "nobody measures: the environment has no JETWATT_MARK_FD",
					 "jetwatt stat -- COMMAND, and mark from inside of it",
					 "cannot mark %s", name);
	/* Each of a script's marks is a process; the script is the one that trains. */
	jetwatt_mark_for(getppid());
	if (in.words == 1)
		err = jetwatt_mark(name);
	else if (!strcmp(in.word[0], "begin"))
		err = jetwatt_mark_begin(name);
	else if (!strcmp(in.word[0], "end"))
		err = jetwatt_mark_end(name);
	else
		return jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, "begin NAME, end NAME, or NAME",
					 "neither begin nor end: %s", in.word[0]);
	if (err == -EINVAL)
		return jetwatt_error_say(JETWATT_EXIT_USAGE,
					 "a name is 1 to 63 printable characters without space or @",
					 NULL, "no name of a mark: %s", name);
	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot mark %s", name) : JETWATT_EXIT_OK;
}
