// SPDX-License-Identifier: LGPL-2.1-only
/* Encodes the records that callers add to a trace, one function per kind of record. */
#include "lib/trace_writer.h"

#include <errno.h>

/* Write the block if it is full: a reader refuses a block that is longer than JETWATT_TRACE_MAX. */
static void write_if_full(struct jetwatt_trace_writer *w)
{
	if (w->block.len >= JETWATT_TRACE_FULL)
		jetwatt_trace_write_out(w);
}

/* Append the record in @scratch to the block, and write the block if it is full. */
static void end_record(struct jetwatt_trace_writer *w, enum jetwatt_trace_tag tag)
{
	jetwatt_trace_add(w, tag);
	write_if_full(w);
}

/*
 * The scratch record describes the run. Store this record for the next descriptions; if the trace has
 * a description already, add it to the block, too. Return: 0; -ENOSPC: too many records; or the error
 * of the writer.
 */
static int describe(struct jetwatt_trace_writer *w, uint32_t tag, const char *key)
{
	struct jetwatt_trace_kept *k = w->kept;

	if (w->err) {
		w->scratch.len = 0;
		return w->err;
	}
	while (k < w->kept + w->nr_kept && (k->tag != tag || strcmp(k->key, key)))
		k++;
	if (k == w->kept + JETWATT_TRACE_KEPT) {
		w->scratch.len = 0;
		return -ENOSPC;
	}
	if (k == w->kept + w->nr_kept) {
		w->nr_kept++;
		k->tag = tag;
		strcpy(k->key, key);
	}
	k->payload.len = 0;
	jetwatt_trace_put(&k->payload, w->scratch.byte, w->scratch.len);
	w->scratch.len = 0;
	if (w->head_ns && !w->finished) {
		jetwatt_trace_open(w, jetwatt_trace_now());
		jetwatt_trace_put_record(&w->block, tag, &k->payload);
		write_if_full(w);
	}
	return w->scratch.failed || k->payload.failed ? jetwatt_trace_fail(w, -ENOMEM) : w->err;
}

int jetwatt_trace_write_text(struct jetwatt_trace_writer *w, const char *key, const char *text)
{
	if (!*key || strlen(key) >= JETWATT_TRACE_KEY_LEN || strlen(text) >= JETWATT_TRACE_TEXT_LEN)
		return -EINVAL;
	jetwatt_trace_put_text(&w->scratch, key);
	jetwatt_trace_put_text(&w->scratch, text);
	return describe(w, JETWATT_TRACE_TEXT, key);
}

static int describe_id(struct jetwatt_trace_writer *w, uint32_t tag, uint32_t id)
{
	char key[12] = { 0 };

	for (int i = 0; id; id /= 10)
		key[i++] = '0' + id % 10;
	return describe(w, tag, key);
}

int jetwatt_trace_write_chip(struct jetwatt_trace_writer *w, const struct jetwatt_chip *c)
{
	struct jetwatt_trace_buf *b = &w->scratch;

	jetwatt_trace_put_uint(b, c->id);
	jetwatt_trace_put_text(b, c->model);
	jetwatt_trace_put_uint(b, c->bus);
	jetwatt_trace_put_uint(b, c->addr);
	jetwatt_trace_put_uint(b, c->bus_hz);
	jetwatt_trace_put_uint(b, c->config);
	jetwatt_trace_put_uint(b, c->refresh_mhz);
	jetwatt_trace_put_uint(b, c->errors);
	jetwatt_trace_put_uint(b, c->lost);
	jetwatt_trace_put_uint(b, c->shunt_us);
	jetwatt_trace_put_uint(b, c->averages);
	jetwatt_trace_put_uint(b, c->filter);
	jetwatt_trace_put_uint(b, c->step_pv);
	jetwatt_trace_put_uint(b, c->bus_step_pv);
	jetwatt_trace_put_uint(b, c->offset_nv);
	jetwatt_trace_put_uint(b, c->gain_ppm);
	jetwatt_trace_put_uint(b, c->bus_offset_uv);
	jetwatt_trace_put_uint(b, c->bus_gain_ppm);
	jetwatt_trace_put_uint(b, c->clipped);
	return describe_id(w, JETWATT_TRACE_CHIP, c->id);
}

int jetwatt_trace_write_rail(struct jetwatt_trace_writer *w, const struct jetwatt_rail *r)
{
	struct jetwatt_trace_buf *b = &w->scratch;

	jetwatt_trace_put_uint(b, r->id);
	jetwatt_trace_put_text(b, r->label);
	jetwatt_trace_put_uint(b, r->chip);
	jetwatt_trace_put_uint(b, r->channel);
	jetwatt_trace_put_uint(b, r->shunt_uohm);
	jetwatt_trace_put_uint(b, r->enabled);
	jetwatt_trace_put_uint(b, r->requested_mhz);
	jetwatt_trace_put_uint(b, r->read_mhz);
	jetwatt_trace_put_uint(b, r->fresh_mhz);
	jetwatt_trace_put_uint(b, r->in_total);
	jetwatt_trace_put_uint(b, r->parent);
	return describe_id(w, JETWATT_TRACE_RAIL, r->id);
}

int jetwatt_trace_write_job(struct jetwatt_trace_writer *w, const struct jetwatt_trace_job *j)
{
	jetwatt_trace_put_uint(&w->scratch, j->begun_ns);
	jetwatt_trace_put_uint(&w->scratch, j->pid);
	return describe(w, JETWATT_TRACE_JOB, "");
}

static int same_series(const struct jetwatt_trace_writer *w, const struct jetwatt_samples *s)
{
	if (w->nr_series != s->nr_series)
		return 0;
	for (uint32_t i = 0; i < s->nr_series; i++)
		if (w->series[i].kind != s->series[i].kind || w->series[i].index != s->series[i].index)
			return 0;
	return 1;
}

static void list_series(struct jetwatt_trace_writer *w, const struct jetwatt_samples *s)
{
	jetwatt_trace_put_uint(&w->scratch, s->nr_series);
	for (uint32_t i = 0; i < s->nr_series; i++) {
		w->series[i].kind = s->series[i].kind;
		w->series[i].index = s->series[i].index;
		jetwatt_trace_put_uint(&w->scratch, s->series[i].kind);
		jetwatt_trace_put_uint(&w->scratch, s->series[i].index);
	}
	w->nr_series = s->nr_series;
	jetwatt_trace_add(w, JETWATT_TRACE_SERIES_LIST);
}

void jetwatt_trace_write_samples(const struct jetwatt_samples *s, void *writer)
{
	struct jetwatt_trace_writer *w = writer;

	if (w->err || w->finished || !s->count)
		return;
	if (s->count > JETWATT_TRACE_SAMPLES || s->nr_series > JETWATT_TRACE_SERIES) {
		jetwatt_trace_fail(w, -EMSGSIZE);
		return;
	}
	jetwatt_trace_open(w, s->time_ns[0]);
	if (!same_series(w, s))
		list_series(w, s);
	jetwatt_trace_put_uint(&w->scratch, s->count);
	jetwatt_trace_put_uint(&w->scratch, s->seq);
	jetwatt_trace_put_uint(&w->scratch, s->lost);
	jetwatt_trace_put_times(&w->scratch, w->time_ns, s->time_ns, s->count);
	for (uint32_t i = 0; i < s->nr_series; i++)
		jetwatt_trace_put_column(&w->scratch, s->series[i].value, s->count);
	end_record(w, JETWATT_TRACE_BATCH);
}

void jetwatt_trace_write_sync(const struct jetwatt_sync *s, void *writer)
{
	struct jetwatt_trace_writer *w = writer;
	struct jetwatt_sync *l = &w->last;
	int same;

	if (w->err || w->finished)
		return;
	jetwatt_trace_open(w, s->exit_ns);
	same = s->cgroup == l->cgroup && s->tgid == l->tgid && s->tid == l->tid && s->call == l->call;
	jetwatt_trace_put_uint(&w->scratch, (same ? JETWATT_TRACE_SAME : 0) |
			       (s->launch_ns ? JETWATT_TRACE_LAUNCHED : 0) |
			       (s->lost ? JETWATT_TRACE_BEREFT : 0));
	jetwatt_trace_put_int(&w->scratch, s->exit_ns - l->exit_ns);
	jetwatt_trace_put_int(&w->scratch, s->exit_ns - s->enter_ns);
	jetwatt_trace_put_int(&w->scratch, s->ret);
	if (!same) {
		jetwatt_trace_put_uint(&w->scratch, s->cgroup);
		jetwatt_trace_put_uint(&w->scratch, s->tgid);
		jetwatt_trace_put_uint(&w->scratch, s->tid);
		jetwatt_trace_put_uint(&w->scratch, s->call);
	}
	if (s->launch_ns) {
		jetwatt_trace_put_int(&w->scratch, s->exit_ns - s->launch_ns);
		jetwatt_trace_put_uint(&w->scratch, s->launches);
	}
	if (s->lost)
		jetwatt_trace_put_uint(&w->scratch, s->lost);
	jetwatt_trace_add(w, JETWATT_TRACE_SYNC);
	*l = *s;
	w->waits++;
	write_if_full(w);
}

void jetwatt_trace_write_event(const struct jetwatt_event *e, void *writer)
{
	struct jetwatt_trace_writer *w = writer;

	if (w->err || w->finished)
		return;
	jetwatt_trace_open(w, e->time_ns);
	jetwatt_trace_put_uint(&w->scratch, e->kind);
	jetwatt_trace_put_uint(&w->scratch, e->chip);
	jetwatt_trace_put_int(&w->scratch, e->time_ns - w->time_ns);
	jetwatt_trace_put_uint(&w->scratch, e->value);
	end_record(w, JETWATT_TRACE_EVENT);
}

/*
 * Write one reading of the telemetry series that are read from sysfs. Nothing is written if the
 * board has no such series. When all values have disappeared since the last reading, one empty
 * record is written.
 */
void jetwatt_trace_write_reading(const struct jetwatt_reading *r, void *writer)
{
	struct jetwatt_trace_writer *w = writer;
	uint32_t n = 0;

	jetwatt_each_slot(s)
		n += r->of.value[s] != JETWATT_TELEMETRY_NONE;
	if (w->err || w->finished || (!n && !w->readings))
		return;
	w->readings = n;
	jetwatt_trace_open(w, r->time_ns);
	jetwatt_trace_put_int(&w->scratch, r->time_ns - w->time_ns);
	jetwatt_trace_put_uint(&w->scratch, n);
	jetwatt_each_slot(s) {
		unsigned int channel;
		const struct jetwatt_series_row *row = jetwatt_telemetry_row(s, &channel);

		if (r->of.value[s] == JETWATT_TELEMETRY_NONE)
			continue;
		jetwatt_trace_put_uint(&w->scratch, row->kind);
		jetwatt_trace_put_uint(&w->scratch, channel);
		jetwatt_trace_put_int(&w->scratch, r->of.value[s]);
	}
	end_record(w, JETWATT_TRACE_READING);
}

void jetwatt_trace_write_counts(const struct jetwatt_trace_counts *c, void *writer)
{
	struct jetwatt_trace_writer *w = writer;

	if (w->err || w->finished)
		return;
	jetwatt_trace_open(w, c->begin_ns);
	jetwatt_trace_put_int(&w->scratch, c->begin_ns - w->time_ns);
	jetwatt_trace_put_uint(&w->scratch, c->end_ns - c->begin_ns);
	jetwatt_trace_put_uint(&w->scratch, c->nr);
	for (uint32_t i = 0; i < c->nr && i < JETWATT_TRACE_COUNTERS; i++) {
		double value = c->count[i].missing ? 0 : c->count[i].value;
		uint64_t bits;

		memcpy(&bits, &value, sizeof(bits));
		jetwatt_trace_put_uint(&w->scratch, c->count[i].counter);
		jetwatt_trace_put_uint(&w->scratch, c->count[i].missing);
		jetwatt_trace_put_uint(&w->scratch, bits);
	}
	end_record(w, JETWATT_TRACE_COUNTS);
}
