// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy a man page from standard input to standard output, and replace each line ".\" table: NAME" by
 * the rows of a table of the programs: "verbs" of user/cmd/verbs.h or "rules" of
 * user/minibatch/rules.h. Runs on the machine that builds.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verbs.h"
#include "minibatch/rules.h"

/* Print a name; in roff, \- is a minus sign and - a hyphen. */
static void name(const char *text)
{
	for (; *text; text++)
		printf("%s%c", *text == '-' ? "\\" : "", *text);
}

static void sentence(const char *text)
{
	printf("%c%s.\n", toupper((unsigned char)*text), text + 1);
}

static void verbs(void)
{
#define VERB(group, verb, does)				\
	printf(".TP\n.BR jetwatt-" #verb " (1)\n");	\
	sentence(does);
	JETWATT_VERBS(VERB)
}

static void rules(void)
{
#define RULE(id, rule, merged, text, score, live)	\
	printf(".TP\n.B ");				\
	name(rule);					\
	printf("\n");					\
	sentence(text);					\
	printf("Score: %s.\n", score);			\
	if (*live)					\
		printf("While the job runs: %s.\n", live);
	JETWATT_BATCH_RULES(RULE)
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin))
		if (!strcmp(line, ".\\\" table: verbs\n"))
			verbs();
		else if (!strcmp(line, ".\\\" table: rules\n"))
			rules();
		else
			fputs(line, stdout);
	return 0;
}
