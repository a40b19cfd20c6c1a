// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words and JSON for the parts of the time and the neighbours of a mode.
 */
#include "tune/explain_print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out/terminal.h"

/* A level of a knob "changes nothing" if its relative change of time and its change of power, in watts, are
 * both smaller. */
#define TIME_NONE	0.001
#define POWER_NONE	0.05
/* Smaller shares of the time are not printed. */
#define SHARE_SHOWN	0.005
/* Columns of a line, and of the indentation of the lines that continue a sentence. */
#define COLUMNS		80
#define INDENT		2

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

/* Append to a text of @len bytes. */
static __attribute__((format(printf, 3, 4))) void explain_append(char *buf, size_t len, const char *text, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, text);
	vsnprintf(buf + n, len - n, text, ap);
	va_end(ap);
}

/* Print a part of a sentence, on a new line if it does not fit on this one. @at: number of columns that
 * are printed on this line. */
static void explain_print_part(int *at, const char *part)
{
	if (*at && *at + 1 + (int)strlen(part) > COLUMNS) {
		printf("\n%*s", INDENT, "");
		*at = INDENT;
	} else if (*at) {
		*at += printf(" ");
	}
	*at += printf("%s", part);
}

static int explain_is_no_change(const struct jetwatt_explain_step *s)
{
	return fabs(s->time) < TIME_NONE && fabs(s->power_w) < POWER_NONE;
}

/* Describe a step: "GPU 1236 MHz -1.4 % time, +1.92 W (0.7 % a watt)", "5 cores changes nothing". */
static void explain_step_text(const struct jetwatt_explain_step *s, const struct jetwatt_mode *mode,
			      const struct jetwatt_prediction *p, double budget_w, char *buf, size_t len)
{
	const struct jetwatt_knob_row *row = jetwatt_knob_row(s->knob);
	uint64_t v = jetwatt_mode_get(&mode[s->index], s->knob);

	buf[0] = '\0';
	if (row->hz)
		explain_append(buf, len, "%s %u MHz", row->label, jetwatt_terminal_mhz(v * row->hz));
	else
		explain_append(buf, len, "%u %s", (unsigned int)v, row->label);
	if (explain_is_no_change(s)) {
		explain_append(buf, len, " changes nothing");
		return;
	}
	explain_append(buf, len, " %+.1f %% time, %+.2f W", 100 * s->time, s->power_w);
	if (fabs(s->power_w) >= POWER_NONE && s->time * s->power_w < 0)
		explain_append(buf, len, " (%.1f %% a watt)", 100 * fabs(s->time / s->power_w));
	if (budget_w > 0 && s->up && p[s->index].power_w > budget_w)
		explain_append(buf, len, ", over the budget");
}

/* Print the steps in one direction as a sentence. Return: number of steps. */
static int explain_print_steps(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			       const struct jetwatt_prediction *p, double budget_w, int up)
{
	int n = 0, left = 0, at = 0;
	char text[128];

	for (int i = 0; i < e->steps; i++)
		left += e->step[i].up == up;
	for (int i = 0; i < e->steps; i++) {
		if (e->step[i].up != up)
			continue;
		if (!n++)
			explain_print_part(&at, up ? "One level up:" : "One level down:");
		explain_step_text(&e->step[i], mode, p, budget_w, text, sizeof(text));
		explain_append(text, sizeof(text), --left ? ";" : ".");
		explain_print_part(&at, text);
	}
	printf(n ? "\n" : "");
	return n;
}

static void explain_print_shares(const struct jetwatt_explain *e)
{
	int left = 0, at = 0;
	char text[128] = "";

	if (!e->parts) {
		printf("why: unknown, this method does not divide the time into parts.\n");
		return;
	}
	for (enum jetwatt_share s = JETWATT_SHARE_GPU; s < JETWATT_SHARES; s++)
		left += s != e->binds && e->share[s] >= SHARE_SHOWN;
	explain_append(text, sizeof(text), "why: %.0f %% of the time depends on %s%s", 100 * e->share[e->binds],
		       share_name[e->binds], left ? "," : ".");
	explain_print_part(&at, text);
	for (enum jetwatt_share s = JETWATT_SHARE_GPU; s < JETWATT_SHARES; s++) {
		if (s == e->binds || e->share[s] < SHARE_SHOWN)
			continue;
		snprintf(text, sizeof(text), "%.0f %% on %s%s", 100 * e->share[s], share_name[s], --left ? "," : ".");
		explain_print_part(&at, text);
	}
	printf("\n");
}

void jetwatt_explain_print(const struct jetwatt_explain *e, const struct jetwatt_mode *mode,
			   const struct jetwatt_prediction *p, double budget_w)
{
	int n;

	explain_print_shares(e);
	n = explain_print_steps(e, mode, p, budget_w, 1);
	n += explain_print_steps(e, mode, p, budget_w, 0);
	if (!n)
		printf("No candidate differs in one knob only.\n");
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
