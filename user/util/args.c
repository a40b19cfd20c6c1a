// SPDX-License-Identifier: GPL-2.0-only
/* Parse the command line of a verb with argp(3), and check long options before argp does. */
#include "util/args.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jetwatt.h"
#include "util/error.h"
#include "util/suggest.h"
#include "util/units.h"

#ifndef JETWATT_VERSION
#define JETWATT_VERSION "unknown"
#endif

#define WORDS_MAX 64

enum { NO_COLOR = JETWATT_ARGS_COMMON, PROGRESS, JSON };

static const struct argp_option common_options[] = {
	{ "quiet", 'q', NULL, 0, "Print only the requested output and errors", -2 },
	{ "verbose", 'v', NULL, 0, "Print more details", -2 },
	{ "no-color", NO_COLOR, NULL, 0, "Disable colour, like NO_COLOR in the environment", -2 },
	{ "progress", PROGRESS, NULL, 0, "Show progress even if standard error is not a terminal",
	  -2 },
	{ 0 }
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_args *a = state->input;

	(void)arg;
	switch (key) {
	case 'q':
		a->quiet++;
		break;
	case 'v':
		a->verbose++;
		break;
	case NO_COLOR:
		a->no_color = 1;
		break;
	case PROGRESS:
		a->want_progress = 1;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp common_argp = {
	common_options, parse_common, NULL, NULL, NULL, NULL, NULL
};

static const struct argp_option json_options[] = {
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 },
	{ 0 }
};

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	int *json = state->input;

	(void)arg;
	if (key != JSON)
		return ARGP_ERR_UNKNOWN;
	*json = 1;
	return 0;
}

const struct argp jetwatt_args_json_argp = { json_options, parse_json, NULL, NULL, NULL, NULL, NULL };

/* Input of the outer parser: the verb's parser, its input and its groups. */
struct args_verb {
	argp_parser_t parser;
	void *input;
	const struct jetwatt_args_group *group;
};

static error_t pass_to_verb(int key, char *arg, struct argp_state *state)
{
	struct args_verb *v = state->input;
	error_t err;

	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = v->input;
		for (int i = 0; v->group[i].argp; i++)
			state->child_inputs[i + 1] = (char *)v->input + v->group[i].at;
		return 0;
	}
	if (!v->parser)
		return ARGP_ERR_UNKNOWN;
	state->input = v->input;
	err = v->parser(key, arg, state);
	state->input = v;
	return err;
}

static int collect_names(const struct argp_option *o, const char **word, int n)
{
	for (; o->name || o->key || o->doc; o++)
		if (o->name && n < WORDS_MAX - 1)
			word[n++] = o->name;
	return n;
}

static int option_known(const char *name, const char *const *word)
{
	for (; *word; word++)
		if (!strncmp(name, *word, strlen(name)))
			return 1;
	return 0;
}

/* Check whether the option @word ("--power", "-p") takes the next word as its value. */
static int takes_value(const struct argp_option *o, const char *word)
{
	if (word[0] != '-' || !word[1])
		return 0;
	for (; o->name || o->key || o->doc; o++) {
		if (!o->arg)
			continue;
		if (word[1] == '-' ? o->name && !strncmp(word + 2, o->name, strlen(word + 2)) :
				     word[strlen(word) - 1] == o->key && !word[2])
			return 1;
	}
	return 0;
}

static int any_takes_value(const struct argp_option *options,
			   const struct jetwatt_args_group *group, const char *word)
{
	int yes = takes_value(options, word);

	for (; group->argp && !yes; group++)
		yes = takes_value(group->argp->options, word);
	return yes;
}

/* Return what to use instead of --json, for verbs without it; NULL: nothing special. */
static const char *instead_of_json(const char *verb)
{
	static const struct {
		const char *verb, *instead;
	} none[] = {
		{ "top",
		  "top needs a terminal; use jetwatt stat --json, or record and export -f jsonl" },
		{ "mark", "mark prints nothing; jetwatt stat --json counts the marks" },
		{ "export", "choose the format of the output: --format jsonl, or chrome" },
	};
	const char *last = strrchr(verb, ' ');

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (!strcmp(last ? last + 1 : verb, none[i].verb))
			return none[i].instead;
	return NULL;
}

/* Look for unknown long options before the first plain word, to suggest a similar one. getopt(3)
 * only reports them as unknown. */
static void check_names(const struct argp_option *options, const struct jetwatt_args_group *group,
			char **argv)
{
	const char *word[WORDS_MAX] = { "help", "usage", "version" };
	int n = collect_names(common_options, word, 3);
	char name[64], hint[128];

	n = collect_names(options, word, n);
	for (int i = 0; group[i].argp; i++)
		n = collect_names(group[i].argp->options, word, n);
	word[n] = NULL;
	for (argv++; *argv && strcmp(*argv, "--"); argv++) {
		const char *similar;

		if (any_takes_value(options, group, argv[-1]))
			continue;
		/* The first plain word may begin a command, which has options of its own. */
		if ((*argv)[0] != '-')
			return;
		if ((*argv)[1] != '-')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*argv + 2, "="), *argv + 2);
		if (option_known(name, word))
			continue;
		similar = jetwatt_suggest(name, word);
		snprintf(hint, sizeof(hint), similar ? "did you mean --%s?" : "%s --help lists them",
			 similar ? similar : program_invocation_name);
		if (!strcmp(name, "json") && instead_of_json(program_invocation_name))
			snprintf(hint, sizeof(hint), "%s", instead_of_json(program_invocation_name));
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, hint, "no such option: --%s",
				       name));
	}
}

static void print_version(FILE *f, struct argp_state *state)
{
	(void)state;
	fprintf(f, "jetwatt %s\n", JETWATT_VERSION);
}

/* An empty variable counts as not set (no-color.org). */
static int env_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

void jetwatt_args_parse_with(const char *verb, const char *args_doc, const char *doc,
			     const struct argp_option *options, argp_parser_t parser,
			     const struct jetwatt_args_group *group, int argc, char **argv,
			     void *input)
{
	static char name[64];
	struct argp_child child[JETWATT_ARGS_GROUPS + 2] = { { &common_argp, 0, NULL, 0 } };
	static const struct argp_option nothing[] = { { 0 } };
	struct argp argp = {
		options ? options : nothing, pass_to_verb, args_doc, doc, child, NULL, NULL
	};
	struct args_verb v = { parser, input, group };
	struct jetwatt_args *a = input;
	int terminal = isatty(STDOUT_FILENO);

	/* Programs other than jetwatt are not verbs, so their name is printed without "jetwatt". */
	snprintf(name, sizeof(name), "%s%s", strncmp(verb, "jetwatt", 7) ? "jetwatt " : "", verb);
	program_invocation_name = name;
	argv[0] = name;
	jetwatt_error_name(name);
	argp_err_exit_status = JETWATT_EXIT_USAGE;
	argp_program_version_hook = print_version;
	/* Suppress argp's note about arguments of short and long options. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	for (int i = 0; i < JETWATT_ARGS_GROUPS && group[i].argp; i++)
		child[i + 1].argp = group[i].argp;
	check_names(argp.options, group, argv);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &v);

	jetwatt_error_quiet(a->quiet);
	a->color = !a->no_color && !env_set("NO_COLOR") && (terminal || env_set("CLICOLOR_FORCE"));
	a->lines = !isatty(STDERR_FILENO);
	a->progress = a->want_progress || (!a->lines && !a->quiet);
}

void jetwatt_args_parse(const char *verb, const char *args_doc, const char *doc,
			const struct argp_option *options, argp_parser_t parser, int argc,
			char **argv, void *input)
{
	static const struct jetwatt_args_group none = { NULL, 0 };

	jetwatt_args_parse_with(verb, args_doc, doc, options, parser, &none, argc, argv, input);
}

double jetwatt_args_quantity(const char *option, const char *text, const char *unit, double lo,
			     double hi)
{
	char fix[96];
	double v;

	snprintf(fix, sizeof(fix), "give a value from %g%s to %g%s", lo, unit, hi, unit);
	if (jetwatt_unit_parse(text, unit, &v))
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, *unit ?
				       "%s: \"%s\" is not a value in %s" : "%s: \"%s\" is not a number",
				       option, text, unit));
	if (v < lo || v > hi)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, "%s: %s is out of range",
				       option, text));
	return v;
}

long jetwatt_args_count(const char *option, const char *text, long lo, long hi)
{
	char fix[96];
	long v;
	int err = jetwatt_unit_count(text, lo, hi, &v);

	snprintf(fix, sizeof(fix), "give a whole number from %ld to %ld", lo, hi);
	if (err)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix,
				       err == -ERANGE ? "%s: %s is out of range" :
				       "%s: \"%s\" is not a number", option, text));
	return v;
}

pid_t jetwatt_args_pid(const char *text)
{
	return jetwatt_args_count("-p", text, 1, 4194304);
}

void jetwatt_args_command(struct jetwatt_args_job *job, struct argp_state *state)
{
	job->argv = &state->argv[state->next - 1];
	state->next = state->argc;
}

static const struct {
	const char *name;
	uint32_t backend;
} backends[] = {
	{ "auto", 0 },
	{ "uprobe", JETWATT_BACKEND_UPROBE },
	{ "tracepoint", JETWATT_BACKEND_TRACEPOINT },
	{ "module", JETWATT_BACKEND_MODULE },
	{ "marker", JETWATT_BACKEND_MARKER },
};

uint32_t jetwatt_args_backend(const char *text)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strcmp(text, backends[i].name))
			return backends[i].backend;
	exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
			       "give one of auto, uprobe, tracepoint, module, marker",
			       "--probe: no such backend: %s", text));
}

const char *jetwatt_args_backend_name(uint32_t backend)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (backend == backends[i].backend)
			return backends[i].name;
	return "none";
}

void jetwatt_args_one_job(const struct jetwatt_args_job *job, int required)
{
	if ((job->pid != 0) + (job->argv != NULL) + (job->cgroup != NULL) > 1)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "give either the running job or the command to start",
				       job->cgroup ? "more than one of -p, --cgroup and a command" :
				       "both -p and a command"));
	if (required && !job->pid && !job->argv && !job->cgroup)
		exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
				       "give -p PID for a running job, or -- COMMAND to start one",
				       "no job given"));
}

int jetwatt_args_writable(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char dir[PATH_MAX] = ".";
	struct stat st;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		errno = EISDIR;
	else if (!access(path, W_OK))
		return 0;
	if (errno == ENOENT && slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash == path ? 1 : slash - path), path);
	if (errno == ENOENT && *path && !access(dir, W_OK | X_OK))
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), jetwatt_error_advice(errno),
				    "cannot write %s", path);
}
