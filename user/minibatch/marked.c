// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of minibatches from the program's marks: a pair of a begin mark and an end mark is one
 * minibatch, a single mark ends a minibatch. Names that begin with eval, val or test mark evaluations.
 * The most frequent of the other names marks the training minibatches, and the rest are ignored. If
 * there are no other names, no bound is returned.
 */
#include <stdlib.h>
#include <string.h>

#include "minibatch/bounds.h"
#include "minibatch/minibatch.h"

/* number of marks after which their counts are halved */
#define MARKS	64

static int is_eval(const char *name)
{
	return !strncmp(name, "eval", 4) || !strncmp(name, "val", 3) || !strncmp(name, "test", 4);
}

uint64_t jetwatt_batch_mark_start(const struct jetwatt_sync *mark, size_t i)
{
	const struct jetwatt_sync *s = &mark[i];

	if (s->enter_ns < s->exit_ns)
		return s->enter_ns;
	while (i-- > 0)
		if (mark[i].call == JETWATT_SYNC_MARK && mark[i].ret == s->ret &&
		    mark[i].tgid == s->tgid && mark[i].enter_ns == mark[i].exit_ns)
			return mark[i].exit_ns;
	return 0;
}

static int by_end(const void *a, const void *b)
{
	const struct jetwatt_batch_bound *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

int jetwatt_batch_marked(const struct jetwatt_sync *mark, size_t n,
			 const char (*name)[JETWATT_MARK_LEN], struct jetwatt_batch_bound *out)
{
	size_t used[JETWATT_MARKS_MAX] = { 0 };
	int most = -1, nr = 0, minibatches = 0;

	for (size_t i = 0; i < n; i++)
		if (mark[i].call == JETWATT_SYNC_MARK)
			used[mark[i].ret]++;
	for (int i = 0; i < JETWATT_MARKS_MAX; i++)
		if (used[i] > (most < 0 ? 0 : used[most]) && !is_eval(name[i]))
			most = i;
	if (most < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int of = mark[i].ret;
		uint64_t start;

		if (mark[i].call != JETWATT_SYNC_MARK || (of != most && !is_eval(name[of])))
			continue;
		/* The search for the start of a begin mark would end at the first mark of the run. */
		start = jetwatt_batch_mark_start(mark, i);
		if (!start)
			continue;
		out[nr] = (struct jetwatt_batch_bound){
			.start_ns = start,
			.end_ns = mark[i].exit_ns,
			.tgid = mark[i].tgid,
			.kind = of == most ? JETWATT_BATCH_TRAIN : JETWATT_BATCH_EVAL,
			.confidence = 1,
		};
		if (of == most && !minibatches++)
			out[nr].flags |= JETWATT_BATCH_FIRST;
		nr++;
	}
	qsort(out, nr, sizeof(*out), by_end);
	return nr;
}

bool jetwatt_marks_next(struct jetwatt_mark_counts *c, const struct jetwatt_sync *s, uint64_t *ns, bool *changed)
{
	unsigned int name = (unsigned int)s->ret % JETWATT_MARKS_MAX, usual = c->usual;
	uint64_t start = s->enter_ns < s->exit_ns ? s->enter_ns : c->end_ns[name];

	c->end_ns[name] = s->exit_ns;
	if (++c->marks[name] > c->marks[usual])
		c->usual = name;
	*changed = c->usual != usual;
	if (!(++c->all % MARKS))
		for (int i = 0; i < JETWATT_MARKS_MAX; i++)
			c->marks[i] /= 2;
	*ns = start && s->exit_ns > start ? s->exit_ns - start : 0;
	return name == c->usual;
}
