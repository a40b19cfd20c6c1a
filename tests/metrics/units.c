// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads counters of work units as jetwatt stat --per does, without a board. For tests/host/units.sh.
 *
 *   read-units SECONDS NAME=SOURCE...
 *
 * For each reading, prints its duration in ms and, for each counter of the source, its value or the
 * reason why it has none; at the end, prints the number of units and of restarts of each counter.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/unit_count.h"
#include "measure/unit_reader.h"
#include "util/clock.h"

static struct jetwatt_units units;
static struct jetwatt_unit_count count[JETWATT_UNITS_MAX];

static void print_reading(const struct jetwatt_unit_reading *r)
{
	uint64_t ns = r->end_ns - r->begin_ns;

	for (int i = 0; i < units.nr; i++) {
		if (units.unit[i].source != r->source)
			continue;
		printf("%s %.0f ms ", units.unit[i].name, ns * 1e-6);
		if (isnan(r->value[i])) {
			printf("none: %s\n", r->err ? r->why : "no such counter");
			continue;
		}
		printf("value %.17g\n", r->value[i]);
		jetwatt_unit_count_add(&count[i], r->begin_ns + ns / 2, ns / 2, r->value[i]);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct jetwatt_unit_reader reader;
	struct jetwatt_unit_reading r;
	uint64_t until, busy;
	int stopped = 0, err;

	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++)
		jetwatt_units_option(&units, argv[i]);
	err = jetwatt_units_resolve(&units);
	if (err)
		return err;
	until = jetwatt_clock_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	err = jetwatt_unit_reader_start(&reader, &units);
	while (!err) {
		int done = jetwatt_unit_reader_done(&reader);

		while (jetwatt_unit_reader_next(&reader, &r, &busy)) {
			print_reading(&r);
			jetwatt_unit_reader_drop(&reader);
		}
		if (done)
			break;
		if (!stopped && jetwatt_clock_ns() >= until) {
			jetwatt_unit_reader_stop(&reader);
			stopped = 1;
		}
		poll(NULL, 0, 10);
	}
	for (int i = 0; i < units.nr; i++)
		printf("%s units %.17g resets %u readings %u\n", units.unit[i].name, count[i].units,
		       count[i].resets, count[i].readings);
	jetwatt_unit_reader_free(&reader);
	jetwatt_units_forget(&units);
	return err ? 1 : 0;
}
