// SPDX-License-Identifier: GPL-2.0-only
/* Computes the figures of each phase of a run's minibatches, and prints them as text or JSON. */
#include "measure/summary_phases.h"

#include <stdio.h>

#include "measure/block_mean.h"
#include "out/terminal.h"

static void fill_phase(struct jetwatt_summary *s, uint32_t number, double *time, double *uj)
{
	struct jetwatt_summary_phase *p = &s->phase[number - 1];
	const struct jetwatt_run_energy *m = s->run;
	double length = 0, stall = 0, launches = 0;
	size_t n = 0;

	for (int i = 0; i < m->bounds; i++) {
		const struct jetwatt_batch_bound *b = &m->bound[i];

		if (b->phase != number || b->end_ns <= s->warm_ns)
			continue;
		uj[n] = jetwatt_run_energy_bound(m, b);
		if (uj[n] < 0)
			continue;
		time[n] = (double)(b->end_ns - b->start_ns);
		length += time[n++];
		stall += (double)b->fetch_ns;
		launches += b->launches;
	}
	p->minibatches = n;
	p->share = length;
	p->stall_share = length > 0 ? stall / length : 0;
	p->launches = n ? launches / (double)n : 0;
	jetwatt_block_mean(time, uj, n, JETWATT_SUMMARY_BLOCK_NS, &p->row);
	p->energy_j = p->row.power_w * p->row.time_ms * 1e-3;
}

void jetwatt_summary_phases(struct jetwatt_summary *s, double *time, double *uj)
{
	double all = 0;

	s->phases = s->run->phases;
	for (int i = 0; i < s->phases; i++) {
		fill_phase(s, (uint32_t)i + 1, time, uj);
		all += s->phase[i].share;
	}
	for (int i = 0; i < s->phases; i++)
		s->phase[i].share = all > 0 ? s->phase[i].share / all : 0;
}

void jetwatt_summary_phases_print(const struct jetwatt_summary *s, FILE *f, const struct jetwatt_args *a)
{
	const char *on = jetwatt_terminal_color(a, 'b'), *off = jetwatt_terminal_color_end(a);

	if (s->phases < 2)
		return;
	fprintf(f, " %s     phase  minibatches   time    ms each     J each        W  stall  launches%s\n", on, off);
	for (int i = 0; i < s->phases; i++) {
		const struct jetwatt_summary_phase *p = &s->phase[i];

		fprintf(f, " %10d %12zu %4.0f %% %10.4g %10.4g %8.2f %4.0f %% ", i + 1, p->minibatches,
			100 * p->share, p->row.time_ms, p->energy_j, p->row.power_w, 100 * p->stall_share);
		if (p->launches > 0)
			fprintf(f, "%9.0f\n", p->launches);
		else
			fprintf(f, "%9s\n", "-");
	}
	fprintf(f, "\n The figures per minibatch are those of phase 1:\n\n");
}

void jetwatt_summary_phases_json(const struct jetwatt_summary *s, struct jetwatt_json *j)
{
	char number[12];

	jetwatt_json_object(j, "phases");
	for (int i = 0; i < s->phases; i++) {
		const struct jetwatt_summary_phase *p = &s->phase[i];

		snprintf(number, sizeof(number), "%d", i + 1);
		jetwatt_json_object(j, number);
		jetwatt_json_uint(j, "minibatches", p->minibatches);
		jetwatt_json_real(j, "time_share", p->share, 5);
		jetwatt_json_real(j, "time_ms", p->row.time_ms, 7);
		jetwatt_json_real(j, "time_sd", p->row.time_sd, 4);
		jetwatt_json_real(j, "power_w", p->row.power_w, 7);
		jetwatt_json_real(j, "power_sd", p->row.power_sd, 4);
		jetwatt_json_real(j, "energy_j", p->energy_j, 7);
		jetwatt_json_real(j, "stall_share", p->stall_share, 5);
		jetwatt_json_real(j, "launches_per_minibatch", p->launches, 6);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}
