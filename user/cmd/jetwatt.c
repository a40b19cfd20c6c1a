// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	{ "look", "doctor", jetwatt_cmd_doctor, "Is everything in place? If not, how to fix it" },
	{ "look", "list", jetwatt_cmd_list, "Rails, clocks, knobs, modes, presets, profiles" },
	{ "measure", "stat", jetwatt_cmd_stat, "Time, power and energy per minibatch of a job" },
	{ "measure", "mark", jetwatt_cmd_mark, "Say where a minibatch begins and ends" },
	{ "measure", "top", jetwatt_cmd_top, "Rails, clocks and jobs, now or from a trace" },
	{ "measure", "record", jetwatt_cmd_record, "Every sample and wait of a job into a trace" },
	{ "measure", "report", jetwatt_cmd_report, "What stat says, from a trace; as a page, too" },
	{ "measure", "compare", jetwatt_cmd_compare, "What has moved between two traces" },
	{ "learn", "profile", jetwatt_cmd_profile, "Measure a running job in a few power modes" },
	{ "learn", "predict", jetwatt_cmd_predict, "Predict all other modes from a profile" },
	{ "learn", "eval", jetwatt_cmd_eval, "How well a method would do on your measured modes" },
	{ "learn", "roofline", jetwatt_cmd_roofline, "Operations and bytes of a network, layer by layer" },
	{ "act", "optimize", jetwatt_cmd_optimize, "Find, apply and prove the best mode under a budget" },
	{ "act", "schedule", jetwatt_cmd_schedule, "Training and inference by turns, within a latency" },
	{ "act", "apply", jetwatt_cmd_apply, "Switch to a power mode, all or nothing" },
	{ "act", "restore", jetwatt_cmd_restore, "Bring back what was before the first switch" },
	{ "act", "daemon", jetwatt_cmd_daemon, "Ask jetwattd what it does, or tell it something" },
	{ "share", "import", jetwatt_cmd_import, "Measured modes from a file into the database" },
	{ "share", "sync", jetwatt_cmd_sync, "Measured modes to and from the whole fleet" },
	{ "share", "export", jetwatt_cmd_export, "A trace, a profile or modes for other programs" },
};

#define NR (sizeof(verbs) / sizeof(verbs[0]))

static int help(FILE *f, int status)
{
	fprintf(f, "Usage: jetwatt VERB [OPTION...]\n"
		   "Watch a training job's power, learn its power modes, keep it under a budget.\n");
	for (size_t i = 0; i < NR; i++) {
		if (!i || strcmp(verbs[i].group, verbs[i - 1].group))
			fprintf(f, "\n%s\n", verbs[i].group);
		fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].does);
	}
	fprintf(f, "\njetwatt VERB --help says more about a verb. First: jetwatt doctor\n");
	return status;
}

/* What could not be written was not done. A command's own status goes first. */
static int finish(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	jetwatt_error_say(JETWATT_EXIT_FAILED, errno ? strerror(errno) : NULL,
			  "is the disk full, or the reader gone? Use -o FILE where there is one",
			  "cannot write to standard output");
	return status ? status : JETWATT_EXIT_FAILED;
}

static int unknown(const char *name)
{
	const char *word[NR + 1] = { NULL };
	const char *near;
	char fix[64] = "jetwatt --help lists them";

	for (size_t i = 0; i < NR; i++)
		word[i] = verbs[i].name;
	near = jetwatt_suggest(name, word);
	if (near)
		snprintf(fix, sizeof(fix), "did you mean \"jetwatt %s\"?", near);
	return jetwatt_error_say(JETWATT_EXIT_USAGE, NULL, fix, "no such verb: %s", name);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return help(stderr, JETWATT_EXIT_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(stdout, JETWATT_EXIT_OK);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("jetwatt %s\n", JETWATT_VERSION);
		return JETWATT_EXIT_OK;
	}
	for (size_t i = 0; i < NR; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return finish(verbs[i].run(argc - 1, argv + 1));
	return unknown(argv[1]);
}
