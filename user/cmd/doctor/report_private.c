// SPDX-License-Identifier: GPL-2.0-only
/*
 * What identifies a board, its users and its network stays on the board. Files are read from
 * a list of what is needed, none of which has such a thing in it by design; this is for what
 * gets in all the same: a path below /home, a serial number in a message.
 */
#include "cmd/doctor/report.h"

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Shorter ones would be found in half of all numbers. */
#define ID_LEAST	6

/* Names of hosts and users as JetPack's images ship them: they identify nothing, and drivers
 * and kernels are called so too. */
static const char *const common[] = {
	"agx", "debian", "jetson", "linux", "localhost", "nano", "nvidia", "orin", "root",
	"tegra", "tegra-ubuntu", "thor", "ubuntu", "xavier", NULL
};

static void keep(char list[][80], int *nr, const char *word, size_t len, size_t least)
{
	if (len < least || len >= sizeof(list[0]) || *nr == JETWATT_PRIVATE_WORDS)
		return;
	for (int i = 0; common[i]; i++)
		if (strlen(common[i]) == len && !strncasecmp(common[i], word, len))
			return;
	memcpy(list[*nr], word, len);
	list[(*nr)++][len] = '\0';
}

static void keep_name(struct jetwatt_private *p, const char *name)
{
	if (name)
		keep(p->name, &p->nr_names, name, strlen(name), 2);
}

static void keep_ids(struct jetwatt_private *p, const char *root, const char *path)
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
			keep(p->id, &p->nr_ids, word, strlen(word), ID_LEAST);
		return;
	}
	/* androidboot.serialno=1423..., nvmac=...: whatever is called so. */
	for (word = strtok_r(text, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
		const char *value = strrchr(word, '=');	/* root=PARTUUID=... */

		if (value && (strcasestr(word, "serial") || strcasestr(word, "uuid")))
			keep(p->id, &p->nr_ids, value + 1, strlen(value + 1), ID_LEAST);
	}
}

/* NAME:password:uid:..., as they are on the board that @root is. */
static void keep_users(struct jetwatt_private *p, const char *root)
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
		keep_name(p, line);
	}
	if (f)
		fclose(f);
}

void jetwatt_private_find(struct jetwatt_private *p, const char *root)
{
	char host[80] = "";
	const struct passwd *pw = getpwuid(getuid());

	memset(p, 0, sizeof(*p));
	keep_ids(p, root, "proc/device-tree/serial-number");
	keep_ids(p, root, "sys/devices/soc0/serial_number");
	keep_ids(p, root, "etc/machine-id");
	keep_ids(p, root, "proc/sys/kernel/random/boot_id");
	keep_ids(p, root, "proc/cmdline");
	if (!gethostname(host, sizeof(host) - 1))
		keep_name(p, host);
	host[strcspn(host, ".")] = '\0';
	keep_name(p, host);
	keep_name(p, getenv("SUDO_USER"));
	keep_name(p, getenv("LOGNAME"));
	if (pw)
		keep_name(p, pw->pw_name);
	keep_users(p, root);
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of a hardware address at @s ("48:b0:2d:..."), 0: there is none. */
static size_t address(const char *text, const char *s)
{
	size_t i;

	if (s > text && (isxdigit((unsigned char)s[-1]) || s[-1] == ':'))
		return 0;
	for (i = 0; i < 17; i++)
		if (i % 3 == 2 ? s[i] != ':' : !isxdigit((unsigned char)s[i]))
			return 0;
	return isxdigit((unsigned char)s[17]) || s[17] == ':' ? 0 : 17;
}

/* Length of what must go at @s, and what is put there. */
static size_t hidden(const struct jetwatt_private *p, const char *text, const char *s, bool names,
		     const char **by)
{
	size_t n = address(text, s);

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
	if (!names || (s > text && in_word(s[-1])))
		return 0;
	for (int i = 0; i < p->nr_names; i++) {
		n = strlen(p->name[i]);
		if (!strncasecmp(s, p->name[i], n) && !in_word(s[n]))
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
		n = hidden(p, text, s, names, &by);
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
