// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV. Quantities with a unit are integers; the unit is in the column's name. An empty cell, or a
 * clock of 0, means unknown or none. Column utc is for people; t_ns (CLOCK_MONOTONIC) is comparable
 * with other files of the same boot.
 */
#include "out/export.h"

#include <inttypes.h>
#include <time.h>

/* Write the time in UTC as ISO 8601 with microseconds, or nothing if the trace has no real time. */
static void csv_utc(FILE *f, const struct jetwatt_trace_clocks *c, uint64_t t_ns)
{
	uint64_t real = c->realtime_ns + (t_ns - c->monotonic_ns);
	time_t s = real / 1000000000;
	char text[32];
	struct tm tm;

	if (!c->realtime_ns || !gmtime_r(&s, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(f, "%s.%06uZ", text, (unsigned int)(real % 1000000000 / 1000));
}

/* Write a column name. A label comes from the device tree, so characters that CSV reserves are
 * replaced. */
static void csv_column_name(FILE *f, const char *label, const char *unit)
{
	for (; *label; label++)
		putc(*label == ',' || *label == '"' || (unsigned char)*label <= ' ' ? '_' : *label, f);
	fputs(unit, f);
}

/* The column temp_mc was added before the other telemetry, and keeps its place among the fixed
 * columns. */
static int csv_begin(struct jetwatt_export *e)
{
	char column[JETWATT_TELEMETRY_NAME_LEN];

	if (e->waits) {
		fputs("wait,enter_ns,exit_ns,utc,pid,tid,gap_ns,period,phase,rule,score,boundary,"
		      "boundary_ns,ends,missing,minibatch,kind\n", e->f);
		return 0;
	}
	if (e->minibatches) {
		fputs("start_ns,end_ns,utc,kind,pid,waits,wait_ns,energy_uj,confidence,"
		      "stall_ns,gpu_ns,launches_seen,energy_sd_uj,grade,phase,launches\n", e->f);
		return 0;
	}
	fputs("t_ns,utc,seq,lost", e->f);
	for (int r = 0; r < e->run->nr_rails; r++) {
		putc(',', e->f);
		csv_column_name(e->f, e->run->rail[r].label, "_uw");
	}
	fputs(",total_uw,cores,cpu_khz,gpu_hz,emc_hz,temp_mc", e->f);
	jetwatt_each_slot(s)
		if (s != JETWATT_TELEMETRY_TEMP_MC)
			fprintf(e->f, ",%s", jetwatt_telemetry_name(s, column));
	putc('\n', e->f);
	return 0;
}

static void csv_power(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost)
{
	if (e->minibatches || e->waits)
		return;
	fprintf(e->f, "%" PRIu64 ",", p->time_ns);
	csv_utc(e->f, &e->run->clocks, p->time_ns);
	fprintf(e->f, ",%" PRIu64 ",%" PRIu64, p->seq, lost);
	for (int r = 0; r < e->run->nr_rails; r++)
		if (p->valid & 1u << r)
			fprintf(e->f, ",%" PRId64, p->uw[r]);
		else
			putc(',', e->f);
	fprintf(e->f, ",%" PRId64 ",%u,%u,%" PRIu64 ",%" PRIu64 ",", jetwatt_export_total(e, p),
		p->clock.cores, p->clock.cpu_khz, p->clock.gpu_hz, p->clock.emc_hz);
	if (p->temp_mc)
		fprintf(e->f, "%d", p->temp_mc);
	jetwatt_each_slot(s) {
		if (s == JETWATT_TELEMETRY_TEMP_MC)
			continue;
		putc(',', e->f);
		if (p->telemetry.value[s] != JETWATT_TELEMETRY_NONE)
			fprintf(e->f, "%" PRId64, p->telemetry.value[s]);
	}
	putc('\n', e->f);
}

static void csv_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			  const struct jetwatt_export_cost *c)
{
	if (!e->minibatches)
		return;
	fprintf(e->f, "%" PRIu64 ",%" PRIu64 ",", b->start_ns, b->end_ns);
	csv_utc(e->f, &e->run->clocks, b->start_ns);
	fprintf(e->f, ",%s,%u,%u,%" PRIu64 ",", jetwatt_export_kind(b), b->tgid, b->syncs, b->wait_ns);
	if (c->uj >= 0)
		fprintf(e->f, "%.0f", c->uj);
	fprintf(e->f, ",%.3f,%" PRIu64 ",%" PRIu64 ",%d,", b->confidence, b->fetch_ns, b->gpu_ns,
		!!(b->flags & JETWATT_BATCH_LAUNCHED));
	if (c->sd_uj >= 0)
		fprintf(e->f, "%.0f,%c", c->sd_uj, c->grade);
	else
		putc(',', e->f);
	putc(',', e->f);
	if (b->phase)
		fprintf(e->f, "%u", b->phase);
	fprintf(e->f, ",%u\n", b->launches);
}

static void csv_wait(struct jetwatt_export *e, const struct jetwatt_export_wait *w)
{
	const struct jetwatt_sync *s = w->sync;
	const struct jetwatt_batch_why *why = w->why;

	fprintf(e->f, "%zu,%" PRIu64 ",%" PRIu64 ",", w->index, s->enter_ns, s->exit_ns);
	csv_utc(e->f, &e->run->clocks, s->exit_ns);
	fprintf(e->f, ",%u,%u,%" PRIu64 ",", s->tgid, s->tid, why->gap_ns);
	if (why->period)
		fprintf(e->f, "%u,%u", why->period, why->phase);
	else
		putc(',', e->f);
	fprintf(e->f, ",%s,%.3f,%d,", jetwatt_batch_rule_name(why->rule), why->score, why->ends > 0);
	if (why->ends)
		fprintf(e->f, "%" PRIu64, why->end_ns);
	fprintf(e->f, ",%u,%u,", why->ends, why->missing);
	if (w->kind)
		fprintf(e->f, "%u,%s\n", why->minibatch, w->kind);
	else
		fputs(",\n", e->f);
}

const struct jetwatt_export_format jetwatt_export_csv = {
	.begin = csv_begin, .power = csv_power, .minibatch = csv_minibatch, .wait = csv_wait,
};
