// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the expressions of --fail-if (make fuzz FUZZ=threshold).
 */
#include <stdint.h>

#include "../../user/cmd/stat/threshold.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int figure(const char *name, size_t len, double *v, void *arg)
{
	(void)arg;
	*v = len;
	return *name == 'u' ? -ENODATA : *name == 'x' ? -ENOENT : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	size_t at;
	int yes;

	memcpy(text, data, len);
	text[len] = '\0';
	yes = jetwatt_threshold_eval(text, figure, NULL, &at);
	if (yes > 1 || at > strlen(text))
		abort();
	free(text);
	return 0;
}
