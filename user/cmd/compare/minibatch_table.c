// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a trace twice: the first pass finds the minibatches, the second one integrates power and
 * clocks at their boundaries.
 */
#include "cmd/compare/minibatch_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/error.h"

#define WARM_UP_MAX	10
#define CLOCKS		4

/* Energy of the total's rails in uJ and integrals of the clocks, from the first sample to t_ns. */
struct edge {
	uint64_t t_ns;
	double uj[JETWATT_RAILS_MAX], ticks[CLOCKS];
};

/**
 * struct side_sums - state of the second pass
 * @session: the replayed session
 * @edge, @nr: all minibatch boundaries in order of time; @next: index of the first minibatch
 *	boundary that is not reached yet
 * @at: energy of the total's rails, and integrals of the clocks, up to @last
 * @last: the last sample; @any: there was one
 */
struct side_sums {
	const struct jetwatt_session *session;
	struct edge *edge, at;
	size_t nr, next;
	struct jetwatt_power last;
	int any;
};

static int edge_by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct edge *)a)->t_ns, y = ((const struct edge *)b)->t_ns;

	return (x > y) - (x < y);
}

/* Extend the energy of the rails and the integrals of the clocks from the last sample to @t_ns. @p:
 * the next sample, at or after @t_ns. */
static void integrate_to(const struct side_sums *s, const struct jetwatt_power *p, uint64_t t_ns,
			 struct edge *to)
{
	const struct jetwatt_power pair[2] = { s->last, *p };
	double dt = (t_ns - s->last.time_ns) * 1e-9, uj;
	const struct jetwatt_mode *c = &s->last.clock;
	const double rate[CLOCKS] = { c->cores, c->cpu_khz * 1e-3, c->gpu_hz * 1e-6, c->emc_hz * 1e-6 };

	*to = s->at;
	to->t_ns = t_ns;
	for (int i = 0; i < s->session->nr_total; i++)
		if (!jetwatt_batch_energy(pair, 2, &s->session->total[i], 1, s->last.time_ns, t_ns,
					  &uj, NULL))
			to->uj[i] += uj;
	for (int k = 0; k < CLOCKS; k++)
		to->ticks[k] += rate[k] * dt;
}

static void table_on_power(const struct jetwatt_power *p, void *arg)
{
	struct side_sums *s = arg;
	struct edge at;

	for (; s->any && s->next < s->nr && s->edge[s->next].t_ns <= p->time_ns; s->next++)
		if (s->edge[s->next].t_ns >= s->last.time_ns)
			integrate_to(s, p, s->edge[s->next].t_ns, &s->edge[s->next]);
	if (s->any) {
		integrate_to(s, p, p->time_ns, &at);
		s->at = at;
	}
	s->last = *p;
	s->any = 1;
}

static int integrate_trace(struct side_sums *s, const char *path)
{
	struct jetwatt_replay r;
	int err = jetwatt_replay_open(&r, path), n = 0;

	s->session = &r.session;
	r.session.on_power = table_on_power;
	r.session.arg = s;
	while (!err && (n = jetwatt_replay_step(&r)) > 0) {
		/* Only the callback needs the samples and waits, so the session drops them at
		 * once. */
		jetwatt_session_discard(&r.session, r.session.power_ns);
		r.session.nr_sync = 0;
	}
	if (!err && n < 0)
		err = -n;
	if (!err && r.session.join)
		jetwatt_join_flush(r.session.join);
	jetwatt_replay_close(&r);
	return err;
}

static const struct edge *edge_at(const struct side_sums *s, uint64_t t_ns)
{
	struct edge key = { .t_ns = t_ns };

	return bsearch(&key, s->edge, s->nr, sizeof(key), edge_by_time);
}

static void table_add_minibatch(struct jetwatt_minibatch_table *rows,
				const struct jetwatt_batch_bound *b,
				const struct edge *from, const struct edge *to)
{
	double s = (b->end_ns - b->start_ns) * 1e-9, joule = 0;
	size_t i = rows->nr;

	for (int r = 0; r < rows->nr_rails; r++) {
		rows->column[JETWATT_TABLE_RAILS + r][i] = (to->uj[r] - from->uj[r]) * 1e-6;
		joule += rows->column[JETWATT_TABLE_RAILS + r][i];
	}
	if (b->kind == JETWATT_BATCH_EVAL) {
		rows->eval_ms[rows->nr_eval] = s * 1e3;
		rows->eval_j[rows->nr_eval++] = joule;
		return;
	}
	rows->column[JETWATT_TABLE_TIME][i] = s * 1e3;
	rows->column[JETWATT_TABLE_FETCH][i] = b->fetch_ns * 1e-6;
	rows->column[JETWATT_TABLE_GPU][i] = b->gpu_ns * 1e-6;
	rows->column[JETWATT_TABLE_ENERGY][i] = joule;
	rows->column[JETWATT_TABLE_POWER][i] = joule / s;
	for (int k = 0; k < CLOCKS; k++)
		rows->column[JETWATT_TABLE_CORES + k][i] = (to->ticks[k] - from->ticks[k]) / s;
	rows->nr++;
}

static int table_alloc(struct jetwatt_minibatch_table *rows, size_t n)
{
	int failed;

	for (int k = 0; k < JETWATT_TABLE_RAILS + rows->nr_rails; k++) {
		rows->column[k] = calloc(n + 1, sizeof(double));
		if (!rows->column[k])
			return -ENOMEM;
	}
	rows->eval_ms = calloc(n + 1, sizeof(double));
	rows->eval_j = calloc(n + 1, sizeof(double));
	failed = !rows->eval_ms || !rows->eval_j;
	return failed ? -ENOMEM : 0;
}

static int table_gather(struct jetwatt_minibatch_table *rows, const struct jetwatt_run_energy *m,
			const char *path)
{
	struct side_sums s = { .edge = calloc(2 * m->bounds + 1, sizeof(*s.edge)) };
	size_t skip = jetwatt_run_energy_minibatches(m) / 10, seen = 0;
	int err = s.edge ? table_alloc(rows, m->bounds) : -ENOMEM;

	if (err) {
		free(s.edge);
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 jetwatt_error_advice(err), "cannot read %s", path);
	}
	for (int i = 0; i < m->bounds; i++) {
		s.edge[s.nr++].t_ns = m->bound[i].start_ns;
		s.edge[s.nr++].t_ns = m->bound[i].end_ns;
	}
	qsort(s.edge, s.nr, sizeof(*s.edge), edge_by_time);
	err = integrate_trace(&s, path);
	skip = skip < WARM_UP_MAX ? skip : WARM_UP_MAX;
	for (int i = 0; i < m->bounds && !err; i++) {
		const struct jetwatt_batch_bound *b = &m->bound[i];

		if ((b->kind != JETWATT_BATCH_EVAL && !jetwatt_run_energy_counts(m, b)) ||
		    b->end_ns <= b->start_ns || jetwatt_run_energy_bound(m, b) < 0 ||
		    (b->kind == JETWATT_BATCH_TRAIN && seen++ < skip))
			continue;
		table_add_minibatch(rows, b, edge_at(&s, b->start_ns), edge_at(&s, b->end_ns));
	}
	free(s.edge);
	return err;
}

/* Return: number of work units whose figures are known. */
static int table_units(struct jetwatt_minibatch_table *rows, const struct jetwatt_replay *r)
{
	struct jetwatt_work_unit unit[JETWATT_UNITS_MAX];
	int n = jetwatt_replay_units(r, unit), known = 0;

	for (int i = 0; i < n; i++) {
		const struct jetwatt_work_unit *u = &unit[i];
		struct jetwatt_table_unit *to = &rows->unit[rows->nr_units++];

		snprintf(to->name, sizeof(to->name), "%s", u->name);
		if (!(u->unit_j > 0))
			continue;
		to->j = u->unit_j;
		to->ms = u->unit_ms;
		to->w = u->power_w;
		to->ms_sd = hypot(u->units_sd, u->rate_var);
		to->w_sd = hypot(u->energy_sd, u->power_var);
		to->j_sd = hypot(to->ms_sd, to->w_sd);
		known++;
	}
	return known;
}

int jetwatt_minibatch_table_read(struct jetwatt_minibatch_table *rows, const char *path)
{
	struct jetwatt_run_energy m = { 0 };
	struct jetwatt_replay r;
	int err = jetwatt_replay_open(&r, path), units = 0;
	struct stat st;

	memset(rows, 0, sizeof(*rows));
	if (!err && (!strcmp(path, "-") || fstat(r.fd, &st) || !S_ISREG(st.st_mode)))
		err = jetwatt_error_report(JETWATT_EXIT_USAGE, "each trace is read twice, so it must be a regular file",
					"write the trace to a file, and give its name",
					"cannot compare %s", r.path);
	if (!err)
		err = jetwatt_replay_run(&r, &m);
	rows->nr_rails = err ? 0 : r.session.nr_total;
	for (int i = 0; i < rows->nr_rails; i++)
		memcpy(rows->rail[i], r.session.rail[r.session.total[i]].label,
		       sizeof(rows->rail[i]));
	if (!err) {
		memcpy(rows->board, r.board, sizeof(rows->board));
		snprintf(rows->command, sizeof(rows->command), "%.250s", r.command);
		units = table_units(rows, &r);
		err = table_gather(rows, &m, path);
	}
	if (!err && !rows->nr && !units)
		err = jetwatt_error_report(JETWATT_EXIT_FAILED,
					"no minibatches were found in the trace",
					"jetwatt report shows what the trace contains",
					"cannot compare %s", path);
	jetwatt_run_energy_free(&m);
	jetwatt_replay_close(&r);
	return err;
}

void jetwatt_minibatch_table_free(struct jetwatt_minibatch_table *rows)
{
	for (int k = 0; k < JETWATT_TABLE_MAX; k++)
		free(rows->column[k]);
	free(rows->eval_ms);
	free(rows->eval_j);
}
