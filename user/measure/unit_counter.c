// SPDX-License-Identifier: GPL-2.0-only
/* Parses --per NAME=SOURCE, and reads the counters from an HTTP server, a file or a descriptor. */
#include "measure/unit_counter.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

/*
 * A program that writes its count with O_TRUNC leaves the file empty for a moment. An empty file is
 * read again up to this many times, after this time each.
 */
#define EMPTY_TRIES	5
#define EMPTY_WAIT_MS	10

#define FORMS	"NAME=URL#METRIC, NAME=FILE#METRIC, NAME=FILE or NAME=fd:N"

static void usage(const char *why, const char *fix, const char *arg)
{
	exit(jetwatt_error_report(JETWATT_EXIT_USAGE, why, fix, "--per %.60s", arg));
}

static void parse_unit_name(struct jetwatt_units *u, const char *arg, const char *equals)
{
	struct jetwatt_unit *unit = &u->unit[u->nr];
	size_t len = equals ? (size_t)(equals - arg) : 0;

	if (u->nr == JETWATT_UNITS_MAX)
		usage("too many counters", "give --per at most 8 times", arg);
	if (!len || len >= sizeof(unit->name) || isdigit((unsigned char)*arg))
		usage("a unit's name has 1 to 23 characters and begins with no digit", FORMS, arg);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)arg[i]) && arg[i] != '_')
			usage("a name has only letters, digits and _", FORMS, arg);
	snprintf(unit->name, sizeof(unit->name), "%.*s", (int)len, arg);
}

static int is_url(const char *text)
{
	return strstr(text, "://") != NULL;
}

static void parse_url(struct jetwatt_unit_source *s, const char *arg)
{
	int err = jetwatt_http_url(&s->url, s->text);

	s->kind = JETWATT_UNIT_HTTP;
	if (err == -EPROTONOSUPPORT)
		usage("only http:// is supported", "http://127.0.0.1:8000/metrics#METRIC, for example",
		      arg);
	if (err)
		usage("not a URL of a host and a path",
		      "http://127.0.0.1:8000/metrics#METRIC, for example", arg);
}

static void parse_fd(struct jetwatt_unit_source *s, const char *arg)
{
	long fd;

	s->kind = JETWATT_UNIT_FD;
	if (jetwatt_unit_count(s->text + 3, 0, 1 << 20, &fd))
		usage("not the number of a descriptor", "fd:0 for standard input", arg);
	s->fd = fd;
	/* If the command inherited the descriptor, it would keep a pipe open that only this process
	 * reads. */
	if (fd > STDERR_FILENO && fcntl(s->fd, F_SETFD, FD_CLOEXEC))
		usage(strerror(errno),
		      "sudo closes all descriptors but 0, 1 and 2: use fd:0, or run as root", arg);
}

void jetwatt_units_option(struct jetwatt_units *u, const char *arg)
{
	const char *equals = strchr(arg, '='), *hash = equals ? strchr(equals, '#') : NULL;
	struct jetwatt_unit *unit = &u->unit[u->nr];
	struct jetwatt_unit_source *s = &u->source[u->sources];
	size_t len;
	int i;

	parse_unit_name(u, arg, equals);
	len = hash ? (size_t)(hash - equals - 1) : strlen(equals + 1);
	if (!len || len >= sizeof(s->text) || (hash && strlen(hash) >= sizeof(unit->metric)))
		usage(len ? "the source is too long" : "no source of the count", FORMS, arg);
	snprintf(s->text, sizeof(s->text), "%.*s", (int)len, equals + 1);
	if (hash) {
		snprintf(unit->metric, sizeof(unit->metric), "%s", hash + 1);
		if (jetwatt_prometheus_select(&unit->selector, unit->metric))
			usage("not a metric", "METRIC or METRIC{LABEL=\"VALUE\",...}", arg);
	}
	if (is_url(s->text)) {
		parse_url(s, arg);
		if (!hash)
			usage("no metric", "URL#vllm:generation_tokens_total, for example", arg);
	} else if (!strncmp(s->text, "fd:", 3)) {
		parse_fd(s, arg);
		if (hash)
			usage("a descriptor has no metrics", "NAME=fd:N", arg);
	} else {
		s->kind = JETWATT_UNIT_FILE;
	}
	for (i = 0; i < u->sources && strcmp(u->source[i].text, s->text); i++)
		;
	u->sources += i == u->sources;
	unit->source = i;
	u->nr++;
}

int jetwatt_units_resolve(struct jetwatt_units *u)
{
	for (int i = 0; i < u->sources; i++) {
		struct jetwatt_unit_source *s = &u->source[i];
		int err = s->kind == JETWATT_UNIT_HTTP ? jetwatt_http_resolve(&s->url) : 0;

		if (err)
			return jetwatt_error_report(JETWATT_EXIT_FAILED, gai_strerror(err),
						    "give the address instead of the name of the host",
						    "--per: cannot find %.60s", s->url.host);
	}
	return 0;
}

void jetwatt_units_forget(struct jetwatt_units *u)
{
	for (int i = 0; i < u->sources; i++)
		jetwatt_http_forget(&u->source[i].url);
}

/* Read a file into @buf. Return: its length; a negative errno. */
static long read_file(const char *path, char *buf, size_t size)
{
	/* Opening a FIFO without O_NONBLOCK would wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		n = -ENOTSUP;
	while (!n && len < size) {
		n = read(fd, buf + len, size - len);
		if (n > 0)
			len += (size_t)n;
		n = n > 0 ? 0 : n < 0 ? -errno : 1;
	}
	close(fd);
	return n < 0 ? n : len == size ? -EMSGSIZE : (long)len;
}

static long read_written_file(const char *path, char *buf, size_t size)
{
	long len = read_file(path, buf, size);

	for (int i = 0; i < EMPTY_TRIES && !len; i++) {
		poll(NULL, 0, EMPTY_WAIT_MS);
		len = read_file(path, buf, size);
	}
	return len ? len : -ENODATA;
}

/* Split the bytes that were read from the descriptor into lines, and store the count of the last
 * complete line. */
static void add_lines(struct jetwatt_unit_source *s, const char *p, size_t len)
{
	for (const char *end = p + len; p < end; p++) {
		if (*p != '\n') {
			if (s->line_len < sizeof(s->line))
				s->line[s->line_len++] = *p;
			continue;
		}
		s->lines = s->line_len == sizeof(s->line) ||
			   jetwatt_prometheus_number(s->line, s->line_len, &s->last) ? -EINVAL : 1;
		s->line_len = 0;
	}
}

/* Read what is in the pipe. poll() is used, because O_NONBLOCK would also change the descriptor of
 * other processes that share it. */
static int drain_fd(struct jetwatt_unit_source *s, char *buf)
{
	struct pollfd p = { s->fd, POLLIN, 0 };
	size_t all = 0;
	ssize_t n;

	while (all < JETWATT_HTTP_REPLY_MAX && poll(&p, 1, 0) == 1) {
		n = read(s->fd, buf, 65536);
		if (n < 0)
			return -errno;
		if (!n)
			break;
		add_lines(s, buf, (size_t)n);
		all += (size_t)n;
	}
	return s->lines < 0 ? s->lines : s->lines ? 0 : -ENODATA;
}

static void say_why(struct jetwatt_unit_reading *r, int status)
{
	switch (r->err) {
	case -EREMOTEIO:
		snprintf(r->why, sizeof(r->why), "the server answers with HTTP status %d%s", status,
			 status / 100 == 3 ? ", a redirect" : "");
		break;
	case -ETIMEDOUT:
		snprintf(r->why, sizeof(r->why), "no complete reply within 1 s");
		break;
	case -EMSGSIZE:
		snprintf(r->why, sizeof(r->why), "more than 4 MiB");
		break;
	case -ENODATA:
		snprintf(r->why, sizeof(r->why), "empty or truncated");
		break;
	case -EBADMSG:
		snprintf(r->why, sizeof(r->why), "not in the Prometheus text format (0.0.4)");
		break;
	case -EPROTO:
		snprintf(r->why, sizeof(r->why), "the reply is compressed");
		break;
	case -ENOTSUP:
		snprintf(r->why, sizeof(r->why), "not a regular file: use fd:N for a pipe");
		break;
	case -EINVAL:
		snprintf(r->why, sizeof(r->why), "not a decimal number");
		break;
	default:
		snprintf(r->why, sizeof(r->why), "%s", strerror(-r->err));
	}
}

/* Set @value to the counts of all counters of a source, parsed from the text that was read. */
static int take_counts(const struct jetwatt_units *u, int source, const char *text, size_t len,
		       double *value)
{
	for (int i = 0; i < u->nr; i++) {
		const struct jetwatt_unit *unit = &u->unit[i];
		double v;
		long n;

		if (unit->source != source)
			continue;
		if (*unit->metric)
			n = jetwatt_prometheus_sum(text, len, &unit->selector, &v);
		else
			n = jetwatt_prometheus_number(text, len, &v) ? -EINVAL : 1;
		if (n < 0) {
			for (int k = 0; k < i; k++)
				value[k] = NAN;
			return (int)n;
		}
		value[i] = n && isfinite(v) ? v : NAN;
	}
	return 0;
}

void jetwatt_unit_read(struct jetwatt_units *u, int source, char *buf,
		       struct jetwatt_unit_reading *r)
{
	struct jetwatt_unit_source *s = &u->source[source];
	int status = 0;
	char *text = buf;
	size_t len = 0;
	long n = 0;

	memset(r, 0, sizeof(*r));
	r->source = source;
	for (int i = 0; i < JETWATT_UNITS_MAX; i++)
		r->value[i] = NAN;
	r->begin_ns = jetwatt_clock_ns();
	if (s->kind == JETWATT_UNIT_HTTP) {
		n = jetwatt_http_get(&s->url, JETWATT_UNIT_TIMEOUT_MS, buf, &text, &len, &status);
	} else if (s->kind == JETWATT_UNIT_FILE) {
		n = read_written_file(s->text, buf, JETWATT_HTTP_REPLY_MAX);
		len = n > 0 ? (size_t)n : 0;
	} else {
		n = drain_fd(s, buf);
	}
	r->end_ns = jetwatt_clock_ns();
	r->err = n < 0 ? (int)n : 0;
	if (!r->err && s->kind == JETWATT_UNIT_FD) {
		for (int i = 0; i < u->nr; i++)
			if (u->unit[i].source == source)
				r->value[i] = isfinite(s->last) ? s->last : NAN;
	} else if (!r->err) {
		r->err = take_counts(u, source, text, len, r->value);
	}
	if (r->err)
		say_why(r, status);
}
