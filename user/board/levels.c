// SPDX-License-Identifier: GPL-2.0-only
/* Levels of a knob, and functions about devfreq devices and paths that several knobs use. */
#include "board/knobs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

int jetwatt_levels_table(const uint64_t *from, uint64_t *v)
{
	int n = 0;

	for (; from && from[n] && n < JETWATT_BOARD_FREQS_MAX; n++)
		v[n] = from[n];
	return n;
}

/* Find the levels of a devfreq device: clocks that sysfs lists, else those in @known, else the
 * lowest and the highest clock. Return: number of levels. */
int jetwatt_levels_devfreq(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			   uint64_t *v)
{
	char path[PATH_LEN];
	uint64_t lo, hi;
	int n;

	snprintf(path, sizeof(path), "class/devfreq/%s/available_frequencies", device);
	n = jetwatt_sysfs_list(b, path, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0)
		return n;
	n = jetwatt_levels_table(known, v);
	if (n)
		return n;
	snprintf(path, sizeof(path), "class/devfreq/%s/min_freq", device);
	if (jetwatt_sysfs_u64(b, path, &lo) || !lo)
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/max_freq", device);
	if (jetwatt_sysfs_u64(b, path, &hi) || hi < lo)
		return 0;
	v[0] = lo;
	v[1] = hi;
	return hi > lo ? 2 : 1;
}

void jetwatt_levels_set_missing(struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v)
{
	b->level[k][0] = v;
	b->nr_levels[k] = 1;
}

uint64_t jetwatt_levels_top(const struct jetwatt_board *b, enum jetwatt_knob k)
{
	return b->nr_levels[k] ? b->level[k][b->nr_levels[k] - 1] : 0;
}

int jetwatt_board_levels(const struct jetwatt_board *b, enum jetwatt_knob k, const uint64_t **v)
{
	*v = b->level[k];
	return b->nr_levels[k];
}

/* Use the alphabetically first device whose name contains one of @parts: on Thor "gpu-gpc-0" (the
 * shaders) comes before "gpu-nvd-0" (video). */
bool jetwatt_devfreq_find(const struct jetwatt_board *b, const char * const *parts, char *name)
{
	char path[PATH_LEN];
	struct dirent *d;
	DIR *dir;

	name[0] = '\0';
	snprintf(path, sizeof(path), "%s/class/devfreq", b->sys);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)))
		for (int i = 0; parts[i]; i++)
			if (d->d_name[0] != '.' && strstr(d->d_name, parts[i]) &&
			    strlen(d->d_name) < NAME_LEN / 2 &&
			    (!name[0] || strcmp(d->d_name, name) < 0))
				strcpy(name, d->d_name);
	closedir(dir);
	return name[0];
}

bool jetwatt_path_contains(const char *path, const char * const *part)
{
	while (*part && !strstr(path, *part))
		part++;
	return *part;
}

bool jetwatt_path_ends(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end);
}
