/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is replaced as a whole or not at all: it is written under another name beside the
 * final one, and renamed.
 */
#ifndef JETWATT_UTIL_OUTFILE_H
#define JETWATT_UTIL_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct jetwatt_outfile - a file while it is written
 * @f: the stream to write; NULL: not open
 * @old: descriptor of the existing file; -1: there is none
 * @copy: copy the contents into the existing file, which can't be renamed over
 * @created: the existing file was created, since @path is a symbolic link to no file
 * @path: path of the file, without symbolic links if the file exists
 * @temp: path of the temporary file; "": it has none, or the file is in place
 */
struct jetwatt_outfile {
	FILE *f;
	int old;
	bool copy, created;
	char path[PATH_MAX], temp[PATH_MAX];
};

/**
 * jetwatt_outfile_open() - begin to write a file
 * @o: the file
 * @path: its path
 * @mode: its permissions if it is new, reduced by the umask
 *
 * An existing file keeps its contents until jetwatt_outfile_put(), and its owner, permissions and ACL. If
 * @path is a symbolic link, the file that it leads to is replaced. Devices and FIFOs are written
 * directly.
 *
 * Return: 0; negative errno, @o is closed.
 */
int jetwatt_outfile_open(struct jetwatt_outfile *o, const char *path, mode_t mode);

/* Put in its place what was written so far, if the file is open. The stream stays open: what is written
 * later is appended to the file in place. Return: 0; negative errno: the existing file is unchanged,
 * unless the disk became full while the contents were copied into it. */
int jetwatt_outfile_put(struct jetwatt_outfile *o);

/* Sync the file to disk, put it in its place, and close it; if @err is not 0, only close it. Do nothing
 * if it is not open. Return: @err; else as jetwatt_outfile_put(). */
int jetwatt_outfile_end(struct jetwatt_outfile *o, int err);

#endif
