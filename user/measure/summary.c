// SPDX-License-Identifier: GPL-2.0-only
/* Computes the summary of a run and prints it as text or JSON. */
#include "measure/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/block_mean.h"
#include "measure/probe_report.h"
#include "measure/summary_phases.h"
#include "model/order.h"
#include "out/json.h"
#include "out/terminal.h"

/* maximum number of minibatches at the start that are discarded as warm-up */
#define WARM_UP_MAX	10
/* Power budget in the hint, as fraction of the job's measured power. */
#define HINT_SHARE	0.8

/* Compute the median, the 95th percentile and the maximum of @n values. Sorts @v. */
static void fill_spread(struct jetwatt_summary_spread *s, double *v, size_t n, double scale)
{
	if (!n)
		return;
	qsort(v, n, sizeof(*v), jetwatt_order_doubles);
	s->p50 = v[n / 2] * scale;
	s->p95 = v[(size_t)(0.95 * (n - 1) + 0.5)] * scale;
	s->max = v[n - 1] * scale;
}

static void fill_rates(struct jetwatt_summary *s, struct jetwatt_session *w)
{
	struct jetwatt_rail now[JETWATT_RAILS_MAX];
	int n = w->jw ? jetwatt_rails(w->jw, now, JETWATT_RAILS_MAX) : 0;

	s->requested_hz = s->read_hz = s->fresh_hz = INFINITY;
	for (int i = 0; i < w->nr_total; i++) {
		const struct jetwatt_rail *r = w->total[i] < n ? &now[w->total[i]] :
					       &w->rail[w->total[i]];

		s->requested_hz = fmin(s->requested_hz, r->requested_mhz * 1e-3);
		s->read_hz = fmin(s->read_hz, r->read_mhz * 1e-3);
		s->fresh_hz = fmin(s->fresh_hz, r->fresh_mhz * 1e-3);
	}
	s->missed = jetwatt_session_missed(w);
	s->waits_lost = jetwatt_session_waits_lost(w);
}

/* Return the end of the last warm-up minibatch, ns; 0: there is none. */
static uint64_t warm_up_end(const struct jetwatt_summary *s, const struct jetwatt_run_energy *m)
{
	size_t skip = s->minibatches / 10;
	uint64_t end_ns = 0;

	skip = skip < WARM_UP_MAX ? skip : WARM_UP_MAX;
	for (int i = 0; i < m->bounds && skip; i++)
		if (m->bound[i].kind == JETWATT_BATCH_TRAIN) {
			end_ns = m->bound[i].end_ns;
			skip--;
		}
	return end_ns;
}

static void add_minibatches(struct jetwatt_summary *s, const struct jetwatt_run_energy *m, double *time,
			    double *uj)
{
	double wait = 0, length = 0, stall = 0, gpu = 0;
	size_t n = 0;

	s->launched = m->bounds > 0;
	s->warm_ns = warm_up_end(s, m);
	for (int i = 0; i < m->bounds; i++) {
		const struct jetwatt_batch_bound *b = &m->bound[i];
		double e = jetwatt_run_energy_bound(m, b);

		s->warm_up += b->kind == JETWATT_BATCH_TRAIN && b->end_ns <= s->warm_ns;
		s->unmeasured += b->kind == JETWATT_BATCH_TRAIN && b->end_ns > s->warm_ns && e < 0;
		if (!jetwatt_run_energy_counts(m, b) || b->end_ns <= s->warm_ns || e < 0)
			continue;
		time[n] = b->end_ns - b->start_ns;
		uj[n] = e;
		length += time[n++];
		wait += b->wait_ns;
		stall += b->fetch_ns;
		gpu += b->gpu_ns;
		s->launched &= !!(b->flags & JETWATT_BATCH_LAUNCHED);
	}
	s->used = n;
	s->wait_share = length > 0 ? wait / length : 0;
	s->stall_share = length > 0 ? stall / length : 0;
	s->gpu_share = length > 0 ? gpu / length : 0;
	jetwatt_energy_error_end(&m->error, m->bound, m->bounds, m->phases > 1, &s->error);
	jetwatt_block_mean(time, uj, n, JETWATT_SUMMARY_BLOCK_NS, &s->row);
	s->energy_j = s->row.power_w * s->row.time_ms * 1e-3;
	fill_spread(&s->time, time, n, 1e-6);
	fill_spread(&s->energy, uj, n, 1e-6);
	jetwatt_summary_phases(s, time, uj);
}

int jetwatt_summary_make(struct jetwatt_summary *s, const struct jetwatt_run_energy *m)
{
	double *time = calloc(m->bounds + 1, sizeof(*time));
	double *uj = calloc(m->bounds + 1, sizeof(*uj));
	int err = -ENOMEM;

	memset(s, 0, sizeof(*s));
	s->run = m;
	if (time && uj) {
		s->minibatches = jetwatt_run_energy_minibatches(m);
		s->elapsed_s = (m->at_ns - m->begun_ns) * 1e-9;
		s->total_j = m->uj * 1e-6;
		add_minibatches(s, m, time, uj);
		fill_rates(s, m->session);
		err = 0;
	}
	free(time);
	free(uj);
	return err;
}

static void mode_line(const struct jetwatt_session *w, FILE *f)
{
	const struct jetwatt_power *p = w->nr_power ? &w->power[w->nr_power - 1] : NULL;
	char cpu[16], gpu[16], emc[16];

	if (!p)
		return;
	fprintf(f, " %u cores at %s, GPU %s, EMC %s", p->clock.cores,
		jetwatt_terminal_clock(p->clock.cpu_khz * 1000ull, cpu),
		jetwatt_terminal_clock(p->clock.gpu_hz, gpu),
		jetwatt_terminal_clock(p->clock.emc_hz, emc));
	if (p->temp_mc)
		fprintf(f, ", %.0f C", p->temp_mc * 1e-3);
	fprintf(f, "\n");
}

static void batch_lines(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a)
{
	const char *on = jetwatt_terminal_color(a, 'b'), *off = jetwatt_terminal_color_end(a);
	double e_sd = hypot(s->row.time_sd, s->row.power_sd);

	fprintf(f, " %zu minibatches (first %zu left out), %.3g wait%s each, confidence %.0f %%\n\n",
		s->minibatches, s->warm_up, s->run->info.period_syncs,
		s->run->info.period_syncs == 1 ? "" : "s",
		100 * s->run->info.confidence);
	jetwatt_summary_phases_print(s, f, a);
	fprintf(f, " %s%10.4g%s J   per minibatch  +- %.1f %%   p50 %.4g  p95 %.4g  max %.4g\n", on,
		s->energy_j, off, 100 * e_sd, s->energy.p50, s->energy.p95, s->energy.max);
	fprintf(f, " %s%10.4g%s ms  per minibatch  +- %.1f %%   p50 %.4g  p95 %.4g  max %.4g\n", on,
		s->row.time_ms, off, 100 * s->row.time_sd, s->time.p50, s->time.p95, s->time.max);
	fprintf(f, " %s%10.2f%s W   %-14s +- %.1f %%   waits for the GPU %.0f %% of the time\n", on,
		s->row.power_w, off, s->phases > 1 ? "in phase 1" : "while training",
		100 * s->row.power_sd, 100 * s->wait_share);
	fprintf(f, " %10.0f %%   without work for the GPU%s, %.0f %% with%s\n", 100 * s->stall_share,
		s->launched ? "" : " at most", 100 * s->gpu_share, s->launched ? "" : " at least");
	if (s->error.n)
		fprintf(f, " %10c     grade of a minibatch's energy: +- %.2g %% in 9 of 10, %.0f samples\n",
			s->error.grade, s->error.error_pct, s->error.samples);
}

static void rail_lines(const struct jetwatt_summary *s, FILE *f)
{
	const struct jetwatt_run_energy *m = s->run;
	const struct jetwatt_session *w = m->session;

	for (int i = 0; i < w->nr_total; i++) {
		int r = w->total[i];

		fprintf(f, " %10.2f W   %-18s %3.0f %%", s->elapsed_s > 0 ? m->rail_uj[r] * 1e-6 / s->elapsed_s : 0,
			w->rail[r].label, m->uj > 0 ? 100 * m->rail_uj[r] / m->uj : 0);
		if (s->used)
			fprintf(f, "   %.4g J per minibatch",
				s->energy_j * (m->uj > 0 ? m->rail_uj[r] / m->uj : 0));
		fprintf(f, "\n");
	}
}

void jetwatt_summary_print(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a)
{
	const struct jetwatt_run_energy *m = s->run;
	const struct jetwatt_session *w = m->session;
	double gap_s = s->elapsed_s - m->covered_ns * 1e-9;
	struct jetwatt_probe_state st;

	fprintf(f, "\n");
	mode_line(w, f);
	if (s->used)
		batch_lines(s, f, a);
	else
		fprintf(f, w->waits ? " %llu waits for the GPU, no minibatches used\n" :
			" no waits for the GPU detected\n", (unsigned long long)w->waits);
	fprintf(f, "\n");
	rail_lines(s, f);
	jetwatt_telemetry_print(&m->telemetry, f);
	fprintf(f, "\n %10.2f s   elapsed   %.5g J in all (%s)   %.2f W on average\n", s->elapsed_s,
		s->total_j, w->scope, s->elapsed_s > 0 ? s->total_j / s->elapsed_s : 0);
	if (s->read_hz > 0)
		fprintf(f, " %10.0f Hz  read, %.0f fresh, %.0f requested", s->read_hz,
			s->fresh_hz, s->requested_hz);
	else
		fprintf(f, " %10.0f Hz  requested; too short to tell what was read", s->requested_hz);
	fprintf(f, "; %llu samples, %llu lost\n", (unsigned long long)w->samples,
		(unsigned long long)w->lost);
	jetwatt_session_probe_state(w, &st);
	jetwatt_probe_report_print(&st, f);
	if (!w->waits || jetwatt_probe_report_backend(&st) == JETWATT_BACKEND_MODULE)
		for (int i = 0; i < JETWATT_BACKENDS; i++)
			if (st.why[i][0] && !(st.attached & 1u << i))
				fprintf(f, " hint: %s: %.60s\n", jetwatt_args_backend_name(1u << i),
					st.why[i]);
	if (!w->waits)
		fprintf(f, " hint: which calls of CUDA a running job makes: jetwatt doctor -p PID\n");
	if (w->lost)
		fprintf(f, " hint: %.3f s lie in gaps; power there is interpolated\n", gap_s);
	if (s->waits_lost)
		fprintf(f, " hint: %llu waits were lost: minibatches may be missing\n",
			(unsigned long long)s->waits_lost);
	if (s->unmeasured)
		fprintf(f, " hint: %zu more minibatches are left out: no samples cover their whole time\n",
			s->unmeasured);
	if (s->used && s->row.power_sd > 0.02)
		fprintf(f, " hint: the error of power is %.1f %%; measure for longer\n",
			100 * s->row.power_sd);
	if (s->used && s->row.time_ms * 1e-3 * s->fresh_hz < 1)
		fprintf(f, " hint: minibatches shorter than a refresh of the chip: p95, max of J inaccurate\n");
	if (s->used)
		fprintf(f, " hint: the fastest mode within less power: jetwatt optimize --power %.0fW -p PID\n",
			HINT_SHARE * s->row.power_w);
}

static void spread_json(struct jetwatt_json *j, const char *key,
			const struct jetwatt_summary_spread *v)
{
	jetwatt_json_object(j, key);
	jetwatt_json_real(j, "p50", v->p50, 7);
	jetwatt_json_real(j, "p95", v->p95, 7);
	jetwatt_json_real(j, "max", v->max, 7);
	jetwatt_json_end(j);
}

static void energy_error_json(struct jetwatt_json *j, const struct jetwatt_energy_errors *q)
{
	static const char *const grade[] = { "A", "B", "C", "D" };
	char median[2] = { q->grade, '\0' };

	jetwatt_json_object(j, "quality");
	jetwatt_json_string(j, "grade", median);
	jetwatt_json_real(j, "energy_error_pct", q->error_pct, 4);
	jetwatt_json_real(j, "fresh_samples", q->samples, 4);
	for (int i = 0; i < 4; i++)
		jetwatt_json_uint(j, grade[i], q->grades[i]);
	jetwatt_json_end(j);
}

static void batch_json(struct jetwatt_json *j, const struct jetwatt_summary *s)
{
	jetwatt_json_uint(j, "minibatches", s->minibatches);
	jetwatt_json_uint(j, "minibatches_used", s->used);
	if (!s->used)
		return;
	jetwatt_json_real(j, "waits_per_minibatch", s->run->info.period_syncs, 6);
	jetwatt_json_real(j, "confidence", s->run->info.confidence, 4);
	jetwatt_json_real(j, "time_ms", s->row.time_ms, 7);
	jetwatt_json_real(j, "time_sd", s->row.time_sd, 4);
	jetwatt_json_real(j, "power_w", s->row.power_w, 7);
	jetwatt_json_real(j, "power_sd", s->row.power_sd, 4);
	jetwatt_json_real(j, "energy_j", s->energy_j, 7);
	spread_json(j, "time_ms_spread", &s->time);
	spread_json(j, "energy_j_spread", &s->energy);
	jetwatt_json_real(j, "gpu_wait_share", s->wait_share, 5);
	jetwatt_json_real(j, "stall_share", s->stall_share, 5);
	jetwatt_json_real(j, "gpu_work_share", s->gpu_share, 5);
	jetwatt_json_bool(j, "launches_seen", s->launched);
	if (s->error.n)
		energy_error_json(j, &s->error);
	jetwatt_summary_phases_json(s, j);
}

void jetwatt_summary_fields(const struct jetwatt_summary *s, struct jetwatt_json *j)
{
	const struct jetwatt_run_energy *m = s->run;
	const struct jetwatt_session *w = m->session;
	struct jetwatt_probe_state st;

	batch_json(j, s);
	jetwatt_json_real(j, "elapsed_s", s->elapsed_s, 9);
	jetwatt_json_real(j, "total_j", s->total_j, 9);
	jetwatt_json_string(j, "scope", w->scope);
	jetwatt_json_object(j, "rails_j");
	for (int r = 0; r < w->nr_rails; r++)
		if (w->rail[r].enabled)
			jetwatt_json_real(j, w->rail[r].label, m->rail_uj[r] * 1e-6, 9);
	jetwatt_json_end(j);
	jetwatt_telemetry_json(&m->telemetry, j);
	jetwatt_json_object(j, "sampler");
	jetwatt_json_real(j, "requested_hz", s->requested_hz, 6);
	jetwatt_json_real(j, "read_hz", s->read_hz, 6);
	jetwatt_json_real(j, "fresh_hz", s->fresh_hz, 6);
	jetwatt_json_uint(j, "samples", w->samples);
	jetwatt_json_uint(j, "lost", w->lost);
	jetwatt_json_uint(j, "missed_deadlines", s->missed);
	jetwatt_json_end(j);
	jetwatt_json_uint(j, "waits", w->waits);
	jetwatt_json_uint(j, "waits_lost", s->waits_lost);
	jetwatt_session_probe_state(w, &st);
	jetwatt_probe_report_json(&st, j);
}
