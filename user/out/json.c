// SPDX-License-Identifier: GPL-2.0-only
/* A streaming JSON writer; see json.h. */
#include "out/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/utf8.h"

void jetwatt_json_init(struct jetwatt_json *j, FILE *f, int indent)
{
	memset(j, 0, sizeof(*j));
	j->f = f;
	j->indent = indent;
}

static void json_quoted(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', f);
	while (*s) {
		int n = jetwatt_utf8_length((const char *)s);

		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\t')
			fputs("\\t", f);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else if (!n)
			fputs("\\ufffd", f);
		else
			fwrite(s, 1, n, f);
		s += n ? n : 1;
	}
	putc('"', f);
}

static void json_newline(struct jetwatt_json *j)
{
	if (!j->indent)
		return;
	putc('\n', j->f);
	for (int i = 0; i < j->depth; i++)
		fputs("  ", j->f);
}

static void json_separator(struct jetwatt_json *j, const char *key)
{
	uint32_t bit = 1u << j->depth;

	if (j->depth) {
		if (j->nonempty & bit)
			putc(',', j->f);
		json_newline(j);
	}
	j->nonempty |= bit;
	if (key) {
		json_quoted(j->f, key);
		fputs(j->indent ? ": " : ":", j->f);
	}
}

static void json_open(struct jetwatt_json *j, const char *key, int array)
{
	uint32_t bit;

	json_separator(j, key);
	putc(array ? '[' : '{', j->f);
	if (j->depth < JETWATT_JSON_DEPTH - 1)
		j->depth++;
	bit = 1u << j->depth;
	j->nonempty &= ~bit;
	j->array = array ? j->array | bit : j->array & ~bit;
}

void jetwatt_json_object(struct jetwatt_json *j, const char *key)
{
	json_open(j, key, 0);
}

void jetwatt_json_array(struct jetwatt_json *j, const char *key)
{
	json_open(j, key, 1);
}

void jetwatt_json_end(struct jetwatt_json *j)
{
	uint32_t bit = 1u << j->depth;

	if (!j->depth)
		return;
	j->depth--;
	if (j->nonempty & bit)
		json_newline(j);
	putc(j->array & bit ? ']' : '}', j->f);
	if (!j->depth)
		putc('\n', j->f);
}

void jetwatt_json_string(struct jetwatt_json *j, const char *key, const char *s)
{
	if (!s) {
		jetwatt_json_null(j, key);
		return;
	}
	json_separator(j, key);
	json_quoted(j->f, s);
}

void jetwatt_json_int(struct jetwatt_json *j, const char *key, int64_t v)
{
	json_separator(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void jetwatt_json_uint(struct jetwatt_json *j, const char *key, uint64_t v)
{
	json_separator(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void jetwatt_json_bool(struct jetwatt_json *j, const char *key, int v)
{
	json_separator(j, key);
	fputs(v ? "true" : "false", j->f);
}

void jetwatt_json_null(struct jetwatt_json *j, const char *key)
{
	json_separator(j, key);
	fputs("null", j->f);
}

void jetwatt_json_real(struct jetwatt_json *j, const char *key, double v, int digits)
{
	char buf[64];

	if (!isfinite(v)) {
		jetwatt_json_null(j, key);
		return;
	}
	json_separator(j, key);
	snprintf(buf, sizeof(buf), "%.*g", digits, v);
	/* Some locales print another character instead of the decimal point. */
	for (char *c = buf; *c; c++)
		if (!strchr("+-0123456789e", *c))
			*c = '.';
	fputs(buf, j->f);
}

void jetwatt_json_mode(struct jetwatt_json *j, const struct jetwatt_mode *m)
{
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(m, k) || !jetwatt_knob_row(k)->optional)
			jetwatt_json_uint(j, jetwatt_knob_row(k)->column, jetwatt_mode_get(m, k));
}
