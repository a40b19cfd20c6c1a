// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stat/threshold.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct rule - where we are
 * @err: what was wrong first; from then on nothing is read
 */
struct rule {
	const char *p;
	jetwatt_rule_fn fn;
	void *arg;
	int depth, err;
};

/* What is not known makes neither true nor false, unless the rest decides. */
enum { NO, YES, UNKNOWN };

static int any(struct rule *r);

static void wrong(struct rule *r, int err)
{
	if (!r->err)
		r->err = err;
}

static void blanks(struct rule *r)
{
	while (isspace((unsigned char)*r->p))
		r->p++;
}

static int take(struct rule *r, const char *word)
{
	blanks(r);
	if (r->err || strncmp(r->p, word, strlen(word)))
		return 0;
	r->p += strlen(word);
	return 1;
}

static int in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '/' || c == '.';
}

/* Return: 1: known, 0: not. */
static int value(struct rule *r, double *v)
{
	const char *begin;
	char *end;
	int err;

	*v = 0;
	blanks(r);
	begin = r->p;
	if (r->err)
		return 0;
	if (isdigit((unsigned char)*begin) || strchr("+-.", *begin)) {
		*v = *begin ? strtod(begin, &end) : 0;
		if (!*begin || end == begin) {
			wrong(r, -EINVAL);
			return 0;
		}
		r->p = end;
		return 1;
	}
	while (in_name(*r->p))
		r->p++;
	err = r->p == begin ? -EINVAL : r->fn(begin, r->p - begin, v, r->arg);
	if (err && err != -ENODATA) {
		r->p = begin;
		wrong(r, err);
	}
	return !err;
}

static int compare(struct rule *r)
{
	static const char *const op[] = { "<=", ">=", "==", "!=", "<", ">" };
	double a, b;
	int known = value(r, &a), i;

	for (i = 0; i < 6 && !take(r, op[i]); i++)
		;
	if (i == 6)
		wrong(r, -EINVAL);
	known &= value(r, &b);
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

static int one(struct rule *r)
{
	int yes;

	if (!take(r, "("))
		return compare(r);
	if (++r->depth > JETWATT_RULE_DEPTH) {
		wrong(r, -E2BIG);
		return NO;
	}
	yes = any(r);
	r->depth--;
	if (!take(r, ")"))
		wrong(r, -EINVAL);
	return yes;
}

static int all(struct rule *r)
{
	int yes = one(r), next;

	while (take(r, "&&")) {
		next = one(r);
		yes = yes == NO || next == NO ? NO : yes == YES && next == YES ? YES : UNKNOWN;
	}
	return yes;
}

static int any(struct rule *r)
{
	int yes = all(r), next;

	while (take(r, "||")) {
		next = all(r);
		yes = yes == YES || next == YES ? YES : yes == NO && next == NO ? NO : UNKNOWN;
	}
	return yes;
}

int jetwatt_rule_judge(const char *text, jetwatt_rule_fn fn, void *arg, size_t *at)
{
	struct rule r = { .p = text, .fn = fn, .arg = arg };
	int yes;

	*at = 0;
	if (strlen(text) > JETWATT_RULE_LEN)
		return -E2BIG;
	yes = any(&r);
	blanks(&r);
	if (*r.p)
		wrong(&r, -EINVAL);
	*at = r.p - text;
	return r.err ? r.err : yes == UNKNOWN ? -ENODATA : yes;
}
