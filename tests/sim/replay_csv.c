// SPDX-License-Identifier: GPL-2.0-only
/* Read a CSV file of measured power modes. Columns are found by name; other columns are ignored. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/kernel_read_file.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "replay.h"

#define FILE_MAX	(8 << 20)
#define LINE_MAX	512
#define COLUMNS_MAX	32

enum column { CORES, CPU_KHZ, GPU_HZ, EMC_HZ, TIME_MS, POWER_W, BATCH, COLUMNS };

static const char *const names[COLUMNS] = {
	"cores", "cpu_khz", "gpu_hz", "emc_hz", "time_ms", "power_w", "batch",
};

struct table {
	const char *path;
	int at[COLUMNS];	/* index of each column in a line; -1: not in the file */
	u32 line;
	struct sim_row *rows;
	u32 nr_rows;
};

static char *trim(char *s)
{
	s = strim(s);
	if (*s == '"') {
		s++;
		s[strcspn(s, "\"")] = '\0';
	}
	return strim(s);
}

static int split(char *line, char **field)
{
	int n = 0;

	while (line && n < COLUMNS_MAX)
		field[n++] = trim(strsep(&line, ","));
	return n;
}

/*
 * Parse "624.562" into millionths. Return: 0; -EINVAL if the text is not a number, or the number is
 * negative or too large.
 */
static int decimal(const char *s, u64 *millionths)
{
	u64 v = 0;
	int digits = 0, after = -1;

	for (; *s; s++) {
		if (*s == '.' && after < 0) {
			after = 0;
			continue;
		}
		if (!isdigit(*s))
			return -EINVAL;
		digits++;
		if (after >= 0 && after++ >= 6)
			continue;
		if (v > div_u64(U64_MAX, 10) - 1)
			return -EINVAL;
		v = v * 10 + (*s - '0');
	}
	for (after = clamp(after, 0, 6); after < 6; after++) {
		if (v > div_u64(U64_MAX, 10))
			return -EINVAL;
		v *= 10;
	}
	*millionths = v;
	return digits ? 0 : -EINVAL;
}

static int header(struct table *t, char *line)
{
	char *field[COLUMNS_MAX];
	int i, k, n = split(line, field);

	for (k = 0; k < COLUMNS; k++) {
		t->at[k] = -1;
		for (i = 0; i < n; i++)
			if (!strcmp(field[i], names[k]))
				t->at[k] = i;
		if (t->at[k] < 0 && k != BATCH) {
			pr_err("%s: no column \"%s\" in line %u\n", t->path, names[k], t->line);
			return -EINVAL;
		}
	}
	return 0;
}

static int row(struct table *t, char *line)
{
	char *field[COLUMNS_MAX];
	u64 v[COLUMNS] = { };
	int k, n = split(line, field);
	struct sim_row *r;

	for (k = 0; k < COLUMNS; k++) {
		if (t->at[k] < 0)
			continue;
		if (t->at[k] >= n || decimal(field[t->at[k]], &v[k]) || (!v[k] && k != BATCH)) {
			pr_err("%s:%u: \"%s\" is not a positive number\n", t->path, t->line,
			       t->at[k] < n ? field[t->at[k]] : "");
			return -EINVAL;
		}
	}
	if (v[CORES] > 1024000000ULL || v[CPU_KHZ] > 100000000ULL * 1000000 ||
	    v[TIME_MS] > 10000000ULL * 1000000 || v[POWER_W] > 1000ULL * 1000000) {
		pr_err("%s:%u: cores, clock, time or power out of range\n", t->path, t->line);
		return -EINVAL;
	}
	if (t->nr_rows == SIM_ROWS_MAX) {
		pr_err("%s: more than %d rows\n", t->path, SIM_ROWS_MAX);
		return -EINVAL;
	}
	r = &t->rows[t->nr_rows++];
	r->mode.cores = div_u64(v[CORES], 1000000);
	r->mode.cpu_khz = div_u64(v[CPU_KHZ], 1000000);
	r->mode.gpu_hz = div_u64(v[GPU_HZ], 1000000);
	r->mode.emc_hz = div_u64(v[EMC_HZ], 1000000);
	r->batch = div_u64(v[BATCH], 1000000);
	/* decimal() returns millionths: a millionth of a ms is a ns, a millionth of a W is a uW. */
	r->time_ns = v[TIME_MS];
	r->uw = v[POWER_W];
	if (r->mode.cores && r->mode.cpu_khz && r->mode.gpu_hz && r->mode.emc_hz)
		return 0;
	pr_err("%s:%u: cores and clocks must be whole numbers above 0\n", t->path, t->line);
	return -EINVAL;
}

static int parse(struct table *t, const char *s, const char *end)
{
	bool seen = false;
	int err = 0;

	if (end - s >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3;
	while (s < end && !err) {
		const char *stop = memchr(s, '\n', end - s) ?: end;
		char line[LINE_MAX];

		t->line++;
		if (stop - s >= LINE_MAX) {
			pr_err("%s:%u: a line of more than %d characters\n", t->path, t->line,
			       LINE_MAX - 1);
			return -EINVAL;
		}
		memcpy(line, s, stop - s);
		line[stop - s] = '\0';
		s = stop + 1;
		if (!*strim(line) || *strim(line) == '#')
			continue;
		err = seen ? row(t, line) : header(t, line);
		seen = true;
	}
	if (!err && !t->nr_rows) {
		pr_err("%s: no rows\n", t->path);
		err = -EINVAL;
	}
	return err;
}

int sim_replay_read(const char *path, struct sim_row **rows)
{
	struct table t = { .path = path };
	void *file = NULL;
	ssize_t n;
	int err;

	n = kernel_read_file_from_path(path, 0, &file, FILE_MAX, NULL, READING_FIRMWARE);
	if (n < 0) {
		pr_err("cannot read csv=%s: error %zd\n", path, n);
		return n;
	}
	err = -ENOMEM;
	t.rows = vmalloc(array_size(SIM_ROWS_MAX, sizeof(*t.rows)));
	if (t.rows)
		err = parse(&t, file, (const char *)file + n);
	vfree(file);
	if (err) {
		vfree(t.rows);
		return err;
	}
	*rows = t.rows;
	return t.nr_rows;
}
