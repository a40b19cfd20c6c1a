// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the reader of traces (make fuzz FUZZ=trace). The reader must not read
 * outside of the input, must not allocate memory of a size that the input alone specifies, and the
 * records that it delivers must be within the documented limits.
 *
 * tests/unit/trace.c includes this file and passes damaged traces to it. Depending on the first
 * byte, the rest of the input is the whole file, or the records of one block, for which this file
 * computes correct checksums, because mutations do not find them.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "lib/join.h"
#include "lib/trace.h"
#include "measure/unit_record.h"

static struct jetwatt_units units;
static uint64_t trace_sum;	/* a use of all values, so that the compiler keeps the reads */

static void fuzz_samples_call(const struct jetwatt_samples *s, void *join)
{
	if (!s->count || s->count > JETWATT_TRACE_SAMPLES || s->seq + s->count < s->seq)
		abort();
	for (uint32_t i = 0; i < s->count; i++) {
		if (i && s->time_ns[i] <= s->time_ns[i - 1])
			abort();
		for (uint32_t k = 0; k < s->nr_series; k++)
			trace_sum += s->series[k].value[i];
	}
	jetwatt_join_samples(s, join);
}

static void fuzz_sync_call(const struct jetwatt_sync *s, void *join)
{
	if (s->enter_ns > s->exit_ns)
		abort();
	/* Callers index the table of mark names with ret. */
	if ((s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN) &&
	    (s->ret < 0 || s->ret >= JETWATT_MARKS_MAX))
		abort();
	jetwatt_join_sync(s, join);
}

static void fuzz_event_call(const struct jetwatt_event *e, void *join)
{
	(void)join;
	trace_sum += e->value;
}

static void fuzz_text_call(const char *key, const char *text, void *join)
{
	(void)join;
	if (strlen(key) >= JETWATT_TRACE_KEY_LEN || strlen(text) >= JETWATT_TRACE_TEXT_LEN)
		abort();
	jetwatt_unit_record_text(&units, key, text);
	if (units.nr > JETWATT_UNITS_MAX || units.sources > JETWATT_UNITS_MAX)
		abort();
	for (int i = 0; i < units.nr; i++)
		if (!*units.unit[i].name || units.unit[i].source < 0 || units.unit[i].source >= JETWATT_UNITS_MAX)
			abort();
}

static void fuzz_rail_call(const struct jetwatt_rail *r, void *join)
{
	(void)join;
	if (strlen(r->label) >= JETWATT_LABEL_LEN)
		abort();
}

/* The reader must deliver only telemetry series that this version knows. */
static void fuzz_reading_call(const struct jetwatt_reading *r, void *join)
{
	jetwatt_each_slot(s)
		if (r->of.value[s] != JETWATT_TELEMETRY_NONE &&
		    jetwatt_telemetry_row(s, NULL)->reader != JETWATT_SERIES_READER_SYSFS)
			abort();
	jetwatt_join_reading(r, join);
}

/* Callers index tables of counters with the number of a counter. */
static void fuzz_counts_call(const struct jetwatt_trace_counts *c, void *join)
{
	struct jetwatt_unit_reading one;

	if (jetwatt_unit_record_reading(&units, c, &one) && (one.source < 0 || one.source >= JETWATT_UNITS_MAX))
		abort();
	(void)join;
	if (c->end_ns < c->begin_ns || c->nr > JETWATT_TRACE_COUNTERS)
		abort();
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->count[i].counter >= JETWATT_TRACE_COUNTERS || !isfinite(c->count[i].value))
			abort();
}

static void fuzz_read(int fd)
{
	static const struct jetwatt_trace_calls calls = {
		.samples = fuzz_samples_call, .sync = fuzz_sync_call, .event = fuzz_event_call,
		.text = fuzz_text_call, .rail = fuzz_rail_call,
	};
	static const struct jetwatt_rail rail[2] = {
		{ .id = 0, .shunt_uohm = 2000, .enabled = 1 },
		{ .id = 1, .shunt_uohm = 1, .enabled = 1 },
	};
	struct jetwatt_trace_reader *r;
	struct jetwatt_trace_state st;
	struct jetwatt_join *j;
	uint64_t blocks = 0;

	if (jetwatt_join_new_rails(&j, rail, 2, 1000))
		return;
	if (!jetwatt_trace_reader_new(&r, fd, &calls, j)) {
		jetwatt_trace_reader_reading(r, fuzz_reading_call);
		jetwatt_trace_reader_counts(r, fuzz_counts_call);
		while (jetwatt_trace_read(r) > 0)
			blocks++;
		jetwatt_trace_state(r, &st);
		if (st.blocks != blocks)
			abort();
		jetwatt_trace_reader_free(r);
	}
	jetwatt_join_flush(j);
	jetwatt_join_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jetwatt_trace_block b = { .version = JETWATT_TRACE_VERSION, .time_ns = 1000000 };
	uint8_t header[JETWATT_TRACE_HEADER];
	int fd;

	if (!size || size > 1 << 20)
		return 0;
	memset(&units, 0, sizeof(units));
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (data[0] & 1) {
		b.length = size - 1;
		b.crc = jetwatt_crc32c(0, data + 1, size - 1);
		jetwatt_trace_block_put(header, &b);
		if (write(fd, header, sizeof(header)) != sizeof(header))
			abort();
	}
	if (write(fd, data + 1, size - 1) != (ssize_t)size - 1 || lseek(fd, 0, SEEK_SET))
		abort();
	fuzz_read(fd);
	close(fd);
	return 0;
}
