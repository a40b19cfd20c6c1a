// SPDX-License-Identifier: GPL-2.0-only
/* Reader of profiles in CSV: columns are found by name, errors name their line. */
#include "store/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum size of a file, in bytes: enough for years of profiling every mode. */
#define FILE_MAX	(256u << 20)
#define NUMBER_MAX	63

/* The columns of the knobs come first, in the order of enum jetwatt_knob. */
enum { BATCH = JETWATT_KNOBS, TIME_MS, POWER_W, TIME_SD, POWER_SD, COLUMNS };

#define KNOB(ID, type, member, key, label, tag, hz, optional, text) [JETWATT_KNOB_##ID] = #member,
static const char * const column_names[COLUMNS] = {
	JETWATT_KNOB_ROWS(KNOB)
	[BATCH] = "batch", [TIME_MS] = "time_ms", [POWER_W] = "power_w",
	[TIME_SD] = "time_sd", [POWER_SD] = "power_sd",
};
#undef KNOB

/* A part of the text, which is not terminated by a zero byte and may be empty. */
struct piece {
	const char *p;
	size_t len;
};

struct csv_reader {
	const char *at, *end;
	unsigned int line, columns;
	/* index of the column in the file, -1: the file has no such column */
	int position[COLUMNS];
	struct jetwatt_csv_error *err;
};

static __attribute__((format(printf, 3, 4)))
int csv_refuse(struct jetwatt_csv_error *err, unsigned int line, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->line = line;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

static struct piece csv_trim(struct piece s)
{
	while (s.len && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.len--;
	}
	while (s.len && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* Get the next line that is neither blank nor a comment, without the end of line. Return: false: no
 * more. */
static bool csv_next_line(struct csv_reader *r, struct piece *line)
{
	while (r->at < r->end) {
		const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
		const char *stop = nl ? nl : r->end;

		line->p = r->at;
		line->len = (size_t)(stop - r->at);
		r->at = nl ? nl + 1 : r->end;
		r->line++;
		if (line->len && line->p[line->len - 1] == '\r')
			line->len--;
		*line = csv_trim(*line);
		if (line->len && line->p[0] != '#')
			return true;
	}
	return false;
}

/* Split the first field off the line. Return: false if the line has no further field. */
static bool csv_next_field(struct piece *line, struct piece *field)
{
	const char *comma;

	if (!line->p)
		return false;
	comma = memchr(line->p, ',', line->len);
	*field = (struct piece){ line->p, comma ? (size_t)(comma - line->p) : line->len };
	if (comma) {
		line->len -= field->len + 1;
		line->p = comma + 1;
	} else {
		line->p = NULL;
	}
	*field = csv_trim(*field);
	return true;
}

static int read_header(struct csv_reader *r, struct piece line)
{
	struct piece field;
	unsigned int at = 0;

	for (int c = 0; c < COLUMNS; c++)
		r->position[c] = -1;
	for (; csv_next_field(&line, &field); at++) {
		for (int c = 0; c < COLUMNS; c++) {
			if (field.len != strlen(column_names[c]) ||
			    memcmp(field.p, column_names[c], field.len))
				continue;
			if (r->position[c] >= 0)
				return csv_refuse(r->err, r->line, "column %s twice",
						  column_names[c]);
			r->position[c] = (int)at;
		}
	}
	r->columns = at;
	jetwatt_each_knob(k)
		if (r->position[k] < 0 && !jetwatt_knob_row(k)->optional)
			return csv_refuse(r->err, r->line, "column %s is missing", column_names[k]);
	if ((r->position[TIME_MS] < 0) != (r->position[POWER_W] < 0))
		return csv_refuse(r->err, r->line, "column %s is missing",
				  column_names[r->position[TIME_MS] < 0 ? TIME_MS : POWER_W]);
	return 0;
}

/* Parse a finite decimal number. Check the characters too, because strtod() accepts "inf", "nan"
 * and hexadecimal. */
static int csv_number(struct csv_reader *r, int column, struct piece field, double *v)
{
	char text[NUMBER_MAX + 1], *end;

	if (!field.len)
		return csv_refuse(r->err, r->line, "%s is empty", column_names[column]);
	if (field.len > NUMBER_MAX)
		return csv_refuse(r->err, r->line, "%s is too long to be a number",
				  column_names[column]);
	memcpy(text, field.p, field.len);
	text[field.len] = '\0';
	*v = strtod(text, &end);
	if (strspn(text, "0123456789+-.eE") != field.len || *end || !isfinite(*v)) {
		for (char *p = text; *p; p++)
			if (*p < ' ' || *p > '~')
				*p = '?';
		return csv_refuse(r->err, r->line, "%s is not a number: \"%.40s\"",
				  column_names[column], text[0] ? text : "?");
	}
	return 0;
}

/* Check that a number is an integer from @min to @max. Other tools write integers as 1300500000.0
 * or 1.3005e9, so the parser reads them as doubles. */
static int csv_check_integer(struct csv_reader *r, int column, double v, double min, double max)
{
	if (v != floor(v) || v < min || v > max)
		return csv_refuse(r->err, r->line,
				  "%s is %.15g, not a whole number from %.0f to %.0f",
				  column_names[column], v, min, max);
	return 0;
}

static int read_csv_row(struct csv_reader *r, struct piece line, struct jetwatt_row *row,
			uint32_t *batch)
{
	double v[COLUMNS] = { [TIME_MS] = NAN, [POWER_W] = NAN };
	struct piece field;
	unsigned int at = 0;
	int rc = 0;

	for (; csv_next_field(&line, &field); at++)
		for (int c = 0; c < COLUMNS && !rc; c++)
			if (r->position[c] == (int)at)
				rc = csv_number(r, c, field, &v[c]);
	if (rc)
		return rc;
	if (at != r->columns)
		return csv_refuse(r->err, r->line, "%u fields, the header has %u", at, r->columns);

	*row = (struct jetwatt_row){ 0 };
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *knob = jetwatt_knob_row(k);

		if (!rc && r->position[k] >= 0)
			rc = csv_check_integer(r, (int)k, v[k], knob->optional ? 0 : 1,
					       knob->hz ? fmin(knob->max, 1e15) : 4096);
		if (!rc)
			jetwatt_mode_set(&row->mode, k, (uint64_t)v[k]);
	}
	if (!rc && r->position[BATCH] >= 0)
		rc = csv_check_integer(r, BATCH, v[BATCH], 1, UINT32_MAX);
	for (int c = TIME_MS; c <= POWER_W && !rc; c++)
		if (r->position[c] >= 0 && v[c] <= 0)
			rc = csv_refuse(r->err, r->line, "%s is %.15g, not above 0",
					column_names[c], v[c]);
	for (int c = TIME_SD; c <= POWER_SD && !rc; c++)
		if (v[c] < 0)
			rc = csv_refuse(r->err, r->line, "%s is %.15g, below 0", column_names[c],
					v[c]);
	if (rc)
		return rc;

	row->time_ms = v[TIME_MS];
	row->power_w = v[POWER_W];
	row->time_sd = v[TIME_SD];
	row->power_sd = v[POWER_SD];
	*batch = (uint32_t)v[BATCH];
	return 0;
}

int jetwatt_csv_parse(const char *text, size_t len, struct jetwatt_row **rows, uint32_t **batches,
		      struct jetwatt_csv_error *err)
{
	struct csv_reader r = { .at = text, .end = text + len, .err = err };
	struct jetwatt_row *out = NULL;
	uint32_t *batch = NULL;
	size_t n = 0, capacity = 0;
	struct piece line;
	int rc = 0;

	if (err)
		*err = (struct jetwatt_csv_error){ 0 };
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;
	if (len && memchr(text, '\0', len))
		return csv_refuse(err, 0, "not a text file: it holds a zero byte");
	if (!csv_next_line(&r, &line))
		return csv_refuse(err, r.line, "empty: no header");
	rc = read_header(&r, line);

	while (!rc && csv_next_line(&r, &line)) {
		if (n == capacity) {
			size_t more = capacity ? capacity * 2 : 256;
			void *a = realloc(out, more * sizeof(*out));
			void *b;

			out = a ? a : out;
			b = realloc(batch, more * sizeof(*batch));
			batch = b ? b : batch;
			if (!a || !b) {
				rc = -ENOMEM;
				break;
			}
			capacity = more;
		}
		rc = read_csv_row(&r, line, &out[n], &batch[n]);
		if (!rc)
			n++;
	}
	if (!rc && !n)
		rc = csv_refuse(err, r.line, "a header, but no row");
	if (!rc) {
		*rows = out;
		out = NULL;
		if (batches) {
			*batches = batch;
			batch = NULL;
		}
	}
	free(out);
	free(batch);
	return rc ? rc : (int)n;
}

int jetwatt_csv_read(const char *path, struct jetwatt_row **rows, uint32_t **batch,
		     struct jetwatt_csv_error *err)
{
	size_t len = 0, capacity = 0;
	char *text = NULL;
	int rc = 0, fd;

	if (err)
		*err = (struct jetwatt_csv_error){ 0 };
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Read to the end of the file without using st_size, because the profile may come
	 * through a pipe. */
	for (;;) {
		ssize_t got;

		if (len == capacity) {
			char *more = realloc(text, capacity ? capacity * 2 : 65536);

			if (!more) {
				rc = -ENOMEM;
				goto out;
			}
			text = more;
			capacity = capacity ? capacity * 2 : 65536;
		}
		got = read(fd, text + len, capacity - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			rc = -errno;
			goto out;
		}
		if (!got)
			break;
		len += (size_t)got;
		if (len > FILE_MAX) {
			rc = -EFBIG;
			goto out;
		}
	}
	rc = jetwatt_csv_parse(text, len, rows, batch, err);
out:
	free(text);
	close(fd);
	return rc;
}
