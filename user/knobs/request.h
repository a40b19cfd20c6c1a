/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_KNOBS_REQUEST_H
#define JETWATT_KNOBS_REQUEST_H

#include <stddef.h>

#include "board/board.h"

/* The closed list: board/remote.h says what each does. */
enum jetwatt_knobs_verb {
	JETWATT_KNOBS_EMC,
	JETWATT_KNOBS_APPLY,
	JETWATT_KNOBS_VERIFY,
	JETWATT_KNOBS_RESTORE,
	JETWATT_KNOBS_FORGET,
	JETWATT_KNOBS_STATUS,
	JETWATT_KNOBS_FREEZER,
	JETWATT_KNOBS_VERBS
};

struct jetwatt_knobs_request {
	enum jetwatt_knobs_verb verb;
	struct jetwatt_mode mode;
	char cgroup[JETWATT_BOARD_CGROUP];
};

/* @text: a packet of @len bytes, not terminated. Return: 0; -EINVAL, *why says why. That a
 * mode is one of this board's is for jetwatt_board_has() to say, and of a cgroup, for the policy. */
int jetwatt_knobs_parse(const char *text, size_t len, struct jetwatt_knobs_request *r,
			const char **why);

#endif
