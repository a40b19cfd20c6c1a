// SPDX-License-Identifier: GPL-2.0-only
/* Recursive descent parser and evaluator of threshold expressions, with three-valued logic. */
#include "cmd/stat/threshold.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct rule - state of the parser
 * @p: next character
 * @fn, @arg: callback that looks up metrics
 * @depth: depth of open parentheses
 * @err: negative errno of the first error, 0: no error; after an error the parser accepts no more
 *	text
 */
struct rule {
	const char *p;
	jetwatt_threshold_fn fn;
	void *arg;
	int depth, err;
};

/* A comparison with an unknown metric is UNKNOWN. && and || are UNKNOWN if an operand is UNKNOWN
 * and the other operand does not decide the result. */
enum { NO, YES, UNKNOWN };

static int parse_or(struct rule *r);

static void set_error(struct rule *r, int err)
{
	if (!r->err)
		r->err = err;
}

static void skip_blanks(struct rule *r)
{
	while (isspace((unsigned char)*r->p))
		r->p++;
}

static int accept(struct rule *r, const char *word)
{
	skip_blanks(r);
	if (r->err || strncmp(r->p, word, strlen(word)))
		return 0;
	r->p += strlen(word);
	return 1;
}

static int is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '/' || c == '.';
}

/* Parse a number or a metric. Return: 1 if the value is known; 0 if it is unknown or after an
 * error. */
static int parse_value(struct rule *r, double *v)
{
	const char *begin;
	char *end;
	int err;

	*v = 0;
	skip_blanks(r);
	begin = r->p;
	if (r->err)
		return 0;
	if (isdigit((unsigned char)*begin) || strchr("+-.", *begin)) {
		*v = *begin ? strtod(begin, &end) : 0;
		if (!*begin || end == begin) {
			set_error(r, -EINVAL);
			return 0;
		}
		r->p = end;
		return 1;
	}
	while (is_name_char(*r->p))
		r->p++;
	err = r->p == begin ? -EINVAL : r->fn(begin, r->p - begin, v, r->arg);
	if (err && err != -ENODATA) {
		r->p = begin;
		set_error(r, err);
	}
	return !err;
}

static int parse_comparison(struct rule *r)
{
	static const char *const op[] = { "<=", ">=", "==", "!=", "<", ">" };
	double a, b;
	int known = parse_value(r, &a), i;

	for (i = 0; i < 6 && !accept(r, op[i]); i++)
		;
	if (i == 6)
		set_error(r, -EINVAL);
	known &= parse_value(r, &b);
	if (!known)
		return UNKNOWN;
	switch (i) {
	case 0:
		return a <= b;
	case 1:
		return a >= b;
	case 2:
		return a == b;
	case 3:
		return a != b;
	case 4:
		return a < b;
	default:
		return a > b;
	}
}

static int parse_term(struct rule *r)
{
	int yes;

	if (!accept(r, "("))
		return parse_comparison(r);
	if (++r->depth > JETWATT_THRESHOLD_DEPTH) {
		set_error(r, -E2BIG);
		return NO;
	}
	yes = parse_or(r);
	r->depth--;
	if (!accept(r, ")"))
		set_error(r, -EINVAL);
	return yes;
}

static int parse_and(struct rule *r)
{
	int yes = parse_term(r), next;

	while (accept(r, "&&")) {
		next = parse_term(r);
		yes = yes == NO || next == NO ? NO : yes == YES && next == YES ? YES : UNKNOWN;
	}
	return yes;
}

static int parse_or(struct rule *r)
{
	int yes = parse_and(r), next;

	while (accept(r, "||")) {
		next = parse_and(r);
		yes = yes == YES || next == YES ? YES : yes == NO && next == NO ? NO : UNKNOWN;
	}
	return yes;
}

int jetwatt_threshold_eval(const char *text, jetwatt_threshold_fn fn, void *arg, size_t *at)
{
	struct rule r = { .p = text, .fn = fn, .arg = arg };
	int yes;

	*at = 0;
	if (strlen(text) > JETWATT_THRESHOLD_LEN)
		return -E2BIG;
	yes = parse_or(&r);
	skip_blanks(&r);
	if (*r.p)
		set_error(&r, -EINVAL);
	*at = r.p - text;
	return r.err ? r.err : yes == UNKNOWN ? -ENODATA : yes;
}
