// SPDX-License-Identifier: GPL-2.0-only
/*
 * Main program of jetwatt: calls the verb, and has the global help and the check that standard output
 * was written. Each verb is in its own file or directory under user/cmd.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "util/error.h"
#include "util/suggest.h"

#ifndef JETWATT_VERSION
#define JETWATT_VERSION "unknown"
#endif

static const struct command_verb {
	const char *group, *name;
	int (*run)(int argc, char **argv);
	const char *does;
} verbs[] = {
#define VERB(group, name, does)	{ #group, #name, jetwatt_cmd_##name, does },
	JETWATT_VERBS(VERB)
#undef VERB
};

#define NR (sizeof(verbs) / sizeof(verbs[0]))

static int print_help(FILE *f, int status)
{
	fprintf(f, "Usage: jetwatt VERB [OPTION...]\n"
		   "Measure the power of a training job and choose its power mode.\n");
	for (size_t i = 0; i < NR; i++) {
		if (!i || strcmp(verbs[i].group, verbs[i - 1].group))
			fprintf(f, "\n%s\n", verbs[i].group);
		fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].does);
	}
	fprintf(f, "\njetwatt VERB --help prints the options of a verb. Start with: jetwatt doctor\n");
	return status;
}

/* Process that reports failed writes; a forked child that calls exit() shares the stream's buffer. */
static pid_t main_pid;

/* At exit, flush standard output and report a failed write. Called at exit because argp ends the
 * process after the help of a verb. A @status other than 0 takes precedence over a failed write. */
static void flush_output(int status, void *unused)
{
	int why;

	(void)unused;
	if (getpid() != main_pid)
		return;
	if (!jetwatt_error_flush(stdout))
		return;
	why = jetwatt_error_output();
	jetwatt_error_report(JETWATT_EXIT_FAILED, why ? strerror(why) : NULL,
			  "check that the disk is not full and that the reader of the pipe still runs; verbs with -o FILE can write to a file",
			  "cannot write to standard output");
	if (!status)
		_exit(JETWATT_EXIT_FAILED);
}

static int unknown_verb(const char *name)
{
	const char *word[NR + 1] = { NULL };
	const char *near;
	char fix[64] = "jetwatt --help lists the verbs";

	for (size_t i = 0; i < NR; i++)
		word[i] = verbs[i].name;
	near = jetwatt_suggest(name, word);
	if (near)
		snprintf(fix, sizeof(fix), "did you mean \"jetwatt %s\"?", near);
	return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, "no such verb: %s", name);
}

int main(int argc, char **argv)
{
	main_pid = getpid();
	on_exit(flush_output, NULL);
	if (argc < 2)
		return print_help(stderr, JETWATT_EXIT_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return print_help(stdout, JETWATT_EXIT_OK);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("jetwatt %s\n", JETWATT_VERSION);
		return JETWATT_EXIT_OK;
	}
	for (size_t i = 0; i < NR; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	return unknown_verb(argv[1]);
}
