// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words and JSON for the parts of the time and the neighbours of a mode.
 */
#include "tune/explain_print.h"

#include <math.h>
#include <stdio.h>

#include "out/terminal.h"

/* A level of a knob "changes nothing" if its relative change of time and its change of power, in watts, are
 * both smaller. */
#define TIME_NONE	0.001
#define POWER_NONE	0.05

static const char *const share_name[] = {
	[JETWATT_SHARE_GPU] = "the GPU clock",
	[JETWATT_SHARE_EMC] = "the EMC clock",
	[JETWATT_SHARE_LAUNCH] = "kernel launches by the CPU",
	[JETWATT_SHARE_LOADER] = "the data loader",
	[JETWATT_SHARE_FIXED] = "none of the knobs",
};
static const char *const share_key[] = {
	[JETWATT_SHARE_GPU] = "gpu", [JETWATT_SHARE_EMC] = "emc", [JETWATT_SHARE_LAUNCH] = "launch",
	[JETWATT_SHARE_LOADER] = "loader", [JETWATT_SHARE_FIXED] = "fixed",
};
/* Print the level of a knob: "GPU 1236 MHz", "5 cores". */
static void explain_print_setting(const struct jetwatt_mode *m, enum jetwatt_knob k)
{
	const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
	uint64_t v = jetwatt_mode_get(m, k);

	if (row->hz)
		printf("%s %u MHz", row->label, jetwatt_terminal_mhz(v * row->hz));
	else
		printf("%u %s", (unsigned int)v, row->label);
}

static int explain_is_no_change(const struct jetwatt_explain_step *s)
{
	return fabs(s->time) < TIME_NONE && fabs(s->power_w) < POWER_NONE;
}

static void explain_print_step(const struct jetwatt_explain_step *s,
			       const struct jetwatt_mode *mode, const struct jetwatt_prediction *p,
			       double budget_w)
{
	explain_print_setting(&mode[s->index], s->knob);
	if (explain_is_no_change(s)) {
		printf(" changes nothing");
		return;
	}
	printf(" %+.1f %% time, %+.2f W", 100 * s->time, s->power_w);
	if (fabs(s->power_w) >= POWER_NONE && s->time * s->power_w < 0)
		printf(" (%.1f %% a watt)", 100 * fabs(s->time / s->power_w));
	if (budget_w > 0 && s->up && p[s->index].power_w > budget_w)
		printf(", over the budget");
}

static int explain_print_steps(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			       const struct jetwatt_prediction *p, double budget_w, int up,
			       const char *lead)
{
	int n = 0;

	for (int i = 0; i < e->steps; i++) {
		if (e->step[i].up != up)
			continue;
		printf("%s", n++ ? "; " : lead);
		explain_print_step(&e->step[i], mode, p, budget_w);
	}
	return n;
}

static void explain_print_shares(const struct jetwatt_explain *e)
{
	if (!e->parts) {
		printf("why: unknown, this method does not divide the time into parts.\n");
		return;
	}
	printf("why: %.0f %% of the time depends on %s", 100 * e->share[e->binds],
	       share_name[e->binds]);
	for (enum jetwatt_share s = JETWATT_SHARE_GPU; s < JETWATT_SHARES; s++)
		if (s != e->binds && e->share[s] >= 0.005)
			printf(", %.0f %% on %s", 100 * e->share[s], share_name[s]);
	printf(".\n");
}

void jetwatt_explain_print(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			   const struct jetwatt_prediction *p, double budget_w)
{
	int n;

	explain_print_shares(e);
	n = explain_print_steps(e, mode, p, budget_w, 1, "One level up: ");
	n += explain_print_steps(e, mode, p, budget_w, 0,
				 n ? ". One level down: " : "One level down: ");
	printf(n ? ".\n" : "No candidate differs in one knob only.\n");
}

void jetwatt_explain_json(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			  struct jetwatt_json *j)
{
	jetwatt_json_object(j, "explain");
	if (e->parts) {
		jetwatt_json_string(j, "binds", share_key[e->binds]);
		jetwatt_json_object(j, "share");
		for (enum jetwatt_share s = JETWATT_SHARE_GPU; s < JETWATT_SHARES; s++)
			jetwatt_json_real(j, share_key[s], e->share[s], 4);
		jetwatt_json_end(j);
	} else {
		jetwatt_json_null(j, "binds");
		jetwatt_json_null(j, "share");
	}
	jetwatt_json_array(j, "steps");
	for (int i = 0; i < e->steps; i++) {
		const struct jetwatt_explain_step *s = &e->step[i];
		const struct jetwatt_mode *m = &mode[s->index];

		jetwatt_json_object(j, NULL);
		jetwatt_json_string(j, "knob", jetwatt_knob_row(s->knob)->key);
		jetwatt_json_bool(j, "up", s->up);
		jetwatt_json_mode(j, m);
		jetwatt_json_real(j, "time_pct", 100 * s->time, 4);
		jetwatt_json_real(j, "power_w", s->power_w, 4);
		/* Change of time per watt; null if the power hardly changes. */
		jetwatt_json_real(j, "time_pct_per_w", fabs(s->power_w) >= POWER_NONE ?
				  100 * s->time / s->power_w : NAN, 4);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
	jetwatt_json_end(j);
}
