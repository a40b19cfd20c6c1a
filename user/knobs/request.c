// SPDX-License-Identifier: GPL-2.0-only
/* What may be asked: six words, two of them with a mode. Everything else is refused. */
#include "knobs/request.h"

#include <errno.h>
#include <string.h>

#include "board/remote.h"

static const struct {
	const char *word;
	int mode;
} verbs[JETWATT_KNOBS_VERBS] = {
	[JETWATT_KNOBS_EMC] = { "emc", 0 },
	[JETWATT_KNOBS_APPLY] = { "apply", 1 },
	[JETWATT_KNOBS_VERIFY] = { "verify", 1 },
	[JETWATT_KNOBS_RESTORE] = { "restore", 0 },
	[JETWATT_KNOBS_FORGET] = { "forget", 0 },
	[JETWATT_KNOBS_STATUS] = { "status", 0 },
};

static int wrong(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

int jetwatt_knobs_parse(const char *text, size_t len, struct jetwatt_knobs_request *r,
			const char **why)
{
	char line[JETWATT_REMOTE_REQUEST], *mode;

	if (!len || len >= sizeof(line))
		return wrong(why, "a request has from 1 to 127 bytes");
	if (memchr(text, '\0', len))
		return wrong(why, "a request has no zero bytes");
	memcpy(line, text, len);
	line[len] = '\0';
	mode = strchr(line, ' ');
	if (mode)
		*mode++ = '\0';
	for (int i = 0; i < JETWATT_KNOBS_VERBS; i++) {
		if (strcmp(line, verbs[i].word))
			continue;
		if (!mode != !verbs[i].mode)
			return wrong(why, mode ? "this request has no argument" : "of which mode?");
		*r = (struct jetwatt_knobs_request){ .verb = (enum jetwatt_knobs_verb)i };
		/* Without a board: it takes numbers, and no names. */
		if (mode && jetwatt_board_mode_parse(NULL, mode, &r->mode))
			return wrong(why, "that is no mode");
		return 0;
	}
	return wrong(why, "emc, apply MODE, verify MODE, restore, forget or status");
}
