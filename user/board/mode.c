// SPDX-License-Identifier: GPL-2.0-only
/* Power modes: the grid of all steps, and a mode as text. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int jetwatt_board_modes(const struct jetwatt_board *b, struct jetwatt_mode **modes)
{
	size_t n = (size_t)b->nr_cores * (size_t)b->nr_cpu * (size_t)b->nr_gpu * (size_t)b->nr_emc;
	struct jetwatt_mode *m = malloc(n * sizeof(*m));

	if (!m)
		return -ENOMEM;
	*modes = m;
	for (int c = 0; c < b->nr_cores; c++)
		for (int f = 0; f < b->nr_cpu; f++)
			for (int g = 0; g < b->nr_gpu; g++)
				for (int e = 0; e < b->nr_emc; e++)
					*m++ = (struct jetwatt_mode){ b->cores[c], b->cpu_khz[f],
								      b->gpu_hz[g], b->emc_hz[e] };
	return (int)n;
}

int jetwatt_board_mode_format(const struct jetwatt_mode *m, char *buf, size_t len)
{
	int n = snprintf(buf, len, "c%" PRIu32 "-%" PRIu32 "-g%" PRIu64 "-e%" PRIu64, m->cores,
			 m->cpu_khz, m->gpu_hz, m->emc_hz);

	return n < 0 || (size_t)n >= len ? -ENOSPC : 0;
}

/* Digits, not too many for @max, and not zero. NULL: they are not. */
static const char *digits(const char *s, uint64_t max, uint64_t *v)
{
	size_t n = strspn(s, "0123456789");

	if (!n || n > 18)
		return NULL;
	*v = strtoull(s, NULL, 10);
	return *v && *v <= max ? s + n : NULL;
}

int jetwatt_board_mode_parse(const struct jetwatt_board *b, const char *s, struct jetwatt_mode *m)
{
	static const char * const before[] = { "c", "-", "-g", "-e" };
	uint64_t v[4];

	if (b && !strcasecmp(s, "MAXN")) {
		*m = (struct jetwatt_mode){
			b->cores[b->nr_cores - 1], b->cpu_khz[b->nr_cpu - 1],
			b->gpu_hz[b->nr_gpu - 1], b->emc_hz[b->nr_emc - 1],
		};
		return 0;
	}
	for (int i = 0; i < 4; i++) {
		if (strncmp(s, before[i], strlen(before[i])))
			return -EINVAL;
		s = digits(s + strlen(before[i]), i < 2 ? UINT32_MAX : INT64_MAX, &v[i]);
		if (!s)
			return -EINVAL;
	}
	if (*s)
		return -EINVAL;
	*m = (struct jetwatt_mode){ (uint32_t)v[0], (uint32_t)v[1], v[2], v[3] };
	return 0;
}
