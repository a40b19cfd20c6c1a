// SPDX-License-Identifier: GPL-2.0-only
/* The seven requests to jetwatt-knobs; two have a mode as argument, one has the path of a
 * cgroup. Everything else is refused. */
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

static int parse_refuse(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

int jetwatt_knobs_parse(const char *text, size_t len, struct jetwatt_knobs_request *r,
			const char **why)
{
	char line[JETWATT_REMOTE_REQUEST], *of;

	if (!len || len >= sizeof(line))
		return parse_refuse(why, "a request has from 1 to 255 bytes");
	if (memchr(text, '\0', len))
		return parse_refuse(why, "a request has no zero bytes");
	memcpy(line, text, len);
	line[len] = '\0';
	of = strchr(line, ' ');
	if (of)
		*of++ = '\0';
	for (int i = 0; i < JETWATT_KNOBS_VERBS; i++) {
		if (strcmp(line, verbs[i].word))
			continue;
		if (!of != !verbs[i].of)
			return parse_refuse(why, of ? "this request takes no argument" :
					    verbs[i].of == MODE ? "a mode is missing" : "a cgroup is missing");
		*r = (struct jetwatt_knobs_request){ .verb = (enum jetwatt_knobs_verb)i };
		/* Without a board only numeric modes are accepted, no names. */
		if (verbs[i].of == MODE && jetwatt_board_mode_parse(NULL, of, &r->mode))
			return parse_refuse(why, "the argument is not a mode");
		if (verbs[i].of == CGROUP && (*of != '/' || strlen(of) >= sizeof(r->cgroup)))
			return parse_refuse(why, "the argument is not the path of a cgroup");
		if (verbs[i].of == CGROUP)
			strcpy(r->cgroup, of);
		return 0;
	}
	return parse_refuse(why, "known requests are emc, apply MODE, verify MODE, restore, forget, status, freezer CGROUP");
}
