// SPDX-License-Identifier: GPL-2.0-only
#include "util/device_id.h"

#include <sha256.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* machine-id(5): not to be shown to others as it is. */
int jetwatt_device_name(const char *given, char name[JETWATT_DEVICE_NAME])
{
	char text[64] = "jetwatt ", digest[SHA256_DIGEST_STRING_LENGTH];
	FILE *f = given ? NULL : fopen("/etc/machine-id", "re");
	size_t at = strlen(text), n = 0;
	SHA2_CTX ctx;

	if (given) {
		snprintf(name, JETWATT_DEVICE_NAME, "%s", given);
		return 0;
	}
	if (f) {
		n = fread(text + at, 1, sizeof(text) - at - 1, f);
		fclose(f);
	}
	if (n < 32)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, "/etc/machine-id has no name for it",
					 "systemd-machine-id-setup, or --device NAME",
					 "which device is this?");
	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)text, at + 32);
	SHA256End(&ctx, digest);
	snprintf(name, JETWATT_DEVICE_NAME, "%.32s", digest);
	return 0;
}
