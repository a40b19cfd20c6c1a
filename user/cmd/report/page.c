// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prepares the data of the HTML page of jetwatt report: columns over time, minibatches, alarms, and
 * the table of figures. The page itself is written by out/run_page.h.
 */
#include "cmd/report/page.h"

#include <errno.h>
#include <linux/jetwatt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_WIDTH_NS	1000000ull
#define FIGURES_MAX	(64 + 9 * JETWATT_PHASES_MAX + JETWATT_RAILS_MAX + 3 * JETWATT_TELEMETRY_SLOTS)
/* Width in seconds at which an alarm, which has no duration, is drawn. */
#define ALARM_S		0.5

/* Add the sums of column @from of the plot to column @to. While samples are collected, the members
 * @w and @hz are sums. */
static void merge_columns(struct jetwatt_page_column *to, const struct jetwatt_page_column *from)
{
	for (int r = 0; r < JETWATT_PAGE_RAILS; r++)
		to->w[r] += from->w[r];
	for (int k = 0; k < JETWATT_PAGE_CLOCKS; k++)
		to->hz[k] += from->hz[k];
	to->hi = fmax(to->hi, from->hi);
	to->n += from->n;
	to->gap |= from->gap;
}

static void widen_columns(struct jetwatt_page_data *d)
{
	for (size_t i = 0; i < JETWATT_PAGE_COLUMNS / 2; i++) {
		struct jetwatt_page_column c = d->column[2 * i];

		merge_columns(&c, &d->column[2 * i + 1]);
		d->column[i] = c;
	}
	memset(d->column + JETWATT_PAGE_COLUMNS / 2, 0, sizeof(d->column) / 2);
	d->nr = (d->nr + 1) / 2;
	d->width_ns *= 2;
}

static void page_on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwatt_page_data *d = arg;
	const struct jetwatt_session *w = d->session;
	struct jetwatt_page_column c = { .n = 1, .gap = p->gap };
	uint64_t at;

	if (!w->begun_ns || p->time_ns < w->begun_ns)
		return;
	while ((at = (p->time_ns - w->begun_ns) / d->width_ns) >= JETWATT_PAGE_COLUMNS)
		widen_columns(d);
	c.hi = jetwatt_session_total(w, p);
	for (int i = 0; i < w->nr_total; i++)
		c.w[i < JETWATT_PAGE_RAILS ? i : JETWATT_PAGE_RAILS - 1] += p->uw[w->total[i]] * 1e-6;
	c.hz[0] = p->clock.cpu_khz * 1e3;
	c.hz[1] = p->clock.gpu_hz;
	c.hz[2] = p->clock.emc_hz;
	/* Empty columns between the last sample and this one belong to the gap. */
	for (size_t i = d->nr; p->gap && i < at; i++)
		d->column[i].gap = 1;
	merge_columns(&d->column[at], &c);
	if (at >= d->nr)
		d->nr = at + 1;
}

void jetwatt_page_gather(struct jetwatt_page_data *d, struct jetwatt_replay *r)
{
	memset(d, 0, sizeof(*d));
	d->width_ns = FIRST_WIDTH_NS;
	d->session = &r->session;
	r->session.on_power = page_on_power;
	r->session.arg = d;
}

/* Convert sums to means. If the run has fewer samples than columns of the plot, merge columns, while
 * more than 300 are left. */
static void columns_to_means(const struct jetwatt_page_data *d, struct jetwatt_page_column *c,
			     size_t *nr, uint64_t *width_ns, uint64_t samples)
{
	size_t each = 1;

	while (d->nr / each > 300 && samples * each < d->nr)
		each *= 2;
	*nr = (d->nr + each - 1) / each;
	*width_ns = d->width_ns * each;
	memset(c, 0, JETWATT_PAGE_COLUMNS * sizeof(*c));
	for (size_t i = 0; i < d->nr; i++)
		merge_columns(&c[i / each], &d->column[i]);
	for (size_t i = 0; i < *nr; i++) {
		for (int r = 0; r < JETWATT_PAGE_RAILS && c[i].n; r++)
			c[i].w[r] /= c[i].n;
		for (int k = 0; k < JETWATT_PAGE_CLOCKS && c[i].n; k++)
			c[i].hz[k] /= c[i].n;
		/* A column without a sample and without a gap keeps the values of the previous
		 * column. */
		if (i && !c[i].n && !c[i].gap) {
			c[i] = c[i - 1];
			c[i].gap = 0;
		}
	}
}

/* --- table of figures --------------------------------------------------------- */

struct page_figures {
	struct jetwatt_page_figure at[FIGURES_MAX];
	size_t nr;
};

/* Add a figure. @key, @digits: as in the JSON report, so that page and JSON report show the same
 * number. */
static void add_figure(struct page_figures *g, const char *key, double v, int digits,
		       const char *name,
		       const char *shown, ...) __attribute__((format(printf, 6, 7)));
static void add_figure(struct page_figures *g, const char *key, double v, int digits,
		       const char *name, const char *shown, ...)
{
	struct jetwatt_page_figure *f = &g->at[g->nr];
	va_list ap;

	if (g->nr == FIGURES_MAX || !isfinite(v))
		return;
	g->nr++;
	snprintf(f->key, sizeof(f->key), "%s", key);
	snprintf(f->value, sizeof(f->value), "%.*g", digits, v);
	snprintf(f->name, sizeof(f->name), "%s", name);
	va_start(ap, shown);
	vsnprintf(f->shown, sizeof(f->shown), shown, ap);
	va_end(ap);
}

/* Add a figure whose value is a word. */
static void add_word_figure(struct page_figures *g, const char *key, const char *word,
			    const char *name)
{
	add_figure(g, key, 0, 1, name, "%s", word);
	if (g->nr)
		snprintf(g->at[g->nr - 1].value, sizeof(g->at[0].value), "%s", word);
}

static void add_error_figures(struct page_figures *g, const struct jetwatt_energy_errors *q)
{
	char key[] = "quality.A", name[] = "minibatches with grade A", grade[2] = { q->grade, '\0' };

	add_word_figure(g, "quality.grade", grade,
			"grade of the energy of a single minibatch (A best, D worst)");
	add_figure(g, "quality.energy_error_pct", q->error_pct, 4,
		   "error of the energy of a single minibatch, in 9 of 10 cases",
		   "+- %.2g %%", q->error_pct);
	add_figure(g, "quality.fresh_samples", q->samples, 4, "new sensor values per minibatch",
		   "%.0f", q->samples);
	for (int i = 0; i < 4; i++) {
		key[sizeof(key) - 2] = name[sizeof(name) - 2] = 'A' + i;
		add_figure(g, key, q->grades[i], 17, name, "%zu", q->grades[i]);
	}
}

static void add_spread_figures(struct page_figures *g, const char *key,
			       const struct jetwatt_summary_spread *s,
			       const char *what, const char *unit)
{
	const struct {
		const char *name;
		double v;
	} part[] = { { "p50", s->p50 }, { "p95", s->p95 }, { "max", s->max } };
	char k[64], name[64];

	for (int i = 0; i < 3; i++) {
		snprintf(k, sizeof(k), "%s.%s", key, part[i].name);
		snprintf(name, sizeof(name), "%s per minibatch, %s", what, part[i].name);
		add_figure(g, k, part[i].v, 7, name, "%.4g %s", part[i].v, unit);
	}
}

static void add_phase_figures(struct page_figures *g, int number, const struct jetwatt_summary_phase *p)
{
	const struct {
		const char *key, *name, *format;
		double v, shown;
		int digits;
	} part[] = {
		{ "minibatches", "minibatches", "%.0f", (double)p->minibatches, (double)p->minibatches, 17 },
		{ "time_share", "part of the time", "%.0f %%", p->share, 100 * p->share, 5 },
		{ "time_ms", "time per minibatch", "%.4g ms", p->row.time_ms, p->row.time_ms, 7 },
		{ "time_sd", "standard error of the time per minibatch", "%.2g %%", p->row.time_sd, 100 * p->row.time_sd, 4 },
		{ "power_w", "power", "%.2f W", p->row.power_w, p->row.power_w, 7 },
		{ "power_sd", "standard error of the mean power", "%.2g %%", p->row.power_sd, 100 * p->row.power_sd, 4 },
		{ "energy_j", "energy per minibatch", "%.4g J", p->energy_j, p->energy_j, 7 },
		{ "stall_share", "time in which the GPU has no work", "%.0f %% of the time", p->stall_share,
		  100 * p->stall_share, 5 },
		{ "launches_per_minibatch", "launches of GPU work per minibatch", "%.4g", p->launches, p->launches, 6 },
	};
	char key[64], name[64];

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		snprintf(key, sizeof(key), "phases.%d.%s", number, part[i].key);
		snprintf(name, sizeof(name), "phase %d, %s", number, part[i].name);
		add_figure(g, key, part[i].v, part[i].digits, name, part[i].format, part[i].shown);
	}
}

static void add_batch_figures(struct page_figures *g, const struct jetwatt_summary *s)
{
	bool one = s->phases < 2;

	add_figure(g, "minibatches", s->minibatches, 17, "minibatches", "%zu", s->minibatches);
	add_figure(g, "minibatches_used", s->used, 17, "minibatches used for the figures", "%zu",
		   s->used);
	if (!s->used)
		return;
	add_figure(g, "energy_j", s->energy_j, 7, one ? "energy per minibatch" : "energy per minibatch, phase 1",
		   "%.4g J", s->energy_j);
	add_figure(g, "time_ms", s->row.time_ms, 7, one ? "time per minibatch" : "time per minibatch, phase 1",
		   "%.4g ms", s->row.time_ms);
	add_figure(g, "power_w", s->row.power_w, 7, one ? "power while training" : "power in phase 1", "%.2f W",
		   s->row.power_w);
	add_figure(g, "time_sd", s->row.time_sd, 4, "standard error of the time per minibatch", "%.2g %%",
		   100 * s->row.time_sd);
	add_figure(g, "power_sd", s->row.power_sd, 4, "standard error of the mean power", "%.2g %%",
		   100 * s->row.power_sd);
	add_spread_figures(g, "energy_j_spread", &s->energy, "energy", "J");
	add_spread_figures(g, "time_ms_spread", &s->time, "time", "ms");
	add_figure(g, "gpu_wait_share", s->wait_share, 5, "time spent waiting for the GPU",
		   "%.0f %% of the time",
		   100 * s->wait_share);
	add_figure(g, "stall_share", s->stall_share, 5, "time in which the GPU has no work",
		   "%.0f %% of the time%s",
		   100 * s->stall_share, s->launched ? "" : " at most");
	add_figure(g, "gpu_work_share", s->gpu_share, 5, "time in which the GPU has work",
		   "%.0f %% of the time%s",
		   100 * s->gpu_share, s->launched ? "" : " at least");
	add_figure(g, "waits_per_minibatch", s->run->info.period_syncs, 6, "waits per minibatch",
		   "%.3g",
		   s->run->info.period_syncs);
	add_figure(g, "confidence", s->run->info.confidence, 4,
		   "confidence in the minibatch boundaries", "%.0f %%",
		   100 * s->run->info.confidence);
	if (s->error.n)
		add_error_figures(g, &s->error);
	for (int i = 0; i < s->phases; i++)
		add_phase_figures(g, i + 1, &s->phase[i]);
}

static void add_run_figures(struct page_figures *g, const struct jetwatt_summary *s)
{
	const struct jetwatt_run_energy *m = s->run;
	const struct jetwatt_session *w = m->session;
	char key[64];

	add_figure(g, "elapsed_s", s->elapsed_s, 9, "elapsed", "%.2f s", s->elapsed_s);
	add_figure(g, "total_j", s->total_j, 9, "total energy", "%.5g J", s->total_j);
	for (int r = 0; r < w->nr_rails; r++) {
		if (!w->rail[r].enabled)
			continue;
		snprintf(key, sizeof(key), "rails_j.%s", w->rail[r].label);
		add_figure(g, key, m->rail_uj[r] * 1e-6, 9, w->rail[r].label, "%.5g J, %.2f W",
			   m->rail_uj[r] * 1e-6, s->elapsed_s > 0 ?
			   m->rail_uj[r] * 1e-6 / s->elapsed_s : 0);
	}
	add_figure(g, "sampler.requested_hz", s->requested_hz, 6, "sampling rate requested",
		   "%.0f Hz", s->requested_hz);
	add_figure(g, "sampler.read_hz", s->read_hz, 6, "sampling rate reached", "%.0f Hz",
		   s->read_hz);
	add_figure(g, "sampler.fresh_hz", s->fresh_hz, 6, "rate of new sensor values", "%.0f Hz",
		   s->fresh_hz);
	add_figure(g, "sampler.samples", w->samples, 17, "samples", "%llu",
		   (unsigned long long)w->samples);
	add_figure(g, "sampler.lost", w->lost, 17, "samples lost", "%llu",
		   (unsigned long long)w->lost);
	add_figure(g, "waits", w->waits, 17, "waits for the GPU", "%llu",
		   (unsigned long long)w->waits);
	add_figure(g, "waits_lost", s->waits_lost, 17, "waits lost", "%llu",
		   (unsigned long long)s->waits_lost);
}

static void add_telemetry_figures(struct page_figures *g, const struct jetwatt_telemetry_sums *t)
{
	char slot[JETWATT_TELEMETRY_NAME_LEN], title[JETWATT_TELEMETRY_NAME_LEN], key[64], name[64];

	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, NULL);
		int counts = row->type == JETWATT_SERIES_TYPE_COUNTER;
		const struct {
			const char *key;
			double v;
			int digits;
		} part[] = {
			{ counts ? "counted" : "mean", counts ? (double)t->slot[s].counted :
			  t->slot[s].sum / (double)t->slot[s].n, counts ? 17 : 7 },
			{ counts ? NULL : "max", (double)t->slot[s].max, 17 },
			{ "last", (double)t->slot[s].last, 17 },
		};

		jetwatt_telemetry_title(s, title);
		jetwatt_telemetry_name(s, slot);
		for (int i = 0; i < 3 && t->slot[s].n; i++) {
			if (!part[i].key)
				continue;
			snprintf(key, sizeof(key), "telemetry.%s.%s", slot, part[i].key);
			snprintf(name, sizeof(name), "%s, %s", title, part[i].key);
			add_figure(g, key, part[i].v, part[i].digits, name, "%.4g %s",
				   part[i].v / row->per, row->base);
		}
	}
}

/* --- page --------------------------------------------------------------------- */

static size_t alarm_bands(const struct jetwatt_replay *r, struct jetwatt_page_band *band)
{
	static const char *const cause[] = { "on request", "over-current", "thermal" };
	size_t n = 0;

	for (size_t i = 0; i < r->nr_events && i < JETWATT_REPLAY_EVENTS; i++) {
		const struct jetwatt_event *e = &r->event[i];
		double at = ((double)e->time_ns - (double)r->session.begun_ns) * 1e-9;

		if (at < 0)
			continue;
		if (e->kind == JETWATT_EVENT_BOX_FROZEN)
			band[n++] = (struct jetwatt_page_band){ at, at + ALARM_S,
				cause[e->value < 3 ? e->value : 0] };
		else if (e->kind == JETWATT_EVENT_CHIP_LOST)
			band[n++] = (struct jetwatt_page_band){ at, at + ALARM_S, "chip lost" };
	}
	return n;
}

static void format_start_time(const struct jetwatt_replay *r, char *buf, size_t len)
{
	uint64_t real = r->clocks.realtime_ns + (r->session.begun_ns - r->clocks.monotonic_ns);
	time_t s = real / 1000000000;
	struct tm tm;

	buf[0] = '\0';
	if (r->clocks.realtime_ns && gmtime_r(&s, &tm))
		strftime(buf, len, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

int jetwatt_page_make(FILE *f, const struct jetwatt_page_data *d, const struct jetwatt_replay *r,
		      const struct jetwatt_summary *s)
{
	struct jetwatt_page_column *column = calloc(JETWATT_PAGE_COLUMNS, sizeof(*column));
	const struct jetwatt_run_energy *m = s->run;
	struct jetwatt_page_minibatch *batch = calloc(m->bounds + 1, sizeof(*batch));
	double *bound = calloc(m->bounds + 1, sizeof(*bound));
	struct jetwatt_page_band *band = calloc(JETWATT_REPLAY_EVENTS, sizeof(*band));
	struct page_figures *g = calloc(1, sizeof(*g));
	struct jetwatt_page p = { .board = r->board, .kernel = r->kernel, .command = r->command,
				  .column = column, .minibatch = batch, .bound_s = bound, .band = band };
	char date[40], note[160] = "";
	uint64_t width_ns;
	int err = -ENOMEM;

	if (!column || !batch || !bound || !band || !g)
		goto out;
	for (int i = 0; i < m->bounds; i++)
		if (m->bound[i].kind == JETWATT_BATCH_TRAIN || m->bound[i].phase)
			bound[p.nr_bounds++] = (m->bound[i].end_ns - m->begun_ns) * 1e-9;
	for (int i = 0; i < m->bounds; i++) {
		double uj = jetwatt_run_energy_bound(m, &m->bound[i]);

		if (m->bound[i].end_ns > s->warm_ns && jetwatt_run_energy_counts(m, &m->bound[i]) && uj >= 0)
			batch[p.nr_minibatches++] = (struct jetwatt_page_minibatch){
				(m->bound[i].end_ns - m->begun_ns) * 1e-9, uj * 1e-6,
				(m->bound[i].end_ns - m->bound[i].start_ns) * 1e-6,
				m->bound[i].fetch_ns * 1e-6, m->bound[i].gpu_ns * 1e-6 };
	}
	p.minibatch = batch;
	p.phases = s->phases;
	p.launched = s->launched;
	columns_to_means(d, column, &p.nr_columns, &width_ns, r->session.samples);
	p.column_s = width_ns * 1e-9;
	for (int i = 0; i < r->session.nr_total && i < JETWATT_PAGE_RAILS; i++, p.nr_rails++)
		p.rail[i] = r->session.rail[r->session.total[i]].label;
	p.nr_bands = alarm_bands(r, band);
	add_batch_figures(g, s);
	add_run_figures(g, s);
	add_telemetry_figures(g, &m->telemetry);
	p.figure = g->at;
	p.nr_figures = g->nr;
	format_start_time(r, date, sizeof(date));
	p.when = date;
	if (!r->state.ended || r->state.damaged || r->state.missing)
		snprintf(note, sizeof(note), "The trace is incomplete: it %s.",
			 r->state.ended ? "is damaged and parts of it are missing" :
			 "ends before the run ended");
	p.note = note;
	err = jetwatt_page_write(f, &p);
out:
	free(column);
	free(batch);
	free(bound);
	free(band);
	free(g);
	return err;
}
