/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser of the requests to jetwatt-knobs; board/remote.h describes the protocol. */
#ifndef JETWATT_KNOBS_REQUEST_H
#define JETWATT_KNOBS_REQUEST_H

#include <stddef.h>

#include "board/board.h"

/* All requests to jetwatt-knobs; board/remote.h describes each. */
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

/**
 * struct jetwatt_knobs_request - a parsed request
 * @verb: the request
 * @mode: the mode that is the argument of the requests "apply" and "verify"
 * @cgroup: path of the cgroup that is the argument of the request "freezer"
 */
struct jetwatt_knobs_request {
	enum jetwatt_knobs_verb verb;
	struct jetwatt_mode mode;
	char cgroup[JETWATT_BOARD_CGROUP_LEN];
};

/* Parse a packet of @len bytes, not NUL-terminated. Whether the board supports a mode, and
 * whether the policy names a cgroup, is checked when the request is executed. Return: 0;
 * -EINVAL: @why has the reason. */
int jetwatt_knobs_parse(const char *text, size_t len, struct jetwatt_knobs_request *r,
			const char **why);

#endif
