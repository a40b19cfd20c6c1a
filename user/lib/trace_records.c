// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes the records of a block. A correct checksum does not prove that a record is valid, so the
 * values that later code relies on are checked.
 */
#include "lib/rail_label.h"
#include "lib/trace_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Maximum time in a record, ns: no clock reaches this time, and differences of times do not
 * overflow. */
#define TIME_MAX	((uint64_t)1 << 62)

static void decode_text(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	char key[JETWATT_TRACE_KEY_LEN], value[JETWATT_TRACE_TEXT_LEN];

	jetwatt_trace_get_text(v, key, sizeof(key));
	jetwatt_trace_get_text(v, value, sizeof(value));
	if (!v->bad && r->calls.text)
		r->calls.text(key, value, r->arg);
}

static void decode_chip(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	struct jetwatt_chip c = { 0 };

	c.id = jetwatt_trace_get_u32(v);
	jetwatt_trace_get_text(v, c.model, sizeof(c.model));
	c.bus = jetwatt_trace_get_u32(v);
	c.addr = jetwatt_trace_get_u32(v);
	c.bus_hz = jetwatt_trace_get_u32(v);
	c.config = jetwatt_trace_get_u32(v);
	c.refresh_mhz = jetwatt_trace_get_u32(v);
	c.errors = jetwatt_trace_get_uint(v);
	c.lost = jetwatt_trace_get_u32(v);
	/* Records of older writers end here, without the fields below. */
	if (!v->bad && v->at < v->end) {
		c.shunt_us = jetwatt_trace_get_u32(v);
		c.averages = jetwatt_trace_get_u32(v);
		c.filter = jetwatt_trace_get_u32(v);
		c.step_pv = jetwatt_trace_get_u32(v);
		c.bus_step_pv = jetwatt_trace_get_uint(v);
		c.offset_nv = jetwatt_trace_get_u32(v);
		c.gain_ppm = jetwatt_trace_get_u32(v);
		c.bus_offset_uv = jetwatt_trace_get_u32(v);
		c.bus_gain_ppm = jetwatt_trace_get_u32(v);
		c.clipped = jetwatt_trace_get_uint(v);
	}
	if (!v->bad && r->calls.chip)
		r->calls.chip(&c, r->arg);
}

/* A trace of an older version may contain rails with the same label. A later record of a rail replaces
 * its first one. */
static void make_label_unique(struct jetwatt_trace_reader *r, struct jetwatt_rail *one)
{
	int i = 0;

	while (i < r->nr_rails && r->rail[i].id != one->id)
		i++;
	if (i == JETWATT_RAILS_MAX)
		return;
	r->nr_rails += i == r->nr_rails;
	r->rail[i] = *one;
	jetwatt_rail_label_unique(r->rail, i);
	*one = r->rail[i];
}

static void decode_rail(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	struct jetwatt_rail one = { 0 };

	one.id = jetwatt_trace_get_u32(v);
	jetwatt_trace_get_text(v, one.label, sizeof(one.label));
	one.chip = jetwatt_trace_get_u32(v);
	one.channel = jetwatt_trace_get_u32(v);
	one.shunt_uohm = jetwatt_trace_get_u32(v);
	one.enabled = jetwatt_trace_get_u32(v);
	one.requested_mhz = jetwatt_trace_get_u32(v);
	one.read_mhz = jetwatt_trace_get_u32(v);
	one.fresh_mhz = jetwatt_trace_get_u32(v);
	one.in_total = jetwatt_trace_get_u32(v);
	one.parent = jetwatt_trace_get_u32(v);
	if (v->bad)
		return;
	make_label_unique(r, &one);
	if (r->calls.rail)
		r->calls.rail(&one, r->arg);
}

static void decode_clocks(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	struct jetwatt_trace_clocks c;

	c.monotonic_ns = jetwatt_trace_get_uint(v);
	c.boottime_ns = jetwatt_trace_get_uint(v);
	c.realtime_ns = jetwatt_trace_get_uint(v);
	v->bad |= c.monotonic_ns > TIME_MAX || c.boottime_ns > TIME_MAX || c.realtime_ns > TIME_MAX;
	if (!v->bad && r->calls.clocks)
		r->calls.clocks(&c, r->arg);
}

static void decode_job(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	struct jetwatt_trace_job j;

	j.begun_ns = jetwatt_trace_get_uint(v);
	j.pid = jetwatt_trace_get_u32(v);
	v->bad |= j.begun_ns > TIME_MAX;
	if (!v->bad && r->calls.job)
		r->calls.job(&j, r->arg);
}

static void decode_series_list(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	uint32_t n = jetwatt_trace_get_u32(v);

	r->nr_series = 0;
	v->bad |= n > JETWATT_TRACE_SERIES;
	for (uint32_t i = 0; i < n && !v->bad; i++) {
		r->series[i].kind = jetwatt_trace_get_u32(v);
		r->series[i].index = jetwatt_trace_get_u32(v);
	}
	if (!v->bad)
		r->nr_series = n;
}

/* Times of samples must increase, within a batch and from one batch to the next. */
static int ascending(const struct jetwatt_trace_reader *r, uint32_t n)
{
	uint64_t last = r->last_ns;

	for (uint32_t i = 0; i < n; last = r->time_ns[i++])
		if (r->time_ns[i] <= last || r->time_ns[i] > TIME_MAX)
			return 0;
	return 1;
}

/*
 * Decode a batch. Each sample has at least one byte for its time, and each series at least one byte
 * of values. A batch with larger counts than the remaining bytes allow is rejected before memory is
 * allocated.
 */
static int decode_batch(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			uint64_t base_ns)
{
	struct jetwatt_samples s = { .time_ns = r->time_ns, .series = r->series };
	size_t values;

	s.count = jetwatt_trace_get_u32(v);
	s.seq = jetwatt_trace_get_uint(v);
	s.lost = jetwatt_trace_get_uint(v);
	s.nr_series = r->nr_series;
	v->bad |= !s.count || s.count > JETWATT_TRACE_SAMPLES || s.seq + s.count < s.seq ||
		  s.count + s.nr_series > (size_t)(v->end - v->at);
	if (v->bad)
		return 0;
	values = (size_t)s.count * s.nr_series;
	if (values > r->max_values) {
		int32_t *p = realloc(r->value, values * sizeof(*p));

		if (!p)
			return -ENOMEM;
		r->value = p;
		r->max_values = values;
	}
	jetwatt_trace_get_times(v, base_ns, r->time_ns, s.count);
	for (uint32_t i = 0; i < s.nr_series && !v->bad; i++) {
		r->series[i].value = r->value + (size_t)i * s.count;
		jetwatt_trace_get_column(v, r->value + (size_t)i * s.count, s.count);
	}
	v->bad |= s.seq < r->next_seq || !ascending(r, s.count);
	if (v->bad)
		return 0;
	s.gap = r->next_seq ? s.seq - r->next_seq : 0;
	r->next_seq = s.seq + s.count;
	r->last_ns = r->time_ns[s.count - 1];
	if (r->calls.samples)
		r->calls.samples(&s, r->arg);
	return 0;
}

/* Return whether a mark has an index outside the table of mark names. */
static int mark_out_of_range(const struct jetwatt_sync *s)
{
	return (s->call == JETWATT_SYNC_MARK || s->call == JETWATT_SYNC_MARK_BEGIN) &&
	       (s->ret < 0 || s->ret >= JETWATT_MARKS_MAX);
}

static void decode_wait(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	struct jetwatt_sync *s = &r->last;
	uint64_t flags = jetwatt_trace_get_uint(v);

	s->exit_ns += jetwatt_trace_get_int(v);
	s->enter_ns = s->exit_ns - jetwatt_trace_get_int(v);
	s->ret = jetwatt_trace_get_int(v);
	if (!(flags & JETWATT_TRACE_SAME)) {
		s->cgroup = jetwatt_trace_get_uint(v);
		s->tgid = jetwatt_trace_get_u32(v);
		s->tid = jetwatt_trace_get_u32(v);
		s->call = jetwatt_trace_get_u32(v);
	}
	s->launch_ns = flags & JETWATT_TRACE_LAUNCHED ? s->exit_ns - jetwatt_trace_get_int(v) : 0;
	s->launches = flags & JETWATT_TRACE_LAUNCHED ? jetwatt_trace_get_u32(v) : 0;
	s->lost = flags & JETWATT_TRACE_BEREFT ? jetwatt_trace_get_u32(v) : 0;
	v->bad |= s->enter_ns > s->exit_ns || s->launch_ns > s->exit_ns || s->exit_ns > TIME_MAX ||
		  mark_out_of_range(s);
	if (v->bad)
		return;
	r->state.waits++;
	if (r->calls.sync)
		r->calls.sync(s, r->arg);
}

static void decode_event(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			 uint64_t base_ns)
{
	struct jetwatt_event e;

	e.kind = jetwatt_trace_get_u32(v);
	e.chip = jetwatt_trace_get_u32(v);
	e.time_ns = base_ns + jetwatt_trace_get_int(v);
	e.value = jetwatt_trace_get_uint(v);
	v->bad |= e.time_ns > TIME_MAX;
	if (!v->bad && r->calls.event)
		r->calls.event(&e, r->arg);
}

/* Decode the writer's numbers of waits written and lost, at the start of a block or later. */
static void decode_lost(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v)
{
	uint64_t waits = jetwatt_trace_get_uint(v), lost = jetwatt_trace_get_uint(v);

	if (v->bad)
		return;
	if (waits > r->state.waits) {
		r->state.waits_missing += waits - r->state.waits;
		r->state.waits = waits;
	}
	r->state.waits_lost = lost;
}

static void decode_end(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
		       uint64_t base_ns)
{
	struct jetwatt_trace_end e;

	e.ended_ns = base_ns + jetwatt_trace_get_int(v);
	v->bad |= e.ended_ns > TIME_MAX;
	e.waits_lost = jetwatt_trace_get_uint(v);
	e.missed = jetwatt_trace_get_uint(v);
	e.status = jetwatt_trace_get_int(v);
	if (!v->bad && r->calls.end)
		r->calls.end(&e, r->arg);
}

/* Skip kinds and channels of telemetry that this version does not know or read from sysfs. */
static void decode_reading(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			   uint64_t base_ns)
{
	struct jetwatt_reading one;
	uint32_t n;

	jetwatt_telemetry_clear(&one.of);
	one.time_ns = base_ns + jetwatt_trace_get_int(v);
	v->bad |= one.time_ns > TIME_MAX;
	n = jetwatt_trace_get_u32(v);
	for (uint32_t i = 0; i < n && !v->bad; i++) {
		uint32_t kind = jetwatt_trace_get_u32(v), channel = jetwatt_trace_get_u32(v);
		int64_t value = jetwatt_trace_get_int(v);
		int s = jetwatt_telemetry_slot(kind, channel);

		if (s >= 0 && jetwatt_series_row(kind)->reader == JETWATT_SERIES_READER_SYSFS)
			one.of.value[s] = value;
	}
	if (!v->bad && r->reading)
		r->reading(&one, r->arg);
}

static void decode_counts(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			  uint64_t base_ns)
{
	struct jetwatt_trace_counts c = { .begin_ns = base_ns + jetwatt_trace_get_int(v) };

	c.end_ns = c.begin_ns + jetwatt_trace_get_uint(v);
	c.nr = jetwatt_trace_get_u32(v);
	v->bad |= c.begin_ns > TIME_MAX || c.end_ns > TIME_MAX || c.end_ns < c.begin_ns ||
		  c.nr > JETWATT_TRACE_COUNTERS;
	for (uint32_t i = 0; i < c.nr && !v->bad; i++) {
		uint64_t bits;

		c.count[i].counter = jetwatt_trace_get_u32(v);
		c.count[i].missing = jetwatt_trace_get_u32(v);
		bits = jetwatt_trace_get_uint(v);
		memcpy(&c.count[i].value, &bits, sizeof(bits));
		v->bad |= c.count[i].counter >= JETWATT_TRACE_COUNTERS || !isfinite(c.count[i].value);
	}
	if (!v->bad && r->counts)
		r->counts(&c, r->arg);
}

int jetwatt_trace_records(struct jetwatt_trace_reader *r, struct jetwatt_trace_view *v,
			  uint64_t time_ns)
{
	int err = 0;

	r->nr_series = 0;
	memset(&r->last, 0, sizeof(r->last));
	r->last.exit_ns = time_ns;
	while (v->at < v->end && !v->bad && !err) {
		uint32_t tag;
		struct jetwatt_trace_view p = jetwatt_trace_get_record(v, &tag);

		if (v->bad)
			break;
		switch (tag) {
		case JETWATT_TRACE_CLOCKS: decode_clocks(r, &p); break;
		case JETWATT_TRACE_TEXT: decode_text(r, &p); break;
		case JETWATT_TRACE_CHIP: decode_chip(r, &p); break;
		case JETWATT_TRACE_RAIL: decode_rail(r, &p); break;
		case JETWATT_TRACE_JOB: decode_job(r, &p); break;
		case JETWATT_TRACE_SERIES_LIST: decode_series_list(r, &p); break;
		case JETWATT_TRACE_BATCH: err = decode_batch(r, &p, time_ns); break;
		case JETWATT_TRACE_SYNC: decode_wait(r, &p); break;
		case JETWATT_TRACE_EVENT: decode_event(r, &p, time_ns); break;
		case JETWATT_TRACE_LOST: decode_lost(r, &p); break;
		case JETWATT_TRACE_END: decode_end(r, &p, time_ns); break;
		case JETWATT_TRACE_READING: decode_reading(r, &p, time_ns); break;
		case JETWATT_TRACE_COUNTS: decode_counts(r, &p, time_ns); break;
		default: r->state.unknown++;
		}
		v->bad |= p.bad;
	}
	if (v->bad)
		r->state.damaged++;
	return err;
}
