// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of NVIDIA's tegrastats, for scripts that search them: "NAME CURRENTmW/AVERAGEmW" for each rail,
 * GR3D_FREQ, EMC_FREQ and a temperature. What a trace does not contain is left out: RAM, SWAP, the load
 * of each CPU and of the memory, other engines. Source of the format: "tegrastats Utility" in NVIDIA's
 * Jetson Linux Developer Guide.
 */
#include "out/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* For each rail, sum and number of its readings, for its average since the start. */
struct tegrastats_state {
	int64_t uw[JETWATT_RAILS_MAX];
	uint64_t n[JETWATT_RAILS_MAX];
};

static int tegrastats_begin(struct jetwatt_export *e)
{
	e->state = calloc(1, sizeof(struct tegrastats_state));
	return e->state ? 0 : -1;
}

/* Write the time in UTC; nothing if the trace has no real time. */
static void write_time(FILE *f, const struct jetwatt_trace_clocks *c, uint64_t t_ns)
{
	time_t s = (time_t)((c->realtime_ns + (t_ns - c->monotonic_ns)) / 1000000000);
	char text[32];
	struct tm tm;

	if (!c->realtime_ns || !gmtime_r(&s, &tm))
		return;
	strftime(text, sizeof(text), "%m-%d-%Y %H:%M:%S ", &tm);
	fputs(text, f);
}

/* The load of the memory is not known. Programs that expect "LOAD%@MHZ" skip "@[MHZ]", but fail on
 * "@MHZ" (jtop 3). */
static void write_emc(FILE *f, const struct jetwatt_power *p)
{
	if (p->clock.emc_hz)
		fprintf(f, "EMC_FREQ @[%" PRIu64 "] ", p->clock.emc_hz / 1000000);
}

/* tegrastats separates words by spaces. */
static void write_label(FILE *f, const char *label)
{
	for (; *label; label++)
		putc((unsigned char)*label <= ' ' ? '_' : *label, f);
}

static void write_gpu(FILE *f, const struct jetwatt_power *p, int64_t load)
{
	fputs("GR3D_FREQ ", f);
	if (load != JETWATT_TELEMETRY_NONE)
		fprintf(f, "%" PRId64 "%%", (load + 5) / 10);
	fprintf(f, "@[%" PRIu64 "]", p->clock.gpu_hz / 1000000);
}

static void tegrastats_power(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost)
{
	struct tegrastats_state *st = e->state;
	int64_t temp_mc = p->telemetry.value[JETWATT_TELEMETRY_TEMP_MC];

	(void)lost;
	write_time(e->f, &e->run->clocks, p->time_ns);
	write_emc(e->f, p);
	write_gpu(e->f, p, p->telemetry.value[JETWATT_TELEMETRY_GPU_LOAD_PERMILLE]);
	if (temp_mc != JETWATT_TELEMETRY_NONE)
		fprintf(e->f, " tj@%.3gC", (double)temp_mc * 1e-3);
	for (int r = 0; r < e->run->nr_rails; r++) {
		if (!(p->valid & 1u << r))
			continue;
		st->uw[r] += p->uw[r];
		st->n[r]++;
		putc(' ', e->f);
		write_label(e->f, e->run->rail[r].label);
		fprintf(e->f, " %" PRId64 "mW/%" PRId64 "mW", p->uw[r] / 1000,
			st->uw[r] / (int64_t)st->n[r] / 1000);
	}
	putc('\n', e->f);
}

const struct jetwatt_export_format jetwatt_export_tegrastats = {
	.hz = 1, .begin = tegrastats_begin, .power = tegrastats_power,
};
