// SPDX-License-Identifier: GPL-2.0-only
/*
 * The demo's report: jetwatt's results of a run and the true values of the simulated board. Runs on
 * the host after the guest has ended.
 *
 *   report DIR OUT_DIR BUDGET_W WORKLOAD TIME_SCALE
 *
 * DIR contains the output of tests/demo/guest.sh.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "optimum.h"
#include "page.h"
#include "truth.h"

static const char *at(const char *dir, const char *name)
{
	static char path[4][512];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

/* Return the object "end" of an exported trace, which has the totals of the run; NULL: none. */
static json_t *record_end(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	json_t *end = NULL;

	while (f && getline(&line, &cap, f) > 0) {
		if (!strstr(line, "\"type\":\"end\"") && !strstr(line, "\"type\": \"end\""))
			continue;
		json_decref(end);
		end = json_loads(line, 0, NULL);
	}
	free(line);
	if (f)
		fclose(f);
	return end;
}

static int same_file(const char *a, const char *b)
{
	FILE *f = fopen(a, "r"), *g = fopen(b, "r");
	int same = f && g, c;

	while (same && (c = getc(f)) != EOF)
		same = c == getc(g);
	same = same && getc(g) == EOF && ftell(f) > 0;
	if (f)
		fclose(f);
	if (g)
		fclose(g);
	return same;
}

static json_t *time_power(const struct jetwatt_row *row, long i)
{
	return i < 0 ? json_null() : json_pack("{s:f,s:f}", "time_ms", row[i].time_ms,
					       "power_w", row[i].power_w);
}

static struct jetwatt_mode chosen_mode(const json_t *chosen)
{
	struct jetwatt_mode m = { 0 };

	m.cores = json_integer_value(json_object_get(chosen, "cores"));
	m.cpu_khz = json_integer_value(json_object_get(chosen, "cpu_khz"));
	m.gpu_hz = json_integer_value(json_object_get(chosen, "gpu_hz"));
	m.emc_hz = json_integer_value(json_object_get(chosen, "emc_hz"));
	return m;
}

/* Add the true time and power of the chosen mode, the true optima, and the excess time. */
static int add_optima(json_t *report, const char *dir, double budget)
{
	struct jetwatt_csv_error err;
	struct jetwatt_row *row = NULL;
	unsigned char *outlier = NULL;
	json_t *chosen = json_object_get(report, "chosen");
	struct jetwatt_mode mode = chosen_mode(chosen);
	int n = jetwatt_csv_read(at(dir, "truth-modes.csv"), &row, NULL, &err), ret = -ENOMEM;
	long mine, clean;

	if (n < 0) {
		fprintf(stderr, "report: %s, line %u: %s\n", at(dir, "truth-modes.csv"), err.line,
			err.text);
		return n;
	}
	outlier = malloc(n + 1);
	if (!outlier || optimum_outliers(row, n, outlier) < 0)
		goto out;
	mine = json_is_object(chosen) ? optimum_row(row, n, &mode) : -1;
	clean = optimum_find(row, n, outlier, 0.98 * budget);
	json_object_set_new(report, "plant", time_power(row, mine));
	json_object_set_new(report, "optimum", time_power(row, optimum_find(row, n, NULL, budget)));
	json_object_set_new(report, "optimum_clean", time_power(row, clean));
	json_object_set_new(report, "time_penalty_pct", mine < 0 || clean < 0 ? json_null() :
			    json_real(100 * (row[mine].time_ms / row[clean].time_ms - 1)));
	ret = 0;
out:
	free(outlier);
	free(row);
	return ret;
}

static void add_run(json_t *report, const char *dir)
{
	json_t *end = record_end(at(dir, "run.jsonl")), *batches = json_object();
	long true_count = truth_minibatches(at(dir, "truth-minibatches.csv"));
	double truth = 0, ours = json_number_value(json_object_get(end, "energy_uj"));
	uint64_t t0 = json_integer_value(json_object_get(end, "t0_ns"));
	uint64_t t1 = json_integer_value(json_object_get(end, "t1_ns"));
	int known = end ? truth_energy(at(dir, "truth-energy.csv"), t0, t1, &truth) : -ENODATA;

	json_object_set_new(batches, "true", true_count < 0 ? json_null() : json_integer(true_count));
	json_object_set_new(batches, "detected", end ? json_incref(json_object_get(end, "minibatches"))
						     : json_null());
	json_object_set_new(report, "minibatches", batches);
	json_object_set_new(report, "energy_error_pct", known < 0 || truth <= 0 ? json_null() :
			    json_real(100 * (ours / truth - 1)));
	json_object_set_new(report, "restored", json_boolean(
			    same_file(at(dir, "knobs.before"), at(dir, "knobs.after"))));
	json_decref(end);
}

/* Create the report with the keys that are copied from the result of jetwatt optimize. */
static json_t *contract(const json_t *optimize, double budget, const char *workload, double scale)
{
	static const char *const copy[] = { "board", "kernel", "modes_total", "modes_profiled",
					    "profile_seconds", "sampler", "chosen" };
	json_t *report = json_object();

	for (size_t i = 0; i < sizeof(copy) / sizeof(copy[0]); i++) {
		json_t *v = json_object_get(optimize, copy[i]);

		json_object_set_new(report, copy[i], v ? json_incref(v) : json_null());
		if (i == 1) {
			json_object_set_new(report, "workload", json_string(workload));
			json_object_set_new(report, "budget_w", json_real(budget));
		}
	}
	json_object_set_new(report, "time_scale", json_real(scale));
	return report;
}

static int write_json(const json_t *report, const char *path)
{
	FILE *f = fopen(path, "w");
	int err = f ? 0 : -errno;

	if (f && (json_dumpf(report, f, JSON_INDENT(2) | JSON_REAL_PRECISION(7)) < 0 ||
		  putc('\n', f) == EOF))
		err = -EIO;
	if (f && fclose(f) && !err)
		err = -EIO;
	return err;
}

int main(int argc, char **argv)
{
	json_t *optimize, *report;
	json_error_t err;
	const char *dir, *out;
	double budget;

	if (argc != 6) {
		fprintf(stderr, "usage: report DIR OUT_DIR BUDGET_W WORKLOAD TIME_SCALE\n");
		return 2;
	}
	dir = argv[1];
	out = argv[2];
	budget = atof(argv[3]);
	optimize = json_load_file(at(dir, "optimize.json"), 0, &err);
	if (!optimize) {
		fprintf(stderr, "report: %s: %s\n", at(dir, "optimize.json"), err.text);
		return 1;
	}
	report = contract(optimize, budget, argv[4], atof(argv[5]));
	add_run(report, dir);
	if (add_optima(report, dir, budget) < 0)
		return 1;
	mkdir(out, 0777);
	if (write_json(report, at(out, "report.json")) < 0) {
		fprintf(stderr, "report: %s: cannot write\n", at(out, "report.json"));
		return 1;
	}
	if (page_write(at(out, "report.html"), dir, optimize, report) < 0) {
		fprintf(stderr, "report: %s: cannot write\n", at(out, "report.html"));
		return 1;
	}
	json_decref(report);
	json_decref(optimize);
	return 0;
}
