// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt roofline --kernel or --corpus: fits the roofs of each power mode to measured kernels, and
 * prints or draws them, with the cost of a network or of --work.
 */
#include "cmd/roofline/roofline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "out/terminal.h"
#include "tune/corpus.h"
#include "tune/plot_file.h"
#include "util/error.h"

/* The measurements of one kernel; of several rows of a mode, the last one is used. */
struct measured {
	struct jetwatt_row *row;
	long n;
};

static const struct jetwatt_row *find_measured(const struct measured *m,
					       const struct jetwatt_mode *mode)
{
	for (long i = m->n; i > 0; i--)
		if (jetwatt_mode_same(&m->row[i - 1].mode, mode))
			return &m->row[i - 1];
	return NULL;
}

/* Collect the modes in which all kernels were measured. @k: set to the measurements: for each mode,
 * one entry per kernel.
 * Return: number of modes. */
static size_t common_modes(const struct jetwatt_roofline *r, const struct measured *m,
			   struct jetwatt_mode *mode, struct jetwatt_roofs_kernel *k)
{
	size_t n = 0, i, seen;

	for (long at = 0; at < m[0].n; at++) {
		for (seen = 0; seen < n && !jetwatt_mode_same(&mode[seen], &m[0].row[at].mode); seen++)
			;
		for (i = 0; i < r->kernels && seen == n; i++) {
			const struct jetwatt_row *row = find_measured(&m[i], &m[0].row[at].mode);

			if (!row)
				break;
			k[n * r->kernels + i] = (struct jetwatt_roofs_kernel){
				r->kernel[i].flop, r->kernel[i].bytes, row->time_ms, row->power_w,
			};
		}
		if (seen == n && i == r->kernels)
			mode[n++] = m[0].row[at].mode;
	}
	return n;
}

static int fit_roofs(struct jetwatt_roofline *r, const struct measured *m)
{
	size_t most = m[0].n > 0 ? (size_t)m[0].n : 1;
	struct jetwatt_roofs_kernel *k = calloc(most * r->kernels, sizeof(*k));
	struct jetwatt_mode *mode = calloc(most, sizeof(*mode));
	int err = -ENOMEM;

	r->roof = calloc(most, sizeof(*r->roof));
	if (k && mode && r->roof) {
		r->roofs = common_modes(r, m, mode, k);
		err = jetwatt_roofs_fit(mode, r->roofs, k, r->kernels, r->roof);
	}
	free(k);
	free(mode);
	if (!err && r->roofs)
		return 0;
	return jetwatt_error_report(JETWATT_EXIT_FAILED, err == -ENOMEM ? strerror(ENOMEM) : err ?
				 "at least four kernels are needed, in each mode some that are clearly compute-bound and some that are clearly memory-bound" :
				 "no mode is in all of the files",
				 "jetwatt roofline --calibrate; or jetwatt profile --modes FILE.csv of each kernel, in the same modes",
				 "cannot fit roofs to %zu kernels", r->kernels);
}

int jetwatt_roofline_fit(struct jetwatt_roofline *r)
{
	struct measured m[JETWATT_ROOFLINE_KERNELS] = { { NULL, 0 } };
	int code = 0;

	for (size_t i = 0; i < r->kernels && !code; i++) {
		m[i].n = jetwatt_references_read(r->kernel[i].path, &m[i].row, NULL);
		code = m[i].n < 0 ? -m[i].n : 0;
	}
	if (!code)
		code = fit_roofs(r, m);
	for (size_t i = 0; i < r->kernels; i++)
		free(m[i].row);
	return code;
}

int jetwatt_roofline_tune(struct jetwatt_roofline *r)
{
	r->cost = calloc(r->roofs, sizeof(*r->cost));
	if (!r->cost)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					 "cannot choose a mode");
	for (size_t i = 0; i < r->roofs; i++)
		jetwatt_roofs_cost(&r->roof[i], r->work, r->n, &r->cost[i]);
	jetwatt_roofs_tune(r->cost, r->roofs, r->slower, &r->answer);
	return 0;
}

static void print_roof(char mark, const struct jetwatt_roofs *f)
{
	char mode[64];

	printf("%c %-22s %8.1f %8.2f %7.1f %7.1f %8.2f %8.2f %7.2f %5.1f %5.1f\n", mark,
	       jetwatt_terminal_mode(&f->mode, mode, sizeof(mode)), f->flop_s * 1e-9, f->byte_s * 1e-9,
	       jetwatt_roofs_time_balance(f), jetwatt_roofs_energy_balance(f), f->eps_flop * 1e12,
	       f->eps_mem * 1e12, f->pi0, 100 * f->time_off, 100 * f->energy_off);
}

static void print_cost(const char *what, const struct jetwatt_roofline *r, size_t i)
{
	const struct jetwatt_roofs_cost *c = &r->cost[i], *f = &r->cost[r->answer.fastest];
	char mode[64];

	printf("%-8s %-22s %9.3f ms %+6.1f %% %10.4f J %+6.1f %%  %s binds %.0f %% of the time\n", what,
	       jetwatt_terminal_mode(&r->roof[i].mode, mode, sizeof(mode)), c->time_s * 1e3,
	       100 * (c->time_s / f->time_s - 1), c->energy_j, 100 * (c->energy_j / f->energy_j - 1),
	       c->compute >= 0.5 ? "arithmetic" : "memory",
	       100 * (c->compute >= 0.5 ? c->compute : 1 - c->compute));
}

int jetwatt_roofline_draw(const struct jetwatt_roofline *r)
{
	/* Without work, draw the last mode: in most lists it has the highest clocks. */
	size_t at[3] = { r->roofs - 1, r->roofs - 1, r->roofs - 1 };
	static const char *const what[] = { "fastest", "tuned", "frugal" };
	struct jetwatt_report_roof roof[3];
	struct jetwatt_report report = { .title = "Roofs", .workload = r->path, .roof = roof };
	struct jetwatt_report_layer *layer = calloc(r->n + 1, sizeof(*layer));
	int err;

	if (!layer)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot draw %s",
					 r->plot);
	if (r->cost) {
		at[0] = r->answer.fastest;
		at[1] = r->answer.tuned;
		at[2] = r->answer.frugal;
	}
	for (int i = 0; i < 3; i++) {
		const struct jetwatt_roofs *f = &r->roof[at[i]];
		struct jetwatt_report_roof *to = &roof[report.nr_roofs];
		char mode[48];

		if ((i && at[i] == at[0]) || (i == 2 && at[2] == at[1]))
			continue;
		*to = (struct jetwatt_report_roof){ "", f->flop_s, f->byte_s, f->eps_flop, f->eps_mem,
						    f->pi0 };
		snprintf(to->name, sizeof(to->name), "%s%s%s", r->cost ? what[i] : "",
			 r->cost ? ": " : "", jetwatt_terminal_mode(&f->mode, mode, sizeof(mode)));
		report.nr_roofs++;
	}
	for (size_t i = 0; i < r->n; i++) {
		double bytes = r->work[i].bytes + r->work[i].param_bytes;

		if (r->work[i].flop > 0 && bytes > 0)
			layer[report.nr_layers++] = (struct jetwatt_report_layer){
				r->work[i].flop / bytes, r->work[i].flop,
			};
	}
	report.layer = layer;
	err = jetwatt_plot_write(r->plot, &report, JETWATT_GNUPLOT_ROOF);
	free(layer);
	return err;
}

void jetwatt_roofline_tuned(const struct jetwatt_roofline *r)
{
	char name[96] = "";

	jetwatt_board_mode_format(&r->roof[r->answer.tuned].mode, name, sizeof(name));
	printf("%s\n", name);
	print_cost("fastest", r, r->answer.fastest);
	print_cost("tuned", r, r->answer.tuned);
}

void jetwatt_roofline_roofs(const struct jetwatt_roofline *r)
{
	printf("%-24s %8s %8s %7s %7s %8s %8s %7s %11s\n", "  cores CPU/GPU/EMC MHz", "GFLOP/s", "GB/s",
	       "balance", "energy", "pJ/FLOP", "pJ/byte", "W", "off %: t, e");
	for (size_t i = 0; i < r->roofs; i++)
		print_roof(r->cost && i == r->answer.tuned ? '*' : ' ', &r->roof[i]);
	if (!r->cost)
		return;
	printf("\n");
	print_cost("fastest", r, r->answer.fastest);
	print_cost("frugal", r, r->answer.frugal);
	print_cost("tuned", r, r->answer.tuned);
	printf("least energy with at most %.3g %% more time; racing to halt %s\n", 100 * r->slower,
	       r->answer.race ? "pays" : "costs more than it saves");
}

void jetwatt_roofline_roofs_json(const struct jetwatt_roofline *r, struct jetwatt_json *j)
{
	char name[96];

	jetwatt_json_array(j, "roofs");
	for (size_t i = 0; i < r->roofs; i++) {
		const struct jetwatt_roofs *f = &r->roof[i];

		jetwatt_json_object(j, NULL);
		if (!jetwatt_board_mode_format(&f->mode, name, sizeof(name)))
			jetwatt_json_string(j, "mode", name);
		jetwatt_json_real(j, "flop_s", f->flop_s, 7);
		jetwatt_json_real(j, "byte_s", f->byte_s, 7);
		jetwatt_json_real(j, "eps_flop_j", f->eps_flop, 7);
		jetwatt_json_real(j, "eps_mem_j", f->eps_mem, 7);
		jetwatt_json_real(j, "pi0_w", f->pi0, 7);
		jetwatt_json_real(j, "time_balance", jetwatt_roofs_time_balance(f), 6);
		jetwatt_json_real(j, "energy_balance", jetwatt_roofs_energy_balance(f), 6);
		jetwatt_json_real(j, "time_off_pct", 100 * f->time_off, 4);
		jetwatt_json_real(j, "energy_off_pct", 100 * f->energy_off, 4);
		if (r->cost) {
			jetwatt_json_real(j, "time_ms", r->cost[i].time_s * 1e3, 7);
			jetwatt_json_real(j, "energy_j", r->cost[i].energy_j, 7);
			jetwatt_json_real(j, "compute_bound", r->cost[i].compute, 4);
		}
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
	if (!r->cost)
		return;
	jetwatt_json_object(j, "answer");
	jetwatt_json_uint(j, "fastest", r->answer.fastest);
	jetwatt_json_uint(j, "frugal", r->answer.frugal);
	jetwatt_json_uint(j, "tuned", r->answer.tuned);
	if (!jetwatt_board_mode_format(&r->roof[r->answer.tuned].mode, name, sizeof(name)))
		jetwatt_json_string(j, "tuned_mode", name);
	jetwatt_json_bool(j, "race_to_halt", r->answer.race);
	jetwatt_json_real(j, "slower_pct", 100 * (r->cost[r->answer.tuned].time_s /
						   r->cost[r->answer.fastest].time_s - 1), 5);
	jetwatt_json_real(j, "saved_pct", 100 * (1 - r->cost[r->answer.tuned].energy_j /
						  r->cost[r->answer.fastest].energy_j), 5);
	jetwatt_json_end(j);
}
