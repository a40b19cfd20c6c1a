// SPDX-License-Identifier: GPL-2.0-only
/* The option -e, which selects the rails that make up the total power. */
#include "measure/session.h"

#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/suggest.h"

int jetwatt_session_select_rails(struct jetwatt_session *w, const char *list)
{
	const char *label[JETWATT_RAILS_MAX + 1] = { NULL };
	int n = 0;

	for (int r = 0; r < w->nr_rails; r++)
		label[r] = w->rail[r].label;
	while (*list) {
		size_t len = strcspn(list, ",");
		int r = 0, again = 0;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		while (r < w->nr_rails && (strcmp(label[r], name) || !w->rail[r].enabled))
			r++;
		if (r == w->nr_rails) {
			const char *near = jetwatt_suggest(name, label);
			char fix[96] = "jetwatt list rails";

			if (near && strcmp(near, name))
				snprintf(fix, sizeof(fix), "did you mean %s?", near);
			return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix,
						 "-e: no such rail, or it is disabled: %s", name);
		}
		for (int i = 0; i < n; i++)
			again |= w->total[i] == r;
		if (!again)
			w->total[n++] = r;
		list += len + (list[len] == ',');
	}
	w->nr_total = n;
	w->scope = "chosen rails";
	return n ? 0 : jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "jetwatt list rails",
					 "-e: no rail given");
}
