// SPDX-License-Identifier: GPL-2.0-only
/* Prints the figures per work unit as text or JSON. */
#include "cmd/stat/per.h"

#include <math.h>

#include "out/terminal.h"

#define COLUMNS		80
#define NAME_COLUMNS	9	/* minimum columns for the name of a unit */

/* Print a relative standard error in percent. */
static void print_error(double sd, FILE *f)
{
	if (isnan(sd))
		fprintf(f, "  +- unknown");
	else
		fprintf(f, "  +- %.2g %%", 100 * sd);
}

static void print_unit(const struct jetwatt_work_unit *u, FILE *f, const struct jetwatt_args *a)
{
	const char *on = jetwatt_terminal_color(a, 'b'), *off = jetwatt_terminal_color_end(a);
	int used;

	fprintf(f, "\n");
	used = fprintf(f, " %10.10g %s in %.4g s, ", u->units, u->name,
		       (u->end_ns - u->start_ns) * 1e-9);
	fprintf(f, "%.*s\n", COLUMNS - used, *u->metric ? u->metric : u->source);
	if (u->resets)
		fprintf(f, " %10u times the count fell: the program has restarted\n", u->resets);
	if (!isnan(u->unit_j)) {
		fprintf(f, " %s%10.4g%s J   per %-*s", on, u->unit_j, off, NAME_COLUMNS, u->name);
		print_error(u->unit_sd, f);
		fprintf(f, "   %.5g J in all\n", u->energy_j);
		fprintf(f, " %s%10.4g%s ms  per %-*s", on, u->unit_ms, off, NAME_COLUMNS, u->name);
		print_error(u->units_sd, f);
		fprintf(f, "   %.4g per second\n", u->rate_hz);
	}
	fprintf(f, " %10.2f W   %-*s", u->power_w, NAME_COLUMNS + 4, "on average");
	print_error(u->energy_sd, f);
	fprintf(f, "\n");
}

void jetwatt_stat_per_print(const struct jetwatt_work_unit *unit, int n, FILE *f,
			    const struct jetwatt_args *a)
{
	for (int i = 0; i < n; i++)
		print_unit(&unit[i], f, a);
}

void jetwatt_stat_per_json(const struct jetwatt_work_unit *unit, int n, struct jetwatt_json *j)
{
	jetwatt_json_object(j, "per");
	for (int i = 0; i < n; i++) {
		const struct jetwatt_work_unit *u = &unit[i];

		jetwatt_json_object(j, u->name);
		jetwatt_json_string(j, "source", u->source);
		jetwatt_json_string(j, "metric", *u->metric ? u->metric : NULL);
		jetwatt_json_uint(j, "start_ns", u->start_ns);
		jetwatt_json_uint(j, "end_ns", u->end_ns);
		jetwatt_json_real(j, "units", u->units, 12);
		jetwatt_json_real(j, "units_sd", u->units_sd, 4);
		jetwatt_json_real(j, "total_j", u->energy_j, 9);
		jetwatt_json_real(j, "power_w", u->power_w, 7);
		jetwatt_json_real(j, "power_sd", u->energy_sd, 4);
		jetwatt_json_real(j, "energy_j", u->unit_j, 7);
		jetwatt_json_real(j, "energy_sd", u->unit_sd, 4);
		jetwatt_json_real(j, "time_ms", u->unit_ms, 7);
		jetwatt_json_real(j, "time_sd", u->units_sd, 4);
		jetwatt_json_real(j, "units_per_s", u->rate_hz, 7);
		jetwatt_json_uint(j, "resets", u->resets);
		jetwatt_json_uint(j, "readings", u->readings);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}
