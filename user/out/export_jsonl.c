// SPDX-License-Identifier: GPL-2.0-only
/* JSON with one object per line; the member "type" says what each object is. */
#include "out/export.h"

#include <inttypes.h>

#include "out/json.h"

static void begin_line(struct jetwatt_json *j, FILE *f, const char *type)
{
	jetwatt_json_init(j, f, 0);
	jetwatt_json_object(j, NULL);
	jetwatt_json_string(j, "type", type);
}

static int jsonl_in_total(const struct jetwatt_export_run *run, int r)
{
	int in = 0;

	for (int i = 0; i < run->nr_total; i++)
		in |= run->total[i] == r;
	return in;
}

static int jsonl_begin(struct jetwatt_export *e)
{
	const struct jetwatt_export_run *run = e->run;
	struct jetwatt_json j;

	begin_line(&j, e->f, "header");
	jetwatt_json_uint(&j, "format", 1);
	jetwatt_json_string(&j, "board", run->board);
	jetwatt_json_string(&j, "kernel", run->kernel);
	jetwatt_json_string(&j, "command", run->command);
	jetwatt_json_uint(&j, "monotonic_ns", run->clocks.monotonic_ns);
	jetwatt_json_uint(&j, "boottime_ns", run->clocks.boottime_ns);
	jetwatt_json_uint(&j, "realtime_ns", run->clocks.realtime_ns);
	jetwatt_json_string(&j, "scope", run->scope);
	jetwatt_json_array(&j, "rails");
	for (int r = 0; r < run->nr_rails; r++) {
		jetwatt_json_object(&j, NULL);
		jetwatt_json_string(&j, "label", run->rail[r].label);
		jetwatt_json_uint(&j, "shunt_uohm", run->rail[r].shunt_uohm);
		jetwatt_json_bool(&j, "enabled", run->rail[r].enabled);
		jetwatt_json_bool(&j, "in_total", jsonl_in_total(run, r));
		jetwatt_json_end(&j);
	}
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	return 0;
}

static void jsonl_job(struct jetwatt_export *e)
{
	struct jetwatt_json j;

	begin_line(&j, e->f, "job");
	jetwatt_json_uint(&j, "t_ns", e->run->begun_ns);
	jetwatt_json_uint(&j, "pid", e->run->pid);
	jetwatt_json_end(&j);
}

static void jsonl_mode(FILE *f, const struct jetwatt_power *p)
{
	struct jetwatt_json j;

	begin_line(&j, f, "mode");
	jetwatt_json_uint(&j, "t_ns", p->time_ns);
	jetwatt_json_mode(&j, &p->clock);
	jetwatt_json_end(&j);
}

/* Write the telemetry slots that have changed; null means that a value is no longer known. */
static void jsonl_telemetry(struct jetwatt_export *e, const struct jetwatt_power *p)
{
	char name[JETWATT_TELEMETRY_NAME_LEN];
	struct jetwatt_json j;
	int any = 0;

	jetwatt_each_slot(s) {
		int64_t v = p->telemetry.value[s];

		if (!jetwatt_export_slot_changed(e, p, s))
			continue;
		if (!any++) {
			begin_line(&j, e->f, "telemetry");
			jetwatt_json_uint(&j, "t_ns", p->time_ns);
		}
		if (v == JETWATT_TELEMETRY_NONE)
			jetwatt_json_null(&j, jetwatt_telemetry_name(s, name));
		else
			jetwatt_json_int(&j, jetwatt_telemetry_name(s, name), v);
	}
	if (any)
		jetwatt_json_end(&j);
}

/* There are hundreds of samples per second, so this line is written without the JSON writer. The
 * power of a rail that was not read is written as null. */
static void jsonl_power(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost)
{
	if (e->minibatches || e->waits)
		return;
	if (p->gap)
		fprintf(e->f, "{\"type\":\"gap\",\"t_ns\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
			p->time_ns, lost);
	if (jetwatt_export_clocks_changed(e, p))
		jsonl_mode(e->f, p);
	jsonl_telemetry(e, p);
	fprintf(e->f, "{\"type\":\"power\",\"seq\":%" PRIu64 ",\"t_ns\":%" PRIu64 ",\"uw\":[", p->seq,
		p->time_ns);
	for (int r = 0; r < e->run->nr_rails; r++)
		if (p->valid & 1u << r)
			fprintf(e->f, r ? ",%" PRId64 : "%" PRId64, p->uw[r]);
		else
			fputs(r ? ",null" : "null", e->f);
	fputs("]}\n", e->f);
}

static void jsonl_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			    const struct jetwatt_export_cost *c)
{
	struct jetwatt_json j;

	begin_line(&j, e->f, "minibatch");
	jetwatt_json_string(&j, "kind", jetwatt_export_kind(b));
	jetwatt_json_uint(&j, "start_ns", b->start_ns);
	jetwatt_json_uint(&j, "end_ns", b->end_ns);
	jetwatt_json_uint(&j, "wait_ns", b->wait_ns);
	jetwatt_json_uint(&j, "pid", b->tgid);
	jetwatt_json_uint(&j, "stall_ns", b->fetch_ns);
	jetwatt_json_uint(&j, "gpu_ns", b->gpu_ns);
	jetwatt_json_bool(&j, "launches_seen", !!(b->flags & JETWATT_BATCH_LAUNCHED));
	if (c->uj >= 0)
		jetwatt_json_int(&j, "energy_uj", c->uj + 0.5);
	if (c->sd_uj >= 0) {
		jetwatt_json_int(&j, "energy_sd_uj", c->sd_uj + 0.5);
		jetwatt_json_string(&j, "grade", (const char[2]){ c->grade, '\0' });
	}
	if (b->phase)
		jetwatt_json_uint(&j, "phase", b->phase);
	jetwatt_json_uint(&j, "launches", b->launches);
	jetwatt_json_end(&j);
}

static void jsonl_wait(struct jetwatt_export *e, const struct jetwatt_export_wait *w)
{
	const struct jetwatt_sync *s = w->sync;
	const struct jetwatt_batch_why *why = w->why;
	struct jetwatt_json j;

	begin_line(&j, e->f, "wait");
	jetwatt_json_uint(&j, "wait", w->index);
	jetwatt_json_uint(&j, "enter_ns", s->enter_ns);
	jetwatt_json_uint(&j, "exit_ns", s->exit_ns);
	jetwatt_json_uint(&j, "pid", s->tgid);
	jetwatt_json_uint(&j, "tid", s->tid);
	jetwatt_json_uint(&j, "gap_ns", why->gap_ns);
	if (why->period) {
		jetwatt_json_uint(&j, "period", why->period);
		jetwatt_json_uint(&j, "phase", why->phase);
	}
	jetwatt_json_string(&j, "rule", jetwatt_batch_rule_name(why->rule));
	jetwatt_json_string(&j, "because", jetwatt_batch_rule_says(why->rule));
	jetwatt_json_real(&j, "score", why->score, 4);
	jetwatt_json_string(&j, "score_is", jetwatt_batch_rule_score(why->rule));
	jetwatt_json_bool(&j, "boundary", why->ends > 0);
	if (why->ends)
		jetwatt_json_uint(&j, "boundary_ns", why->end_ns);
	jetwatt_json_uint(&j, "ends", why->ends);
	jetwatt_json_uint(&j, "missing", why->missing);
	if (w->kind) {
		jetwatt_json_uint(&j, "minibatch", why->minibatch);
		jetwatt_json_string(&j, "kind", w->kind);
	}
	jetwatt_json_end(&j);
}

static void jsonl_count(struct jetwatt_export *e, const char *unit, uint64_t begin_ns, uint64_t end_ns,
			double count)
{
	struct jetwatt_json j;

	if (e->minibatches || e->waits)
		return;
	begin_line(&j, e->f, "count");
	jetwatt_json_string(&j, "unit", unit);
	jetwatt_json_uint(&j, "begin_ns", begin_ns);
	jetwatt_json_uint(&j, "end_ns", end_ns);
	jetwatt_json_real(&j, "count", count, 17);
	jetwatt_json_end(&j);
}

static void jsonl_end(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	struct jetwatt_json j;

	begin_line(&j, e->f, "end");
	jetwatt_json_uint(&j, "t0_ns", s->begun_ns);
	jetwatt_json_uint(&j, "t1_ns", s->ended_ns);
	jetwatt_json_int(&j, "energy_uj", s->uj + 0.5);
	jetwatt_json_uint(&j, "minibatches", s->minibatches);
	jetwatt_json_uint(&j, "waits", s->waits);
	jetwatt_json_uint(&j, "waits_lost", s->waits_lost);
	jetwatt_json_uint(&j, "samples", s->samples);
	jetwatt_json_uint(&j, "lost", s->lost);
	jetwatt_json_uint(&j, "covered_ns", s->covered_ns);
	jetwatt_json_end(&j);
}

const struct jetwatt_export_format jetwatt_export_jsonl = {
	.begin = jsonl_begin, .job = jsonl_job, .power = jsonl_power, .minibatch = jsonl_minibatch,
	.wait = jsonl_wait, .count = jsonl_count,
	.end = jsonl_end,
};
