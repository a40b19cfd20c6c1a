// SPDX-License-Identifier: GPL-2.0-only
/* Find a setting in the environment, in the user's file and in the system's file. */
#include "util/settings.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/utf8.h"

#define SYSTEM_FILE	"/etc/jetwatt/jetwatt.conf"
#define FILE_MAX	65536

static const char * const names[] = { "db", "mqtt", "pool", NULL };

struct settings_word {
	const char *p;
	size_t n;
};

static struct settings_word settings_trim(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	while (p < end && isspace((unsigned char)end[-1]))
		end--;
	return (struct settings_word){ p, (size_t)(end - p) };
}

static bool word_equals(struct settings_word w, const char *name)
{
	return w.n == strlen(name) && !memcmp(w.p, name, w.n);
}

static bool setting_known(struct settings_word w)
{
	for (int i = 0; names[i]; i++)
		if (word_equals(w, names[i]))
			return true;
	return false;
}

const char *jetwatt_settings_find(const char *text, size_t size, const char *name, char *buf,
				  size_t len, unsigned int *bad)
{
	const char *end = text + size, *found = NULL;
	unsigned int line = 0;

	*bad = 0;
	text += jetwatt_utf8_mark(text, size);
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *stop = nl ? nl : end;
		const char *equal = memchr(text, '=', (size_t)(stop - text));
		struct settings_word all = settings_trim(text, stop);
		struct settings_word key = settings_trim(text, equal ? equal : stop);
		struct settings_word value =
			equal ? settings_trim(equal + 1, stop) : (struct settings_word){ stop, 0 };

		line++;
		text = nl ? nl + 1 : end;
		if (!all.n || *all.p == '#')
			continue;
		if (!equal || !setting_known(key) || memchr(value.p, '\0', value.n) ||
		    value.n >= len) {
			*bad = *bad ? *bad : line;
		} else if (word_equals(key, name) && value.n) {
			memcpy(buf, value.p, value.n);
			buf[value.n] = '\0';
			found = buf;
		}
	}
	return found;
}

static const char *setting_from_file(const char *path, const char *name, char *buf, size_t len)
{
	static char text[FILE_MAX];
	const char *found;
	unsigned int bad;
	size_t n;
	FILE *f = fopen(path, "re");

	if (!f)
		return NULL;
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	found = jetwatt_settings_find(text, n, name, buf, len, &bad);
	if (bad)
		jetwatt_notice("%s: line %u is ignored: not a valid setting of this version",
				   path, bad);
	return found;
}

const char *jetwatt_settings_get(const char *name, char *buf, size_t len)
{
	const char *home = getenv("XDG_CONFIG_HOME"), *below = "", *found, *value;
	char path[512], variable[64] = "JETWATT_";
	size_t at = strlen(variable);

	for (size_t i = 0; name[i] && at + 1 < sizeof(variable); i++)
		variable[at++] = (char)toupper((unsigned char)name[i]);
	value = getenv(variable);
	if (value && strlen(value) >= len)
		jetwatt_notice("%s is ignored: longer than %zu bytes", variable, len - 1);
	else if (value && *value)
		return strcpy(buf, value);
	if (!home || !*home) {
		home = getenv("HOME");
		below = "/.config";
	}
	if (home && *home) {
		snprintf(path, sizeof(path), "%s%s/jetwatt/jetwatt.conf", home, below);
		found = setting_from_file(path, name, buf, len);
		if (found)
			return found;
	}
	return setting_from_file(SYSTEM_FILE, name, buf, len);
}
