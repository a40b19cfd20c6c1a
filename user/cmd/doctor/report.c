// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt doctor --report: collects all parts of the report as JSON and as text, removes private
 * data, writes the JSON to the file, and prints the text, or with --json the JSON.
 */
#include "cmd/doctor/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/report.h"
#include "util/error.h"
#include "util/outfile.h"

#ifndef JETWATT_VERSION
#define JETWATT_VERSION "unknown"
#endif

/* Run all checks of doctor and add their findings as the array "checks". */
static void report_checks(struct jetwatt_gather *g, struct jetwatt_doctor *d)
{
	d->want_json = 1;
	d->json = g->j;
	d->hide = &g->hide;
	jetwatt_json_array(&d->json, "checks");
	jetwatt_doctor_checks(d);
	jetwatt_json_end(&d->json);
	g->j = d->json;
	fprintf(g->text, "doctor   %d failure%s, %d warning%s\n", d->failures,
		d->failures == 1 ? "" : "s", d->warnings, d->warnings == 1 ? "" : "s");
}

static void report_board(struct jetwatt_gather *g, const struct jetwatt_board *b)
{
	char text[160];

	if (!b) {
		jetwatt_json_null(&g->j, "board");
		fprintf(g->text, "board    knobs unknown: see the checks in the report\n");
		return;
	}
	jetwatt_json_object(&g->j, "board");
	jetwatt_json_string(&g->j, "name", jetwatt_board_name(b));
	jetwatt_board_release(b, text, sizeof(text));
	jetwatt_json_string(&g->j, "release", text);
	fprintf(g->text, "board    %s, %s\n", jetwatt_board_name(b), text);
	jetwatt_board_params(b, text, sizeof(text));
	jetwatt_json_string(&g->j, "params", text);
	jetwatt_json_end(&g->j);
	fprintf(g->text, "knobs    %s\n", jetwatt_board_grid_text(b, text, sizeof(text)));
}

static void report_left_out(struct jetwatt_gather *g, const struct jetwatt_doctor *d)
{
	char why[96];

	jetwatt_json_array(&g->j, "left_out");
	if (!d->jw)
		jetwatt_gather_left_out(g, "rails, chips, clocks and rates",
					"the module could not be used, see the checks", "sudo modprobe jetwatt");
	if (geteuid()) {
		jetwatt_gather_left_out(g, "readings of the rails, and waits of a CUDA loop",
					"not run as root",
					"sudo jetwatt doctor --report FILE");
		snprintf(why, sizeof(why), "not run as root: %u files could not be read",
			 g->denied);
		jetwatt_gather_left_out(g,
					"files that only root may read, such as those below /sys/kernel/debug",
					why, "sudo jetwatt doctor --report FILE");
		fprintf(g->text, "left out readings, the CUDA loop and %u files: not run as root\n",
			g->denied);
	}
	if (g->no_loop)
		jetwatt_gather_left_out(g, "waits of a CUDA loop", g->no_loop,
					"sudo jetwatt doctor --report FILE --loop COMMAND");
	jetwatt_json_end(&g->j);
}

static void report_gather(struct jetwatt_gather *g, struct jetwatt_doctor *d, const char *loop)
{
	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_string(&g->j, "schema", JETWATT_REPORT_SCHEMA);
	jetwatt_json_string(&g->j, "jetwatt", JETWATT_VERSION);
	jetwatt_json_bool(&g->j, "root", !geteuid());
	jetwatt_gather_system(g);
	report_checks(g, d);
	report_board(g, d->board);
	if (d->jw)
		jetwatt_gather_module(g, d->jw, d->board);
	jetwatt_gather_cuda(g, loop);
	jetwatt_json_array(&g->j, "files");
	jetwatt_gather_files(g);
	jetwatt_gather_tree(g);
	jetwatt_json_end(&g->j);
	report_left_out(g, d);
	jetwatt_json_end(&g->j);
	fprintf(g->text, "files    %zu\n", g->nr_seen);
}

static int report_save(const char *path, const char *text)
{
	struct jetwatt_outfile out;
	int rc = jetwatt_outfile_open(&out, path, 0666);

	return rc ? rc : jetwatt_outfile_end(&out, fputs(text, out.f) < 0 ? -errno : 0);
}

int jetwatt_doctor_report(struct jetwatt_doctor *d, const char *path, const char *loop)
{
	struct jetwatt_gather g = { .root = "" };
	char *json = NULL, *text = NULL, *clean = NULL, *shown = NULL;
	int rc = -ENOMEM, as_json = d->want_json;
	size_t len, lines;
	FILE *f;

	/* The checks take long. */
	if (jetwatt_args_writable(path))
		return JETWATT_EXIT_FAILED;
	f = open_memstream(&json, &len);
	g.text = open_memstream(&text, &lines);
	if (f && g.text) {
		jetwatt_private_find(&g.hide, g.root);
		jetwatt_json_init(&g.j, f, 1);
		report_gather(&g, d, loop);
	}
	/* Remove ids, hardware addresses and home directories once more from the whole JSON, and
	 * from the text also names, in case a file contains them unexpectedly. */
	if (f && !fclose(f) && json)
		clean = jetwatt_private_hide(&g.hide, json, false);
	if (g.text && !fclose(g.text) && text)
		shown = jetwatt_private_hide(&g.hide, text, true);
	if (clean && shown) {
		if (as_json || !d->args.quiet)
			fputs(as_json ? clean : shown, stdout);
		rc = report_save(path, clean);
	}
	for (size_t i = 0; i < g.nr_seen; i++)
		free(g.seen[i]);
	free(g.seen);
	free(json);
	free(text);
	free(clean);
	free(shown);
	jetwatt_close(d->jw);
	jetwatt_board_close(d->board);
	if (rc)
		return jetwatt_error_report(jetwatt_error_code(rc), strerror(-rc),
					 jetwatt_error_advice(rc), "cannot write the report to %s", path);
	if (!as_json && !d->args.quiet)
		printf("report   %s: read it before you share it\n", path);
	return 0;
}
