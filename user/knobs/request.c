// SPDX-License-Identifier: GPL-2.0-only
/* What may be asked: seven words, two of them with a mode, one with a cgroup. Everything else
 * is refused. */
#include "knobs/request.h"

#include <errno.h>
#include <string.h>

#include "board/remote.h"

static const struct {
	const char *word;
	enum { NOTHING, MODE, CGROUP } of;
} verbs[JETWATT_KNOBS_VERBS] = {
	[JETWATT_KNOBS_EMC] = { "emc", NOTHING },
	[JETWATT_KNOBS_APPLY] = { "apply", MODE },
	[JETWATT_KNOBS_VERIFY] = { "verify", MODE },
	[JETWATT_KNOBS_RESTORE] = { "restore", NOTHING },
	[JETWATT_KNOBS_FORGET] = { "forget", NOTHING },
	[JETWATT_KNOBS_STATUS] = { "status", NOTHING },
	[JETWATT_KNOBS_FREEZER] = { "freezer", CGROUP },
};

static int wrong(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

int jetwatt_knobs_parse(const char *text, size_t len, struct jetwatt_knobs_request *r,
			const char **why)
{
	char line[JETWATT_REMOTE_REQUEST], *of;

	if (!len || len >= sizeof(line))
		return wrong(why, "a request has from 1 to 255 bytes");
	if (memchr(text, '\0', len))
		return wrong(why, "a request has no zero bytes");
	memcpy(line, text, len);
	line[len] = '\0';
	of = strchr(line, ' ');
	if (of)
		*of++ = '\0';
	for (int i = 0; i < JETWATT_KNOBS_VERBS; i++) {
		if (strcmp(line, verbs[i].word))
			continue;
		if (!of != !verbs[i].of)
			return wrong(why, of ? "this request has no argument" :
				     verbs[i].of == MODE ? "of which mode?" : "of which cgroup?");
		*r = (struct jetwatt_knobs_request){ .verb = (enum jetwatt_knobs_verb)i };
		/* Without a board: it takes numbers, and no names. */
		if (verbs[i].of == MODE && jetwatt_board_mode_parse(NULL, of, &r->mode))
			return wrong(why, "that is no mode");
		if (verbs[i].of == CGROUP && (*of != '/' || strlen(of) >= sizeof(r->cgroup)))
			return wrong(why, "that is no cgroup");
		if (verbs[i].of == CGROUP)
			strcpy(r->cgroup, of);
		return 0;
	}
	return wrong(why, "emc, apply MODE, verify MODE, restore, forget, status or freezer CGROUP");
}
