// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor/module_signature.h"

#include <stdio.h>
#include <string.h>

/* What the kernel's sign-file ends a signed module with. */
#define MARK	"~Module signature appended~\n"

/* The first line of a file into @text. Return: false if there is none. */
static bool first_line(const char *root, const char *path, char *text, int size)
{
	char full[512];
	bool found;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "re");
	if (!f)
		return false;
	found = fgets(text, size, f);
	fclose(f);
	return found;
}

/* module.sig_enforce= or MODULE_SIG_FORCE; and lockdown, which asks for it too. */
static bool enforced(const char *root)
{
	char text[128];

	if (first_line(root, "/sys/module/module/parameters/sig_enforce", text, sizeof(text)) &&
	    text[0] == 'Y')
		return true;
	return first_line(root, "/sys/kernel/security/lockdown", text, sizeof(text)) &&
	       !strstr(text, "[none]");
}

static bool has_mark(FILE *f)
{
	char end[sizeof(MARK)] = "";

	return !fseek(f, -(long)(sizeof(MARK) - 1), SEEK_END) &&
	       fread(end, 1, sizeof(MARK) - 1, f) == sizeof(MARK) - 1 && !strcmp(end, MARK);
}

enum jetwatt_sign jetwatt_sign_look(const char *root, const char *release, bool loaded)
{
	/* make install; DKMS on Ubuntu and Debian; DKMS elsewhere. */
	static const char *const places[] = { "updates", "updates/dkms", "extra", "kernel/drivers/misc" };
	static const char *const packed[] = { "", ".xz", ".zst", ".gz" };
	enum jetwatt_sign state = JETWATT_SIGN_ABSENT;
	char path[512];
	FILE *f;

	if (!enforced(root))
		return JETWATT_SIGN_FREE;
	if (loaded)
		return JETWATT_SIGN_GOOD;
	for (unsigned int i = 0; i < 16 && state == JETWATT_SIGN_ABSENT; i++) {
		snprintf(path, sizeof(path), "%s/lib/modules/%s/%s/jetwatt.ko%s", root, release,
			 places[i / 4], packed[i % 4]);
		f = fopen(path, "re");
		if (!f)
			continue;
		state = i % 4 || has_mark(f) ? JETWATT_SIGN_UNTRUSTED : JETWATT_SIGN_UNSIGNED;
		fclose(f);
	}
	return state;
}
