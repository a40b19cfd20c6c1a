// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt export: write a trace, profiles or power modes in a format of another program. The table
 * below lists the formats; those of traces are in out/export_*.c.
 */
#include "cmd/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verbs.h"
#include "measure/replay.h"
#include "out/export_rows.h"
#include "tune/profile_store.h"
#include "util/error.h"
#include "util/suggest.h"

enum { MINIBATCHES = JETWATT_ARGS_LONG, WAITS, RATE, ERRORS, POOLED, PRESETS, ID, NAME };

static int export_trace(struct jetwatt_export_args *o, const struct jetwatt_export_format *format);

/* The formats. @format is passed to @write; it is NULL for formats that are not made from a
 * trace. */
static const struct row {
	const char *name;
	const struct jetwatt_export_format *format;
	int (*write)(struct jetwatt_export_args *o, const struct jetwatt_export_format *format);
	const char *does;
} rows[] = {
	{ "csv", &jetwatt_export_csv, export_trace, "samples or minibatches, for spreadsheets and pandas" },
	{ "jsonl", &jetwatt_export_jsonl, export_trace, "samples and minibatches, one JSON object per line" },
	{ "perfetto", &jetwatt_export_perfetto, export_trace, "for ui.perfetto.dev: protobuf" },
	{ "chrome", &jetwatt_export_chrome, export_trace, "for chrome://tracing and others: JSON, means of 10 ms" },
	{ "openmetrics", &jetwatt_export_openmetrics, export_trace, "sums over the run as metrics, OpenMetrics 1.0" },
	{ "prometheus", &jetwatt_export_prometheus, export_trace, "sums over the run as metrics, Prometheus text format 0.0.4" },
	{ "tegrastats", &jetwatt_export_tegrastats, export_trace, "lines of NVIDIA's tegrastats, one a second" },
	{ "profile", NULL, jetwatt_export_profile, "measured modes of PROFILE... as CSV" },
	{ "nvpmodel", NULL, jetwatt_export_nvpmodel, "MODE... as presets for an nvpmodel.conf" },
};

#define NR (sizeof(rows) / sizeof(rows[0]))

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "Output format, see below", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{ "rate", RATE, "HZ", 0, "Write means over 1/HZ seconds instead of samples; 0: all samples", 0 },
	{ "minibatches", MINIBATCHES, NULL, 0, "csv, jsonl: write minibatches and no samples", 0 },
	{ "waits", WAITS, NULL, 0, "csv (default), jsonl: write the waits, and for each why a minibatch ends with it or not", 0 },
	{ "errors", ERRORS, NULL, 0, "profile: add the columns time_sd and power_sd (relative standard errors)", 0 },
	{ "pooled", POOLED, NULL, 0, "profile: write the measurements of other devices or releases, one median per mode", 0 },
	{ "presets", PRESETS, "FILE", 0, "nvpmodel: take the parameters from FILE; default: /etc/nvpmodel.conf", 0 },
	{ "id", ID, "N", 0, "nvpmodel: ID of the first block; default: the lowest free ID", 0 },
	{ "name", NAME, "NAME", 0, "nvpmodel: name of the first block; default: made from cores and clocks", 0 },
	{ 0 }
};

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct jetwatt_export_args *o = state->input;

	switch (key) {
	case 'f':
		o->format = arg;
		break;
	case 'o':
		o->out = arg;
		break;
	case RATE:
		o->hz = jetwatt_args_quantity("--rate", arg, "Hz", 0, 1e6);
		break;
	case MINIBATCHES:
		o->minibatches = 1;
		break;
	case WAITS:
		o->waits = 1;
		break;
	case POOLED:
		o->pooled = 1;
		break;
	case ERRORS:
		o->errors = 1;
		break;
	case PRESETS:
		o->presets = arg;
		break;
	case ID:
		o->id = jetwatt_args_count("--id", arg, 0, 1000000);
		break;
	case NAME:
		o->name = arg;
		break;
	case ARGP_KEY_ARG:
		if (o->nr_what == JETWATT_EXPORT_MAX)
			argp_error(state, "at most %d arguments are allowed", JETWATT_EXPORT_MAX);
		o->what[o->nr_what++] = arg;
		o->from = o->what[0];
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* State while a trace is exported. */
struct flow {
	struct jetwatt_export_rows rows;
	const struct jetwatt_replay *replay;
	struct jetwatt_export_run run;
};

/* Pass the job to the format as soon as the job is known: in a trace, the job comes after the first
 * samples. */
static void export_job(struct flow *flow)
{
	if (flow->run.pid || !flow->replay->job)
		return;
	flow->run.pid = flow->replay->session.pid;
	flow->run.begun_ns = flow->replay->session.begun_ns;
	if (flow->rows.format->job)
		flow->rows.format->job(&flow->rows.e);
}

static void export_on_power(const struct jetwatt_power *p, void *arg)
{
	struct flow *flow = arg;

	export_job(flow);
	jetwatt_export_rows_add(&flow->rows, p);
}

static void export_describe_run(const struct jetwatt_replay *r, struct jetwatt_export_run *run)
{
	const struct jetwatt_session *w = &r->session;

	*run = (struct jetwatt_export_run){
		.board = r->board, .kernel = r->kernel, .version = r->version,
		.command = r->command, .scope = r->scope, .rail = w->rail, .nr_rails = w->nr_rails,
		.total = w->total, .nr_total = w->nr_total, .clocks = r->clocks,
	};
}

static void export_waits(struct flow *flow, const struct jetwatt_run_energy *m)
{
	for (size_t i = 0; i < m->session->nr_sync; i++) {
		uint32_t in = m->why[i].minibatch;
		struct jetwatt_export_wait wait = { i, &m->session->sync[i], &m->why[i], NULL };

		if (in != JETWATT_BATCH_NONE)
			wait.kind = jetwatt_export_kind(&m->bound[in]);
		flow->rows.format->wait(&flow->rows.e, &wait);
	}
}

static void export_rest(struct flow *flow, const struct jetwatt_run_energy *m)
{
	const struct jetwatt_session *w = m->session;
	struct jetwatt_export_sums sums = {
		m->begun_ns, m->at_ns, m->covered_ns, jetwatt_run_energy_minibatches(m), w->waits,
		jetwatt_session_waits_lost(w), w->samples, w->lost, m->uj, m->rail_uj,
		.telemetry = w->telemetry,
	};

	jetwatt_each_slot(s)
		if (m->telemetry.slot[s].n &&
		    jetwatt_telemetry_row(s, NULL)->type == JETWATT_SERIES_TYPE_COUNTER)
			sums.telemetry.value[s] = m->telemetry.slot[s].counted;

	jetwatt_export_rows_end(&flow->rows);
	export_job(flow);
	if (flow->rows.e.waits)
		export_waits(flow, m);
	for (int i = 0; i < m->bounds && flow->rows.format->minibatch && !flow->rows.e.waits; i++) {
		struct jetwatt_export_cost cost = { jetwatt_run_energy_bound(m, &m->bound[i]), -1, '-' };
		struct jetwatt_batch_energy_result c;

		if (!jetwatt_energy_error_of(&m->error, &m->bound[i], &c)) {
			cost.sd_uj = c.total_sd_uj;
			cost.grade = c.grade;
		}
		flow->rows.format->minibatch(&flow->rows.e, &m->bound[i], &cost);
	}
	if (flow->rows.format->end)
		flow->rows.format->end(&flow->rows.e, &sums);
}

static void export_on_counts(const struct jetwatt_trace_counts *c, void *arg)
{
	struct flow *flow = arg;
	const struct jetwatt_units *units = &flow->replay->units;

	for (uint32_t i = 0; i < c->nr && flow->rows.format->count; i++)
		if (!c->count[i].missing && c->count[i].counter < (uint32_t)units->nr)
			flow->rows.format->count(&flow->rows.e, units->unit[c->count[i].counter].name, c->begin_ns,
					    c->end_ns, c->count[i].value);
}

static int export_unwritable(const struct jetwatt_export_args *o, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				 "name a file that can be written with -o; check that the disk is not full",
				 "cannot write %s", o->out);
}

/* Open the output file. @r: the trace, NULL: none. Return: 0; exit code, after printing the error. */
static int export_open_output(struct jetwatt_export_args *o, const struct jetwatt_replay *r)
{
	int err;

	o->f = stdout;
	if (!o->out || !strcmp(o->out, "-"))
		return 0;
	if (r && jetwatt_replay_reads(r, o->out))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "the trace would be overwritten",
					    "name another file with -o",
					    "-o: %s is the trace that is exported", o->out);
	err = jetwatt_outfile_open(&o->file, o->out, 0666);
	o->f = o->file.f;
	return err ? export_unwritable(o, err) : 0;
}

/* Close the output file; an export that has failed, with @err, leaves an existing file as it is. main()
 * reports failed writes to standard output. Return: @err; exit code, after printing the error. */
static int export_close_output(struct jetwatt_export_args *o, int err)
{
	int rc = jetwatt_outfile_end(&o->file, err);

	return !err && rc ? export_unwritable(o, rc) : err;
}

static int export_trace(struct jetwatt_export_args *o, const struct jetwatt_export_format *format)
{
	struct flow flow = { .rows.format = format };
	struct jetwatt_replay replay;
	struct jetwatt_run_energy m = { 0 };
	double hz = o->hz >= 0 ? o->hz : format->hz;
	int err = jetwatt_replay_open(&replay, o->from);

	if (!err)
		err = export_open_output(o, &replay);
	if (!err) {
		export_describe_run(&replay, &flow.run);
		flow.rows.e.f = o->f;
		flow.rows.e.run = &flow.run;
		jetwatt_telemetry_clear(&flow.rows.e.last_telemetry);
		flow.rows.e.minibatches = o->minibatches;
		flow.rows.e.waits = replay.session.explain = o->waits;
		flow.rows.every_ns = hz > 0 ? 1e9 / hz : 0;
		replay.session.on_power = export_on_power;
		replay.session.arg = &flow;
		replay.on_counts = export_on_counts;
		if (format->begin && format->begin(&flow.rows.e))
			err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
						"cannot export %s", o->from);
	}
	if (!err) {
		flow.replay = &replay;
		err = jetwatt_replay_run(&replay, &m);
	}
	if (!err)
		export_rest(&flow, &m);
	free(flow.rows.e.state);
	jetwatt_run_energy_free(&m);
	jetwatt_replay_close(&replay);
	return err;
}

static const struct row *find_format(const char *name)
{
	const char *word[NR + 1] = { NULL };
	char fix[96] = "jetwatt export --help lists the formats";

	for (size_t i = 0; i < NR; i++) {
		word[i] = rows[i].name;
		if (name && !strcmp(name, rows[i].name))
			return &rows[i];
	}
	if (!name)
		jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, "no format is given");
	else {
		if (jetwatt_suggest(name, word))
			snprintf(fix, sizeof(fix), "did you mean %s?", jetwatt_suggest(name, word));
		jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, fix, "unknown format: %s", name);
	}
	return NULL;
}

/* Check that the format can write waits, and that --waits is not combined with --minibatches.
 * Return: 0; exit code, after printing the error. */
static int check_rows(const struct jetwatt_export_args *o, const struct row *row)
{
	if (o->waits && o->minibatches)
		return jetwatt_error_report(JETWATT_EXIT_USAGE,
					 "an exported file has rows of one kind",
					 "export them into two files; the column minibatch joins them",
					 "--waits and --minibatches cannot be combined");
	if (o->waits && (!row->format || !row->format->wait))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, "this format has no rows for waits",
					 "--format csv or --format jsonl",
					 "--waits cannot be combined with --format %s",
					 row->name);
	return 0;
}

/* Write the export into memory first, so that an export that fails writes nothing. For short outputs. */
static int export_buffered(struct jetwatt_export_args *o, const struct row *row)
{
	char *text = NULL;
	size_t len = 0;
	int err;

	o->f = open_memstream(&text, &len);
	if (!o->f)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno),
					 jetwatt_error_advice(errno), "cannot export");
	err = row->write(o, NULL);
	fclose(o->f);
	if (!err)
		err = export_open_output(o, NULL);
	if (!err)
		fwrite(text, 1, len, o->f);
	free(text);
	return export_close_output(o, err);
}

int jetwatt_cmd_export(int argc, char **argv)
{
	static const struct jetwatt_args_group group[] = {
		{ &jetwatt_profile_store_db_argp, offsetof(struct jetwatt_export_args, db) }, { NULL, 0 },
	};
	struct jetwatt_export_args o = { .hz = -1, .f = stdout, .id = -1 };
	char doc[1024] = "Convert a trace, profiles or modes into the format of another program.\vFormats:\n";
	const struct row *row;

	for (size_t i = 0; i < NR; i++)
		snprintf(doc + strlen(doc), sizeof(doc) - strlen(doc), "  %-12s %s\n", rows[i].name,
			 rows[i].does);
	jetwatt_args_parse_with("export", "--format FORMAT TRACE\n--waits TRACE\n--format profile [PROFILE...]\n"
				"--format nvpmodel MODE...", doc, options, export_parse, group,
				argc, argv, &o);
	row = find_format(o.waits && !o.format ? rows[0].name : o.format);
	if (!row || check_rows(&o, row))
		return JETWATT_EXIT_USAGE;
	if (!row->format)
		return export_buffered(&o, row);
	if (o.nr_what > 1)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					    "export the traces one by one",
					 "only one trace can be exported at a time");
	if (!o.from)
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					 "give a file of jetwatt record, or - for standard input",
					 "no trace is given");
	return export_close_output(&o, row->write(&o, row->format));
}
