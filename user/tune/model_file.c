// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes model files; a regular file is replaced as a whole or not at all.
 */
#include "tune/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Largest model file that is read, in bytes; the largest model takes less than a tenth of this. */
#define FILE_MAX	(1 << 20)

int jetwatt_model_file_read(const char *path, struct jetwatt_fitted **f)
{
	unsigned char *bytes = malloc(FILE_MAX + 1);
	FILE *in = bytes ? fopen(path, "re") : NULL;
	int err = bytes ? in ? 0 : -errno : -ENOMEM;
	size_t len = 0;

	*f = NULL;
	if (in) {
		len = fread(bytes, 1, FILE_MAX + 1, in);
		err = ferror(in) ? -EIO : len > FILE_MAX ? -EFBIG : 0;
		fclose(in);
	}
	if (!err)
		err = jetwatt_fitted_load(f, bytes, len);
	free(bytes);
	return err;
}

/* Write the bytes of the model to @fd and close @fd; if @temp is not NULL, the file of that name is new:
 * set the usual permissions. Return: 0; negative errno, @temp is removed. */
static int model_file_put(const char *temp, int fd, const unsigned char *bytes, size_t len)
{
	mode_t mask = umask(0);
	FILE *f = fdopen(fd, "w");
	int err = f ? 0 : -errno;

	umask(mask);
	if (!f)
		close(fd);
	else if (fwrite(bytes, 1, len, f) != len || fflush(f) ||
		 (temp && (fchmod(fd, 0666 & ~mask) || fsync(fd))))
		err = -errno;
	if (f && fclose(f) && !err)
		err = -errno;
	if (err && temp)
		unlink(temp);
	return err;
}

int jetwatt_model_file_write(const char *path, const struct jetwatt_fitted *f)
{
	unsigned char *bytes = NULL;
	char temp[PATH_MAX];
	struct stat st;
	/* A device or a pipe can't be replaced, so it is written directly. */
	int replace = stat(path, &st) || S_ISREG(st.st_mode), err, fd;
	size_t len;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return -ENAMETOOLONG;
	err = jetwatt_fitted_save(f, &bytes, &len);
	if (err)
		return err;
	fd = replace ? mkostemp(temp, O_CLOEXEC) : open(path, O_WRONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : model_file_put(replace ? temp : NULL, fd, bytes, len);
	free(bytes);
	if (!err && replace && rename(temp, path)) {
		err = -errno;
		unlink(temp);
	}
	return err;
}
