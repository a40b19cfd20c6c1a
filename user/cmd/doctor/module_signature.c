// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out whether the kernel enforces module signatures and whether the installed module is
 * signed, from files in /sys and /lib/modules.
 */
#include "cmd/doctor/module_signature.h"

#include <stdio.h>
#include <string.h>

/* The kernel's scripts/sign-file appends this text to a signed module. */
#define MARK	"~Module signature appended~\n"

/* Read the first line of the file @root/@path into @text. Return: true; false if the file could not
 * be read. */
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

/* Return: true if the kernel enforces module signatures, by the parameter module.sig_enforce, by
 * MODULE_SIG_FORCE, or by the lockdown LSM. */
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

enum jetwatt_module_signature jetwatt_module_signature_check(const char *root, const char *release,
							     bool loaded)
{
	/* Directories in which make install, DKMS and distributions put the module. */
	static const char *const places[] = { "updates", "updates/dkms", "extra", "kernel/drivers/misc" };
	static const char *const packed[] = { "", ".xz", ".zst", ".gz" };
	enum jetwatt_module_signature state = JETWATT_SIGNATURE_NO_MODULE;
	char path[512];
	FILE *f;

	if (!enforced(root))
		return JETWATT_SIGNATURE_NOT_ENFORCED;
	if (loaded)
		return JETWATT_SIGNATURE_TRUSTED;
	for (unsigned int i = 0; i < 16 && state == JETWATT_SIGNATURE_NO_MODULE; i++) {
		snprintf(path, sizeof(path), "%s/lib/modules/%s/%s/jetwatt.ko%s", root, release,
			 places[i / 4], packed[i % 4]);
		f = fopen(path, "re");
		if (!f)
			continue;
		state = i % 4 || has_mark(f) ? JETWATT_SIGNATURE_UNVERIFIED :
		JETWATT_SIGNATURE_MISSING;
		fclose(f);
	}
	return state;
}
