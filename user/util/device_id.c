// SPDX-License-Identifier: GPL-2.0-only
/* Derive the name of this device from /etc/machine-id, and its MQTT client identifier from the name. */
#include "util/device_id.h"

#include <sha256.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* Hash the machine-id: machine-id(5) says that it must not be shown to others. */
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
		return jetwatt_error_report(JETWATT_EXIT_FAILED,
					 "/etc/machine-id is missing or too short",
					 "run systemd-machine-id-setup, or give --device NAME",
					 "this device has no name");
	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)text, at + 32);
	SHA256End(&ctx, digest);
	snprintf(name, JETWATT_DEVICE_NAME, "%.32s", digest);
	return 0;
}

void jetwatt_device_client(const char *name, char id[JETWATT_DEVICE_CLIENT])
{
	char digest[SHA256_DIGEST_STRING_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)name, strlen(name));
	SHA256End(&ctx, digest);
	snprintf(id, JETWATT_DEVICE_CLIENT, "jetwatt%.16s", digest);
}
