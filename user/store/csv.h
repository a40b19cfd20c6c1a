/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles as CSV: cores,cpu_khz,gpu_hz,emc_hz[,batch],time_ms,power_w
 * and, in ours, the relative errors time_sd,power_sd behind. Columns are found
 * by name; others are ignored. A file with the first four only is a mode list. Optional
 * knobs (JETWATT_KNOB_OPTIONAL()) have a column behind emc_hz if a row has a value of it; without
 * the column, and at 0, the mode leaves the knob as it is.
 * CRLF, a byte order mark, blank lines and lines that begin with # are taken;
 * quotes are not. Rows stay in the file's order, repeated modes included.
 */
#ifndef JETWATT_CSV_H
#define JETWATT_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "model/model.h"

struct jetwatt_csv_error {
	unsigned int line;
	char text[160];
};

/* @batch may be NULL; *batch[i] is 0 where the file has no such column.
 * time_ms and power_w are NAN in a mode list. Caller frees.
 * Return: rows; -EINVAL with @err; -EFBIG; other negative errno. */
int jetwatt_csv_read(const char *path, struct jetwatt_row **row, uint32_t **batch,
		     struct jetwatt_csv_error *err);
/* As above from memory: what the fuzzer calls. */
int jetwatt_csv_parse(const char *text, size_t len, struct jetwatt_row **row, uint32_t **batch,
		      struct jetwatt_csv_error *err);
/* Written beside @path and renamed over it (a pipe is written to). Doubles get
 * as many digits as it takes to read the same value back. All rows with
 * time_ms NAN: a mode list. @batch: of every row, or NULL: no such column.
 * Return: 0; -EINVAL: a row that the parser would refuse; other negative errno,
 * and then @path is as before. */
int jetwatt_csv_write(const char *path, const struct jetwatt_row *row, const uint32_t *batch,
		      size_t n);

/* The same to an open file; @errors: with time_sd and power_sd. Return: 0;
 * -EINVAL; -EIO. */
int jetwatt_csv_print(FILE *f, const struct jetwatt_row *row, const uint32_t *batch, size_t n,
		      int errors);

#endif
