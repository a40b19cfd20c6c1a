// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes model files; a regular file is replaced as a whole or not at all.
 */
#include "tune/model_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/outfile.h"

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

int jetwatt_model_file_write(const char *path, const struct jetwatt_fitted *f)
{
	struct jetwatt_outfile out;
	unsigned char *bytes;
	size_t len;
	int err = jetwatt_fitted_save(f, &bytes, &len);

	if (err)
		return err;
	err = jetwatt_outfile_open(&out, path, 0666);
	if (!err)
		err = jetwatt_outfile_end(&out, fwrite(bytes, 1, len, out.f) != len ? -errno : 0);
	free(bytes);
	return err;
}
