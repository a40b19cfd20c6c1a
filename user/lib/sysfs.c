// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads the series that another driver provides only as files in sysfs (fans, over-current
 * events). A kernel module must not read files, so libjetwatt reads them. A row of
 * JETWATT_SERIES_ROWS() names the files; a board without them lacks only that series.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "jetwatt.h"
#include "lib/series_files.h"

#define PATH_LEN	256

/**
 * struct jetwatt_sysfs - sysfs files of the telemetry series
 * @root: mount point of sysfs
 * @path: path of the file of each telemetry slot; "": the board has none
 * @fd: descriptor of each of these files, which stays open until the next search; -1: not open
 * @readings: number of readings since the last search; 0: search before the next reading
 * @sysfs: 1: @root is a sysfs, where reading a file that was removed fails; in other filesystems it
 *	does not
 */
struct jetwatt_sysfs {
	char root[128];
	char path[JETWATT_TELEMETRY_SLOTS][PATH_LEN];
	int fd[JETWATT_TELEMETRY_SLOTS];
	unsigned int readings;
	int sysfs;
};

/* Return: 1 if the hwmon device with the file @path has the name @driver. */
static int is_named(const char *path, const char *driver)
{
	char name[PATH_LEN + 8], line[64] = "";
	FILE *f;

	snprintf(name, sizeof(name), "%.*s/name", (int)(strrchr(path, '/') - path), path);
	f = fopen(name, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return !strcmp(line, driver);
}

/* Read a number from the start of an open file. Return: 0; -ENOENT: the file cannot be read or
 * contains no number. */
static int read_open(int fd, int64_t *v)
{
	char text[32], *end;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	int64_t value;

	text[n > 0 ? n : 0] = '\0';
	value = strtoll(text, &end, 10);
	if (end == text)
		return -ENOENT;
	*v = value;
	return 0;
}

/* Read a number from a file. Return: as read_open(). */
static int read_number(const char *path, int64_t *v)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = read_open(fd, v);

	if (fd >= 0)
		close(fd);
	return err;
}

static int is_removed(const struct jetwatt_sysfs *fs, int fd)
{
	struct stat st;

	return !fs->sysfs && fd >= 0 && (fstat(fd, &st) || !st.st_nlink);
}

static void close_files(struct jetwatt_sysfs *fs)
{
	jetwatt_each_slot(s) {
		if (fs->fd[s] >= 0)
			close(fs->fd[s]);
		fs->fd[s] = -1;
	}
}

static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Find the files of an entry that have a value, the first @max of them: hwmon2 is before hwmon10.
 * Return: number of paths written to @path. */
static unsigned int find_files(const struct jetwatt_sysfs *fs, const struct jetwatt_series_files *f,
			       char path[][PATH_LEN], unsigned int max)
{
	unsigned int found = 0;
	char pattern[PATH_LEN];
	glob_t g;
	int64_t v;

	snprintf(pattern, sizeof(pattern), "%s%s", fs->root, f->pattern);
	if (glob(pattern, GLOB_NOSORT, NULL, &g))
		return 0;
	qsort(g.gl_pathv, g.gl_pathc, sizeof(*g.gl_pathv), by_number);
	for (size_t i = 0; i < g.gl_pathc && found < max; i++) {
		const char *p = g.gl_pathv[i];

		if (strlen(p) >= PATH_LEN || (f->driver[0] && !is_named(p, f->driver)) ||
		    read_number(p, &v))
			continue;
		strcpy(path[found++], p);
	}
	globfree(&g);
	return found;
}

/* Find the files of the channels of @row in its first entry that has any. */
static void find_channels(struct jetwatt_sysfs *fs, const struct jetwatt_series_row *row)
{
	const char *entry = row->files, *end;
	struct jetwatt_series_files f;
	unsigned int found = 0;

	for (; !found && (end = jetwatt_series_files(entry, 1, &f)); entry = end) {
		if (!f.numbered) {
			found = find_files(fs, &f, &fs->path[row->first], row->channels);
			continue;
		}
		for (uint32_t c = 1; c <= row->channels; c++) {
			jetwatt_series_files(entry, c, &f);
			found += find_files(fs, &f, &fs->path[row->first + c - 1], 1);
		}
	}
}

static void find_all_files(struct jetwatt_sysfs *fs)
{
	close_files(fs);
	memset(fs->path, 0, sizeof(fs->path));
	for (uint32_t kind = 0; kind < __JETWATT_SERIES_KINDS; kind++)
		find_channels(fs, jetwatt_series_row(kind));
}

int jetwatt_sysfs_open(struct jetwatt_sysfs **out, const char *sysfs)
{
	struct jetwatt_sysfs *fs = calloc(1, sizeof(*fs));
	struct statfs at;

	*out = fs;
	if (!fs)
		return -ENOMEM;
	snprintf(fs->root, sizeof(fs->root), "%s", sysfs ? sysfs : "/sys");
	fs->sysfs = !statfs(fs->root, &at) && at.f_type == SYSFS_MAGIC;
	memset(fs->fd, -1, sizeof(fs->fd));
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
		if (fs->fd[s] < 0)
			fs->fd[s] = open(fs->path[s], O_RDONLY | O_CLOEXEC);
		if (is_removed(fs, fs->fd[s]) || read_open(fs->fd[s], &r->of.value[s]))
			gone = 1;
		else
			n++;
	}
	fs->readings = gone ? 0 : (fs->readings + 1) % JETWATT_SYSFS_SEARCH_CALLS;
	return n;
}

void jetwatt_sysfs_close(struct jetwatt_sysfs *fs)
{
	if (fs)
		close_files(fs);
	free(fs);
}
