/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles as CSV: cores,cpu_khz,gpu_hz,emc_hz[,batch],time_ms,power_w[,time_sd,power_sd].
 * time_ms is the time of one minibatch in ms, power_w the mean power in W; time_sd and power_sd are
 * their relative standard errors. Columns are found by name; unknown ones
 * are ignored. A file without time_ms and power_w is a mode list. An optional knob
 * (JETWATT_KNOB_OPTIONAL()) has a column behind emc_hz if a row sets it. Without the column, or
 * with 0 in it, the mode does not set the knob.
 * The reader accepts CRLF, a byte order mark, blank lines and comment lines that begin with #, but
 * no quotes. Rows keep the order of the file, repeated modes included.
 */
#ifndef JETWATT_CSV_H
#define JETWATT_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "model/model.h"

/**
 * struct jetwatt_csv_error - what is wrong with a file
 * @line: number of the line, from 1; 0: the error concerns the whole file
 * @text: reason
 */
struct jetwatt_csv_error {
	unsigned int line;
	char text[160];
};

/* Read a profile or a mode list. @row: gets the rows; time_ms and power_w are NAN in a mode
 * list. @batch: gets the minibatch size of each row, 0 if the file has no such column; may be
 * NULL. The caller frees both. Return: number of rows; -EINVAL: @err gives the reason; -EFBIG:
 * the file is too large; other negative errno. */
int jetwatt_csv_read(const char *path, struct jetwatt_row **row, uint32_t **batch,
		     struct jetwatt_csv_error *err);
/* Parse from memory, as jetwatt_csv_read() does; the fuzzer calls this. */
int jetwatt_csv_parse(const char *text, size_t len, struct jetwatt_row **row, uint32_t **batch,
		      struct jetwatt_csv_error *err);
/* Write a profile with the columns time_sd and power_sd, or a mode list if every time_ms and
 * power_w is NAN. The file is written as by jetwatt_outfile_end(). Doubles have as many
 * digits as needed to read back the same value. @batch: minibatch size of each row; NULL: no
 * such column. Return: 0; -EINVAL: a mode is incomplete, a minibatch size is 0, or a time, power or
 * error is not valid; other negative errno. On failure a regular file at @path is unchanged, except
 * if only the sync of its directory failed. */
int jetwatt_csv_write(const char *path, const struct jetwatt_row *row, const uint32_t *batch,
		      size_t n);

/* Write a profile or a mode list to an open file. @errors: write time_sd and power_sd too.
 * Return: 0; -EINVAL: as jetwatt_csv_write(); -EIO. */
int jetwatt_csv_print(FILE *f, const struct jetwatt_row *row, const uint32_t *batch, size_t n,
		      int errors);

#endif
