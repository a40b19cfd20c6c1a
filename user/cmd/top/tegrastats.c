// SPDX-License-Identifier: GPL-2.0-only
/* jetwatt top --tegrastats: lines as tegrastats prints them, until a signal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/top/top.h"
#include "out/export_rows.h"
#include "util/clock.h"
#include "util/error.h"

#define POLL_MS		100

static uint64_t real_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void on_power(const struct jetwatt_power *p, void *rows)
{
	jetwatt_export_rows_add(rows, p);
}

int jetwatt_top_tegrastats(struct jetwatt_session *w, double interval_s, FILE *f)
{
	struct jetwatt_export_run run = {
		.rail = w->rail, .nr_rails = w->nr_rails, .total = w->total, .nr_total = w->nr_total,
		.clocks = { .monotonic_ns = jetwatt_clock_ns(), .realtime_ns = real_time_ns() },
	};
	struct jetwatt_export_rows rows = { .format = &jetwatt_export_tegrastats,
					    .every_ns = interval_s * 1e9, .e = { .f = f, .run = &run } };

	if (rows.format->begin(&rows.e))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL,
					    "cannot print the lines");
	w->on_power = on_power;
	w->arg = &rows;
	while (!jetwatt_session_run(w, POLL_MS) || !(w->failed || w->stop)) {
		/* No probe is open, so samples need not be held back for later waits. */
		jetwatt_join_flush(w->join);
		jetwatt_session_discard(w, w->power_ns);
		/* A failed write: for example, the reader of a pipe has ended. */
		if (jetwatt_error_flush(f))
			break;
	}
	w->on_power = NULL;
	free(rows.e.state);
	/* A signal is the normal end. main() reports failed writes to standard output. */
	return w->failed ? jetwatt_session_error(w) : 0;
}
