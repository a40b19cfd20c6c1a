// SPDX-License-Identifier: GPL-2.0-only
/* Read configuration files and report their errors. */
#include "util/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/suggest.h"
#include "util/utf8.h"

#define FILE_MAX	65536

int jetwatt_conf_refuse(struct jetwatt_conf_error *e, unsigned int line, const char *fix,
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

int jetwatt_conf_name(const char *name, const char *const *names, unsigned int line,
		      struct jetwatt_conf_error *e)
{
	char all[sizeof(e->fix)] = "";
	const char *similar;
	size_t at = 0;

	for (int i = 0; names[i]; i++) {
		if (!strcmp(name, names[i]))
			return i;
		if (at < sizeof(all))
			at += snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", names[i]);
	}
	similar = jetwatt_suggest(name, names);
	return jetwatt_conf_refuse(e, line, similar ? similar : all,
				   "there is no setting \"%.40s\"", name);
}

/* Copy a text without surrounding white space. Return: length of the copy, in bytes. */
static size_t conf_trim(char *to, const char *from, const char *end)
{
	while (from < end && isspace((unsigned char)*from))
		from++;
	while (from < end && isspace((unsigned char)end[-1]))
		end--;
	memcpy(to, from, (size_t)(end - from));
	to[end - from] = '\0';
	return (size_t)(end - from);
}

static int conf_parse_line(const char *text, const char *stop, unsigned int line,
			   jetwatt_conf_fn fn, void *arg, struct jetwatt_conf_error *e)
{
	char name[JETWATT_CONF_TEXT], value[JETWATT_CONF_TEXT];
	const char *equal = memchr(text, '=', (size_t)(stop - text));

	if ((size_t)(stop - text) >= sizeof(name))
		return jetwatt_conf_refuse(e, line, "put long commands into a script",
					   "the line is too long");
	if (memchr(text, '\0', (size_t)(stop - text)))
		return jetwatt_conf_refuse(e, line, "use a plain text file",
					   "it contains a NUL byte");
	if (!conf_trim(name, text, stop) || *name == '#')
		return 0;
	if (!equal)
		return jetwatt_conf_refuse(e, line, "write NAME = VALUE", "there is no =");
	conf_trim(name, text, equal);
	if (!conf_trim(value, equal + 1, stop))
		return jetwatt_conf_refuse(e, line,
					   "write a value behind the =, or remove the line",
					   "%.40s has no value", name);
	return fn(name, value, line, arg, e);
}

int jetwatt_conf_parse(const char *text, size_t size, jetwatt_conf_fn fn, void *arg,
		       struct jetwatt_conf_error *e)
{
	const char *end = text + size;
	unsigned int line = 0;

	text += jetwatt_utf8_mark(text, size);
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *stop = nl ? nl : end;

		if (conf_parse_line(text, stop, ++line, fn, arg, e))
			return -EINVAL;
		text = nl ? nl + 1 : end;
	}
	return 0;
}

int jetwatt_conf_read(const char *path, const char *manual, const char **out, size_t *size)
{
	static char text[FILE_MAX];
	char fix[64];
	FILE *f = fopen(path, "re");
	int bad;

	snprintf(fix, sizeof(fix), "man %s has an example", manual);
	if (!f)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, strerror(errno), fix, "cannot read %s",
					 path);
	*size = fread(text, 1, sizeof(text), f);
	bad = ferror(f) ? errno : 0;
	fclose(f);
	if (bad || *size == sizeof(text))
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 bad ? strerror(bad) : "the file is too long", fix,
					 "cannot read %s", path);
	*out = text;
	return 0;
}

int jetwatt_conf_report(const char *path, const struct jetwatt_conf_error *e)
{
	char where[32] = "";

	if (e->line)
		snprintf(where, sizeof(where), ", line %u", e->line);
	return jetwatt_error_report(JETWATT_EXIT_USAGE, e->why, e->fix, "cannot use %s%s", path, where);
}
