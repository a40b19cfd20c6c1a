// SPDX-License-Identifier: GPL-2.0-only
/* Read the state of all knobs, and convert a mode to a state. */
#include "board/knobs.h"

#include <string.h>

int jetwatt_state_read(struct jetwatt_board *b, struct jetwatt_board_state *s,
		       struct jetwatt_error_text *err)
{
	int first = 0, rc;

	memset(s, 0, sizeof(*s));
	jetwatt_each_knob(k) {
		rc = jetwatt_knob_ops(k)->read(b, k, s, first ? NULL : err);
		first = first ? first : rc;
	}
	return first;
}

int jetwatt_board_read(struct jetwatt_board *b, struct jetwatt_mode *m)
{
	struct jetwatt_board_state s;
	int rc;

	rc = jetwatt_state_read(b, &s, NULL);
	if (rc)
		return rc;
	*m = (struct jetwatt_mode){ 0 };
	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional || b->in_grid[k])
			jetwatt_mode_set(m, k, jetwatt_knob_ops(k)->current(b, k, &s));
	return 0;
}

int jetwatt_state_of_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
			  struct jetwatt_board_state *s)
{
	int rc = 0;

	memset(s, 0, sizeof(*s));
	for (enum jetwatt_knob k = JETWATT_KNOB_CORES; k < JETWATT_KNOBS && !rc; k++)
		rc = jetwatt_knob_ops(k)->want(b, k, jetwatt_mode_get(m, k), s);
	return rc;
}
