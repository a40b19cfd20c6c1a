// SPDX-License-Identifier: GPL-2.0-only
/* Recursive-descent parser. Values are in blocks, strings in one buffer; the document owns both. */
#include "util/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	32
#define BLOCK		1024

/* Values are allocated in blocks, so they can be freed without walking the tree. */
struct block {
	struct block *previous;
	size_t used;
	struct jetwatt_json_value value[BLOCK];
};

/**
 * struct jetwatt_json_doc - a document
 * @block: blocks of values
 * @top: the top value
 * @pool: decoded strings; a decoded string is at most as long as its text in the document, plus the
 *	NUL
 */
struct jetwatt_json_doc {
	struct block *block;
	struct jetwatt_json_value *top;
	char *pool;
};

struct json_reader {
	const char *at, *end, *why;
	unsigned int line, depth;
	struct jetwatt_json_doc *doc;
	char *pool;
	int err;
};

static struct jetwatt_json_value *json_value(struct json_reader *r);

static void *json_refuse(struct json_reader *r, const char *why)
{
	if (!r->err) {
		r->err = -EINVAL;
		r->why = why;
	}
	return NULL;
}

static struct jetwatt_json_value *json_new_value(struct json_reader *r, enum jetwatt_json_type type)
{
	struct block *b = r->doc->block;
	struct jetwatt_json_value *v;

	if (!b || b->used == BLOCK) {
		b = malloc(sizeof(*b));
		if (!b) {
			r->err = -ENOMEM;
			return NULL;
		}
		b->previous = r->doc->block;
		b->used = 0;
		r->doc->block = b;
	}
	v = &b->value[b->used++];
	*v = (struct jetwatt_json_value){ .type = type, .line = r->line };
	return v;
}

static void json_skip_space(struct json_reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) {
		r->line += *r->at == '\n';
		r->at++;
	}
}

static int json_hex4(struct json_reader *r, unsigned int *c)
{
	*c = 0;
	if (r->end - r->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *d = *r->at ? strchr(digits, *r->at) : NULL;

		if (!d)
			return -1;
		*c = *c << 4 | (unsigned int)(d - digits < 16 ? d - digits : d - digits - 6);
		r->at++;
	}
	return 0;
}

static void json_put_utf8(struct json_reader *r, unsigned int c)
{
	if (c < 0x80) {
		*r->pool++ = (char)c;
	} else if (c < 0x800) {
		*r->pool++ = (char)(0xc0 | c >> 6);
		*r->pool++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*r->pool++ = (char)(0xe0 | c >> 12);
		*r->pool++ = (char)(0x80 | (c >> 6 & 0x3f));
		*r->pool++ = (char)(0x80 | (c & 0x3f));
	} else {
		*r->pool++ = (char)(0xf0 | c >> 18);
		*r->pool++ = (char)(0x80 | (c >> 12 & 0x3f));
		*r->pool++ = (char)(0x80 | (c >> 6 & 0x3f));
		*r->pool++ = (char)(0x80 | (c & 0x3f));
	}
}

/* Decode what follows a backslash. Return: 0; -1 if the text is not a valid escape sequence, or is \u0000. */
static int json_escape(struct json_reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p;
	unsigned int c, low;

	if (r->at == r->end || !*r->at)
		return -1;
	p = strchr(from, *r->at);
	if (p) {
		r->at++;
		*r->pool++ = to[p - from];
		return 0;
	}
	if (*r->at++ != 'u' || json_hex4(r, &c) || !c)
		return -1;
	if (c >= 0xd800 && c < 0xdc00) {
		if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
			return -1;
		r->at += 2;
		if (json_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
			return -1;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xdc00 && c < 0xe000) {
		return -1;
	}
	json_put_utf8(r, c);
	return 0;
}

static const char *json_string(struct json_reader *r)
{
	char *text = r->pool;

	r->at++;
	while (r->at < r->end && *r->at != '"') {
		unsigned char c = (unsigned char)*r->at++;

		if (c < 0x20)
			return json_refuse(r, "a control character in a string");
		if (c != '\\')
			*r->pool++ = (char)c;
		else if (json_escape(r))
			return json_refuse(r, "an escape sequence that is invalid or \\u0000");
	}
	if (r->at == r->end)
		return json_refuse(r, "a string without its end");
	r->at++;
	*r->pool++ = '\0';
	return text;
}

static size_t json_digits(struct json_reader *r)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return (size_t)(r->at - from);
}

static struct jetwatt_json_value *json_number(struct json_reader *r)
{
	struct jetwatt_json_value *v = json_new_value(r, JETWATT_JSON_NUMBER);
	const char *from = r->at, *whole;
	size_t n;

	if (!v)
		return NULL;
	r->at += *r->at == '-';
	whole = r->at;
	n = json_digits(r);
	if (!n || (n > 1 && *whole == '0'))
		return json_refuse(r, "not a value");
	if (r->at < r->end && *r->at == '.') {
		r->at++;
		if (!json_digits(r))
			return json_refuse(r, "a number without digits behind its point");
	}
	if (r->at < r->end && (*r->at | 0x20) == 'e') {
		r->at++;
		r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
		if (!json_digits(r))
			return json_refuse(r, "a number without its exponent");
	}
	n = (size_t)(r->at - from);
	v->text = memcpy(r->pool, from, n);
	r->pool[n] = '\0';
	r->pool += n + 1;
	return v;
}

static struct jetwatt_json_value *json_container(struct json_reader *r, bool object)
{
	struct jetwatt_json_value *v =
		json_new_value(r, object ? JETWATT_JSON_OBJECT : JETWATT_JSON_ARRAY);
	struct jetwatt_json_value **tail = v ? &v->first : NULL;
	const char close = object ? '}' : ']', *key = NULL;

	if (!v)
		return NULL;
	if (++r->depth > DEPTH_MAX)
		return json_refuse(r, "nested too deep");
	r->at++;
	json_skip_space(r);
	while (r->at < r->end && *r->at != close) {
		if (object) {
			if (*r->at != '"')
				return json_refuse(r, "a member without a name");
			key = json_string(r);
			json_skip_space(r);
			if (!key || r->at == r->end || *r->at++ != ':')
				return json_refuse(r, "a name without a colon");
		}
		*tail = json_value(r);
		if (!*tail)
			return NULL;
		(*tail)->key = key;
		tail = &(*tail)->next;
		json_skip_space(r);
		if (r->at == r->end || *r->at != ',')
			break;
		r->at++;
		json_skip_space(r);
		if (r->at == r->end || *r->at == close)
			return json_refuse(r, "a comma with nothing behind it");
	}
	if (r->at == r->end || *r->at != close)
		return json_refuse(r, "a list or an object without its end");
	r->at++;
	r->depth--;
	return v;
}

static struct jetwatt_json_value *json_literal(struct json_reader *r, const char *name,
					       enum jetwatt_json_type type)
{
	size_t n = strlen(name);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, name, n))
		return json_refuse(r, "not a value");
	r->at += n;
	return json_new_value(r, type);
}

static struct jetwatt_json_value *json_value(struct json_reader *r)
{
	struct jetwatt_json_value *v;

	json_skip_space(r);
	if (r->at == r->end)
		return json_refuse(r, "the document ends where a value should be");
	switch (*r->at) {
	case '{': return json_container(r, true);
	case '[': return json_container(r, false);
	case 't': return json_literal(r, "true", JETWATT_JSON_TRUE);
	case 'f': return json_literal(r, "false", JETWATT_JSON_FALSE);
	case 'n': return json_literal(r, "null", JETWATT_JSON_NULL);
	case '"':
		v = json_new_value(r, JETWATT_JSON_STRING);
		if (v)
			v->text = json_string(r);
		return v && v->text ? v : NULL;
	default: return json_number(r);
	}
}

int jetwatt_json_parse(const char *text, size_t len, struct jetwatt_json_doc **doc,
		       unsigned int *line, const char **why)
{
	struct json_reader r = { .at = text, .end = text + len, .line = 1 };

	*line = 0;
	*why = "it is too long";
	if (len > JETWATT_JSON_READ_MAX)
		return -EFBIG;
	*why = strerror(ENOMEM);
	r.doc = calloc(1, sizeof(*r.doc));
	/* A number of one digit needs two bytes with its NUL, so twice the length is enough. */
	r.pool = malloc(2 * len + 2);
	if (!r.doc || !r.pool) {
		free(r.doc);
		free(r.pool);
		return -ENOMEM;
	}
	r.doc->pool = r.pool;
	r.doc->top = json_value(&r);
	json_skip_space(&r);
	if (!r.err && r.at != r.end)
		json_refuse(&r, "something behind its end");
	*line = r.line;
	if (r.err) {
		*why = r.why ? r.why : strerror(-r.err);
		jetwatt_json_free(r.doc);
		return r.err;
	}
	*why = "";
	*doc = r.doc;
	return 0;
}

void jetwatt_json_free(struct jetwatt_json_doc *doc)
{
	if (!doc)
		return;
	for (struct block *b = doc->block, *previous; b; b = previous) {
		previous = b->previous;
		free(b);
	}
	free(doc->pool);
	free(doc);
}

const struct jetwatt_json_value *jetwatt_json_top(const struct jetwatt_json_doc *doc)
{
	return doc->top;
}

const struct jetwatt_json_value *jetwatt_json_get(const struct jetwatt_json_value *v,
						  const char *key)
{
	const struct jetwatt_json_value *e;

	if (!v || v->type != JETWATT_JSON_OBJECT)
		return NULL;
	for (e = v->first; e && strcmp(e->key, key); e = e->next)
		;
	return e;
}

const char *jetwatt_json_get_string(const struct jetwatt_json_value *v, const char *key)
{
	const struct jetwatt_json_value *e = jetwatt_json_get(v, key);

	return e && e->type == JETWATT_JSON_STRING ? e->text : NULL;
}

int jetwatt_json_get_uint(const struct jetwatt_json_value *v, const char *key, uint64_t max,
			  uint64_t *n)
{
	const struct jetwatt_json_value *e = jetwatt_json_get(v, key);
	char *end;

	if (!e || e->type != JETWATT_JSON_NUMBER || *e->text == '-')
		return -EINVAL;
	errno = 0;
	*n = strtoull(e->text, &end, 10);
	return errno || *end || *n > max ? -EINVAL : 0;
}
