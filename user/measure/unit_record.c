// SPDX-License-Identifier: GPL-2.0-only
/* Counters of work units in a trace; a record has all counters of one source. */
#include "measure/unit_record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Interval at which the end of the last readings is polled, while the session runs, ms. */
#define LAST_POLL_MS	10

_Static_assert(JETWATT_UNITS_MAX <= JETWATT_TRACE_COUNTERS, "a trace has room for all counters");

enum { VALUE, ABSENT, UNREADABLE };

int jetwatt_unit_record_describe(const struct jetwatt_units *u, struct jetwatt_trace_writer *w)
{
	char key[JETWATT_TRACE_KEY_LEN];
	int err = 0;

	for (int i = 0; i < u->nr && !err; i++) {
		snprintf(key, sizeof(key), "unit.%d", i);
		err = jetwatt_trace_write_text(w, key, u->unit[i].name);
		snprintf(key, sizeof(key), "unit.%d.source", i);
		if (!err)
			err = jetwatt_trace_write_text(w, key, u->source[u->unit[i].source].text);
		snprintf(key, sizeof(key), "unit.%d.metric", i);
		if (!err)
			err = jetwatt_trace_write_text(w, key, u->unit[i].metric);
	}
	return err;
}

void jetwatt_unit_record_last(struct jetwatt_unit_reader *r, struct jetwatt_session *s)
{
	jetwatt_unit_reader_stop(r);
	while (!s->failed && !jetwatt_unit_reader_done(r))
		jetwatt_session_run(s, LAST_POLL_MS);
}

static void write_reading(const struct jetwatt_units *u, const struct jetwatt_unit_reading *one,
			  struct jetwatt_trace_writer *w)
{
	struct jetwatt_trace_counts c = { .begin_ns = one->begin_ns, .end_ns = one->end_ns };

	for (int i = 0; i < u->nr; i++)
		if (u->unit[i].source == one->source)
			c.count[c.nr++] = (struct jetwatt_trace_count){
				i, one->err ? UNREADABLE : isnan(one->value[i]) ? ABSENT : VALUE,
				one->value[i],
			};
	jetwatt_trace_write_counts(&c, w);
}

void jetwatt_unit_record_write(struct jetwatt_unit_reader *r, struct jetwatt_trace_writer *w)
{
	struct jetwatt_unit_reading one;
	uint64_t busy;

	while (jetwatt_unit_reader_next(r, &one, &busy)) {
		jetwatt_unit_reader_drop(r);
		write_reading(r->units, &one, w);
	}
}

static int is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n && n < JETWATT_UNIT_NAME_LEN && !text[n];
}

static void set_source(struct jetwatt_units *u, int unit, const char *text)
{
	int i = 0;

	while (i < u->sources && strcmp(u->source[i].text, text))
		i++;
	if (i == JETWATT_UNITS_MAX)
		return;
	snprintf(u->source[i].text, sizeof(u->source[i].text), "%s", text);
	u->sources += i == u->sources;
	u->unit[unit].source = i;
}

void jetwatt_unit_record_text(struct jetwatt_units *u, const char *key, const char *text)
{
	int i = strncmp(key, "unit.", 5) || !isdigit((unsigned char)key[5]) ? JETWATT_UNITS_MAX : key[5] - '0';

	/* The counters are described in their order, each one with its name first. */
	if (i >= JETWATT_UNITS_MAX || i > u->nr || (i == u->nr && key[6]))
		return;
	if (!key[6] && is_name(text)) {
		snprintf(u->unit[i].name, sizeof(u->unit[i].name), "%s", text);
		u->nr += i == u->nr;
	} else if (!strcmp(key + 6, ".source")) {
		set_source(u, i, text);
	} else if (!strcmp(key + 6, ".metric")) {
		snprintf(u->unit[i].metric, sizeof(u->unit[i].metric), "%s", text);
	}
}

int jetwatt_unit_record_reading(const struct jetwatt_units *u, const struct jetwatt_trace_counts *c,
				struct jetwatt_unit_reading *one)
{
	*one = (struct jetwatt_unit_reading){ .begin_ns = c->begin_ns, .end_ns = c->end_ns };
	if (!c->nr || c->count[0].counter >= (uint32_t)u->nr)
		return 0;
	one->source = u->unit[c->count[0].counter].source;
	for (int i = 0; i < JETWATT_UNITS_MAX; i++)
		one->value[i] = NAN;
	for (uint32_t i = 0; i < c->nr; i++) {
		if (c->count[i].missing == VALUE)
			one->value[c->count[i].counter] = c->count[i].value;
		else if (c->count[i].missing == UNREADABLE)
			one->err = -EIO;
	}
	if (one->err)
		snprintf(one->why, sizeof(one->why), "the source could not be read");
	return 1;
}
