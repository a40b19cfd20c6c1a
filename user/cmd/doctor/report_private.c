// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removes data that identify a board, its users or its network from a report. The files in a report
 * are chosen so that they contain no such data; this code is a second safeguard, for example for a
 * path below /home or a serial number in a message.
 */
#include "cmd/doctor/report.h"

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Minimum length of an id in characters; a shorter id would match parts of unrelated numbers. */
#define ID_LEN_MIN	6

/* Default names of hosts and users in JetPack images. The default names identify no user, and
 * drivers and kernels have the same names, so the default names are not removed. */
static const char *const common[] = {
	"agx", "debian", "jetson", "linux", "localhost", "nano", "nvidia", "orin", "root",
	"tegra", "tegra-ubuntu", "thor", "ubuntu", "xavier", NULL
};

/* Add a word of @len characters to @list, unless it is shorter than @least or a default name, or the
 * word or the list is too long. */
static void private_add(char list[][80], int *nr, const char *word, size_t len, size_t least)
{
	if (len < least || len >= sizeof(list[0]) || *nr == JETWATT_PRIVATE_WORDS)
		return;
	for (int i = 0; common[i]; i++)
		if (strlen(common[i]) == len && !strncasecmp(common[i], word, len))
			return;
	memcpy(list[*nr], word, len);
	list[(*nr)++][len] = '\0';
}

static void private_add_name(struct jetwatt_private *p, const char *name)
{
	if (name)
		private_add(p->name, &p->nr_names, name, strlen(name), 2);
}

static void private_add_ids(struct jetwatt_private *p, const char *root, const char *path)
{
	char name[512], text[4096], *save, *word;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	f = fopen(name, "re");
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	if (!strstr(path, "cmdline")) {
		word = strtok_r(text, " \t\r\n", &save);
		if (word)
			private_add(p->id, &p->nr_ids, word, strlen(word), ID_LEN_MIN);
		return;
	}
	/* Parameters such as androidboot.serialno=1423...: the word contains "serial" or "uuid". */
	for (word = strtok_r(text, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
		const char *value = strrchr(word, '=');	/* the last "=": root=PARTUUID=... */

		if (value && (strcasestr(word, "serial") || strcasestr(word, "uuid")))
			private_add(p->id, &p->nr_ids, value + 1, strlen(value + 1), ID_LEN_MIN);
	}
}

/* Add the names of regular users (uid 1000 to 60000) of the board at @root, from /etc/passwd. */
static void private_add_users(struct jetwatt_private *p, const char *root)
{
	char name[512], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "%s/etc/passwd", root);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned int uid;

		if (sscanf(line, "%*[^:]:%*[^:]:%u:", &uid) != 1 || uid < 1000 || uid > 60000)
			continue;
		line[strcspn(line, ":")] = '\0';
		private_add_name(p, line);
	}
	if (f)
		fclose(f);
}

void jetwatt_private_find(struct jetwatt_private *p, const char *root)
{
	char host[80] = "";
	const struct passwd *pw = getpwuid(getuid());

	memset(p, 0, sizeof(*p));
	private_add_ids(p, root, "proc/device-tree/serial-number");
	private_add_ids(p, root, "sys/devices/soc0/serial_number");
	private_add_ids(p, root, "etc/machine-id");
	private_add_ids(p, root, "proc/sys/kernel/random/boot_id");
	private_add_ids(p, root, "proc/cmdline");
	if (!gethostname(host, sizeof(host) - 1))
		private_add_name(p, host);
	host[strcspn(host, ".")] = '\0';
	private_add_name(p, host);
	private_add_name(p, getenv("SUDO_USER"));
	private_add_name(p, getenv("LOGNAME"));
	if (pw)
		private_add_name(p, pw->pw_name);
	private_add_users(p, root);
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Return: length of the hardware address at @s ("48:b0:2d:..."), 0 if no address begins at @s.
 * @text: first character of the whole text, in which @s lies. */
static size_t mac_length(const char *text, const char *s)
{
	size_t i;

	if (s > text && (isxdigit((unsigned char)s[-1]) || s[-1] == ':'))
		return 0;
	for (i = 0; i < 17; i++)
		if (i % 3 == 2 ? s[i] != ':' : !isxdigit((unsigned char)s[i]))
			return 0;
	return isxdigit((unsigned char)s[17]) || s[17] == ':' ? 0 : 17;
}

/* Return: number of characters of private data to remove at @s, 0 if no private data begin there;
 * @names: match also names of hosts and users. @by: set to the text that replaces the removed
 * characters. */
static size_t match_private(const struct jetwatt_private *p, const char *text, const char *s,
			    bool names, const char **by)
{
	size_t n = mac_length(text, s);

	*by = "[address]";
	if (n)
		return n;
	*by = "[id]";
	for (int i = 0; i < p->nr_ids; i++)
		if (!strncasecmp(s, p->id[i], strlen(p->id[i])))
			return strlen(p->id[i]);
	*by = "/home/[user]";
	if (!strncmp(s, "/home/", 6))
		return 6 + strcspn(s + 6, "/ \t\n\"'\\:,;");
	*by = "[name]";
	if (!names || (s > text && is_word_char(s[-1])))
		return 0;
	for (int i = 0; i < p->nr_names; i++) {
		n = strlen(p->name[i]);
		if (!strncasecmp(s, p->name[i], n) && !is_word_char(s[n]))
			return n;
	}
	return 0;
}

char *jetwatt_private_hide(const struct jetwatt_private *p, const char *text, bool names)
{
	const char *by;
	char *out = NULL;
	size_t len, n;
	FILE *f = open_memstream(&out, &len);

	if (!f)
		return NULL;
	for (const char *s = text; *s;) {
		n = match_private(p, text, s, names, &by);
		if (n)
			fputs(by, f);
		else
			putc(*s, f);
		s += n ? n : 1;
	}
	return fclose(f) ? NULL : out;
}

void jetwatt_gather_string(struct jetwatt_gather *g, const char *key, const char *text)
{
	char *clean = jetwatt_private_hide(&g->hide, text, true);

	jetwatt_json_string(&g->j, key, clean);
	free(clean);
}

void jetwatt_gather_left_out(struct jetwatt_gather *g, const char *what, const char *why,
			     const char *fix)
{
	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_string(&g->j, "what", what);
	jetwatt_gather_string(g, "why", why);
	jetwatt_json_string(&g->j, "fix", fix);
	jetwatt_json_end(&g->j);
}
