/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that every verb has, and the way all verbs read theirs.
 */
#ifndef JETWATT_UTIL_ARGS_H
#define JETWATT_UTIL_ARGS_H

#include <argp.h>
#include <stdint.h>
#include <sys/types.h>

/* Keys of long options without a letter start here. */
enum { JETWATT_ARGS_LONG = 0x100, JETWATT_ARGS_COMMON = 0x200 };

/**
 * struct jetwatt_args - what every verb's input starts with
 * @quiet, @verbose: how often -q and -v were given
 * @color: may write colour to standard output
 * @progress: show progress on standard error
 * @lines: progress as lines, because standard error is not a terminal
 */
struct jetwatt_args {
	int quiet, verbose;
	int color, progress, lines;
	int no_color, want_progress;
};

/**
 * struct jetwatt_args_job - whom to watch: -p PID, a cgroup, or a command
 * @pid: 0: none given
 * @argv: NULL: none given
 * @cgroup: NULL: none given
 * @rungs: of enum jetwatt_rung, 0: auto
 */
struct jetwatt_args_job {
	pid_t pid;
	char **argv;
	const char *cgroup;
	uint32_t rungs;
};

/**
 * struct jetwatt_args_group - options that several verbs share
 * @argp: their options and parser
 * @at: where the parser's input lies in the verb's
 */
struct jetwatt_args_group {
	const struct argp *argp;
	size_t at;
};

#define JETWATT_ARGS_GROUPS	4

/* --json, for verbs whose only output it is; its input is an int. */
extern const struct argp jetwatt_args_json_argp;

/**
 * jetwatt_args_parse() - read a verb's arguments
 * @verb: its name, for messages
 * @doc: one line about it, for --help
 * @input: starts with a struct jetwatt_args; handed to @parser
 *
 * Adds -q -v --no-color --progress --help --version to @options. Ends the
 * process as argp does: status 0 for --help and --version, 2 for what makes no
 * sense, and then says what may have been meant.
 */
void jetwatt_args_parse(const char *verb, const char *args_doc, const char *doc,
			const struct argp_option *options, argp_parser_t parser, int argc,
			char **argv, void *input);

/* As above, with shared options beside the verb's own, of which there may be none
 * (@options and @parser NULL). @group: ends with @argp NULL. */
void jetwatt_args_parse_with(const char *verb, const char *args_doc, const char *doc,
			     const struct argp_option *options, argp_parser_t parser,
			     const struct jetwatt_args_group *group, int argc, char **argv,
			     void *input);

/* For parsers: read a quantity or a number, or end with status 2. */
double jetwatt_args_quantity(const char *option, const char *text, const char *unit, double lo,
			     double hi);
long jetwatt_args_count(const char *option, const char *text, long lo, long hi);
pid_t jetwatt_args_pid(const char *text);

/* --probe auto|uprobe|tracepoint|module|marker */
uint32_t jetwatt_args_rungs(const char *text);
const char *jetwatt_args_rung_name(uint32_t rung);

/* For ARGP_KEY_ARG: everything from here on is the command. */
void jetwatt_args_command(struct jetwatt_args_job *job, struct argp_state *state);

/* Exactly one of -p, --cgroup and a command, or none if not @required: else status 2. */
void jetwatt_args_one_job(const struct jetwatt_args_job *job, int required);

#endif
