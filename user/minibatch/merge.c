// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges waits with the wait before or after them, before bounds are searched. The rules of
 * JETWATT_MERGE_RULES() decide wait by wait, for a trace as for a running job.
 */
#include "minibatch/bounds.h"

static const struct {
	enum jetwatt_batch_rule rule;
	enum jetwatt_merged (*next)(struct jetwatt_merge_rule *m, const struct jetwatt_sync *s);
	bool launches;
} rules[JETWATT_MERGES] = {
#define ROW(id, function, launches)	{ JETWATT_RULE_##id, function, launches },
	JETWATT_MERGE_RULES(ROW)
};

enum jetwatt_merged jetwatt_merge_next(struct jetwatt_merge *m, bool launches,
				       const struct jetwatt_sync *s)
{
	enum jetwatt_merged how = JETWATT_MERGED_NOT;

	for (size_t i = 0; i < JETWATT_MERGES && how == JETWATT_MERGED_NOT; i++) {
		if (rules[i].launches && !launches)
			continue;
		how = rules[i].next(&m->state[i], s);
		m->rule = rules[i].rule;
	}
	return how;
}

/* Record that a rule has merged the wait at index @at with the one at index @with. */
static void record(struct jetwatt_batch_why *why, size_t at, enum jetwatt_batch_rule rule,
		   size_t with)
{
	if (!why)
		return;
	why[at].rule = rule;
	why[at].minibatch = (uint32_t)with;
}

/* Merge the wait of @s with the wait of @to, before it. @copy: memory for a copy. */
static void merge(struct jetwatt_item *to, const struct jetwatt_item *s, struct jetwatt_sync *copy)
{
	if (to->sync != copy)
		*copy = *to->sync;
	copy->exit_ns = s->sync->exit_ns;
	to->sync = copy;
	to->at = s->at;
	to->waits++;
}

size_t jetwatt_merge_waits(struct jetwatt_item *it, size_t n, bool launches,
			   struct jetwatt_sync *merged, struct jetwatt_batch_why *why)
{
	enum jetwatt_merged before = JETWATT_MERGED_NOT;
	struct jetwatt_merge m = { 0 };
	size_t kept = 0, ahead = 0;	/* @ahead: number of waits to merge with the next one */

	for (size_t i = 0; i < n; i++) {
		enum jetwatt_batch_rule rule_before = m.rule;
		enum jetwatt_merged how = jetwatt_merge_next(&m, launches, it[i].sync);

		if (before == JETWATT_MERGED_AFTER)
			record(why, it[i - 1].at, rule_before, it[i].at);
		before = how;
		if (how == JETWATT_MERGED_AFTER) {
			ahead++;
			continue;
		}
		if (how == JETWATT_MERGED_BEFORE) {
			record(why, it[kept - 1].at, m.rule, it[i].at);
			merge(&it[kept - 1], &it[i], &merged[kept - 1]);
		} else {
			it[kept++] = it[i];
		}
		it[kept - 1].waits += (uint32_t)ahead;
		ahead = 0;
	}
	return kept;
}

void jetwatt_item_move(struct jetwatt_item *it, size_t from, size_t to, struct jetwatt_sync *merged)
{
	bool own = it[from].sync == &merged[from];

	it[to] = it[from];
	if (own && from != to) {
		merged[to] = merged[from];
		it[to].sync = &merged[to];
	}
}

void jetwatt_items_join(struct jetwatt_item *it, size_t to, size_t from, size_t end, struct jetwatt_sync *merged,
			enum jetwatt_batch_rule rule, struct jetwatt_batch_why *why)
{
	for (size_t i = from; i < end; i++) {
		record(why, it[to].at, rule, it[i].at);
		merge(&it[to], &it[i], &merged[to]);
	}
}

void jetwatt_merged_why(struct jetwatt_batch_why *why, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (why[i].minibatch != JETWATT_BATCH_NONE && jetwatt_batch_rule_merged(why[i].rule))
			why[i].minibatch = why[why[i].minibatch].minibatch;
}
