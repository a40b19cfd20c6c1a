// SPDX-License-Identifier: GPL-2.0-only
/* Which knobs the board lacks, and why. */
#include "board/knobs.h"

#include <errno.h>

bool jetwatt_lack_not(const struct jetwatt_board *b, enum jetwatt_knob knob)
{
	return !b->lack[knob].what[0];
}

const struct jetwatt_error_text *jetwatt_board_lacks(const struct jetwatt_board *b,
						     enum jetwatt_knob knob)
{
	return jetwatt_lack_not(b, knob) ? NULL : &b->lack[knob];
}

bool jetwatt_board_is_jetson(const struct jetwatt_board *b)
{
	return b->tegra || (jetwatt_lack_not(b, JETWATT_KNOB_GPU) &&
			    jetwatt_lack_not(b, JETWATT_KNOB_EMC));
}

int jetwatt_board_switchable(const struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	jetwatt_each_knob(k)
		if (jetwatt_knob_row(k)->hz && !jetwatt_knob_row(k)->optional &&
		    jetwatt_lack_not(b, k))
			return 0;
	if (err)
		*err = b->lack[JETWATT_KNOB_CPU];
	return -ENODEV;
}
