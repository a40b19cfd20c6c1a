// SPDX-License-Identifier: GPL-2.0-only
/* Adds the waits of a run to the minibatches that the program has marked. */
#include <errno.h>
#include <stdlib.h>

#include "measure/run_energy.h"
#include "minibatch/bounds.h"

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

/* Add up the waits within bound @at. @from: index of the wait at which the search begins; advanced for
 * the next call. */
static void add_waits(const struct jetwatt_run_energy *m, int at, size_t *from)
{
	const struct jetwatt_session *w = m->session;
	struct jetwatt_batch_bound *b = &m->bound[at];
	struct jetwatt_batch_why *last = NULL;
	struct jetwatt_bounds_times times = { b->start_ns, b->start_ns, b->end_ns };

	/* Marks of one name are in order, but pairs may be nested. */
	while (*from > 0 && w->sync[*from - 1].exit_ns > b->start_ns)
		--*from;
	while (*from < w->nr_sync && w->sync[*from].exit_ns <= b->start_ns)
		++*from;
	for (size_t i = *from; i < w->nr_sync && w->sync[i].exit_ns <= b->end_ns; i++) {
		if (w->sync[i].tgid != b->tgid)
			continue;
		jetwatt_bounds_add_wait(b, &times, &w->sync[i], 0);
		b->syncs++;
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

int jetwatt_user_marks_bounds(struct jetwatt_run_energy *m)
{
	const struct jetwatt_session *w = m->session;
	size_t from = 0, syncs = 0, minibatches = 0;
	struct jetwatt_probe_state *st;
	int n;

	if (!w->nr_mark)
		return 0;
	st = malloc(sizeof(*st));
	if (!st)
		return -ENOMEM;
	jetwatt_session_probe_state(w, st);
	n = jetwatt_batch_marked(w->mark, w->nr_mark, st->mark, m->bound);
	free(st);
	if (m->why && n && jetwatt_batch_why_init(w->sync, w->nr_sync, m->why))
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		add_waits(m, i, &from);
		if (m->bound[i].kind != JETWATT_BATCH_TRAIN)
			continue;
		syncs += m->bound[i].syncs;
		minibatches++;
	}
	if (m->why && n)
		record_rule(m);
	m->marked = n > 0;
	m->info.confidence = 1;
	m->info.period_syncs = minibatches ? (double)syncs / minibatches : 0;
	return n;
}
