// SPDX-License-Identifier: GPL-2.0-only
/* The table of the knobs' functions: the row ID of JETWATT_KNOB_ROWS() has its functions in
 * jetwatt_knob_ID. */
#include "board/knobs.h"

#define DECLARE(ID, type, member, key, label, tag, hz, optional, text)	\
	extern const struct jetwatt_knob_ops jetwatt_knob_##ID;
JETWATT_KNOB_ROWS(DECLARE)
#undef DECLARE

const struct jetwatt_knob_ops *jetwatt_knob_ops(enum jetwatt_knob k)
{
#define ENTRY(ID, type, member, key, label, tag, hz, optional, text)	\
	[JETWATT_KNOB_##ID] = &jetwatt_knob_##ID,
	static const struct jetwatt_knob_ops *const ops[JETWATT_KNOBS] = {
		JETWATT_KNOB_ROWS(ENTRY)
	};
#undef ENTRY

	return ops[k];
}
