// SPDX-License-Identifier: GPL-2.0-only
/* Knobs that the board lacks. */
#include "board/knobs.h"

#include <errno.h>

bool jetwatt_lack_not(const struct jetwatt_board *b, enum jetwatt_board_knob knob)
{
	return !b->lack[knob].what[0];
}

const struct jetwatt_error_text *jetwatt_board_lacks(const struct jetwatt_board *b,
						     enum jetwatt_board_knob knob)
{
	return jetwatt_lack_not(b, knob) ? NULL : &b->lack[knob];
}

bool jetwatt_board_present(const struct jetwatt_board *b)
{
	return b->tegra || (jetwatt_lack_not(b, JETWATT_BOARD_GPU) &&
			    jetwatt_lack_not(b, JETWATT_BOARD_EMC));
}

int jetwatt_board_switchable(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	for (int k = JETWATT_BOARD_CPU; k < JETWATT_BOARD_KNOBS; k++)
		if (jetwatt_lack_not(b, (enum jetwatt_board_knob)k))
			return 0;
	if (err)
		*err = b->lack[JETWATT_BOARD_CPU];
	return -ENODEV;
}
