// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters a list of modes; reports how many were left out, and why the first one was.
 */
#include "tune/mode_filter.h"

#include "util/error.h"

int jetwatt_mode_filter(const struct jetwatt_board *b, struct jetwatt_mode *mode, size_t *n,
		    const char *path)
{
	struct jetwatt_error_text first = { "", "", "" }, e;
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++)
		if (!jetwatt_board_check_mode(b, &mode[i], &e))
			mode[kept++] = mode[i];
		else if (!*first.what)
			first = e;
	if (!kept)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, first.what,
					 "choose from: jetwatt list modes",
					 "%s names no mode of this board", path);
	if (kept < *n)
		jetwatt_notice("%zu of %zu modes in %s left out, the board lacks them: %s",
				   *n - kept, *n, path, first.what);
	*n = kept;
	return 0;
}
