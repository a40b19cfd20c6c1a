// SPDX-License-Identifier: GPL-2.0-only
/* Writes the HTML page of the demo's report, with the plots of user/out/report. */
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/report.h"
#include "store/csv.h"
#include "timeline.h"

#define FACTS	16
#define VALUE	64

struct facts {
	struct jetwatt_report_fact fact[FACTS];
	char value[FACTS][VALUE];
	size_t n;
};

static double number(const json_t *j, const char *object, const char *key)
{
	const json_t *o = object ? json_object_get(j, object) : j, *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void fact(struct facts *f, const char *name, const char *format, double a, double b)
{
	if (f->n == FACTS || isnan(a) || isnan(b))
		return;
	snprintf(f->value[f->n], VALUE, format, a, b);
	f->fact[f->n] = (struct jetwatt_report_fact){ name, f->value[f->n] };
	f->n++;
}

static void facts_fill(struct facts *f, const json_t *r)
{
	fact(f, "modes measured", "%.0f of %.0f", number(r, NULL, "modes_profiled"),
	     number(r, NULL, "modes_total"));
	fact(f, "time of the search", "%.0f s", number(r, NULL, "profile_seconds"), 0);
	fact(f, "samples; lost samples", "%.0f, %.0f", number(r, "sampler", "samples"),
	     number(r, "sampler", "lost"));
	fact(f, "rate of reads; of new values", "%.1f Hz, %.1f Hz", number(r, "sampler", "read_hz"),
	     number(r, "sampler", "fresh_hz"));
	fact(f, "minibatches detected; true number", "%.0f, %.0f", number(r, "minibatches", "detected"),
	     number(r, "minibatches", "true"));
	fact(f, "simulated board: chosen mode", "%.2f ms, %.2f W", number(r, "plant", "time_ms"),
	     number(r, "plant", "power_w"));
	fact(f, "simulated board: best mode within the budget", "%.2f ms, %.2f W",
	     number(r, "optimum", "time_ms"), number(r, "optimum", "power_w"));
	fact(f, "best mode within 98 % of the budget, outliers excluded", "%.2f ms, %.2f W",
	     number(r, "optimum_clean", "time_ms"), number(r, "optimum_clean", "power_w"));
	fact(f, "excess time of the chosen mode over this mode", "%+.2f %%", number(r, NULL, "time_penalty_pct"), 0);
	fact(f, "error of the measured energy of the run", "%+.2f %%",
	     number(r, NULL, "energy_error_pct"), 0);
}

static struct jetwatt_mode mode_of(const json_t *j)
{
	return (struct jetwatt_mode){
		.cores = json_integer_value(json_object_get(j, "cores")),
		.cpu_khz = json_integer_value(json_object_get(j, "cpu_khz")),
		.gpu_hz = json_integer_value(json_object_get(j, "gpu_hz")),
		.emc_hz = json_integer_value(json_object_get(j, "emc_hz")),
	};
}

static struct jetwatt_row *rows_of(const json_t *optimize, size_t *n)
{
	const json_t *rows = json_object_get(optimize, "rows");
	struct jetwatt_row *row = calloc(json_array_size(rows) + 1, sizeof(*row));

	*n = row ? json_array_size(rows) : 0;
	for (size_t i = 0; i < *n; i++) {
		const json_t *j = json_array_get(rows, i);

		row[i].mode = mode_of(j);
		row[i].time_ms = number(j, NULL, "time_ms");
		row[i].power_w = number(j, NULL, "power_w");
		row[i].time_sd = number(j, NULL, "time_sd");
		row[i].power_sd = number(j, NULL, "power_sd");
	}
	return row;
}

static struct jetwatt_prediction *predicted_of(const char *dir, size_t *n)
{
	struct jetwatt_csv_error err;
	struct jetwatt_prediction *p;
	struct jetwatt_row *row;
	char path[512];
	int rows;

	*n = 0;
	snprintf(path, sizeof(path), "%s/predictions.csv", dir);
	rows = jetwatt_csv_read(path, &row, NULL, &err);
	if (rows < 0)
		return NULL;
	p = calloc(rows + 1, sizeof(*p));
	for (int i = 0; p && i < rows; i++)
		p[i] = (struct jetwatt_prediction){ row[i].time_ms, row[i].power_w, row[i].time_sd,
						    row[i].power_sd };
	free(row);
	*n = p ? rows : 0;
	return p;
}

int page_write(const char *path, const char *dir, const json_t *optimize, const json_t *report)
{
	const json_t *c = json_object_get(optimize, "chosen");
	struct jetwatt_report_mark *mark = NULL;
	struct jetwatt_prediction promise, *predicted = NULL;
	struct jetwatt_report r = { 0 };
	struct jetwatt_row chosen, *measured = NULL;
	struct facts facts = { .n = 0 };
	struct timeline t = { 0 };
	char run[512];
	int err = -ENOMEM;
	FILE *f = NULL;

	snprintf(run, sizeof(run), "%s/run.jsonl", dir);
	if (timeline_read(&t, run) < 0)
		fprintf(stderr, "report: the page has no plot over time: cannot read %s\n", run);
	mark = calloc(t.marks + 1, sizeof(*mark));
	measured = rows_of(optimize, &r.nr_measured);
	if (!mark || !measured)
		goto out;
	for (size_t i = 0; i < t.marks; i++)
		mark[i].t_s = t.mark_s[i];
	facts_fill(&facts, report);
	if (json_is_object(c)) {
		chosen = (struct jetwatt_row){
			.mode = mode_of(c),
			.time_ms = number(c, NULL, "measured_time_ms"),
			.power_w = number(c, NULL, "measured_power_w"),
			.time_sd = number(c, NULL, "measured_time_sd"),
			.power_sd = number(c, NULL, "measured_power_sd"),
		};
		promise = (struct jetwatt_prediction){ number(c, NULL, "predicted_time_ms"),
						       number(c, NULL, "predicted_power_w"),
						       number(c, NULL, "predicted_time_sd"),
						       number(c, NULL, "predicted_power_sd") };
		r.chosen = &chosen;
		r.promise = &promise;
	}
	predicted = predicted_of(dir, &r.nr_predicted);
	r.title = "jetwatt: the best power mode within a budget";
	r.board = json_string_value(json_object_get(report, "board"));
	r.kernel = json_string_value(json_object_get(report, "kernel"));
	r.workload = json_string_value(json_object_get(report, "workload"));
	r.budget_w = number(report, NULL, "budget_w");
	r.predicted = predicted;
	r.measured = measured;
	r.t_s = t.t_s;
	r.w = t.w;
	r.nr_samples = t.n;
	r.bound_s = t.bound_s;
	r.nr_bounds = t.bounds;
	r.mark = mark;
	r.nr_marks = t.marks;
	r.fact = facts.fact;
	r.nr_facts = facts.n;
	r.note = "A simulated board: a real arm64 kernel in QEMU with a Jetson's sensors, clocks and "
		 "GPU nodes simulated by a module. True values come from the "
		 "simulation; only this report reads them.";
	f = fopen(path, "w");
	err = f ? jetwatt_report_html(f, &r) : -errno;
out:
	if (f && fclose(f))
		err = -EIO;
	free(mark);
	free(measured);
	free(predicted);
	timeline_free(&t);
	return err;
}
