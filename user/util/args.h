/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command line of every verb: the options that all verbs have, and parsers of values. Built on
 * argp(3). A parser that refuses its input prints an error and ends the process with status 2.
 */
#ifndef JETWATT_UTIL_ARGS_H
#define JETWATT_UTIL_ARGS_H

#include <argp.h>
#include <stdint.h>
#include <sys/types.h>

/* Keys of long options without a letter, for verbs and for the common options. */
enum { JETWATT_ARGS_LONG = 0x100, JETWATT_ARGS_COMMON = 0x200 };

/**
 * struct jetwatt_args - common options; the input of every verb begins with it
 * @quiet, @verbose: number of times that -q and -v were given
 * @color: 1: colour may be written to standard output
 * @progress: 1: show progress on standard error
 * @lines: show progress as lines, because standard error is not a terminal
 * @no_color, @want_progress: --no-color and --progress were given
 */
struct jetwatt_args {
	int quiet, verbose;
	int color, progress, lines;
	int no_color, want_progress;
};

/**
 * struct jetwatt_args_job - the job to measure: -p PID, --cgroup, or a command
 * @pid: 0: not given
 * @argv: NULL: not given
 * @cgroup: NULL: not given
 * @backends: backend of the probe, of enum jetwatt_backend; 0: choose automatically
 */
struct jetwatt_args_job {
	pid_t pid;
	char **argv;
	const char *cgroup;
	uint32_t backends;
};

/**
 * struct jetwatt_args_group - options that several verbs share
 * @argp: the options and their parser
 * @at: offset of the parser's input in the verb's input, in bytes
 */
struct jetwatt_args_group {
	const struct argp *argp;
	size_t at;
};

/* Maximum number of groups of a verb. */
#define JETWATT_ARGS_GROUPS	4

/* --json, for verbs without another output format. The input of the parser points to an int, which
 * --json sets to 1. */
extern const struct argp jetwatt_args_json_argp;

/**
 * jetwatt_args_parse() - parse the arguments of a verb
 * @verb: name of the verb, for messages
 * @args_doc: arguments in the usage line of --help
 * @doc: description for --help
 * @options, @parser: options of the verb
 * @argc, @argv: the arguments; @argv[0] is replaced by the name of the program and the verb
 * @input: begins with a struct jetwatt_args; passed to @parser
 *
 * Adds -q, -v, --no-color, --progress, --help, --usage and --version; the last three end the
 * process with status 0. An unknown option ends the process with status 2 and a hint.
 */
void jetwatt_args_parse(const char *verb, const char *args_doc, const char *doc,
			const struct argp_option *options, argp_parser_t parser, int argc,
			char **argv, void *input);

/* Parse as jetwatt_args_parse() does, with shared groups of options. The arguments @options and
 * @parser may be NULL. @group: array of at most JETWATT_ARGS_GROUPS groups, followed by an element
 * whose @argp is NULL. */
void jetwatt_args_parse_with(const char *verb, const char *args_doc, const char *doc,
			     const struct argp_option *options, argp_parser_t parser,
			     const struct jetwatt_args_group *group, int argc, char **argv,
			     void *input);

/* Parse a quantity in @unit or an integer, from @lo to @hi, or a PID. @option: name for messages.
 * Any other text ends the process with status 2. */
double jetwatt_args_quantity(const char *option, const char *text, const char *unit, double lo,
			     double hi);
long jetwatt_args_count(const char *option, const char *text, long lo, long hi);
pid_t jetwatt_args_pid(const char *text);

/* Check before a long measurement that the file @path can be written; NULL and "-" pass. Return: 0;
 * exit code after printing the error. */
int jetwatt_args_writable(const char *path);

/* Parse the value of --probe: auto, uprobe, tracepoint, module or marker. Return: backend, of enum
 * jetwatt_backend; 0 for auto. */
uint32_t jetwatt_args_backend(const char *text);
/* Return the name of a backend; "none" if no backend has this number. */
const char *jetwatt_args_backend_name(uint32_t backend);

/* Handle ARGP_KEY_ARG: the command of the job begins with this argument. */
void jetwatt_args_command(struct jetwatt_args_job *job, struct argp_state *state);

/* End the process with status 2 if more than one of -p, --cgroup and a command is given, or none
 * and @required. */
void jetwatt_args_one_job(const struct jetwatt_args_job *job, int required);

#endif
