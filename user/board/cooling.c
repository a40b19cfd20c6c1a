// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thermal throttling. A cooling device of a clock (cpufreq_cooling, devfreq_cooling) sets a limit
 * in addition to the user's limit. While the cooling device is active, the file of the knob shows
 * the lower one of the user's limit and the device's limit. The user's own limit cannot be read
 * then, and a knob that reads too low is not an error.
 */
#include "board/knobs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Check whether a cooling device limits a clock, judged by the type of the device: "cpufreq-cpu0",
 * "devfreq-17000000.gpu"; "thermal-cpufreq-0" on Linux 5.10. */
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
