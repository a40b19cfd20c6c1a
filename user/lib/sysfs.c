// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads the series that another driver provides only as files in hwmon (fans, over-current
 * events). A kernel module must not read files, so libjetwatt reads the files of hwmon. A row of
 * JETWATT_SERIES_ROWS() names the devices and attributes; a board without them lacks only that
 * series.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jetwatt.h"

#define DEVICES_MAX	64	/* maximum number of hwmon devices that are examined */
#define PATH_LEN	192
/* Number of readings between two searches for devices, unless a file cannot be read. */
#define SEARCH_READINGS	30

/**
 * struct jetwatt_sysfs - sysfs files of the telemetry series
 * @hwmon: directory of the hwmon devices
 * @path: path of the file of each telemetry slot; "": the board has none
 * @readings: number of readings since the last search; 0: search before the next reading
 */
struct jetwatt_sysfs {
	char hwmon[128];
	char path[JETWATT_TELEMETRY_SLOTS][PATH_LEN];
	unsigned int readings;
};

/* List the numbers N of hwmonN in ascending order. */
static int hwmon_devices(const struct jetwatt_sysfs *fs, unsigned int *nr)
{
	DIR *dir = opendir(fs->hwmon);
	struct dirent *d;
	int n = 0;

	while (dir && n < DEVICES_MAX && (d = readdir(dir))) {
		int at = n;

		if (strncmp(d->d_name, "hwmon", 5) || !isdigit((unsigned char)d->d_name[5]))
			continue;
		nr[n] = strtoul(d->d_name + 5, NULL, 10);
		for (; at && nr[at - 1] > nr[at]; at--) {
			unsigned int higher = nr[at - 1];

			nr[at - 1] = nr[at];
			nr[at] = higher;
		}
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static int is_named(const char *device, const char *name, size_t len)
{
	char path[PATH_LEN], line[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%.160s/name", device);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return strlen(line) == len && !memcmp(line, name, len);
}

/* Read a number from a file. Return: 0; -ENOENT: the file cannot be read or contains no number. */
static int read_number(const char *path, int64_t *v)
{
	FILE *f = fopen(path, "re");
	int64_t value;
	int err = !f || fscanf(f, "%" SCNd64, &value) != 1;

	if (f)
		fclose(f);
	if (!err)
		*v = value;
	return err ? -ENOENT : 0;
}

/* Find the files of one "NAME/ATTRIBUTE", which ends at a space or at the end of the string @file.
 * Return: number of channels (files) found. */
static unsigned int find_files(struct jetwatt_sysfs *fs, const struct jetwatt_series_row *row,
			       const char *file, const unsigned int *nr, int devices)
{
	const char *attr = strchr(file, '/') + 1;
	int len = strcspn(attr, " "), hash = strcspn(attr, "# ");
	unsigned int found = 0, next = 1;
	char device[PATH_LEN - 40];
	int64_t v;

	for (int i = 0; i < devices; i++) {
		snprintf(device, sizeof(device), "%s/hwmon%u", fs->hwmon, nr[i]);
		if (!is_named(device, file, attr - 1 - file))
			continue;
		for (; next <= row->channels; next++) {
			char *path = fs->path[row->first + next - 1];

			if (hash < len)
				snprintf(path, PATH_LEN, "%s/%.*s%u%.*s", device, hash, attr, next,
					 len - hash - 1, attr + hash + 1);
			else
				snprintf(path, PATH_LEN, "%s/%.*s", device, len, attr);
			if (read_number(path, &v))
				*path = '\0';
			else
				found++;
			/* An attribute without '#' stands for one channel per device. */
			if (hash == len) {
				next += *path != '\0';
				break;
			}
		}
	}
	return found;
}

static void find_all_files(struct jetwatt_sysfs *fs)
{
	unsigned int nr[DEVICES_MAX];
	int n = hwmon_devices(fs, nr);

	memset(fs->path, 0, sizeof(fs->path));
	for (uint32_t kind = 0; kind < __JETWATT_SERIES_KINDS; kind++) {
		const struct jetwatt_series_row *row = jetwatt_series_row(kind);
		const char *file = row->files;

		while (*file && !find_files(fs, row, file, nr, n)) {
			file += strcspn(file, " ");
			file += *file == ' ';
		}
	}
}

int jetwatt_sysfs_open(struct jetwatt_sysfs **out, const char *sysfs)
{
	struct jetwatt_sysfs *fs = calloc(1, sizeof(*fs));

	*out = fs;
	if (!fs)
		return -ENOMEM;
	snprintf(fs->hwmon, sizeof(fs->hwmon), "%.100s/class/hwmon", sysfs ? sysfs : "/sys");
	return 0;
}

int jetwatt_sysfs_read(struct jetwatt_sysfs *fs, struct jetwatt_reading *r)
{
	struct timespec now;
	int n = 0, gone = 0;

	if (!fs->readings)
		find_all_files(fs);
	clock_gettime(CLOCK_MONOTONIC, &now);
	r->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	jetwatt_telemetry_clear(&r->of);
	jetwatt_each_slot(s) {
		if (!fs->path[s][0])
			continue;
		if (read_number(fs->path[s], &r->of.value[s]))
			gone = 1;
		else
			n++;
	}
	fs->readings = gone ? 0 : (fs->readings + 1) % SEARCH_READINGS;
	return n;
}

void jetwatt_sysfs_close(struct jetwatt_sysfs *fs)
{
	free(fs);
}
