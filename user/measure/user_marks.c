// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of minibatches from the program's marks: a pair of a begin mark and an end mark is one
 * minibatch, a single mark ends a minibatch. The name that occurs most often marks the minibatches.
 * Names that begin with eval, val or test mark evaluations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/run_energy.h"

static int is_eval(const char *name)
{
	return !strncmp(name, "eval", 4) || !strncmp(name, "val", 3) || !strncmp(name, "test", 4);
}

/* Return the start of the bound that mark @i ends: the time of its begin mark or, for a single
 * mark, of the previous mark with the same name and process. */
static uint64_t bound_begin(const struct jetwatt_session *w, size_t i)
{
	const struct jetwatt_sync *s = &w->mark[i];

	if (s->enter_ns < s->exit_ns)
		return s->enter_ns;
	while (i-- > 0)
		if (w->mark[i].call == JETWATT_SYNC_MARK && w->mark[i].ret == s->ret &&
		    w->mark[i].tgid == s->tgid && w->mark[i].enter_ns == w->mark[i].exit_ns)
			return w->mark[i].exit_ns;
	return 0;
}

/* Record that wait @i is the last wait found so far in bound @at. */
static void record_wait(const struct jetwatt_run_energy *m, int at, size_t i,
			struct jetwatt_batch_why **last)
{
	struct jetwatt_batch_why *w = &m->why[i];

	if (*last)
		(*last)->ends = (*last)->end_ns = 0;
	*last = w;
	w->minibatch = at;
	w->phase = m->bound[at].syncs - 1;
	w->end_ns = m->bound[at].end_ns;
	w->ends = 1;
}

/* Add up the waits within bound @at. @from: index of the wait at which the search begins;
 * advanced for the next call. */
static void add_waits(const struct jetwatt_run_energy *m, int at, size_t *from)
{
	const struct jetwatt_session *w = m->session;
	struct jetwatt_batch_bound *b = &m->bound[at];
	struct jetwatt_batch_why *last = NULL;

	/* Marks of one name are in order, but pairs may be nested. */
	while (*from > 0 && w->sync[*from - 1].exit_ns > b->start_ns)
		--*from;
	while (*from < w->nr_sync && w->sync[*from].exit_ns <= b->start_ns)
		++*from;
	for (size_t i = *from; i < w->nr_sync && w->sync[i].exit_ns <= b->end_ns; i++) {
		const struct jetwatt_sync *s = &w->sync[i];
		uint64_t enter = s->enter_ns > b->start_ns ? s->enter_ns : b->start_ns;
		uint64_t launch = s->launch_ns > b->start_ns && s->launch_ns < enter ? s->launch_ns :
										       enter;

		if (s->tgid != b->tgid)
			continue;
		b->wait_ns += s->exit_ns - enter;
		b->gpu_ns += s->exit_ns - launch;
		if (!b->syncs++)
			b->fetch_ns = launch - b->start_ns;
		b->flags |= s->launch_ns ? JETWATT_BATCH_LAUNCHED : 0;
		b->cgroup = s->cgroup;
		if (m->why)
			record_wait(m, at, i, &last);
	}
}

/* Set the rule, the score and the period in the record of each wait. */
static void record_rule(const struct jetwatt_run_energy *m)
{
	for (size_t i = 0; i < m->session->nr_sync; i++) {
		struct jetwatt_batch_why *w = &m->why[i];

		w->rule = JETWATT_RULE_MARK;
		w->score = 1;
		w->period = w->minibatch == JETWATT_BATCH_NONE ? 0 : m->bound[w->minibatch].syncs;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct jetwatt_batch_bound *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

int jetwatt_user_marks_bounds(struct jetwatt_run_energy *m)
{
	const struct jetwatt_session *w = m->session;
	size_t used[JETWATT_MARKS_MAX] = { 0 }, from = 0, syncs = 0, minibatches = 0;
	struct jetwatt_probe_state *st;
	int most = 0, n = 0;

	if (!w->nr_mark)
		return 0;
	st = malloc(sizeof(*st));
	if (!st)
		return -ENOMEM;
	jetwatt_session_probe_state(w, st);
	for (size_t i = 0; i < w->nr_mark; i++)
		if (w->mark[i].call == JETWATT_SYNC_MARK)
			used[w->mark[i].ret]++;
	for (int i = 1; i < JETWATT_MARKS_MAX; i++)
		if (used[i] > used[most] && !is_eval(st->mark[i]))
			most = i;
	for (size_t i = 0; i < w->nr_mark; i++) {
		struct jetwatt_batch_bound *b = &m->bound[n];
		int name = w->mark[i].ret;
		uint64_t start = bound_begin(w, i);

		if (w->mark[i].call != JETWATT_SYNC_MARK || !start ||
		    (name != most && !is_eval(st->mark[name])))
			continue;
		*b = (struct jetwatt_batch_bound){
			.start_ns = start,
			.end_ns = w->mark[i].exit_ns,
			.tgid = w->mark[i].tgid,
			.kind = name == most ? JETWATT_BATCH_TRAIN : JETWATT_BATCH_EVAL,
			.confidence = 1,
		};
		if (name == most && !minibatches++)
			b->flags |= JETWATT_BATCH_FIRST;
		n++;
	}
	qsort(m->bound, n, sizeof(*m->bound), by_end);
	free(st);
	if (m->why && n && jetwatt_batch_why_init(w->sync, w->nr_sync, m->why))
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		add_waits(m, i, &from);
		syncs += m->bound[i].kind == JETWATT_BATCH_TRAIN ? m->bound[i].syncs : 0;
	}
	if (m->why && n)
		record_rule(m);
	m->marked = n > 0;
	m->info.confidence = 1;
	m->info.period_syncs = minibatches ? (double)syncs / minibatches : 0;
	return n;
}
