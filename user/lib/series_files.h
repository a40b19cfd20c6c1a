/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The column "files" of JETWATT_SERIES_ROWS(). libjetwatt reads the values of a series from these
 * files, and `jetwatt doctor --report` copies them.
 */
#ifndef JETWATT_LIB_SERIES_FILES_H
#define JETWATT_LIB_SERIES_FILES_H

#include <stdio.h>
#include <string.h>

/**
 * struct jetwatt_series_files - the files of one entry
 * @driver: name of the hwmon device, as in its file "name"; "": the files of any device
 * @pattern: pattern of glob(7) below the mount point of sysfs; begins with '/'
 * @numbered: 1: the entry contains '#', so each channel has its own pattern
 */
struct jetwatt_series_files {
	char driver[32];
	char pattern[128];
	int numbered;
};

/**
 * jetwatt_series_files() - parse an entry of the column
 * @entry: the column, or the return value of the call for the previous entry
 * @channel: number that replaces '#'; 0: any number
 * @f: receives the files
 *
 * Return: the end of the entry; NULL: there is no entry, or it is neither NAME/ATTRIBUTE nor
 * /PATTERN.
 */
static inline const char *jetwatt_series_files(const char *entry, unsigned int channel,
					       struct jetwatt_series_files *f)
{
	const char *at, *end;
	char number[12] = "[0-9]*";
	int to_hash;

	entry += strspn(entry, " ");
	end = entry + strcspn(entry, " ");
	at = entry + strcspn(entry, "/#");
	if (at >= end || *at != '/')
		return NULL;
	to_hash = (int)strcspn(at, "# ");
	f->numbered = at + to_hash < end;
	if (channel)
		snprintf(number, sizeof(number), "%u", channel);
	snprintf(f->driver, sizeof(f->driver), "%.*s", (int)(at - entry), entry);
	snprintf(f->pattern, sizeof(f->pattern), "%s%.*s%s%.*s",
		 at > entry ? "/class/hwmon/hwmon*" : "", to_hash, at,
		 f->numbered ? number : "",
		 f->numbered ? (int)(end - at) - to_hash - 1 : 0, at + to_hash + f->numbered);
	return end;
}

#endif
