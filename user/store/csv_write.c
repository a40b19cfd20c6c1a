// SPDX-License-Identifier: GPL-2.0-only
/* Writer of profiles in CSV: replaces a file atomically, and loses no digit. */
#include "store/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/outfile.h"

/* Write the fewest digits that read back as the same double. */
static void print_exact(FILE *f, double v)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	fprintf(f, ",%s", text);
}

/* Refuse incomplete modes, and minibatch sizes, times, powers and errors that the reader would
 * refuse. *@measured: set to true if the rows have times. */
static int check_rows(const struct jetwatt_row *row, const uint32_t *batch, size_t n,
		      bool *measured)
{
	*measured = n && !isnan(row[0].time_ms);
	for (size_t i = 0; i < n; i++) {
		const struct jetwatt_row *r = &row[i];

		if (!jetwatt_mode_whole(&r->mode) || (batch && !batch[i]))
			return -EINVAL;
		if (!*measured && isnan(r->time_ms) && isnan(r->power_w))
			continue;
		if (!*measured || !isfinite(r->time_ms) || !isfinite(r->power_w) ||
		    r->time_ms <= 0 || r->power_w <= 0 || !isfinite(r->time_sd) ||
		    !isfinite(r->power_sd) || r->time_sd < 0 || r->power_sd < 0)
			return -EINVAL;
	}
	return 0;
}

/* The column of an optional knob is written if a row sets the knob. */
static bool has_column(const struct jetwatt_row *row, size_t n, enum jetwatt_knob k)
{
	bool is = !jetwatt_knob_row(k)->optional;

	for (size_t i = 0; i < n && !is; i++)
		is = jetwatt_mode_get(&row[i].mode, k);
	return is;
}

int jetwatt_csv_print(FILE *f, const struct jetwatt_row *row, const uint32_t *batch, size_t n,
		      int errors)
{
	bool measured, column[JETWATT_KNOBS];
	int rc = check_rows(row, batch, n, &measured);

	if (rc)
		return rc;
	jetwatt_each_knob(k) {
		column[k] = has_column(row, n, k);
		if (column[k])
			fprintf(f, "%s%s", k ? "," : "", jetwatt_knob_row(k)->column);
	}
	fprintf(f, "%s%s%s\n", batch ? ",batch" : "",
		measured ? ",time_ms,power_w" : "", measured && errors ? ",time_sd,power_sd" : "");
	for (size_t i = 0; i < n; i++) {
		jetwatt_each_knob(k)
			if (column[k])
				fprintf(f, "%s%" PRIu64, k ? "," : "",
					jetwatt_mode_get(&row[i].mode, k));
		if (batch)
			fprintf(f, ",%u", batch[i]);
		if (measured) {
			print_exact(f, row[i].time_ms);
			print_exact(f, row[i].power_w);
		}
		if (measured && errors) {
			print_exact(f, row[i].time_sd);
			print_exact(f, row[i].power_sd);
		}
		fputc('\n', f);
	}
	return jetwatt_error_flush(f);
}

int jetwatt_csv_write(const char *path, const struct jetwatt_row *row, const uint32_t *batch,
		      size_t n)
{
	struct jetwatt_outfile out;
	int rc = jetwatt_outfile_open(&out, path, 0666);

	return rc ? rc : jetwatt_outfile_end(&out, jetwatt_csv_print(out.f, row, batch, n, 1));
}
