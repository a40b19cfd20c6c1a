// SPDX-License-Identifier: GPL-2.0-only
/*
 * The run's sums as metrics, for a push gateway or node_exporter's textfile
 * directory: OpenMetrics 1.0, and Prometheus' text format 0.0.4, which names
 * counters' families otherwise. Base units; parents and children never share a
 * name, because the sum over all labels of a metric must mean something.
 */
#include "export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BUCKETS	16

/* Upper bounds of buckets, 1, 2, 5 by powers of ten: J, and s. */
static const double joules[BUCKETS] = { .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 50, 100, 200,
					500, 1000 };
static const double seconds[BUCKETS] = { .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10,
					 20, 50, 100 };

struct histogram {
	uint64_t below[BUCKETS], n;
	double sum;
};

struct state {
	int open;	/* OpenMetrics, not 0.0.4 */
	struct histogram joule, second;
	double stall_s, gpu_s;
	uint64_t grade[4];
};

static void observe(struct histogram *h, const double *bound, double v)
{
	for (int i = 0; i < BUCKETS; i++)
		h->below[i] += v <= bound[i];
	h->n++;
	h->sum += v;
}

static int begin_as(struct jetwatt_export *e, int open)
{
	struct state *st = calloc(1, sizeof(*st));

	if (!st)
		return -1;
	st->open = open;
	e->state = st;
	return 0;
}

static int begin_open(struct jetwatt_export *e)
{
	return begin_as(e, 1);
}

static int begin_plain(struct jetwatt_export *e)
{
	return begin_as(e, 0);
}

static void minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
		      const struct jetwatt_export_cost *c)
{
	struct state *st = e->state;

	if (b->kind != JETWATT_BATCH_TRAIN)
		return;
	observe(&st->second, seconds, (b->end_ns - b->start_ns) * 1e-9);
	if (c->uj >= 0)
		observe(&st->joule, joules, c->uj * 1e-6);
	st->stall_s += b->fetch_ns * 1e-9;
	st->gpu_s += b->gpu_ns * 1e-9;
	if (c->sd_uj >= 0)
		st->grade[c->grade - 'A']++;
}

/* A family's head; OpenMetrics leaves a counter's _total out of its name. */
static void family(struct jetwatt_export *e, const char *name, const char *type, const char *unit,
		   const char *help)
{
	const struct state *st = e->state;
	const char *total = *type == 'c' && !st->open ? "_total" : "";

	fprintf(e->f, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help, name, total, type);
	if (st->open && unit)
		fprintf(e->f, "# UNIT %s %s\n", name, unit);
}

static void value(FILE *f, const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if (*text == '\n')
			fputs("\\n", f);
		else
			putc(*text, f);
}

static void sample(FILE *f, const char *name, const char *label, const char *text, double v)
{
	fputs(name, f);
	if (label) {
		fprintf(f, "{%s=\"", label);
		value(f, text);
		fputs("\"}", f);
	}
	fprintf(f, " %.9g\n", v);
}

static void histogram(struct jetwatt_export *e, const char *name, const char *unit,
		      const double *bound, const struct histogram *h, const char *help)
{
	family(e, name, "histogram", unit, help);
	for (int i = 0; i < BUCKETS; i++)
		fprintf(e->f, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, bound[i], h->below[i]);
	fprintf(e->f, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_count %" PRIu64 "\n%s_sum %.9g\n", name, h->n,
		name, h->n, name, h->sum);
}

/* A rail that another one feeds is in that one's sum already. */
static int is_leaf_sum(const struct jetwatt_export_run *run, int r)
{
	for (int i = 0; i < run->nr_total; i++)
		if (run->total[i] == r)
			return 1;
	return 0;
}

static void rails(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	family(e, "jetwatt_rail_energy_joules", "counter", "joules",
	       "Energy of a rail that is a part of the total");
	for (int r = 0; r < e->run->nr_rails; r++)
		if (is_leaf_sum(e->run, r))
			sample(e->f, "jetwatt_rail_energy_joules_total", "rail", e->run->rail[r].label,
			       s->rail_uj[r] * 1e-6);
	family(e, "jetwatt_inner_rail_energy_joules", "counter", "joules",
	       "Energy of a rail that is inside another one or beside the total");
	for (int r = 0; r < e->run->nr_rails; r++)
		if (!is_leaf_sum(e->run, r) && e->run->rail[r].enabled)
			sample(e->f, "jetwatt_inner_rail_energy_joules_total", "rail",
			       e->run->rail[r].label, s->rail_uj[r] * 1e-6);
}

static void end(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	struct state *st = e->state;

	family(e, "jetwatt_module_energy_joules", "counter", "joules", "Energy of the total");
	sample(e->f, "jetwatt_module_energy_joules_total", "scope", e->run->scope, s->uj * 1e-6);
	rails(e, s);
	family(e, "jetwatt_run_seconds", "gauge", "seconds", "Length of the run");
	sample(e->f, "jetwatt_run_seconds", NULL, NULL, (s->ended_ns - s->begun_ns) * 1e-9);
	family(e, "jetwatt_run_covered_seconds", "gauge", "seconds", "Of that, time that lies in no gap");
	sample(e->f, "jetwatt_run_covered_seconds", NULL, NULL, s->covered_ns * 1e-9);
	family(e, "jetwatt_sampler_samples", "counter", NULL, "Samples received");
	sample(e->f, "jetwatt_sampler_samples_total", NULL, NULL, s->samples);
	family(e, "jetwatt_sampler_dropped_samples", "counter", NULL, "Samples that are missing");
	sample(e->f, "jetwatt_sampler_dropped_samples_total", NULL, NULL, s->lost);
	family(e, "jetwatt_waits_lost", "counter", NULL, "Waits for the GPU that are missing");
	sample(e->f, "jetwatt_waits_lost_total", NULL, NULL, s->waits_lost);
	family(e, "jetwatt_minibatch_stall_seconds", "counter", "seconds",
	       "Time of minibatches in which the GPU had no work of the job yet");
	sample(e->f, "jetwatt_minibatch_stall_seconds_total", NULL, NULL, st->stall_s);
	family(e, "jetwatt_minibatch_gpu_seconds", "counter", "seconds",
	       "Time of minibatches in which the GPU had work of the job");
	sample(e->f, "jetwatt_minibatch_gpu_seconds_total", NULL, NULL, st->gpu_s);
	family(e, "jetwatt_minibatches_graded", "counter", NULL,
	       "Minibatches by how well their energy is known, A to D");
	for (int i = 0; i < 4; i++)
		sample(e->f, "jetwatt_minibatches_graded_total", "grade", (const char[2]){ 'A' + i, '\0' },
		       st->grade[i]);
	histogram(e, "jetwatt_minibatch_energy_joules", "joules", joules, &st->joule,
		  "Energy per minibatch");
	histogram(e, "jetwatt_minibatch_duration_seconds", "seconds", seconds, &st->second,
		  "Time per minibatch");
	if (st->open)
		fputs("# EOF\n", e->f);
	free(st);
	e->state = NULL;
}

const struct jetwatt_export_format jetwatt_export_openmetrics = {
	.begin = begin_open, .minibatch = minibatch, .end = end,
}, jetwatt_export_prometheus = {
	.begin = begin_plain, .minibatch = minibatch, .end = end,
};
