// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt report: print the summary of a recorded run as text or JSON, and optionally write an HTML
 * page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report/page.h"
#include "cmd/run_figures.h"
#include "cmd/verbs.h"
#include "out/terminal.h"
#include "util/error.h"
#include "util/outfile.h"

enum { JSON = JETWATT_ARGS_LONG, HTML };

struct report_input {
	struct jetwatt_args args;
	const char *trace, *html;
	int json;
};

static const struct argp_option options[] = {
	{ "json", JSON, NULL, 0, "Print the statistics as JSON", 0 },
	{ "html", HTML, "FILE", 0, "Write an HTML page with plots in addition; -: only the page, to standard output", 0 },
	{ 0 }
};

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct report_input *in = state->input;

	switch (key) {
	case JSON:
		in->json = 1;
		break;
	case HTML:
		in->html = arg;
		break;
	case ARGP_KEY_ARG:
		if (in->trace)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "jetwatt compare TRACE TRACE compares two traces",
					       "only one trace can be reported at a time"));
		in->trace = arg;
		break;
	case ARGP_KEY_END:
		if (!in->trace)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "give a file of jetwatt record, or - for standard input",
					       "no trace is given"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void report_print_heading(const struct jetwatt_replay *r)
{
	char board[sizeof(r->board)], kernel[sizeof(r->kernel)], version[sizeof(r->version)];
	char command[sizeof(r->command)];

	/* The trace may come from another machine. */
	printf(" %s, kernel %s, jetwatt %s\n",
	       *r->board ? jetwatt_terminal_plain(r->board, board, sizeof(board)) : "unknown board",
	       jetwatt_terminal_plain(r->kernel, kernel, sizeof(kernel)),
	       jetwatt_terminal_plain(r->version, version, sizeof(version)));
	if (*r->command)
		printf(" %s\n", jetwatt_terminal_plain(r->command, command, sizeof(command)));
}

static int report_write_page(const struct report_input *in, const struct jetwatt_page_data *d,
			     const struct jetwatt_replay *r, const struct jetwatt_summary *s)
{
	struct jetwatt_outfile out = { .f = NULL };
	int err;

	if (strcmp(in->html, "-") && jetwatt_replay_reads(r, in->html))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "the trace would be overwritten",
					    "name another file with --html",
					    "--html: %s is the trace that is reported", in->html);
	err = strcmp(in->html, "-") ? jetwatt_outfile_open(&out, in->html, 0666) : 0;
	if (!err)
		err = jetwatt_outfile_end(&out, jetwatt_page_make(out.f ? out.f : stdout, d, r, s));
	/* main() reports failed writes to standard output. */
	return !err || (!strcmp(in->html, "-") && ferror(stdout)) ? 0 :
	       jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				 "name a file that can be written with --html; check that the disk is not full",
				 "cannot write %s", in->html);
}

static int report_print(const struct report_input *in, const struct jetwatt_page_data *d,
			const struct jetwatt_replay *r, const struct jetwatt_run_energy *m)
{
	struct jetwatt_summary s;
	int err;

	if (in->html && jetwatt_summary_make(&s, m))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot compute the summary of %s", in->trace);
	err = in->html ? report_write_page(in, d, r, &s) : 0;
	if (err || (in->html && !strcmp(in->html, "-")))
		return err;
	if (!in->json)
		report_print_heading(r);
	return jetwatt_run_figures(r, m, in->json, &in->args);
}

int jetwatt_cmd_report(int argc, char **argv)
{
	struct jetwatt_run_energy m = { 0 };
	struct report_input in = { 0 };
	static struct jetwatt_page_data data;
	struct jetwatt_replay r;
	int err;

	jetwatt_args_parse("report", "TRACE", "Print the statistics of a recorded run, as jetwatt stat does.",
			   options, report_parse, argc, argv, &in);
	err = jetwatt_replay_open(&r, in.trace);
	if (in.html)
		jetwatt_page_gather(&data, &r);
	if (!err)
		err = jetwatt_replay_run(&r, &m);
	if (!err)
		err = report_print(&in, &data, &r, &m);
	jetwatt_run_energy_free(&m);
	jetwatt_replay_close(&r);
	return err;
}
