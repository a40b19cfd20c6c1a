// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses --method, and lists and finds predictors by name.
 */
#include "tune/method.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/args.h"
#include "util/error.h"
#include "util/suggest.h"

enum { METHOD = JETWATT_ARGS_COMMON + 0x60 };

/* Largest number of predictor names that a misspelt name is compared with. */
#define NAMES_MAX	64

static const struct argp_option options[] = {
	{ "method", METHOD, "NAME", 0, "Prediction method, see jetwatt-eval(1); default: auto", 0 },
	{ 0 }
};

static error_t method_parse(int key, char *arg, struct argp_state *state)
{
	const struct jetwatt_predictor **by = state->input;

	if (key != METHOD)
		return ARGP_ERR_UNKNOWN;
	*by = jetwatt_method_to_fit(arg);
	if (!*by)
		exit(JETWATT_EXIT_USAGE);
	return 0;
}

const struct argp jetwatt_method_argp = { options, method_parse, NULL, NULL, NULL, NULL, NULL };

int jetwatt_method_any(const struct jetwatt_predictor *by)
{
	return by != NULL;
}

int jetwatt_method_predicts(const struct jetwatt_predictor *by)
{
	return by->fit != NULL;
}

int jetwatt_method_learns(const struct jetwatt_predictor *by)
{
	return by->prior != NULL;
}

int jetwatt_method_sizes(const struct jetwatt_predictor *by)
{
	return (by->kind & JETWATT_PREDICTOR_BATCH) != 0;
}

int jetwatt_method_light(const struct jetwatt_predictor *by)
{
	return by->fit && !(by->kind & (JETWATT_PREDICTOR_REFERENCE | JETWATT_PREDICTOR_SLOW));
}

char *jetwatt_method_list(char *buf, size_t len, const char *lead,
			  int (*with)(const struct jetwatt_predictor *by))
{
	const struct jetwatt_predictor *by;
	size_t n = 0, k = 0, at;

	for (size_t i = 0; (by = jetwatt_predictor_at(i)); i++)
		n += with(by);
	at = (size_t)snprintf(buf, len, "%s", lead);
	for (size_t i = 0; (by = jetwatt_predictor_at(i)) && at < len; i++)
		if (with(by)) {
			at += (size_t)snprintf(buf + at, len - at, "%s%s",
					       !k ? "" : k + 1 < n ? ", " : " or ", by->name);
			k++;
		}
	return buf;
}

const struct jetwatt_predictor *jetwatt_method_find(const char *name)
{
	const struct jetwatt_predictor *by = jetwatt_predictor_find(name), *other;
	const char *word[NAMES_MAX + 1] = { NULL }, *near;
	char why[224], fix[64] = "omit --method to use the default, auto";

	if (by)
		return by;
	for (size_t i = 0; i < NAMES_MAX && (other = jetwatt_predictor_at(i)); i++)
		word[i] = other->name;
	near = jetwatt_suggest(name, word);
	if (near)
		snprintf(fix, sizeof(fix), "did you mean %s?", near);
	jetwatt_method_list(why, sizeof(why), "the methods are ", jetwatt_method_any);
	jetwatt_error_report(JETWATT_EXIT_USAGE, why, fix, "no such method: %s", name);
	return NULL;
}

const struct jetwatt_predictor *jetwatt_method_to_fit(const char *name)
{
	const struct jetwatt_predictor *by = jetwatt_method_find(name);
	char why[160], fix[224];

	if (!by || by->fit)
		return by;
	snprintf(why, sizeof(why), "it always returns %s", by->does);
	jetwatt_error_report(JETWATT_EXIT_USAGE, why,
			  jetwatt_method_list(fix, sizeof(fix), "--method ", jetwatt_method_predicts),
			  "method %s makes no predictions", by->name);
	return NULL;
}
