// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the run as metrics in text format, for a push gateway or the textfile collector of
 * node_exporter.
 */
#include "out/export.h"

#include <stdlib.h>

#include "out/metrics.h"

struct metrics_state {
	struct jetwatt_metrics m;
	struct jetwatt_metrics_histogram joule, second;
	double stall_s, gpu_s;
	uint64_t grade[4];
};

static int metrics_begin(struct jetwatt_export *e, int open)
{
	struct metrics_state *st = calloc(1, sizeof(*st));

	if (!st)
		return -1;
	st->m = (struct jetwatt_metrics){ e->f, open };
	e->state = st;
	return 0;
}

static int begin_open(struct jetwatt_export *e)
{
	return metrics_begin(e, 1);
}

static int begin_plain(struct jetwatt_export *e)
{
	return metrics_begin(e, 0);
}

static void metrics_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			      const struct jetwatt_export_cost *c)
{
	struct metrics_state *st = e->state;

	if (b->kind != JETWATT_BATCH_TRAIN)
		return;
	jetwatt_metrics_observe(&st->second, jetwatt_metrics_seconds, (b->end_ns - b->start_ns) * 1e-9);
	if (c->uj >= 0)
		jetwatt_metrics_observe(&st->joule, jetwatt_metrics_joules, c->uj * 1e-6);
	st->stall_s += b->fetch_ns * 1e-9;
	st->gpu_s += b->gpu_ns * 1e-9;
	if (c->sd_uj >= 0)
		st->grade[c->grade - 'A']++;
}

/* Return: whether the rail is part of the total. A rail that is supplied by another one is part of
 * that rail's energy already. */
static int metrics_in_total(const struct jetwatt_export_run *run, int r)
{
	for (int i = 0; i < run->nr_total; i++)
		if (run->total[i] == r)
			return 1;
	return 0;
}

static void metrics_rails(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	const struct jetwatt_metrics *m = &((struct metrics_state *)e->state)->m;

	jetwatt_metrics_family(m, "jetwatt_rail_energy_joules", "counter", "joules",
			       "Energy of a rail that is a part of the total");
	for (int r = 0; r < e->run->nr_rails; r++)
		if (metrics_in_total(e->run, r))
			jetwatt_metrics_sample(m, "jetwatt_rail_energy_joules_total", "rail",
					       e->run->rail[r].label, s->rail_uj[r] * 1e-6);
	jetwatt_metrics_family(m, "jetwatt_inner_rail_energy_joules", "counter", "joules",
			       "Energy of a rail that is fed by another rail or does not belong to the total");
	for (int r = 0; r < e->run->nr_rails; r++)
		if (!metrics_in_total(e->run, r) && e->run->rail[r].enabled)
			jetwatt_metrics_sample(m, "jetwatt_inner_rail_energy_joules_total", "rail",
					       e->run->rail[r].label, s->rail_uj[r] * 1e-6);
}

static void metrics_minibatches(struct metrics_state *st)
{
	const struct jetwatt_metrics *m = &st->m;

	jetwatt_metrics_counter(m, "jetwatt_minibatch_stall_seconds", "seconds",
				"Time of training minibatches until the GPU had work of the job", st->stall_s);
	jetwatt_metrics_counter(m, "jetwatt_minibatch_gpu_seconds", "seconds",
				"Time of training minibatches in which the GPU had work of the job", st->gpu_s);
	jetwatt_metrics_family(m, "jetwatt_minibatches_graded", "counter", NULL,
			       "Training minibatches by the grade of their energy, A (most accurate) to D");
	for (int i = 0; i < 4; i++)
		jetwatt_metrics_sample(m, "jetwatt_minibatches_graded_total", "grade",
				       (const char[2]){ 'A' + i, '\0' }, st->grade[i]);
	jetwatt_metrics_family(m, "jetwatt_minibatch_energy_joules", "histogram", "joules",
			       "Energy per minibatch");
	jetwatt_metrics_histogram(m, "jetwatt_minibatch_energy_joules", NULL, NULL,
				  jetwatt_metrics_joules, &st->joule);
	jetwatt_metrics_family(m, "jetwatt_minibatch_duration_seconds", "histogram", "seconds",
			       "Time per minibatch");
	jetwatt_metrics_histogram(m, "jetwatt_minibatch_duration_seconds", NULL, NULL,
				  jetwatt_metrics_seconds, &st->second);
}

static void metrics_end(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	struct metrics_state *st = e->state;
	const struct jetwatt_metrics *m = &st->m;

	jetwatt_metrics_family(m, "jetwatt_module_energy_joules", "counter", "joules",
			       "Energy of the total");
	jetwatt_metrics_sample(m, "jetwatt_module_energy_joules_total", "scope", e->run->scope,
			       s->uj * 1e-6);
	metrics_rails(e, s);
	jetwatt_metrics_gauge(m, "jetwatt_run_seconds", "seconds", "Length of the run",
			      (s->ended_ns - s->begun_ns) * 1e-9);
	jetwatt_metrics_gauge(m, "jetwatt_run_covered_seconds", "seconds",
			      "Time of the run that lies in no gap of the samples",
			      s->covered_ns * 1e-9);
	jetwatt_metrics_counter(m, "jetwatt_sampler_samples", NULL, "Samples received", s->samples);
	jetwatt_metrics_counter(m, "jetwatt_sampler_dropped_samples", NULL, "Samples that are missing",
				s->lost);
	jetwatt_metrics_counter(m, "jetwatt_waits_lost", NULL, "Waits for the GPU that are missing",
				s->waits_lost);
	jetwatt_metrics_telemetry(m, &s->telemetry);
	metrics_minibatches(st);
	jetwatt_metrics_end(m);
	free(st);
	e->state = NULL;
}

const struct jetwatt_export_format jetwatt_export_openmetrics = {
	.begin = begin_open, .minibatch = metrics_minibatch, .end = metrics_end,
}, jetwatt_export_prometheus = {
	.begin = begin_plain, .minibatch = metrics_minibatch, .end = metrics_end,
};
