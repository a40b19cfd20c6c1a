// SPDX-License-Identifier: GPL-2.0-only
#include "schedule_conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "suggest.h"
#include "unit.h"

#define FILE_MAX	65536

static int refuse(struct jetwatt_schedule_error *e, unsigned int line, const char *fix,
		  const char *why, ...) __attribute__((format(printf, 4, 5)));

static int refuse(struct jetwatt_schedule_error *e, unsigned int line, const char *fix,
		  const char *why, ...)
{
	va_list ap;

	e->line = line;
	va_start(ap, why);
	vsnprintf(e->why, sizeof(e->why), why, ap);
	va_end(ap);
	snprintf(e->fix, sizeof(e->fix), "%s", fix);
	return -EINVAL;
}

/* A name with its value, both with a NUL at their end. */
static int set(struct jetwatt_schedule_conf *c, const char *name, const char *value,
	       unsigned int line, struct jetwatt_schedule_error *e)
{
	static const char *const names[] = { "train", "infer", "latency", "arrival",
					     "minibatches", "batch-file", NULL };
	char *const text[] = { c->train, c->infer, [5] = c->batch_file };
	const char *near;
	double v = 0;
	int i = 0;

	while (names[i] && strcmp(name, names[i]))
		i++;
	if (!names[i]) {
		near = jetwatt_suggest(name, names);
		return refuse(e, line, near ? near : "train, infer, latency, arrival, minibatches, batch-file",
			      "there is no setting \"%.40s\"", name);
	}
	if (!*value)
		return refuse(e, line, "write it behind the =, or leave the line away",
			      "%s has no value", name);
	if (i < 2 || i == 5)
		strcpy(text[i], value);
	else if (i == 2 && (jetwatt_unit_parse(value, "s", &v) || v < 1e-4 || v > 1e4))
		return refuse(e, line, "like latency = 100ms", "\"%.40s\" is no time", value);
	else if (i == 2)
		c->latency_ms = 1e3 * v;
	else if (i == 3 && (jetwatt_unit_parse(value, "Hz", &v) || v < 1e-3 || v > 1e6))
		return refuse(e, line, "like arrival = 40Hz", "\"%.40s\" is no rate", value);
	else if (i == 3)
		c->arrival_hz = v;
	else if (jetwatt_unit_count(value, 1, 1000000, &c->minibatches))
		return refuse(e, line, "a whole number from 1 to 1000000", "\"%.40s\" is no such number",
			      value);
	return 0;
}

/* A copy without the blanks around it. Return: its length. */
static size_t trim(char *to, const char *from, const char *end)
{
	while (from < end && isspace((unsigned char)*from))
		from++;
	while (from < end && isspace((unsigned char)end[-1]))
		end--;
	memcpy(to, from, (size_t)(end - from));
	to[end - from] = '\0';
	return (size_t)(end - from);
}

static int parse_line(const char *text, const char *stop, unsigned int line,
		      struct jetwatt_schedule_conf *c, struct jetwatt_schedule_error *e)
{
	char name[JETWATT_SCHEDULE_TEXT], value[JETWATT_SCHEDULE_TEXT];
	const char *equal = memchr(text, '=', (size_t)(stop - text));

	if ((size_t)(stop - text) >= sizeof(name))
		return refuse(e, line, "put long commands into a script", "the line is too long");
	if (memchr(text, '\0', (size_t)(stop - text)))
		return refuse(e, line, "a plain text file", "there is a NUL in it");
	if (!trim(name, text, stop) || *name == '#')
		return 0;
	if (!equal)
		return refuse(e, line, "NAME = VALUE", "there is no =");
	trim(name, text, equal);
	trim(value, equal + 1, stop);
	return set(c, name, value, line, e);
}

int jetwatt_schedule_conf_parse(const char *text, size_t size, struct jetwatt_schedule_conf *c,
				struct jetwatt_schedule_error *e)
{
	const char *end = text + size;
	unsigned int line = 0;

	memset(c, 0, sizeof(*c));
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *stop = nl ? nl : end;

		if (parse_line(text, stop, ++line, c, e))
			return -EINVAL;
		text = nl ? nl + 1 : end;
	}
	if (!*c->train)
		return refuse(e, 0, "train = COMMAND", "it does not say what trains");
	if (!*c->infer)
		return refuse(e, 0, "infer = COMMAND", "it does not say what serves");
	if (!(c->latency_ms > 0))
		return refuse(e, 0, "latency = 100ms, in which 99 of 100 requests are to be answered",
			      "it does not say how long requests may take");
	return 0;
}

int jetwatt_schedule_conf_read(const char *path, struct jetwatt_schedule_conf *c)
{
	static char text[FILE_MAX];
	struct jetwatt_schedule_error e;
	char where[32] = "";
	FILE *f = fopen(path, "re");
	size_t n;
	int bad;

	if (!f)
		return jetwatt_error_say(JETWATT_EXIT_USAGE, strerror(errno),
					 "man jetwatt-schedule has an example", "cannot read %s", path);
	n = fread(text, 1, sizeof(text), f);
	bad = ferror(f);
	fclose(f);
	if (bad || n == sizeof(text))
		return jetwatt_error_say(JETWATT_EXIT_USAGE, bad ? strerror(EIO) : "it is too long", NULL,
					 "cannot read %s", path);
	if (!jetwatt_schedule_conf_parse(text, n, c, &e))
		return 0;
	if (e.line)
		snprintf(where, sizeof(where), ", line %u", e.line);
	return jetwatt_error_say(JETWATT_EXIT_USAGE, e.why, e.fix, "cannot use %s%s", path, where);
}
