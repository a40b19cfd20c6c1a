// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes plots by gnuplot and pages by the HTML writer.
 */
#include "tune/plot_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/error.h"
#include "util/outfile.h"

static int plot_has_suffix(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcmp(path + n - m, end);
}

const char *jetwatt_plot_path(const char *option, const char *path)
{
	if (!plot_has_suffix(path, ".svg") && !plot_has_suffix(path, ".png") &&
	    !plot_has_suffix(path, ".html"))
		exit(jetwatt_error_report(
			JETWATT_EXIT_USAGE, "the suffix of the name selects the format",
			"end the file name in .svg, .png or .html", "%s: unknown format: %s",
			option, path));
	return path;
}

static int plot_write_page(const char *path, const struct jetwatt_report *r)
{
	struct jetwatt_outfile out;
	int err = jetwatt_outfile_open(&out, path, 0666);

	return err ? err : jetwatt_outfile_end(&out, jetwatt_report_html(out.f, r));
}

int jetwatt_plot_write(const char *path, const struct jetwatt_report *r,
			  enum jetwatt_gnuplot what)
{
	char why[256] = "";
	int err = plot_has_suffix(path, ".html") ? plot_write_page(path, r) :
						   jetwatt_gnuplot(path, r, what, why, sizeof(why));

	switch (err) {
	case 0:
		return 0;
	case -ENOEXEC:
		return jetwatt_error_report(
			JETWATT_EXIT_FAILED, "gnuplot, which draws the plot, is not installed",
			"sudo apt install gnuplot-nox; or end the name in .html, which needs no gnuplot",
			"cannot draw %s", path);
	case -EPROTO:
		return jetwatt_error_report(JETWATT_EXIT_FAILED, *why ? why : "gnuplot failed",
					 "end the name in .html, which needs no gnuplot",
					 "cannot draw %s", path);
	case -ENODATA:
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "there is no data to draw", NULL,
					 "cannot draw %s", path);
	default:
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 "name another file with --plot", "cannot draw %s", path);
	}
}

int jetwatt_plot_front(const char *path, const struct jetwatt_tuner *l,
			  const struct jetwatt_preset_compare *b, const char *board,
			  bool search, const struct jetwatt_row *chosen)
{
	struct jetwatt_report_preset *preset = NULL;
	struct jetwatt_report r = {
		.title = search && l->budget_w > 0 ? "The fastest mode under a budget" : "Power modes",
		.board = board, .budget_w = l->budget_w, .predicted = l->prediction,
		.nr_predicted = l->prediction ? l->nr_modes : 0, .measured = l->row,
		.nr_measured = l->nr_rows, .chosen = chosen,
		.only_predicted = !search,
	};
	struct utsname u;
	int err;

	if (l->session && !uname(&u))
		r.kernel = u.release;
	if (b && b->presets && l->prediction) {
		preset = calloc(b->presets->nr, sizeof(*preset));
		if (!preset)
			return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM),
						 jetwatt_error_advice(ENOMEM), "cannot draw %s", path);
		for (size_t i = 0; i < b->presets->nr; i++) {
			struct jetwatt_prediction is;

			/* With other parts of the GPU gated, time and power differ from the prediction. */
			if (b->reboot[i])
				continue;
			jetwatt_preset_compare_reading(b, l, i, &is);
			preset[r.nr_presets++] = (struct jetwatt_report_preset){
				b->presets->preset[i].name, is.time_ms, is.power_w,
			};
		}
		r.preset = preset;
	}
	err = jetwatt_plot_write(path, &r, JETWATT_GNUPLOT_FRONT);
	free(preset);
	return err;
}
