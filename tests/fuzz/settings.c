// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of jetwatt.conf: make fuzz FUZZ=settings */
#include "../../user/util/error.c"
#include "../../user/util/settings.c"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned int bad;
	char buf[32];
	const char *v = jetwatt_settings_find((const char *)data, len, "db", buf, sizeof(buf), &bad);

	if (v && (v != buf || !*buf || strlen(buf) >= sizeof(buf)))
		abort();
	return 0;
}
