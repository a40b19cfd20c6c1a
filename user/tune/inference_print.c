// SPDX-License-Identifier: GPL-2.0-only
/* A plan of optimize --latency, as a line of a table and as JSON. */
#include "tune/inference.h"

#include <stdio.h>

#include "out/json.h"
#include "out/terminal.h"

double jetwatt_inference_ms(const struct jetwatt_inference *f, const struct jetwatt_slice_plan *p)
{
	return p->latency_ms - 1e3 * f->size[p->size[0]] / f->q.arrival_hz;
}

void jetwatt_inference_line(const struct jetwatt_inference *f, const struct jetwatt_tuner *l,
			    char mark, const struct jetwatt_slice_plan *p, const char *note)
{
	char mode[64];

	printf("%c %-22s %5u %10.2f %10.2f %8.2f  %s\n", mark,
	       jetwatt_terminal_mode(&l->mode[p->mode], mode, sizeof(mode)), f->size[p->size[0]],
	       jetwatt_inference_ms(f, p), p->latency_ms, p->power_w, note);
}

void jetwatt_inference_json(const struct jetwatt_inference *f, struct jetwatt_json *j)
{
	jetwatt_json_object(j, "inference");
	jetwatt_json_real(j, "latency_limit_ms", f->q.latency_ms, 7);
	jetwatt_json_real(j, "arrival_hz", f->q.arrival_hz, 7);
	jetwatt_json_uint(j, "batch", f->size[f->plan.size[0]]);
	jetwatt_json_real(j, "queueing_ms", f->plan.latency_ms - jetwatt_inference_ms(f, &f->plan),
			  7);
	jetwatt_json_real(j, "time_ms", jetwatt_inference_ms(f, &f->plan), 7);
	jetwatt_json_real(j, "latency_ms", f->plan.latency_ms, 7);
	jetwatt_json_real(j, "power_w", f->plan.power_w, 7);
	jetwatt_json_bool(j, "measured", f->measured);
	jetwatt_json_end(j);
}
