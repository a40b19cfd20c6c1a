// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt sync: replace this process by jetwatt-sync, which exchanges measured modes with the
 * fleet's database.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "util/error.h"

/* jetwatt-sync is a separate program, because only it needs libpq. jetwatt-sync is in the same
 * directory as jetwatt in a build tree, and in ../libexec/jetwatt when installed. */
int jetwatt_cmd_sync(int argc, char **argv)
{
	static const char * const place[] = { "jetwatt-sync", "../libexec/jetwatt/jetwatt-sync" };
	char self[4096], path[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	(void)argc;
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	for (size_t i = 0; slash && i < sizeof(place) / sizeof(place[0]); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self), self, place[i]);
		execv(path, argv);
		if (errno != ENOENT)
			return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno),
						 jetwatt_error_advice(errno), "cannot run %s", path);
	}
	return jetwatt_error_report(JETWATT_EXIT_FAILED,
				 "jetwatt-sync is a separate package, because it needs libpq",
				 "install the package jetwatt-sync; to build it from source, install libpq-dev first",
				 "jetwatt-sync is not installed");
}
