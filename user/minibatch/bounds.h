/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of the search for bounds in a job's waits: merging of waits, times of waits, bounds from
 * labels, and records of decisions. segment.c and online.c use these functions.
 */
#ifndef JETWATT_MINIBATCH_BOUNDS_H
#define JETWATT_MINIBATCH_BOUNDS_H

#include "minibatch/minibatch.h"
#include "minibatch/period.h"

/* A wait, its index in the input, and the number of waits that it stands for: more than 1 if other
 * waits were merged into it. For a merged wait, @at is the index of the last of the waits. @idle_ns:
 * time in which the GPU had no work between the waits that long_merge.c has merged, else 0. */
struct jetwatt_item {
	const struct jetwatt_sync *sync;
	size_t at;
	uint32_t waits;
	uint64_t idle_ns;
};

/*
 * segment.c: as jetwatt_batch_segment_why(). @main_job: set to the period and the model of the job
 * with the most waits; @tgid: set to the process id of the job with the most waits.
 */
int jetwatt_batch_segment_job(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
		       struct jetwatt_batch_info *info, struct jetwatt_batch_why *why,
		       struct jetwatt_period *main_job, uint32_t *tgid);

/* start_up.c: return the number of the first of @n waits that belong to the start of the program,
 * because none of them has the thread and call of one of the last @recent waits; 0: there are no
 * such waits. @n is at least @recent. */
size_t jetwatt_start_up(const struct jetwatt_sync *wait, size_t n, size_t recent);

/* no_launch.c: return whether the probe sees the launches of a job. */
bool jetwatt_launches_traced(const struct jetwatt_item *it, size_t n);

/* How a rule merges a wait. BEFORE, AFTER: with the wait before or after it. PAUSE: with neither,
 * because the wait begins an interval that is no minibatch. NOT: the rule does not merge it. */
enum jetwatt_merged { JETWATT_MERGED_NOT, JETWATT_MERGED_BEFORE, JETWATT_MERGED_AFTER, JETWATT_MERGED_PAUSE };

/**
 * struct jetwatt_merge_rule - state of a rule while the waits of a process are examined one by one;
 * all zero at first. A rule may use the members in another way.
 * @before: the previous wait
 * @end: end of the last wait that was not merged, ns
 * @begin: start of the first wait after @end that is merged with the wait after it, ns
 * @lasted: usual time between two waits that are not merged, ns
 * @state: enum jetwatt_merged of the waits after @end
 * @any: true if @before is set
 */
struct jetwatt_merge_rule {
	struct jetwatt_sync before;
	uint64_t end, begin;
	double lasted;
	enum jetwatt_merged state;
	bool any;
};

/* The function of each row of JETWATT_MERGE_RULES() decides how to merge @s, the next wait of a
 * process. It does not see waits that a rule above it has merged. The first wait is not BEFORE. */
#define JETWATT_MERGE_DECLARE(id, function, launches)	\
	enum jetwatt_merged function(struct jetwatt_merge_rule *m, const struct jetwatt_sync *s);
JETWATT_MERGE_RULES(JETWATT_MERGE_DECLARE)
#define JETWATT_MERGE_ID(id, function, launches)	JETWATT_MERGE_##id,
enum { JETWATT_MERGE_RULES(JETWATT_MERGE_ID) JETWATT_MERGES };

/**
 * struct jetwatt_merge - state of all rules that merge waits, for one process; all zero at first
 * @state: state of each rule
 * @rule: rule that has merged the last wait; valid if the wait was merged
 */
struct jetwatt_merge {
	struct jetwatt_merge_rule state[JETWATT_MERGES];
	enum jetwatt_batch_rule rule;
};
/* merge.c: ask the rules how to merge @s, the next wait of a process. @launches: the launches of
 * the process are traced. */
enum jetwatt_merged jetwatt_merge_next(struct jetwatt_merge *m, bool launches,
				       const struct jetwatt_sync *s);
/*
 * merge.c: merge the waits of one job as jetwatt_merge_next() decides. @merged: memory for @n
 * waits, to which merged items of @it then point. @why: may be NULL; the waits that were merged
 * away get the rule that has decided. After the bounds have been written, jetwatt_merged_why() sets the
 * minibatch of these waits. Return: number of waits that are left.
 */
size_t jetwatt_merge_waits(struct jetwatt_item *it, size_t n, bool launches,
			   struct jetwatt_sync *merged, struct jetwatt_batch_why *why);
void jetwatt_merged_why(struct jetwatt_batch_why *why, size_t n);

/* merge.c: move the item @from to @to; @to is at most @from. Join the items @from to @end - 1 with the item @to
 * before them, as @rule decides. @merged, @why: as for jetwatt_merge_waits(). */
void jetwatt_item_move(struct jetwatt_item *it, size_t from, size_t to, struct jetwatt_sync *merged);
void jetwatt_items_join(struct jetwatt_item *it, size_t to, size_t from, size_t end, struct jetwatt_sync *merged,
			enum jetwatt_batch_rule rule, struct jetwatt_batch_why *why);
/*
 * burst.c: join bursts of very short waits, as of a checkpoint, with the wait before them. @it, @n: the waits of a
 * job whose launches are not traced. @merged, @why: as for jetwatt_merge_waits(). Return: number of waits that are
 * left; @n if memory is short.
 */
size_t jetwatt_bursts_merge(struct jetwatt_item *it, size_t n, struct jetwatt_sync *merged,
			    struct jetwatt_batch_why *why);

/**
 * struct jetwatt_cycles - the cycles between the anchors of a sequence of waits
 * @it: the waits
 * @at: indices of the anchors
 * @n: number of anchors
 * @v: scratch memory, one value per wait
 */
struct jetwatt_cycles {
	const struct jetwatt_item *it;
	size_t *at, n;
	double *v;
};
/*
 * long_cycle.c: find the boundary in each cycle, where the GPU usually has no work for the longest time.
 * @after: set to the number of waits from the previous anchor to the boundary; -1: it is at most 8
 * waits before the next anchor; 0 also if its position varies. Return whether the boundary is apparent.
 */
bool jetwatt_long_cycle_place(const struct jetwatt_cycles *c, int *after);
/*
 * Find anchors in the @n waits @c->it: long_cycle.c by their launches, long_wait.c by their lengths. The members
 * at and v of @c are memory for @n values. Return whether there are anchors; else, @cycle is undefined.
 */
bool jetwatt_long_cycle_find(struct jetwatt_cycles *c, size_t n, struct jetwatt_long_cycle *cycle);
bool jetwatt_long_waits_find(struct jetwatt_cycles *c, size_t n, struct jetwatt_long_cycle *cycle);
/* long_wait.c: return whether jetwatt_long_waits_find() finds anchors in those of @n waits that belong to the
 * process @tgid; false also if memory is short. */
bool jetwatt_long_waits_seen(const struct jetwatt_sync *wait, size_t n, uint32_t tgid);
/* Return whether a wait is an anchor. */
static inline bool jetwatt_long_is_anchor(const struct jetwatt_long_cycle *cycle, const struct jetwatt_sync *s)
{
	return cycle->wait_ns ? s->exit_ns - s->enter_ns >= cycle->wait_ns : s->launches >= cycle->launches;
}
/* long_cycle.c: return the index of the wait that begins the minibatch of @anchor: the wait after the
 * longest time without work in the 8 waits before @anchor that are not before @before, the previous
 * anchor. */
size_t jetwatt_long_cycle_boundary(const struct jetwatt_item *it, size_t before, size_t anchor);
/*
 * long_merge.c: find minibatches with more than JETWATT_PERIOD_MAX waits, window by window, and
 * merge the waits of each minibatch into one. The last minibatch is left out if it is not complete.
 * @n: set to the number of waits that are left; @merged, @why: as for jetwatt_merge_waits(), which
 * merges first; the waits that were merged away get JETWATT_RULE_PART. @r->cycle: set to the cycle found
 * in the last window; its member waits is 0 if that window has no such cycle, or ends with too many
 * waits for one minibatch. Return: 0; -ENOMEM.
 */
int jetwatt_long_cycles_merge(struct jetwatt_item *it, size_t *n, struct jetwatt_sync *merged,
			      struct jetwatt_batch_why *why, struct jetwatt_period *r);

/**
 * struct jetwatt_long_sum - the waits of an incomplete minibatch, merged; all zero at its start
 * @sync: the merged wait
 * @until: end of the last wait, ns
 * @waited_ns: time of waiting, ns
 * @idle_ns: time in which the GPU had no work, ns
 * @waits: number of waits
 * @anchor: number of waits up to and including the anchor; 0: the anchor has not been seen
 */
struct jetwatt_long_sum {
	struct jetwatt_sync sync;
	uint64_t until, waited_ns, idle_ns;
	size_t waits, anchor;
};
/*
 * long_merge.c: add the next wait of a job. The next anchor is not known in advance, so a boundary
 * that is a few waits before an anchor is reported at the end of the anchor. Return: whether a
 * minibatch ends with the wait; if so, @merged is set to the merged wait.
 */
bool jetwatt_long_next(struct jetwatt_long_sum *sum, const struct jetwatt_long_cycle *cycle,
		       const struct jetwatt_sync *s, struct jetwatt_sync *merged);
/* long_merge.c: return whether the waits since the last boundary are too many for one minibatch. */
bool jetwatt_long_is_lost(const struct jetwatt_long_sum *sum, const struct jetwatt_long_cycle *cycle);

/* wait_times.c: jetwatt_wait_times() computes only times; jetwatt_wait_rough_logs() computes times,
 * and their logarithms with a large floor. */
void jetwatt_wait_times(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_wait *b);
void jetwatt_wait_rough_logs(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_wait *b);

/**
 * struct jetwatt_bounds_times - times while the waits of a bound are added
 * @waited: end of the last wait; the bound's start at first
 * @busy: end of the time in which the GPU was busy; the bound's start at first
 * @first: first launch; the bound's end at first
 */
struct jetwatt_bounds_times {
	uint64_t waited, busy, first;
};

/*
 * Add a wait to a bound, whose start and end are set: its launches, the time of waiting, the time
 * until the first launch, and the time in which the GPU is busy. Several threads may wait at the same
 * time, so overlapping times count once. The waits are added in the order of their ends. @idle_ns: see
 * struct jetwatt_item.
 */
void jetwatt_bounds_add_wait(struct jetwatt_batch_bound *o, struct jetwatt_bounds_times *t,
			     const struct jetwatt_sync *s, uint64_t idle_ns);

/**
 * struct jetwatt_bounds_out - where bounds and records are written
 * @out: array of bounds; the caller sets start_ns and flags of the first bound
 * @base: index of @out[0] among all bounds
 * @why: one record for each wait of the input; NULL: no records
 */
struct jetwatt_bounds_out {
	struct jetwatt_batch_bound *out;
	uint32_t base;
	struct jetwatt_batch_why *why;
};

/**
 * jetwatt_bounds_write() - write the bounds of labelled waits
 * @it: the waits
 * @b: their labels
 * @n: number of waits
 * @enough: stop when the bounds contain at least this number of waits
 * @r: the period and the model that were found for the job
 * @dst: where to write
 * @next: set to the index of the first wait after the last bound
 *
 * Return: number of bounds, at most 2 * @n.
 */
int jetwatt_bounds_write(const struct jetwatt_item *it, const struct jetwatt_batch_wait *b,
			 size_t n, size_t enough, const struct jetwatt_period *r,
			 const struct jetwatt_bounds_out *dst, size_t *next);

/* Write the bounds that the program has marked; set k and confidence of @r. Return: number of
 * bounds; 0 if no mark ends a minibatch. */
int jetwatt_bounds_marked(const struct jetwatt_item *it, size_t n, struct jetwatt_period *r,
			  const struct jetwatt_bounds_out *dst);

/* Initialise the decision records of a job; no decision is recorded yet. */
void jetwatt_bounds_begin(const struct jetwatt_item *it, size_t n, struct jetwatt_batch_why *why);

/**
 * struct jetwatt_mark_counts - the marks of a job while it runs; initially 0
 * @end_ns: time of the last mark of each name, ns
 * @marks: number of marks of each name; halved after every MARKS marks, so that a new name can take over
 * @all: number of marks
 * @usual: the most frequent name
 */
struct jetwatt_mark_counts {
	uint64_t end_ns[JETWATT_MARKS_MAX];
	uint32_t marks[JETWATT_MARKS_MAX], all;
	unsigned int usual;
};

/* marked.c: count the next mark. Return: it ends a minibatch, because no other name was more frequent lately.
 * @ns: receives the duration, 0: unknown; @changed: another name than before is the most frequent one. */
bool jetwatt_marks_next(struct jetwatt_mark_counts *c, const struct jetwatt_sync *s, uint64_t *ns, bool *changed);

#endif
