// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the run as metrics in text format, for a push gateway or the textfile collector of
 * node_exporter.
 */
#include "out/export.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "minibatch/phases.h"
#include "out/metrics.h"

/**
 * struct metrics_state - sums over the minibatches
 * @of: of each phase; [0]: of the training minibatches, which are those of a run with one phase
 * @phases: number of phases so far
 */
struct metrics_state {
	struct jetwatt_metrics m;
	struct metrics_phase {
		struct jetwatt_metrics_histogram joule, second;
		double stall_s, gpu_s;
		uint64_t grade[4];
	} of[JETWATT_PHASES_MAX + 1];
	uint32_t phases;
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

static void add_minibatch(struct metrics_phase *p, const struct jetwatt_batch_bound *b,
			  const struct jetwatt_export_cost *c)
{
	jetwatt_metrics_observe(&p->second, jetwatt_metrics_seconds, (b->end_ns - b->start_ns) * 1e-9);
	if (c->uj >= 0)
		jetwatt_metrics_observe(&p->joule, jetwatt_metrics_joules, c->uj * 1e-6);
	p->stall_s += b->fetch_ns * 1e-9;
	p->gpu_s += b->gpu_ns * 1e-9;
	if (c->sd_uj >= 0)
		p->grade[c->grade - 'A']++;
}

static void metrics_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			      const struct jetwatt_export_cost *c)
{
	struct metrics_state *st = e->state;

	if (b->kind == JETWATT_BATCH_TRAIN)
		add_minibatch(&st->of[0], b, c);
	if (!b->phase || b->phase > JETWATT_PHASES_MAX)
		return;
	add_minibatch(&st->of[b->phase], b, c);
	st->phases = b->phase > st->phases ? b->phase : st->phases;
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

/* Write a family with a counter of each phase. @at: offset of the counter in struct metrics_phase. */
static void phase_counters(const struct jetwatt_metrics *m, const char *name, const char *help,
			   const struct metrics_phase *p, uint32_t phases, size_t at)
{
	char total[64], number[12];

	jetwatt_metrics_family(m, name, "counter", "seconds", help);
	snprintf(total, sizeof(total), "%s_total", name);
	for (uint32_t i = 0; i < phases; i++) {
		snprintf(number, sizeof(number), "%u", i + 1);
		jetwatt_metrics_sample(m, total, "phase", number, *(const double *)((const char *)&p[i] + at));
	}
}

/* As phase_counters(), for a histogram. @bound: the upper bounds of its buckets. */
static void phase_histograms(const struct jetwatt_metrics *m, const char *name, const char *unit,
			     const char *help, const double *bound, const struct metrics_phase *p,
			     uint32_t phases, size_t at)
{
	char number[12];

	jetwatt_metrics_family(m, name, "histogram", unit, help);
	for (uint32_t i = 0; i < phases; i++) {
		snprintf(number, sizeof(number), "%u", i + 1);
		jetwatt_metrics_histogram(m, name, "phase", number, bound,
					  (const void *)((const char *)&p[i] + at));
	}
}

static void metrics_minibatches(struct metrics_state *st)
{
	const struct jetwatt_metrics *m = &st->m;
	uint32_t n = st->phases > 1 ? st->phases : 1;
	const struct metrics_phase *p = &st->of[n > 1];

	phase_counters(m, "jetwatt_minibatch_stall_seconds",
		       "Time of minibatches until the GPU had work of the job, by phase", p, n,
		       offsetof(struct metrics_phase, stall_s));
	phase_counters(m, "jetwatt_minibatch_gpu_seconds",
		       "Time of minibatches in which the GPU had work of the job, by phase", p, n,
		       offsetof(struct metrics_phase, gpu_s));
	jetwatt_metrics_family(m, "jetwatt_minibatches_graded", "counter", NULL,
			       "Minibatches of phase 1 by the grade of their energy, A (most accurate) to D");
	for (int i = 0; i < 4; i++)
		jetwatt_metrics_sample(m, "jetwatt_minibatches_graded_total", "grade",
				       (const char[2]){ 'A' + i, '\0' }, p->grade[i]);
	phase_histograms(m, "jetwatt_minibatch_energy_joules", "joules", "Energy per minibatch, by phase",
			 jetwatt_metrics_joules, p, n, offsetof(struct metrics_phase, joule));
	phase_histograms(m, "jetwatt_minibatch_duration_seconds", "seconds", "Time per minibatch, by phase",
			 jetwatt_metrics_seconds, p, n, offsetof(struct metrics_phase, second));
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
