// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the energy between the readings of counters of work units.
 *
 * A reading may take a second, so the session's samples are not integrated past the begin of a
 * reading that is in progress (hold_ns of struct jetwatt_run_energy).
 */
#include "measure/work_units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/unit_count.h"
#include "measure/unit_reader.h"
#include "measure/unit_record.h"
#include "util/error.h"

/* Maximum time for which processing a reading waits for samples of all rails, ns: if a rail is
 * disabled, its samples never arrive. */
#define PATIENCE_NS	1000000000ull
/* In a trace, a reading follows the samples of the time at which it began by at most this time, ns:
 * the longest reading and a delay of the recorder. */
#define RECORD_LAG_NS	5000000000ull

/**
 * struct unit_point - energy of the run from its begin to a time
 * @uj: energy of the total, uJ
 * @mark: integrals of all rails, from which energy is computed with its error; valid if @marked
 * @exact: 1: @mark is for this time; 0: for the last time before it for which there are samples
 */
struct unit_point {
	uint64_t time_ns;
	double uj;
	struct jetwatt_energy_mark mark;
	int marked, exact;
};

/**
 * struct unit_state - a counter along the run
 * @count: its readings; @joules: the energy at these readings, as a count of J
 * @first, @last: energy at the first and at the last reading
 * @absent: 1: the counter did not exist at first, so it counts from 0 at the begin of the run
 * @from_zero: 1: the first entry of @count is this 0 at the begin of the run, not a reading
 * @missing: 1: the counter had no value in the last reading of the source
 * @why: the reason, if @missing is 1
 */
struct unit_state {
	struct jetwatt_unit_count count, joules;
	struct unit_point first, last;
	int absent, from_zero, missing;
	char why[80];
};

/**
 * struct jetwatt_work_units - the counters of a run
 * @run: energy of the run
 * @reader: reads the counters
 * @begin: energy at the begin of the run
 * @state: the counters
 * @started: 1: the run began with the start of the program, so its counts were 0
 * @replayed: 1: the run is that of a trace; what it lacks was reported when it was recorded
 */
struct jetwatt_work_units {
	struct jetwatt_run_energy *run;
	struct jetwatt_unit_reader reader;
	struct unit_point begin;
	struct unit_state state[JETWATT_UNITS_MAX];
	int started, replayed;
};

int jetwatt_work_units_begin(struct jetwatt_work_units **units_p, struct jetwatt_units *units,
			     struct jetwatt_run_energy *m)
{
	struct jetwatt_work_units *w = calloc(1, sizeof(*w));
	int err = w ? jetwatt_unit_reader_start(&w->reader, units) : -ENOMEM;

	*units_p = w;
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					    "--per: cannot read the counters");
	w->run = m;
	w->started = m->session->child.pid != 0;
	m->hold_ns = m->begun_ns;
	return 0;
}

struct jetwatt_work_units *jetwatt_work_units_replay(struct jetwatt_units *units, int started)
{
	struct jetwatt_work_units *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	jetwatt_unit_reader_init(&w->reader, units);
	w->started = started;
	w->replayed = 1;
	return w;
}

void jetwatt_work_units_start(struct jetwatt_work_units *w, struct jetwatt_run_energy *m)
{
	w->run = m;
	m->hold_ns = m->begun_ns;
}

void jetwatt_work_units_add(struct jetwatt_work_units *w, const struct jetwatt_unit_reading *r)
{
	jetwatt_unit_reader_put(&w->reader, r, 0);
}

/*
 * Compute the energy of the run from its begin to @ns. @last: 1: no further samples will arrive.
 * Return: 1: @p is set; 0: there are not enough samples yet.
 */
static int find_energy(struct jetwatt_work_units *w, uint64_t ns, int last, struct unit_point *p)
{
	struct jetwatt_run_energy *m = w->run;
	uint64_t age = jetwatt_energy_error_age(&m->error, m->session), now = m->session->power_ns;
	int err;

	if (!last && now < ns + age)
		return 0;
	jetwatt_run_energy_to(m, ns < now ? ns : now);
	err = jetwatt_energy_error_at(&m->error, m->session, ns, &p->mark);
	if (err == -EAGAIN && !last && now < ns + age + PATIENCE_NS)
		return 0;
	p->exact = !err;
	if (err == -EAGAIN && last && now > age)
		err = jetwatt_energy_error_at(&m->error, m->session, now - age, &p->mark);
	p->marked = !err;
	p->time_ns = ns;
	p->uj = m->uj;
	return 1;
}

/* Print a notice about a counter that cannot be read yet; called once per counter. */
static void note_missing(const struct jetwatt_work_units *w, int i,
			 const struct jetwatt_unit_reading *r)
{
	const struct jetwatt_unit *u = &w->reader.units->unit[i];
	const char *source = w->reader.units->source[u->source].text;

	if (!r->err)
		jetwatt_notice("--per %s: %s has no %s yet; it counts from 0 when it appears",
			       u->name, source, u->metric);
	else if (w->started)
		jetwatt_notice("--per %s: cannot read %s yet (%s); it counts from 0 when it appears",
			       u->name, source, r->why);
	else
		jetwatt_notice("--per %s: cannot read %s yet (%s); it counts from its first reading on",
			       u->name, source, r->why);
}

/* Update the count of counter @i with its value in reading @r; @p: energy up to the time of @r. */
static void add_reading(struct jetwatt_work_units *w, int i, const struct jetwatt_unit_reading *r,
			const struct unit_point *p)
{
	struct unit_state *s = &w->state[i];
	struct jetwatt_unit_count *c = &s->count;
	const char *name = w->reader.units->unit[i].name;
	uint64_t mid = r->begin_ns + (r->end_ns - r->begin_ns) / 2;
	double before = c->value;

	if (isnan(r->value[i])) {
		snprintf(s->why, sizeof(s->why), "%s", r->err ? r->why : "the source has no such counter");
		if (!c->readings && !s->missing && !w->replayed)
			note_missing(w, i, r);
		/* If the program does not export the counter yet, or has not started yet, its count
		 * is 0. */
		s->absent |= !r->err || w->started;
		s->missing = 1;
		return;
	}
	s->missing = 0;
	if (!c->readings && s->absent) {
		jetwatt_unit_count_add(c, w->begin.time_ns, 0, 0);
		/* A job that was running before may have been in the middle of a unit at the
		 * begin. */
		c->exact_start = w->started;
		s->from_zero = 1;
		s->first = w->begin;
	}
	if (jetwatt_unit_count_add(c, p->time_ns,
				   (r->end_ns - r->begin_ns) / 2 + (mid - p->time_ns), r->value[i]) &&
	    !w->replayed)
		jetwatt_notice("--per %s: the count fell from %.10g to %.10g: the program has restarted; counting on from 0",
			       name, before, r->value[i]);
	jetwatt_unit_count_add(&s->joules, p->time_ns, 0, p->uj * 1e-6);
	s->last = *p;
	if (c->readings == 1)
		s->first = *p;
}

/* Process the readings whose time the power samples have reached. @end_ns: end of the run; 0: the
 * run has not ended. Return: time up to which power may be integrated; 0: no limit. */
static uint64_t process(struct jetwatt_work_units *w, uint64_t end_ns)
{
	struct jetwatt_unit_reading r;
	struct unit_point p;
	uint64_t busy;

	if (!w->begin.time_ns && !find_energy(w, w->run->begun_ns, end_ns != 0, &w->begin))
		return w->run->begun_ns;
	while (jetwatt_unit_reader_next(&w->reader, &r, &busy)) {
		uint64_t ns = r.begin_ns + (r.end_ns - r.begin_ns) / 2;

		if (end_ns && ns > end_ns)
			ns = end_ns;
		/* A reading that was recorded too late: its energy is not known any more. */
		if (w->replayed && ns < w->run->at_ns && ns > w->begin.time_ns) {
			jetwatt_unit_reader_drop(&w->reader);
			continue;
		}
		if (!find_energy(w, ns, end_ns != 0, &p))
			return ns;
		jetwatt_unit_reader_drop(&w->reader);
		for (int i = 0; i < w->reader.units->nr; i++)
			if (w->reader.units->unit[i].source == r.source)
				add_reading(w, i, &r, &p);
	}
	return busy;
}

void jetwatt_work_units_run(struct jetwatt_work_units *w)
{
	uint64_t hold = process(w, 0), now = w->run->session->power_ns;

	/* Readings of the last seconds may follow in the trace. */
	if (w->replayed && now > RECORD_LAG_NS && (!hold || hold > now - RECORD_LAG_NS))
		hold = now - RECORD_LAG_NS;
	w->run->hold_ns = hold;
}

void jetwatt_work_units_last(struct jetwatt_work_units *w)
{
	jetwatt_unit_record_last(&w->reader, w->run->session);
}

/* Report a counter that was never read, was read only once, or is missing at the end; the latter is
 * only a notice if the job has ended. Return: exit code. */
static int check_unit(const struct jetwatt_work_units *w, int i)
{
	const struct unit_state *s = &w->state[i];
	const struct jetwatt_unit *u = &w->reader.units->unit[i];
	const char *source = w->reader.units->source[u->source].text;
	const char *hash = *u->metric ? "#" : "";

	if (!s->count.readings)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, s->why,
					    w->reader.units->source[u->source].kind == JETWATT_UNIT_HTTP ?
					    "check that the program runs and exports this counter: curl URL" :
					    "check that the program writes this counter",
					    "--per %s: the counter %s%s%s was never read", u->name,
					    source, hash, u->metric);
	if (s->count.last_ns <= s->count.first_ns)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, s->missing ? s->why : "the measurement was too short",
					    "measure for longer, while the program runs",
					    "--per %s: the counter %s%s%s was read only once", u->name,
					    source, hash, u->metric);
	if (s->missing && !w->run->session->ended)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, s->why,
					    "its figures end at its last reading; check that the program still runs",
					    "--per %s: the counter %s%s%s is missing at the end", u->name,
					    source, hash, u->metric);
	if (s->missing)
		jetwatt_notice("--per %s: the last reading is %.1f s before the end of the job", u->name,
			       (w->run->session->ended_ns - s->count.last_ns) * 1e-9);
	if (!(s->count.units > 0))
		jetwatt_notice("--per %s: no unit was counted, so there are no figures per unit",
			       u->name);
	return 0;
}

int jetwatt_work_units_check(const struct jetwatt_work_units *w)
{
	int err = 0, one;

	for (int i = 0; i < w->reader.units->nr; i++) {
		one = check_unit(w, i);
		err = err ? err : one;
	}
	return err;
}

int jetwatt_work_units_end(struct jetwatt_work_units *w, uint64_t end_ns)
{
	process(w, end_ns);
	return w->replayed ? 0 : jetwatt_work_units_check(w);
}

/* Compute the energy between two points in J, with its relative standard error. */
static void find_cost(const struct jetwatt_work_units *w, const struct unit_state *s,
		      struct jetwatt_work_unit *r)
{
	struct jetwatt_batch_energy_result c;

	r->energy_j = (s->last.uj - s->first.uj) * 1e-6;
	r->energy_sd = NAN;
	if (!s->first.marked || !s->last.marked || s->last.mark.time_ns <= s->first.mark.time_ns)
		return;
	jetwatt_batch_cost_between(&s->first.mark, &s->last.mark, w->run->error.sensor, NULL, &c);
	/* @c.total_uj is more accurate than the difference of @uj, because it takes into account
	 * that a sensor's value is older than the time at which it was read. */
	if (s->first.exact && s->last.exact)
		r->energy_j = c.total_uj * 1e-6;
	r->energy_sd = c.total_uj > 0 ? c.total_sd_uj / c.total_uj : NAN;
}

static void find_result(const struct jetwatt_work_units *w, int i, struct jetwatt_work_unit *r)
{
	const struct jetwatt_unit *u = &w->reader.units->unit[i];
	const struct unit_state *s = &w->state[i];
	const struct jetwatt_unit_count *c = &s->count;
	double t = (c->last_ns - c->first_ns) * 1e-9;

	*r = (struct jetwatt_work_unit){
		.name = u->name, .source = w->reader.units->source[u->source].text, .metric = u->metric,
		.start_ns = c->first_ns, .end_ns = c->last_ns, .units = c->units,
		.resets = c->resets, .readings = c->readings - s->from_zero,
		.units_sd = NAN, .power_w = NAN, .rate_hz = NAN, .unit_j = NAN, .unit_ms = NAN,
		.unit_sd = NAN, .rate_var = jetwatt_unit_count_variation(c),
		.power_var = jetwatt_unit_count_variation(&s->joules),
	};
	find_cost(w, s, r);
	r->power_w = r->energy_j / t;
	r->rate_hz = r->units / t;
	if (!(r->units > 0))
		return;
	r->units_sd = jetwatt_unit_count_sd(c) / r->units;
	r->unit_j = r->energy_j / r->units;
	r->unit_ms = 1e3 * t / r->units;
	r->unit_sd = hypot(isnan(r->energy_sd) ? 0 : r->energy_sd, r->units_sd);
}

int jetwatt_work_units_results(const struct jetwatt_work_units *w, struct jetwatt_work_unit *result)
{
	int n = 0;

	for (int i = 0; i < w->reader.units->nr; i++)
		if (w->state[i].count.last_ns > w->state[i].count.first_ns)
			find_result(w, i, &result[n++]);
	return n;
}

void jetwatt_work_units_free(struct jetwatt_work_units *w)
{
	if (w)
		jetwatt_unit_reader_free(&w->reader);
	free(w);
}
