// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the requests to jetwatt-knobs: make fuzz FUZZ=knobs */
#include "../../user/knobs/request.c"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_knobs_request r;
	char again[JETWATT_REMOTE_REQUEST], name[JETWATT_BOARD_CGROUP_LEN] = "";
	const char *why = NULL;
	size_t n;

	if (jetwatt_knobs_parse((const char *)data, len, &r, &why)) {
		if (!why || !*why)
			abort();
		return 0;
	}
	/* An accepted request, formatted again, equals the input except for leading zeros. */
	if (r.verb >= JETWATT_KNOBS_VERBS ||
	    (verbs[r.verb].of == MODE && jetwatt_board_mode_format(&r.mode, name, sizeof(name))))
		abort();
	if (verbs[r.verb].of == CGROUP)
		strcpy(name, r.cgroup);
	n = (size_t)snprintf(again, sizeof(again), "%s%s%s", verbs[r.verb].word,
			     verbs[r.verb].of ? " " : "", name);
	if (n > len || (n == len && !memchr(data, '0', len) && memcmp(again, data, n)))
		abort();
	return 0;
}
