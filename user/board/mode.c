// SPDX-License-Identifier: GPL-2.0-only
/* Power modes: the grid of all combinations of levels, and a mode as text. */
#include "board/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Return the number of values that the knob @k has in the grid of modes. */
static int grid_values(const struct jetwatt_board *b, enum jetwatt_knob k)
{
	return jetwatt_knob_row(k)->optional && !b->in_grid[k] ? 1 : b->nr_levels[k];
}

int jetwatt_board_modes(const struct jetwatt_board *b, struct jetwatt_mode **modes)
{
	size_t n = 1, each;
	struct jetwatt_mode *m;

	jetwatt_each_knob(k)
		n *= (size_t)grid_values(b, k);
	m = calloc(n, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*modes = m;
	for (size_t i = 0; i < n; i++, m++) {
		each = n;
		jetwatt_each_knob(k) {
			each /= (size_t)grid_values(b, k);
			if (!jetwatt_knob_row(k)->optional || b->in_grid[k])
				jetwatt_mode_set(m, k,
						 b->level[k][i / each % (size_t)grid_values(b, k)]);
		}
	}
	return (int)n;
}

int jetwatt_board_grid_include(struct jetwatt_board *b, enum jetwatt_knob k)
{
	if (!jetwatt_lack_not(b, k))
		return -ENODEV;
	b->in_grid[k] = jetwatt_knob_row(k)->optional;
	return 0;
}

const char *jetwatt_board_grid_text(const struct jetwatt_board *b, char *buf, size_t len)
{
	size_t at = 0;

	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);

		if ((row->optional && !b->in_grid[k]) || at >= len)
			continue;
		at += (size_t)snprintf(buf + at, len - at, "%s%d %s", at ? " x " : "",
				       b->nr_levels[k], row->hz ? row->label : "core counts");
	}
	if (at < len)
		snprintf(buf + at, len - at, " clocks");
	return buf;
}

int jetwatt_board_mode_format(const struct jetwatt_mode *m, char *buf, size_t len)
{
	size_t at = 0;

	jetwatt_each_knob(k) {
		uint64_t v = jetwatt_mode_get(m, k);
		int n;

		if (!v && jetwatt_knob_row(k)->optional)
			continue;
		n = snprintf(buf + at, len - at, "%s%" PRIu64, jetwatt_knob_row(k)->tag, v);
		if (n < 0 || (size_t)n >= len - at)
			return -ENOSPC;
		at += (size_t)n;
	}
	return 0;
}

/* Parse a number from 1 to @max. Return: first character behind the number; NULL: not such a
 * number. */
static const char *mode_parse_value(const char *s, uint64_t max, uint64_t *v)
{
	size_t n = strspn(s, "0123456789");

	if (!n || n > 18)
		return NULL;
	*v = strtoull(s, NULL, 10);
	return *v && *v <= max ? s + n : NULL;
}

int jetwatt_board_mode_parse(const struct jetwatt_board *b, const char *s, struct jetwatt_mode *m)
{
	struct jetwatt_mode mode = { 0 };

	if (b && !strcasecmp(s, "MAXN")) {
		jetwatt_each_knob(k)
			if (!jetwatt_knob_row(k)->optional || b->in_grid[k])
				jetwatt_mode_set(&mode, k, jetwatt_levels_top(b, k));
		*m = mode;
		return 0;
	}
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		uint64_t v;

		if (strncmp(s, row->tag, strlen(row->tag))) {
			if (row->optional)
				continue;
			return -EINVAL;
		}
		s = mode_parse_value(s + strlen(row->tag), row->max, &v);
		if (!s)
			return -EINVAL;
		jetwatt_mode_set(&mode, k, v);
	}
	if (*s)
		return -EINVAL;
	*m = mode;
	return 0;
}
