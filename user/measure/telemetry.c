// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the telemetry values of a run and prints the sums as text or JSON. */
#include "measure/telemetry.h"

#include <inttypes.h>

void jetwatt_telemetry_add(struct jetwatt_telemetry_sums *t, const struct jetwatt_telemetry *now)
{
	jetwatt_each_slot(s) {
		int64_t v = now->value[s];

		if (v == JETWATT_TELEMETRY_NONE)
			continue;
		if (t->slot[s].n)
			t->slot[s].counted += v >= t->slot[s].last ? v - t->slot[s].last : v;
		if (!t->slot[s].n || v > t->slot[s].max)
			t->slot[s].max = v;
		t->slot[s].last = v;
		t->slot[s].sum += v;
		t->slot[s].n++;
	}
}

void jetwatt_telemetry_print(const struct jetwatt_telemetry_sums *t, FILE *f)
{
	char title[JETWATT_TELEMETRY_NAME_LEN];

	jetwatt_each_slot(s) {
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, NULL);
		double n = t->slot[s].n, per = row->per;

		if (!t->slot[s].n)
			continue;
		jetwatt_telemetry_title(s, title);
		if (row->type == JETWATT_SERIES_TYPE_COUNTER)
			fprintf(f, " %10" PRId64 "     %-18s %" PRId64 " %s at the end\n",
				t->slot[s].counted, title, t->slot[s].last, row->base);
		else
			fprintf(f, " %10.4g %-3s %-18s max %.4g\n",
				t->slot[s].sum / n / per, row->base, title, t->slot[s].max / per);
	}
}

void jetwatt_telemetry_json(const struct jetwatt_telemetry_sums *t, struct jetwatt_json *j)
{
	char name[JETWATT_TELEMETRY_NAME_LEN];

	jetwatt_json_object(j, "telemetry");
	jetwatt_each_slot(s) {
		if (!t->slot[s].n)
			continue;
		jetwatt_json_object(j, jetwatt_telemetry_name(s, name));
		if (jetwatt_telemetry_row(s, NULL)->type == JETWATT_SERIES_TYPE_COUNTER) {
			jetwatt_json_int(j, "counted", t->slot[s].counted);
		} else {
			jetwatt_json_real(j, "mean", t->slot[s].sum / t->slot[s].n, 7);
			jetwatt_json_int(j, "max", t->slot[s].max);
		}
		jetwatt_json_int(j, "last", t->slot[s].last);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}
