// SPDX-License-Identifier: GPL-2.0-only
/* Adds up samples of a text in the Prometheus exposition format, which is read once, from begin to
 * end. */
#include "util/prometheus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Size of the buffer for a number, with the NUL. The longest decimal form of a double that C
 * libraries print, that of -DBL_MAX with "%f", has 317 characters. */
#define NUMBER_LEN	384

/* A part of the text: the characters from @p to @end that are not parsed yet. */
struct rest {
	const char *p, *end;
};

static int rest_empty(const struct rest *r)
{
	return r->p == r->end;
}

static char rest_char(const struct rest *r)
{
	return rest_empty(r) ? '\0' : *r->p;
}

static void skip_space(struct rest *r)
{
	while (rest_char(r) == ' ' || rest_char(r) == '\t')
		r->p++;
}

static int accept_char(struct rest *r, char c)
{
	if (rest_empty(r) || *r->p != c)
		return 0;
	r->p++;
	return 1;
}

/* Parse a name: of a metric, which may contain colons, or of a label. Return: its length; 0: there
 * is none. */
static size_t parse_name(struct rest *r, int colons, const char **name)
{
	*name = r->p;
	while (isalpha((unsigned char)rest_char(r)) || rest_char(r) == '_' ||
	       (colons && rest_char(r) == ':') ||
	       (r->p > *name && isdigit((unsigned char)rest_char(r))))
		r->p++;
	return (size_t)(r->p - *name);
}

/*
 * Parse a quoted value with the escapes \\, \" and \n. @value: buffer of @size bytes for the value,
 * with a NUL; NULL: the value is not needed. Return: 0; -EINVAL; -E2BIG: the value is longer than
 * the buffer; it has been skipped.
 */
static int parse_quoted(struct rest *r, char *value, size_t size)
{
	size_t n = 0;

	if (!accept_char(r, '"'))
		return -EINVAL;
	while (!rest_empty(r) && *r->p != '"') {
		char c = *r->p++;

		if (c == '\\') {
			if (rest_empty(r) || !strchr("\\\"n", *r->p) || !*r->p)
				return -EINVAL;
			c = *r->p == 'n' ? '\n' : *r->p;
			r->p++;
		}
		if (value && n + 1 < size)
			value[n] = c;
		n++;
	}
	if (!accept_char(r, '"'))
		return -EINVAL;
	if (!value)
		return 0;
	value[n + 1 < size ? n : size - 1] = '\0';
	return n < size ? 0 : -E2BIG;
}

int jetwatt_prometheus_number(const char *text, size_t len, double *v)
{
	char word[NUMBER_LEN], *end;

	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len || len >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, len);
	word[len] = '\0';
	if (strlen(word) != len)
		return -EINVAL;
	/* strtod() also accepts hexadecimal numbers, and NaN with a payload in parentheses. */
	if (strspn(word, "0123456789+-.eE") != len && strcasecmp(word, "nan") &&
	    strcasecmp(word, "inf") && strcasecmp(word, "+inf") && strcasecmp(word, "-inf"))
		return -EINVAL;
	*v = strtod(word, &end);
	return *end ? -EINVAL : 0;
}

/* Copy a name. Return: 0; -E2BIG. */
static int copy_name(char *to, const char *name, size_t len)
{
	if (len >= JETWATT_PROMETHEUS_NAME_LEN)
		return -E2BIG;
	memcpy(to, name, len);
	to[len] = '\0';
	return 0;
}

/* Parse one label of a selector. */
static int select_label(struct jetwatt_prometheus_selector *s, struct rest *r)
{
	const char *name;
	size_t len = parse_name(r, 0, &name);
	int err;

	if (!len)
		return -EINVAL;
	if (s->labels == JETWATT_PROMETHEUS_LABELS)
		return -E2BIG;
	err = copy_name(s->label[s->labels].name, name, len);
	skip_space(r);
	if (!err && !accept_char(r, '='))
		err = -EINVAL;
	skip_space(r);
	if (!err)
		err = parse_quoted(r, s->label[s->labels].value, sizeof(s->label[0].value));
	s->labels++;
	skip_space(r);
	return err;
}

int jetwatt_prometheus_select(struct jetwatt_prometheus_selector *s, const char *text)
{
	struct rest r = { text, text + strlen(text) };
	const char *name;
	size_t len;
	int err;

	memset(s, 0, sizeof(*s));
	len = parse_name(&r, 1, &name);
	if (!len)
		return -EINVAL;
	err = copy_name(s->metric, name, len);
	if (err || rest_empty(&r))
		return err;
	if (!accept_char(&r, '{'))
		return -EINVAL;
	skip_space(&r);
	while (!err && rest_char(&r) != '}') {
		err = select_label(s, &r);
		if (!err && !accept_char(&r, ',') && rest_char(&r) != '}')
			err = -EINVAL;
		skip_space(&r);
	}
	if (err)
		return err;
	r.p++;
	return rest_empty(&r) ? 0 : -EINVAL;
}

/* Return: index of the label with this name in the selector; -1: there is none. */
static int find_label(const struct jetwatt_prometheus_selector *s, const char *name, size_t len)
{
	for (int i = 0; i < s->labels; i++)
		if (strlen(s->label[i].name) == len && !memcmp(s->label[i].name, name, len))
			return i;
	return -1;
}

/* Parse the labels of a sample after the brace. @found: receives the number of the selector's
 * labels that the sample has, with the same values. Return: 0; -EINVAL. */
static int parse_labels(struct rest *r, const struct jetwatt_prometheus_selector *s, int *found)
{
	char value[JETWATT_PROMETHEUS_NAME_LEN];
	const char *name;

	skip_space(r);
	while (!accept_char(r, '}')) {
		size_t len = parse_name(r, 0, &name);
		int at = s ? find_label(s, name, len) : -1, err;

		skip_space(r);
		if (!len || !accept_char(r, '='))
			return -EINVAL;
		skip_space(r);
		err = parse_quoted(r, at < 0 ? NULL : value, sizeof(value));
		if (err == -EINVAL)
			return err;
		*found += at >= 0 && !err && !strcmp(value, s->label[at].value);
		skip_space(r);
		if (!accept_char(r, ',') && rest_char(r) != '}')
			return -EINVAL;
		skip_space(r);
	}
	return 0;
}

/* Parse the word that begins here as a number. */
static int parse_number(struct rest *r, double *v)
{
	const char *begin = r->p;

	while (!rest_empty(r) && *r->p != ' ' && *r->p != '\t')
		r->p++;
	return jetwatt_prometheus_number(begin, (size_t)(r->p - begin), v);
}

/* Return whether the rest of a line is a timestamp, an integer in ms, or nothing. */
static int parse_timestamp(struct rest *r)
{
	const char *begin;

	skip_space(r);
	if (rest_empty(r))
		return 1;
	if (*r->p == '-' || *r->p == '+')
		r->p++;
	begin = r->p;
	while (isdigit((unsigned char)rest_char(r)))
		r->p++;
	if (r->p == begin)
		return 0;
	skip_space(r);
	return rest_empty(r);
}

/* Parse a line. Return: 1: the line is a selected sample, whose value is in @v; 0: it is another
 * sample, a comment or empty; -EBADMSG. */
static int parse_line(struct rest r, const struct jetwatt_prometheus_selector *s, double *v)
{
	const char *name;
	int selected, found = 0;
	size_t len;

	while (r.end > r.p && isspace((unsigned char)r.end[-1]))
		r.end--;
	skip_space(&r);
	if (rest_empty(&r) || *r.p == '#')
		return 0;
	len = parse_name(&r, 1, &name);
	selected = strlen(s->metric) == len && !memcmp(s->metric, name, len);
	if (!len)
		return -EBADMSG;
	skip_space(&r);
	if (accept_char(&r, '{') && parse_labels(&r, selected ? s : NULL, &found))
		return -EBADMSG;
	skip_space(&r);
	if (parse_number(&r, v) || !parse_timestamp(&r))
		return -EBADMSG;
	return selected && found == s->labels;
}

long jetwatt_prometheus_sum(const char *text, size_t len,
			    const struct jetwatt_prometheus_selector *s, double *sum)
{
	struct rest r = { text, text + len };
	long n = 0;
	double v;

	*sum = 0;
	while (!rest_empty(&r)) {
		const char *end = memchr(r.p, '\n', (size_t)(r.end - r.p));
		int is = end ? parse_line((struct rest){ r.p, end }, s, &v) : -EBADMSG;

		if (is < 0)
			return is;
		if (is) {
			*sum += v;
			n++;
		}
		r.p = end + 1;
	}
	return n;
}
