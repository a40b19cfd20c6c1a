// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and values of the metrics of jetwatt stat. A metric whose member "main" is 1 is printed in
 * the summary of several runs.
 */
#include "cmd/stat/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	J, J_P50, J_P95, J_MAX, MS, MS_P50, MS_P95, MS_MAX, W, WAITS, TOTAL_J, AVERAGE_W, S,
	MINIBATCHES, CONFIDENCE, LOST, WAITS_LOST, CORES, GPU, FAULTS, MAJOR, READ_MB, READS,
	CACHED, STALL, GPU_WORK, ERROR, NR
};

static const struct {
	const char *name;
	int main;
} metrics[NR] = {
	[J] = { "J/minibatch", 1 },
	[J_P50] = { "J/minibatch.p50", 0 },
	[J_P95] = { "J/minibatch.p95", 1 },
	[J_MAX] = { "J/minibatch.max", 0 },
	[MS] = { "ms/minibatch", 1 },
	[MS_P50] = { "ms/minibatch.p50", 0 },
	[MS_P95] = { "ms/minibatch.p95", 1 },
	[MS_MAX] = { "ms/minibatch.max", 0 },
	[W] = { "W", 1 },
	[WAITS] = { "gpu_wait_share", 0 },
	[TOTAL_J] = { "J", 1 },
	[AVERAGE_W] = { "W.average", 1 },
	[S] = { "s", 1 },
	[MINIBATCHES] = { "minibatches", 1 },
	[CONFIDENCE] = { "confidence", 0 },
	[LOST] = { "lost", 0 },
	[WAITS_LOST] = { "waits_lost", 0 },
	[CORES] = { "cores", 1 },
	[GPU] = { "gpu", 0 },
	[FAULTS] = { "page_faults", 1 },
	[MAJOR] = { "major_faults", 0 },
	[READ_MB] = { "read_MB/s", 1 },
	[READS] = { "reads/s", 0 },
	[CACHED] = { "page_cache", 0 },
	[STALL] = { "stall_share", 0 },
	[GPU_WORK] = { "gpu_work_share", 0 },
	[ERROR] = { "energy_error_pct", 0 },
};

_Static_assert(NR + JETWATT_UNITS_MAX * JETWATT_UNIT_METRICS <= JETWATT_RUN_METRICS_MAX,
	       "enough entries for all metrics");

/* The metrics of a counter of --per, in the order of jetwatt_metric_collect_units(); all are printed
 * in the summary of several runs. */
static const char *const unit_figure[JETWATT_UNIT_METRICS] = {
	"J/%s", "ms/%s", "%s/s", "W.%s", "%s.count",
};

/* Names of the metrics of all counters, set while the command line is parsed. */
static char unit_name[JETWATT_UNITS_MAX * JETWATT_UNIT_METRICS][JETWATT_UNIT_NAME_LEN + 8];
static int unit_names;

int jetwatt_metric_count(void)
{
	return NR + unit_names;
}

const char *jetwatt_metric_name(int i)
{
	return i < NR ? metrics[i].name : unit_name[i - NR];
}

int jetwatt_metric_in_summary(int i)
{
	return i >= NR || metrics[i].main;
}

int jetwatt_metric_add_unit(const char *name)
{
	double one;

	for (int k = 0; k < JETWATT_UNIT_METRICS; k++) {
		char *to = unit_name[unit_names + k];

		/* The formats are constants of the table above. */
		snprintf(to, sizeof(unit_name[0]), unit_figure[k], name);
		if (jetwatt_metric_find(to, strlen(to), &one, NULL) != -ENOENT)
			return -EEXIST;
	}
	unit_names += JETWATT_UNIT_METRICS;
	return 0;
}

void jetwatt_metric_collect_units(struct jetwatt_run_metrics *f,
				  const struct jetwatt_work_unit *unit, int n)
{
	for (int i = 0; i < n; i++) {
		const struct jetwatt_work_unit *u = &unit[i];
		const double v[JETWATT_UNIT_METRICS] = {
			u->unit_j, u->unit_ms, u->rate_hz, u->power_w, u->units,
		};
		char name[sizeof(unit_name[0])];

		/* A counter that was not read has no result, so @unit may have fewer entries than
		 * there are counters. */
		snprintf(name, sizeof(name), unit_figure[0], u->name);
		for (int k = 0; k < unit_names; k += JETWATT_UNIT_METRICS)
			if (!strcmp(unit_name[k], name))
				memcpy(&f->v[NR + k], v, sizeof(v));
	}
}

void jetwatt_metric_collect(struct jetwatt_run_metrics *f, const struct jetwatt_summary *s,
			    const struct jetwatt_usage_result *u)
{
	double t = s->elapsed_s > 0 ? s->elapsed_s : NAN;

	for (int i = 0; i < JETWATT_RUN_METRICS_MAX; i++)
		f->v[i] = NAN;
	if (s->used) {
		f->v[J] = s->energy_j;
		f->v[J_P50] = s->energy.p50;
		f->v[J_P95] = s->energy.p95;
		f->v[J_MAX] = s->energy.max;
		f->v[MS] = s->row.time_ms;
		f->v[MS_P50] = s->time.p50;
		f->v[MS_P95] = s->time.p95;
		f->v[MS_MAX] = s->time.max;
		f->v[W] = s->row.power_w;
		f->v[WAITS] = s->wait_share;
		f->v[CONFIDENCE] = s->run->info.confidence;
		f->v[STALL] = s->stall_share;
		f->v[GPU_WORK] = s->gpu_share;
		if (s->error.n)
			f->v[ERROR] = s->error.error_pct;
	}
	f->v[TOTAL_J] = s->total_j;
	f->v[AVERAGE_W] = s->total_j / t;
	f->v[S] = s->elapsed_s;
	f->v[MINIBATCHES] = s->minibatches;
	f->v[LOST] = s->run->session->lost;
	f->v[WAITS_LOST] = s->waits_lost;
	f->v[CORES] = u->cores;
	f->v[GPU] = u->gpu < 0 ? NAN : u->gpu;
	f->v[FAULTS] = u->minor + u->major;
	f->v[MAJOR] = u->major;
	f->v[READ_MB] = u->job_read_bytes * 1e-6 / t;
	f->v[READS] = u->reads / t;
	f->v[CACHED] = u->cached < 0 ? NAN : u->cached;
}

int jetwatt_metric_find(const char *name, size_t len, double *value, void *figures)
{
	const struct jetwatt_run_metrics *f = figures;

	for (int i = 0; i < jetwatt_metric_count(); i++) {
		if (strlen(jetwatt_metric_name(i)) != len || memcmp(jetwatt_metric_name(i), name, len))
			continue;
		*value = f ? f->v[i] : 1;
		return isnan(*value) ? -ENODATA : 0;
	}
	return -ENOENT;
}

double jetwatt_metric_mean(const struct jetwatt_run_metrics *f, int n, int i, double *pct)
{
	double sum = 0, square = 0, mean;
	int known = 0;

	*pct = NAN;
	for (int r = 0; r < n; r++)
		if (!isnan(f[r].v[i])) {
			sum += f[r].v[i];
			known++;
		}
	if (!known)
		return NAN;
	mean = sum / known;
	for (int r = 0; r < n; r++)
		if (!isnan(f[r].v[i]))
			square += (f[r].v[i] - mean) * (f[r].v[i] - mean);
	if (known > 1 && mean != 0)
		*pct = 100 * sqrt(square / (known - 1) / known) / fabs(mean);
	return mean;
}
