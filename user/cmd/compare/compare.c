// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt compare: compare two recorded runs quantity by quantity, and name the rail that accounts
 * for most of the change in energy. minibatch_table.h reads the traces, effect_size.h tests whether
 * a difference is significant.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/compare/effect_size.h"
#include "cmd/compare/minibatch_table.h"
#include "cmd/stat/fail_if.h"
#include "cmd/verbs.h"
#include "out/json.h"
#include "out/terminal.h"
#include "util/error.h"

enum { JSON = JETWATT_ARGS_LONG, FAIL_IF };

#define UNIT_LINES	3	/* for each counter of work units */
#define LINES_MAX	(JETWATT_TABLE_MAX + 2 + UNIT_LINES * JETWATT_UNITS_MAX)
#define KEY_LEN		(JETWATT_UNIT_NAME_LEN + 8)
#define METRICS_MAX	(JETWATT_TABLE_RAILS + 2 * UNIT_LINES * JETWATT_UNITS_MAX)

struct compare_input {
	struct jetwatt_args args;
	const char *trace[2], *fail_if;
	int json;
};

/* One row of the table: a quantity and its values in both runs. @part: 1: the quantity is the
 * energy of one rail. @per: name of the work unit; NULL: the quantity is per minibatch. @key: name for
 * --fail-if; "": none. */
struct compare_line {
	char name[JETWATT_LABEL_LEN + 8], key[KEY_LEN];
	const char *unit, *per;
	int part;
	struct jetwatt_effect e;
};

static const struct argp_option options[] = {
	{ "fail-if", FAIL_IF, "RULE", 0, "Exit with status 1 if RULE is true, for example 'J/minibatch.change > 5'", 0 },
	{ "json", JSON, NULL, 0, "Print the result as JSON", 0 },
	{ 0 }
};

static error_t compare_parse(int key, char *arg, struct argp_state *state)
{
	struct compare_input *in = state->input;

	switch (key) {
	case JSON:
		in->json = 1;
		break;
	case FAIL_IF:
		jetwatt_fail_if_option(&in->fail_if, arg);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL, "give exactly two traces",
					       "more than two traces"));
		in->trace[state->arg_num] = arg;
		break;
	case ARGP_KEY_END:
		if (!in->trace[1])
			exit(jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					       "give two files of jetwatt record: before, after",
					       "two traces are needed"));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct {
	const char *name, *unit, *key;
} quantity[JETWATT_TABLE_RAILS] = {
	[JETWATT_TABLE_TIME] = { "time", "ms", "ms/minibatch" },
	[JETWATT_TABLE_FETCH] = { "fetch stall", "ms", "" },
	[JETWATT_TABLE_GPU] = { "GPU busy", "ms", "" },
	[JETWATT_TABLE_ENERGY] = { "energy", "J", "J/minibatch" },
	[JETWATT_TABLE_POWER] = { "power", "W", "W" }, [JETWATT_TABLE_CORES] = { "cores", "", "" },
	[JETWATT_TABLE_CPU] = { "CPU clock", "MHz", "" },
	[JETWATT_TABLE_GPU_CLOCK] = { "GPU clock", "MHz", "" },
	[JETWATT_TABLE_EMC] = { "EMC clock", "MHz", "" },
};

/* Rails are matched by label, because two boards may have different rails, or list them in a
 * different order. Return: index, -1: none. */
static int compare_find_rail(const struct jetwatt_minibatch_table *rows, const char *label)
{
	for (int r = 0; r < rows->nr_rails; r++)
		if (!strcmp(rows->rail[r], label))
			return r;
	return -1;
}

static int compare_add_line(struct compare_line *line, int *n, const char *name, const char *unit,
			    int part, const double *a, size_t na, const double *b, size_t nb)
{
	struct compare_line *l = &line[(*n)++];

	snprintf(l->name, sizeof(l->name), "%s", name);
	l->unit = unit;
	l->part = part;
	return jetwatt_effect(a, na, b, nb, &l->e);
}

/* Names for --fail-if of the figures per work unit. */
static const char * const unit_key[UNIT_LINES] = { "ms/%s", "J/%s", "W.%s" };

/* Compare the figures per work unit. */
static void compare_add_unit(struct compare_line *line, int *n, const struct jetwatt_table_unit *a,
			     const struct jetwatt_table_unit *b)
{
	const struct {
		const char *name, *unit;
		double mean[2], sd[2];
	} row[UNIT_LINES] = {
		{ "time", "ms", { a->ms, b->ms }, { a->ms_sd, b->ms_sd } },
		{ "energy", "J", { a->j, b->j }, { a->j_sd, b->j_sd } },
		{ "power", "W", { a->w, b->w }, { a->w_sd, b->w_sd } },
	};

	for (int i = 0; i < UNIT_LINES; i++) {
		struct compare_line *l = &line[(*n)++];

		snprintf(l->name, sizeof(l->name), "%s", row[i].name);
		snprintf(l->key, KEY_LEN, unit_key[i], a->name);
		l->unit = row[i].unit;
		l->per = a->name;
		jetwatt_effect_single(row[i].mean, row[i].sd, &l->e);
	}
}

/* Compare all quantities. @line: LINES_MAX entries. Return: number of lines, -ENOMEM. */
static int compare_rows(const struct jetwatt_minibatch_table *a,
			const struct jetwatt_minibatch_table *b, struct compare_line *line)
{
	int n = 0, err = 0;

	for (int k = 0; k < JETWATT_TABLE_RAILS && !err && a->nr && b->nr; k++) {
		err = compare_add_line(line, &n, quantity[k].name, quantity[k].unit, 0,
				       a->column[k], a->nr, b->column[k], b->nr);
		snprintf(line[n - 1].key, KEY_LEN, "%s", quantity[k].key);
		for (int r = 0; r < a->nr_rails && k == JETWATT_TABLE_ENERGY && !err; r++) {
			int other = compare_find_rail(b, a->rail[r]);

			if (other >= 0)
				err = compare_add_line(line, &n, a->rail[r], "J", 1,
						       a->column[JETWATT_TABLE_RAILS + r],
						       a->nr,
						       b->column[JETWATT_TABLE_RAILS + other],
						       b->nr);
		}
	}
	if (!err && a->nr_eval && b->nr_eval)
		err = compare_add_line(line, &n, "evaluation", "ms", 0, a->eval_ms, a->nr_eval,
				       b->eval_ms, b->nr_eval);
	if (!err && a->nr_eval && b->nr_eval)
		err = compare_add_line(line, &n, "evaluation", "J", 0, a->eval_j, a->nr_eval,
				       b->eval_j, b->nr_eval);
	for (int i = 0; i < a->nr_units && !err; i++)
		for (int k = 0; k < b->nr_units; k++)
			if (!strcmp(a->unit[i].name, b->unit[k].name) && a->unit[i].j > 0 && b->unit[k].j > 0)
				compare_add_unit(line, &n, &a->unit[i], &b->unit[k]);
	return err ? err : n;
}

/* Find the rail whose energy changed most. @changed: 1: the change of the total energy is
 * significant; else 0. @share: the rail's share of the change in total energy; above 1 or negative if
 * other rails changed in the opposite direction. Return: the rail; NULL if the change of the total
 * energy or of every rail's energy is not significant. */
static const struct compare_line *largest_rail_change(const struct compare_line *line, int n,
						      int *changed, double *share)
{
	const struct compare_line *most = NULL, *energy = NULL;

	for (int i = 0; i < n; i++) {
		if (!line[i].part && !line[i].per && !strcmp(line[i].name, "energy"))
			energy = &line[i];
		if (line[i].part && jetwatt_effect_moved(&line[i].e) &&
		    (!most || fabs(line[i].e.mean[1] - line[i].e.mean[0]) >
			      fabs(most->e.mean[1] - most->e.mean[0])))
			most = &line[i];
	}
	*changed = energy && jetwatt_effect_moved(&energy->e);
	if (!most || !*changed)
		return NULL;
	*share = (most->e.mean[1] - most->e.mean[0]) / (energy->e.mean[1] - energy->e.mean[0]);
	return most;
}

static void confidence_text(const struct jetwatt_effect *e, char *buf, size_t len)
{
	if (e->confidence < 0)
		snprintf(buf, len, "too few");
	else if (e->change == 0 && e->lo == e->hi)
		snprintf(buf, len, "same");
	else if (e->confidence > 0.999)
		snprintf(buf, len, ">99.9 %%");
	else
		snprintf(buf, len, "%.1f %%", 100 * e->confidence);
}

/* Reduce the number of digits until the value fits the 7 characters of its column. */
static void value_text(double v, char *buf, size_t len)
{
	for (int digits = 4; digits > 1 && snprintf(buf, len, "%.*g", digits, v) > 7; digits--)
		;
}

/* Format a relative change in percent, or as a factor if @factor is set; "-" if it is not known. */
static void change_text(double change, int factor, char *buf, size_t len)
{
	if (isnan(change))
		snprintf(buf, len, "-");
	else if (factor)
		snprintf(buf, len, "x%.3g", 1 + change);
	else
		snprintf(buf, len, "%+.1f", 100 * change);
}

static void compare_print(const struct compare_input *in,
			  const struct jetwatt_minibatch_table *rows,
			  const struct compare_line *line, int n)
{
	const struct compare_line *most;
	double share;
	int changed;
	char conf[16], mean[2][16], change[16], lo[16], hi[16], command[sizeof(rows->command)];
	char board[2][sizeof(rows->board)];

	for (int k = 0; k < 2; k++)
		printf(" %c  %s: %s%s%zu minibatches\n", 'a' + k, in->trace[k],
		       jetwatt_terminal_plain(rows[k].command, command, sizeof(command)),
		       *rows[k].command ? ", " : "", rows[k].nr);
	if (strcmp(rows[0].board, rows[1].board))
		jetwatt_notice("the traces are from different boards: %s and %s",
			       jetwatt_terminal_plain(rows[0].board, board[0], sizeof(board[0])),
			       jetwatt_terminal_plain(rows[1].board, board[1], sizeof(board[1])));
	for (int i = 0; i < n; i++) {
		if (!i || line[i].per != line[i - 1].per)
			printf("\n per %-16.16s     a        b       change  95 %% interval   effect   sure\n",
			       line[i].per ? line[i].per : "minibatch");
		const struct jetwatt_effect *e = &line[i].e;
		int moved = jetwatt_effect_moved(e), factor = e->change >= 9, percent = !factor && !isnan(e->change);

		confidence_text(e, conf, sizeof(conf));
		for (int k = 0; k < 2; k++)
			value_text(e->mean[k], mean[k], sizeof(mean[k]));
		change_text(e->change, factor, change, sizeof(change));
		change_text(e->lo, factor, lo, sizeof(lo));
		change_text(e->hi, factor, hi, sizeof(hi));
		printf("%s%c%s%-*.*s %7s %8s %-3s %s%6s %c%s %6s .. %-6s %-6s%8s\n",
		       moved ? jetwatt_terminal_color(&in->args, 'b') : "", moved ? '*' : ' ',
		       line[i].part ? "  " : "", line[i].part ? 15 : 17,
		       line[i].part ? 15 : 17, line[i].name, mean[0], mean[1], line[i].unit,
		       moved ? jetwatt_terminal_color(&in->args, e->mean[1] > e->mean[0] ? 'r' : 'g') : "",
		       change, percent ? '%' : ' ', moved ? jetwatt_terminal_color_end(&in->args) : "", lo,
		       hi, jetwatt_effect_size(e), conf);
	}
	most = largest_rail_change(line, n, &changed, &share);
	if (most)
		printf("\n %.0f %% of the change in energy is on %s\n", 100 * share, most->name);
	else if (changed)
		printf("\n the energy has changed, but that of no rail significantly\n");
	else if (rows[0].nr && rows[1].nr)
		printf("\n the energy has not changed significantly\n");
}

static void compare_print_json(const struct compare_input *in,
			       const struct jetwatt_minibatch_table *rows,
			       const struct compare_line *line, int n)
{
	const struct compare_line *most;
	struct jetwatt_json j;
	double share;
	int changed;

	jetwatt_json_init(&j, stdout, 1);
	jetwatt_json_object(&j, NULL);
	for (int k = 0; k < 2; k++) {
		jetwatt_json_object(&j, k ? "b" : "a");
		jetwatt_json_string(&j, "trace", in->trace[k]);
		jetwatt_json_string(&j, "board", rows[k].board);
		jetwatt_json_string(&j, "command", rows[k].command);
		jetwatt_json_uint(&j, "minibatches_used", rows[k].nr);
		jetwatt_json_end(&j);
	}
	jetwatt_json_array(&j, "quantities");
	for (int i = 0; i < n; i++) {
		const struct jetwatt_effect *e = &line[i].e;

		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "name", line[i].name);
		jetwatt_json_string(&j, "unit", line[i].unit);
		jetwatt_json_bool(&j, "rail", line[i].part);
		jetwatt_json_string(&j, "per", line[i].per ? line[i].per : "minibatch");
		jetwatt_json_real(&j, "a", e->mean[0], 7);
		jetwatt_json_real(&j, "b", e->mean[1], 7);
		jetwatt_json_real(&j, "change", e->change, 5);
		jetwatt_json_real(&j, "change_lo", e->lo, 5);
		jetwatt_json_real(&j, "change_hi", e->hi, 5);
		jetwatt_json_real(&j, "cliffs_delta", e->delta, 4);
		jetwatt_json_string(&j, "effect", jetwatt_effect_size(e));
		jetwatt_json_real(&j, "confidence", e->confidence < 0 ? NAN : e->confidence, 5);
		jetwatt_json_bool(&j, "moved", jetwatt_effect_moved(e));
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	most = largest_rail_change(line, n, &changed, &share);
	jetwatt_json_string(&j, "most_of_energy", most ? most->name : NULL);
	jetwatt_json_real(&j, "share_of_energy", most ? share : NAN, 4);
	jetwatt_json_end(&j);
}

/* The metrics of --fail-if; @effect: NULL if a trace lacks the metric. A metric that a trace lacks has a
 * valid name, so it is not a usage error. */
static struct {
	char key[KEY_LEN];
	const struct jetwatt_effect *effect;
} metric[METRICS_MAX];
static int nr_metrics;

/* The name of a metric is its key, "." and one of these. */
static const char *const metric_part[] = { "change", "a", "b", "sure" };

/* Add a metric, if it is not in the table yet. */
static void metric_add(const char *format, const char *name, const struct compare_line *line, int n)
{
	char *key = metric[nr_metrics].key;

	snprintf(key, KEY_LEN, format, name);
	for (int i = 0; i < nr_metrics; i++)
		if (!strcmp(metric[i].key, key))
			return;
	metric[nr_metrics].effect = NULL;
	for (int i = 0; i < n; i++)
		if (!strcmp(line[i].key, key))
			metric[nr_metrics].effect = &line[i].e;
	nr_metrics++;
}

static void metrics_add(const struct jetwatt_minibatch_table rows[2], const struct compare_line *line, int n)
{
	for (int k = 0; k < JETWATT_TABLE_RAILS; k++)
		if (*quantity[k].key)
			metric_add("%s", quantity[k].key, line, n);
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < rows[t].nr_units; i++)
			for (int k = 0; k < UNIT_LINES; k++)
				metric_add(unit_key[k], rows[t].unit[i].name, line, n);
}

static const char *metric_name(int i)
{
	static char name[KEY_LEN + 8];

	snprintf(name, sizeof(name), "%s.change", metric[i].key);
	return name;
}

static int metric_find(const char *name, size_t len, double *value, void *arg)
{
	(void)arg;
	for (int i = 0; i < nr_metrics; i++) {
		const struct jetwatt_effect *e = metric[i].effect;
		const double v[] = { e ? 100 * e->change : NAN, e ? e->mean[0] : NAN, e ? e->mean[1] : NAN,
				     e && e->confidence >= 0 ? 100 * e->confidence : NAN };
		size_t key = strlen(metric[i].key);

		for (int k = 0; k < 4; k++)
			if (len == key + 1 + strlen(metric_part[k]) && !memcmp(name, metric[i].key, key) &&
			    name[key] == '.' && !memcmp(name + key + 1, metric_part[k], len - key - 1)) {
				*value = v[k];
				return isnan(v[k]) ? -ENODATA : 0;
			}
	}
	return -ENOENT;
}

int jetwatt_cmd_compare(int argc, char **argv)
{
	static struct jetwatt_minibatch_table rows[2];
	static struct compare_line line[LINES_MAX];
	struct compare_input in = { 0 };
	int err, n;

	jetwatt_args_parse("compare", "TRACE TRACE",
			   "Show which quantities differ between two recorded runs.\v"
			   "* marks a change with a confidence of at least 99 % and, per minibatch, an "
			   "effect that is at least small (Cliff's delta).", options, compare_parse, argc, argv, &in);
	err = jetwatt_minibatch_table_read(&rows[0], in.trace[0]);
	if (!err)
		err = jetwatt_minibatch_table_read(&rows[1], in.trace[1]);
	n = err ? 0 : compare_rows(&rows[0], &rows[1], line);
	if (!err && n >= 0 && in.fail_if) {
		metrics_add(rows, line, n);
		jetwatt_fail_if_check(in.fail_if, metric_find, NULL, metric_name, nr_metrics);
	}
	if (n < 0)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-n), NULL,
					"cannot compare the traces");
	else if (!err && in.json)
		compare_print_json(&in, rows, line, n);
	else if (!err)
		compare_print(&in, rows, line, n);
	if (!err && in.fail_if)
		err = jetwatt_fail_if(in.fail_if, metric_find, NULL);
	jetwatt_minibatch_table_free(&rows[0]);
	jetwatt_minibatch_table_free(&rows[1]);
	return err;
}
