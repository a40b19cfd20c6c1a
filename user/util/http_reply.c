// SPDX-License-Identifier: GPL-2.0-only
/* Finds the body of an HTTP/1.1 reply, and joins its chunks. */
#include "util/http_reply.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Maximum length of status line and headers, in bytes. */
#define HEAD_MAX	16384
/* Maximum length of a chunk's line: its size and extensions, in bytes. */
#define CHUNK_LINE_MAX	256

/**
 * struct reply_head - what the headers say about the body
 * @length: Content-Length in bytes; SIZE_MAX: there is none
 * @chunked: 1: Transfer-Encoding is chunked
 * @coded: 1: the body has a coding other than chunked
 */
struct reply_head {
	size_t length;
	int chunked, coded;
};

/* Parse a size in base 10 or 16 that ends at @end or before the character @stop. */
static int parse_size(const char *p, const char *end, unsigned int base, char stop, size_t *size)
{
	const char *begin = p;

	*size = 0;
	for (; p < end && isxdigit((unsigned char)*p); p++) {
		unsigned int digit = isdigit((unsigned char)*p) ? (unsigned int)(*p - '0') :
				     (unsigned int)(tolower((unsigned char)*p) - 'a') + 10;

		if (digit >= base || *size > (SIZE_MAX - 1 - digit) / base)
			return -EBADMSG;
		*size = *size * base + digit;
	}
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p == begin || (p < end && *p != stop) ? -EBADMSG : 0;
}

/* Return: the value of a header line if it has the name @name, without blanks around the value;
 * NULL: it has another name. @value_len: receives the length of the value. */
static const char *header_value(const char *line, size_t len, const char *name, size_t *value_len)
{
	size_t n = strlen(name);
	const char *p = line + n + 1, *end = line + len;

	if (len <= n || strncasecmp(line, name, n) || line[n] != ':')
		return NULL;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*value_len = (size_t)(end - p);
	return p;
}

static int is_word(const char *p, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(p, word, len);
}

static int parse_header(const char *line, size_t len, struct reply_head *h)
{
	const char *value;
	size_t n;

	value = header_value(line, len, "Content-Length", &n);
	if (value)
		return parse_size(value, value + n, 10, '\0', &h->length);
	value = header_value(line, len, "Transfer-Encoding", &n);
	if (value) {
		h->chunked = is_word(value, n, "chunked");
		h->coded |= !h->chunked && !is_word(value, n, "identity");
	}
	value = header_value(line, len, "Content-Encoding", &n);
	if (value)
		h->coded |= !is_word(value, n, "identity");
	return 0;
}

/* Return: the status code of "HTTP/1.1 200 OK"; -EBADMSG. */
static int parse_status(const char *line, size_t len)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) || !isdigit((unsigned char)line[7]) ||
	    line[8] != ' ')
		return -EBADMSG;
	for (int i = 9; i < 12; i++)
		if (!isdigit((unsigned char)line[i]))
			return -EBADMSG;
	return (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
}

/* Parse status line and headers. Return: their length with the empty line; 0: incomplete;
 * -EBADMSG. */
static long parse_head(const char *raw, size_t len, int *status, struct reply_head *h)
{
	const char *line = raw, *end;

	for (;;) {
		size_t n, left = len - (size_t)(line - raw);
		int err = 0, code;

		end = memchr(line, '\n', left);
		if ((end ? (size_t)(end - raw) : len) > HEAD_MAX)
			return -EBADMSG;
		if (!end)
			return 0;
		n = (size_t)(end - line);
		n -= n && line[n - 1] == '\r';
		if (line == raw) {
			code = parse_status(line, n);
			err = code < 0 ? code : 0;
			*status = err ? 0 : code;
		} else if (!n) {
			return end + 1 - raw;
		} else {
			err = parse_header(line, n, h);
		}
		if (err)
			return err;
		line = end + 1;
	}
}

/* Join the chunks between @p and @end at @to; NULL: only check that they are complete. Return: 0;
 * -EAGAIN: incomplete; -EBADMSG. */
static int join_chunks(const char *p, const char *end, char *to, size_t *len)
{
	*len = 0;
	for (;;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t size, blank;
		int err;

		if ((eol ? eol : end) - p > CHUNK_LINE_MAX)
			return -EBADMSG;
		if (!eol)
			return -EAGAIN;
		err = parse_size(p, eol > p && eol[-1] == '\r' ? eol - 1 : eol, 16, ';', &size);
		/* Trailers after the last chunk are not needed. */
		if (err || !size)
			return err;
		p = eol + 1;
		if (size >= (size_t)(end - p))
			return -EAGAIN;
		if (to)
			memmove(to + *len, p, size);
		*len += size;
		p += size;
		blank = *p == '\r' ? 2 : 1;
		if ((size_t)(end - p) < blank)
			return -EAGAIN;
		if (p[blank - 1] != '\n')
			return -EBADMSG;
		p += blank;
	}
}

int jetwatt_http_reply(char *raw, size_t len, int closed, int *status, char **body,
		       size_t *body_len)
{
	struct reply_head h = { .length = SIZE_MAX };
	long head;
	int err;

	*status = 0;
	head = parse_head(raw, len, status, &h);
	if (head < 0)
		return -EBADMSG;
	if (!head)
		return closed ? -ENODATA : -EAGAIN;
	if (h.coded)
		return -EPROTO;
	*body = raw + head;
	*body_len = len - (size_t)head;
	if (h.chunked) {
		err = join_chunks(*body, raw + len, NULL, body_len);
		if (!err)
			err = join_chunks(*body, raw + len, *body, body_len);
		return err == -EAGAIN && closed ? -ENODATA : err;
	}
	if (h.length == SIZE_MAX)
		return closed ? 0 : -EAGAIN;
	if (*body_len < h.length)
		return closed ? -ENODATA : -EAGAIN;
	*body_len = h.length;
	return 0;
}
