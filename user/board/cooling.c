// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's thermal governor takes away. A cooling device of a clock is a limit
 * beside the user's (cpufreq_cooling, devfreq_cooling), and while it holds, the knob's
 * file shows the lower of the two: what the user had asked for cannot be read then, and
 * a knob that is lower than it was told to be is nobody's doing.
 */
#include "board/knobs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* "cpufreq-cpu0", "devfreq-17000000.gpu"; up to 5.11 "thermal-cpufreq-0". */
static bool cooling_of_clock(const struct jetwatt_board *b, unsigned int id)
{
	char path[PATH_LEN], type[NAME_LEN];

	snprintf(path, sizeof(path), "class/thermal/cooling_device%u/type", id);
	return jetwatt_sysfs_text(b, path, type, sizeof(type)) > 0 &&
	       (strstr(type, "cpufreq") || strstr(type, "devfreq"));
}

void jetwatt_cooling_find(struct jetwatt_board *b)
{
	char path[PATH_LEN], tail;
	struct dirent *d;
	unsigned int id;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/thermal", b->sys);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)) && b->coolings < COOLINGS_MAX)
		if (sscanf(d->d_name, "cooling_device%u%c", &id, &tail) == 1 &&
		    cooling_of_clock(b, id))
			b->cooling[b->coolings++] = id;
	closedir(dir);
}

int jetwatt_board_throttled(const struct jetwatt_board *b)
{
	char path[PATH_LEN];
	uint64_t state;

	for (int i = 0; i < b->coolings; i++) {
		snprintf(path, sizeof(path), "class/thermal/cooling_device%u/cur_state",
			 b->cooling[i]);
		if (!jetwatt_sysfs_u64(b, path, &state) && state)
			return 1;
	}
	return 0;
}
