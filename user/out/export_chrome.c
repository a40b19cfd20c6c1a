// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events of Chrome, JSON object format: counters and complete events. Many viewers read this
 * format, but it is verbose, so by default each counter event of the power is the mean of 10 ms of
 * samples.
 */
#include "out/export.h"

#include <inttypes.h>

#include "out/json.h"

/* The process to which the counters belong: the board. They can't belong to the job, because the first
 * samples of a trace are older than the job, and viewers would show two counters of each name. */
#define BOARD_PID	0

/* Write an event without its closing brace. The unit of "ts" is the microsecond. */
static void open_event(struct jetwatt_json *j, struct jetwatt_export *e, const char *name,
		       const char *ph, uint32_t pid, uint64_t t_ns)
{
	fputs(e->any++ ? ",\n" : "", e->f);
	jetwatt_json_init(j, e->f, 0);
	jetwatt_json_object(j, NULL);
	jetwatt_json_string(j, "name", name);
	jetwatt_json_string(j, "ph", ph);
	jetwatt_json_real(j, "ts", t_ns * 1e-3, 17);
	jetwatt_json_uint(j, "pid", pid);
}

static void chrome_process(struct jetwatt_export *e, uint32_t pid, const char *name, uint64_t t_ns)
{
	struct jetwatt_json j;

	open_event(&j, e, "process_name", "M", pid, t_ns);
	jetwatt_json_object(&j, "args");
	jetwatt_json_string(&j, "name", name);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
}

static int chrome_begin(struct jetwatt_export *e)
{
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", e->f);
	chrome_process(e, BOARD_PID, *e->run->board ? e->run->board : "board", e->run->clocks.monotonic_ns);
	return 0;
}

static void chrome_job(struct jetwatt_export *e)
{
	chrome_process(e, e->run->pid, *e->run->command ? e->run->command : "job", e->run->begun_ns);
}

static void chrome_telemetry(struct jetwatt_export *e, const struct jetwatt_power *p)
{
	char title[JETWATT_TELEMETRY_NAME_LEN];
	struct jetwatt_json j;

	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, NULL);
		int64_t v = p->telemetry.value[s];

		if (!jetwatt_export_slot_changed(e, p, s) || v == JETWATT_TELEMETRY_NONE)
			continue;
		open_event(&j, e, jetwatt_telemetry_title(s, title), "C", BOARD_PID, p->time_ns);
		jetwatt_json_object(&j, "args");
		jetwatt_json_real(&j, *row->base ? row->base : "value", (double)v / row->per, 8);
		jetwatt_json_end(&j);
		jetwatt_json_end(&j);
	}
}

static void chrome_power(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost)
{
	struct jetwatt_json j;

	(void)lost;
	/* Viewers stack the series of one counter, so the counter "power" contains only rails that
	 * add up to the total. */
	open_event(&j, e, "power (W)", "C", BOARD_PID, p->time_ns);
	jetwatt_json_object(&j, "args");
	for (int i = 0; i < e->run->nr_total; i++)
		jetwatt_json_real(&j, e->run->rail[e->run->total[i]].label,
				  p->uw[e->run->total[i]] * 1e-6, 6);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
	chrome_telemetry(e, p);
	if (!jetwatt_export_clocks_changed(e, p))
		return;
	open_event(&j, e, "clocks (MHz)", "C", BOARD_PID, p->time_ns);
	jetwatt_json_object(&j, "args");
	jetwatt_json_real(&j, "cpu", p->clock.cpu_khz * 1e-3, 8);
	jetwatt_json_real(&j, "gpu", p->clock.gpu_hz * 1e-6, 8);
	jetwatt_json_real(&j, "emc", p->clock.emc_hz * 1e-6, 8);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
}

static void chrome_minibatch(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			     const struct jetwatt_export_cost *c)
{
	struct jetwatt_json j;

	open_event(&j, e, jetwatt_export_kind(b), "X", e->run->pid, b->start_ns);
	jetwatt_json_real(&j, "dur", (b->end_ns - b->start_ns) * 1e-3, 17);
	jetwatt_json_uint(&j, "tid", b->tgid);
	jetwatt_json_object(&j, "args");
	if (c->uj >= 0)
		jetwatt_json_real(&j, "energy_j", c->uj * 1e-6, 7);
	jetwatt_json_real(&j, "stall_ms", b->fetch_ns * 1e-6, 7);
	jetwatt_json_real(&j, "gpu_ms", b->gpu_ns * 1e-6, 7);
	if (c->sd_uj >= 0)
		jetwatt_json_string(&j, "grade", (const char[2]){ c->grade, '\0' });
	if (b->phase)
		jetwatt_json_uint(&j, "phase", b->phase);
	jetwatt_json_end(&j);
	jetwatt_json_end(&j);
}

static void chrome_end(struct jetwatt_export *e, const struct jetwatt_export_sums *s)
{
	struct jetwatt_json j;

	fputs("],\"otherData\":", e->f);
	jetwatt_json_init(&j, e->f, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "board", e->run->board);
	jetwatt_json_string(&j, "kernel", e->run->kernel);
	jetwatt_json_string(&j, "scope", e->run->scope);
	jetwatt_json_real(&j, "energy_j", s->uj * 1e-6, 9);
	jetwatt_json_end(&j);
	fputs("}\n", e->f);
}

const struct jetwatt_export_format jetwatt_export_chrome = {
	.hz = 100, .begin = chrome_begin, .job = chrome_job, .power = chrome_power,
	.minibatch = chrome_minibatch, .end = chrome_end,
};
