// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt doctor --replay: unpacks the board files of a report into a directory, and shows the
 * board's rails, knobs and presets as this version finds them.
 */
#include "cmd/doctor/report.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/preset.h"
#include "measure/connect.h"
#include "out/terminal.h"
#include "store/report.h"
#include "util/error.h"

#define DIR_LEN	150

static int read_report(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	*len = 0;
	*text = malloc(JETWATT_JSON_READ_MAX + 1);
	if (!*text)
		rc = -ENOMEM;
	while (!rc && got > 0 && *len <= JETWATT_JSON_READ_MAX) {
		got = read(fd, *text + *len, JETWATT_JSON_READ_MAX + 1 - *len);
		if (got > 0)
			*len += (size_t)got;
		else if (got < 0)
			rc = -errno;
	}
	close(fd);
	return rc ? rc : *len > JETWATT_JSON_READ_MAX ? -EFBIG : 0;
}

/* Create the parent directories of @path that do not exist. @below: number of characters of @path up to
 * and with the "/" after the directory for the board's files, which exists. Return: 0 or a negative errno. */
static int make_parent_dirs(const char *path, size_t below)
{
	char at[512];

	snprintf(at, sizeof(at), "%s", path);
	for (char *p = at + below; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(at, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

static int write_file(const char *dir, const struct jetwatt_report_file *f)
{
	char path[512];
	int fd, rc;

	if (!f->data)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, f->path);
	rc = make_parent_dirs(path, strlen(dir) + 1);
	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, f->data, f->len) != (ssize_t)f->len)
		rc = -EIO;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* Write the device tree overlay sensors.dtso from the report. A report without power sensors is no
 * error. Return: 0 or a negative errno. */
static int write_overlay(const char *dir, const struct jetwatt_board_report *r)
{
	char path[512];
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), "%s/sensors.dtso", dir);
	f = fopen(path, "wex");
	if (!f)
		return -errno;
	rc = jetwatt_replay_overlay(r, f);
	if (fclose(f) && !rc)
		rc = -errno;
	if (rc == -ENODATA) {
		unlink(path);
		jetwatt_notice("the report has no device tree node of a power sensor, so sensors.dtso is not written");
		rc = 0;
	}
	return rc;
}

static int write_files(const char *dir, const struct jetwatt_board_report *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->nr_files && !rc; i++)
		rc = write_file(dir, &r->file[i]);
	return rc ? rc : write_overlay(dir, r);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void knobs_json(struct jetwatt_json *j, struct jetwatt_board *b)
{
	struct jetwatt_mode now;
	const uint64_t *v;
	char name[96];

	jetwatt_json_object(j, "knobs");
	jetwatt_each_knob(k) {
		int n = jetwatt_board_levels(b, k, &v);

		if (!n)
			continue;
		jetwatt_json_array(j, jetwatt_knob_row(k)->column);
		for (int i = 0; i < n; i++)
			jetwatt_json_uint(j, NULL, v[i]);
		jetwatt_json_end(j);
	}
	if (!jetwatt_board_read(b, &now) && !jetwatt_board_mode_format(&now, name, sizeof(name)))
		jetwatt_json_string(j, "now", name);
	jetwatt_json_end(j);
}

static void knobs_text(struct jetwatt_board *b)
{
	struct jetwatt_mode now;
	char name[96];

	printf(" knobs    %s\n", jetwatt_board_grid_text(b, name, sizeof(name)));
	if (!jetwatt_board_read(b, &now) && !jetwatt_board_mode_format(&now, name, sizeof(name)))
		printf(" now      %s\n", name);
}

static const char *replay_rail_parent(const struct jetwatt_board *b, const char *label)
{
	return b ? jetwatt_board_parent(b, label) : NULL;
}

/* Print the reported rails, and mark those that this version counts in the total. */
static void print_rails(struct jetwatt_json *j, const struct jetwatt_board_report *r,
			struct jetwatt_board *b)
{
	int total[JETWATT_RAILS_MAX], sum = 0;
	const char *scope = NULL;
	char label[JETWATT_LABEL_LEN];

	if (b)
		sum = jetwatt_board_total(b, r->rail, r->nr_rails, total, &scope);
	if (j)
		jetwatt_json_array(j, "rails");
	for (int i = 0; i < r->nr_rails; i++) {
		const struct jetwatt_rail *rail = &r->rail[i];
		bool counted = false;

		for (int k = 0; k < sum; k++)
			counted |= total[k] == i;
		if (!j) {
			printf(" rail     %-17s %6.1f mOhm%s%s\n",
			       jetwatt_terminal_plain(rail->label, label, sizeof(label)),
			       rail->shunt_uohm * 1e-3, rail->enabled ? "" : "  disabled", counted ? "  in total" : "");
			continue;
		}
		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "label", rail->label);
		jetwatt_json_uint(j, "chip", rail->chip);
		jetwatt_json_uint(j, "channel", rail->channel);
		jetwatt_json_uint(j, "shunt_uohm", rail->shunt_uohm);
		jetwatt_json_bool(j, "enabled", rail->enabled);
		jetwatt_json_bool(j, "in_total", counted);
		jetwatt_json_string(j, "part_of", replay_rail_parent(b, rail->label));
		jetwatt_json_end(j);
	}
	if (!j) {
		if (sum > 0)
			printf(" total    %s\n", scope);
		return;
	}
	jetwatt_json_end(j);
	jetwatt_json_string(j, "scope", sum > 0 ? scope : NULL);
}

static void print_presets(struct jetwatt_json *j, const struct jetwatt_board *b)
{
	struct jetwatt_presets *all = NULL;
	struct jetwatt_error_text e = { "", "", "" };
	char name[sizeof(all->preset[0].name)];

	if (b && jetwatt_presets_read(&all, b, NULL, &e))
		all = NULL;
	if (j)
		jetwatt_json_array(j, "presets");
	for (size_t i = 0; all && i < all->nr; i++) {
		if (j)
			jetwatt_json_string(j, NULL, all->preset[i].name);
		else
			printf(" preset   %d %s%s\n", all->preset[i].id,
			       jetwatt_terminal_plain(all->preset[i].name, name, sizeof(name)),
			       all->preset[i].id == all->chosen ? " (default)" : "");
	}
	if (j)
		jetwatt_json_end(j);
	jetwatt_presets_free(all);
}

/* Open the board in @dir and print what was found. If the board cannot be opened, print the reason and
 * the rails in the report. */
static void replay_print(struct jetwatt_doctor *d, const struct jetwatt_board_report *r,
			 const char *dir)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_json doc, *j = d->want_json ? &doc : NULL;
	struct jetwatt_board_roots_in at;
	struct jetwatt_board *b = NULL;
	char name[96], kernel[96], what[sizeof(e.what)], why[sizeof(e.why)];
	const char *release = jetwatt_json_get_string(jetwatt_json_get(r->top, "kernel"), "release");

	if (jetwatt_board_open(&b, jetwatt_board_roots_in(dir, &at), &e))
		b = NULL;
	if (j) {
		jetwatt_json_init(j, stdout, 1);
		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "board", b ? jetwatt_board_name(b) : NULL);
		jetwatt_json_string(j, "kernel", release);
		if (!b)
			jetwatt_json_string(j, "why", e.what);
	} else if (b) {
		/* The report comes from another machine, so its texts must not control the terminal. */
		printf(" board    %s, kernel %s\n",
		       jetwatt_terminal_plain(jetwatt_board_name(b), name, sizeof(name)),
		       release ? jetwatt_terminal_plain(release, kernel, sizeof(kernel)) : "unknown");
	} else {
		printf(" board    cannot be opened: %s: %s\n",
		       jetwatt_terminal_plain(e.what, what, sizeof(what)),
		       jetwatt_terminal_plain(e.why, why, sizeof(why)));
	}
	print_rails(j, r, b);
	if (b && j)
		knobs_json(j, b);
	else if (b)
		knobs_text(b);
	print_presets(j, b);
	if (j)
		jetwatt_json_end(j);
	jetwatt_board_close(b);
}

/* Create the directory for the board's files: @into, or if it is NULL a temporary one. @dir: receives
 * its path, DIR_LEN bytes. Return: 0 or a negative errno. */
static int new_dir(const char *into, char *dir)
{
	const char *tmp = getenv("TMPDIR");

	if (into) {
		if (snprintf(dir, DIR_LEN, "%s", into) >= DIR_LEN)
			return -ENAMETOOLONG;
		return mkdir(dir, 0755) ? -errno : 0;
	}
	if (snprintf(dir, DIR_LEN, "%s/jetwatt-XXXXXX", tmp ? tmp : "/tmp") >= DIR_LEN)
		return -ENAMETOOLONG;
	return mkdtemp(dir) ? 0 : -errno;
}

int jetwatt_doctor_replay(struct jetwatt_doctor *d, const char *path, const char *into)
{
	struct jetwatt_board_report *r = NULL;
	char dir[DIR_LEN], *text = NULL, said[96];
	const char *why = "";
	unsigned int line = 0;
	size_t len = 0;
	int rc = read_report(path, &text, &len);

	if (rc) {
		free(text);
		return jetwatt_error_report(jetwatt_error_code(rc), strerror(-rc),
					 "give a file that jetwatt doctor --report has written",
					 "cannot read the report %s", path);
	}
	rc = jetwatt_report_parse(text, len, &r, &line, &why);
	free(text);
	if (rc) {
		if (line)
			snprintf(said, sizeof(said), "line %u: %s", line, why);
		else
			snprintf(said, sizeof(said), "%s", why);
		return jetwatt_error_report(JETWATT_EXIT_FAILED, said,
					 "give an unmodified file from jetwatt doctor --report of this version",
					 "%s is not a report of a board", path);
	}
	rc = new_dir(into, dir);
	if (rc) {
		jetwatt_report_free(r);
		return jetwatt_error_report(jetwatt_error_code(rc), strerror(-rc),
					 "--into must name a directory that does not exist yet",
					 "cannot create the directory for the board's files");
	}
	rc = write_files(dir, r);
	if (rc)
		jetwatt_error_report(jetwatt_error_code(rc), strerror(-rc), jetwatt_error_advice(rc),
				  "cannot write the board's files to %s", dir);
	else
		replay_print(d, r, dir);
	if (!into)
		nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	jetwatt_report_free(r);
	return rc ? jetwatt_error_code(rc) : 0;
}
