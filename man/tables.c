// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy a man page from standard input to standard output, and replace each line ".\" table: NAME"
 * by the rows of a table: "verbs" of user/cmd/verbs.h, "rules" of user/minibatch/rules.h, "knobs"
 * (the optional ones) of include/jetwatt.h, or "chips" of kmod/sensors/chips.h. Runs on the machine
 * that builds.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verbs.h"
#include "jetwatt.h"
#include "minibatch/rules.h"
#include "sensors/chips.h"

/* Print a name; in roff, \- is a minus sign and - a hyphen. */
static void name(const char *text)
{
	for (; *text; text++)
		printf("%s%c", *text == '-' ? "\\" : "", *text);
}

static void upper(const char *text)
{
	for (; *text; text++)
		putchar(toupper((unsigned char)*text));
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

static void knobs(void)
{
#define KNOB(ID, type, member, key, label, tag, hz, optional, text)	\
	printf(".TP\n.BI ");						\
	name(tag);							\
	putchar(' ');							\
	upper(#member);							\
	printf("\\fR,\\  " #member "\n");				\
	sentence(text);
	JETWATT_KNOB_OPTIONAL(KNOB)
}

static void chips(void)
{
#define CHIP(chip, driver)	#chip,
	static const char * const chip[] = { JETWATT_CHIPS(CHIP) };
	const size_t n = sizeof(chip) / sizeof(chip[0]);

	for (size_t i = 0; i < n; i++) {
		upper(chip[i]);
		printf("%s", i + 2 < n ? ", " : i + 2 == n ? " and " : "\n");
	}
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin))
		if (!strcmp(line, ".\\\" table: verbs\n"))
			verbs();
		else if (!strcmp(line, ".\\\" table: rules\n"))
			rules();
		else if (!strcmp(line, ".\\\" table: knobs\n"))
			knobs();
		else if (!strcmp(line, ".\\\" table: chips\n"))
			chips();
		else
			fputs(line, stdout);
	return 0;
}
