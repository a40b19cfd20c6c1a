/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Minibatch bounds from the sequence of synchronisation calls. Pure: arrays in,
 * arrays out; no descriptors, no clocks.
 */
#ifndef JETWATT_MINIBATCH_MINIBATCH_H
#define JETWATT_MINIBATCH_MINIBATCH_H

#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"

/* ------------------------------------------------------------------ */
/* Bounds                                                             */

enum { JETWATT_BATCH_TRAIN, JETWATT_BATCH_EVAL, JETWATT_BATCH_OTHER };

#define JETWATT_BATCH_FIRST	0x1	/* of its job: warm-up is in it, leave it out of means */
#define JETWATT_BATCH_INFERRED	0x2	/* an end of it was not seen but computed: its wait is missing */
#define JETWATT_BATCH_LAUNCHED	0x4	/* launches were seen: @fetch_ns ends where work was given */

/**
 * struct jetwatt_batch_bound - one minibatch, or one stretch that is not one
 * @start_ns, @end_ns: from the last sync's exit of the one before to its own
 * @wait_ns: of that, time in which the job waited for the GPU
 * @fetch_ns: from @start_ns to the first launch, or where launches are not
 *	seen to the first wait: the stall for data, at most
 * @gpu_ns: time in which the GPU had work of the job: from the first launch
 *	before each wait to its end; without launches the waits alone, at least
 * @cgroup: of its last wait, 0 if unknown
 * @syncs: number of waits inside
 * @missing: waits that should be inside and were not seen
 * @tgid: the process
 * @kind: JETWATT_BATCH_TRAIN, _EVAL, _OTHER
 * @flags: JETWATT_BATCH_FIRST ...
 * @confidence: 0..1, that it is one minibatch and no other number
 */
struct jetwatt_batch_bound {
	uint64_t start_ns, end_ns, wait_ns, fetch_ns, gpu_ns, cgroup;
	uint32_t syncs, missing, tgid;
	int kind;
	uint32_t flags;
	float confidence;
};

struct jetwatt_batch_info {
	double period_syncs;	/* syncs per minibatch */
	double confidence;	/* 0..1 */
	uint64_t lost;		/* events known to be missing */
};

/**
 * jetwatt_batch_segment() - find minibatches in the waits of one job
 * @sync: waits in order of exit time, of any number of threads and processes
 * @out: at least 2 * @n entries
 *
 * Return: bounds found, in order of @end_ns; -EINVAL: not in order; -ENODATA:
 * too few waits to tell; -ENOMEM.
 */
int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info);

/* ------------------------------------------------------------------ */
/* Why they are where they are                                        */

/* What decided whether a minibatch ends with a wait. Most rules compare what follows the
 * wait: the gap behind it and the next wait. */
enum jetwatt_batch_rule {
	JETWATT_RULE_LEFT_OUT,		/* the wait was not looked at: of a thread out of step */
	JETWATT_RULE_MARK,		/* the program marks its minibatches itself */
	/* Comparisons with neighbours: few waits, or no cycle explains the job. */
	JETWATT_RULE_SINGLE,		/* each wait is a minibatch: no longer period was found */
	JETWATT_RULE_GAP,		/* the longest gap of each period */
	JETWATT_RULE_FOLDED_GAP,	/* ... after a median over five minibatches */
	JETWATT_RULE_WAIT,		/* waits of a minibatch differ in length */
	JETWATT_RULE_CALLER,		/* threads and calls come in an order */
	JETWATT_RULE_PHASE,		/* stretch with a period of its own, or none */
	JETWATT_RULE_MERGED,		/* one or two waits left over, put to those before */
	/* The most probable path through a learned cycle (viterbi.c). */
	JETWATT_RULE_TEMPLATE,		/* the next wait fits its place in the cycle */
	JETWATT_RULE_SPEED,		/* ... at a new speed: other clocks, another batch size */
	JETWATT_RULE_MISSING,		/* ... if waits in between were not seen */
	JETWATT_RULE_RESTART,		/* ... at its beginning, before the cycle was complete */
	JETWATT_RULE_EXTRA,		/* the next wait is one more after the last of the cycle */
	JETWATT_RULE_EVALUATION,	/* the next wait fits the second cycle: an evaluation's */
	JETWATT_RULE_NO_CYCLE,		/* the next wait fits no cycle: a checkpoint's */
	/* Corrections of that path. */
	JETWATT_RULE_CAUGHT_UP,		/* relabelled: later waits made up for a delay */
	JETWATT_RULE_ALIKE,		/* relabelled: fits at no speed, but is like its neighbours */
	JETWATT_RULE_REGAINED,		/* relabelled: no cycle, but its period is plain to see */
	JETWATT_RULE_LAST,		/* no wait follows: is its minibatch complete? */
	JETWATT_RULES
};

#define JETWATT_BATCH_NONE	UINT32_MAX	/* in no minibatch */

/**
 * struct jetwatt_batch_why - the decision about one wait
 * @gap_ns: from the end of the wait before, of those that were looked at together, to
 *	the begin of this one; 0 if they overlap, or if there is none before
 * @end_ns: where the minibatch ends: at the end of this wait, or between it and the next one
 *	if the end was not seen; 0: none ends here
 * @ends: number of minibatches that end with this wait or before the next one
 * @minibatch: index of the bound that the wait is in; JETWATT_BATCH_NONE: in none. That
 *	bound is the first of the @ends
 * @period: waits per minibatch of the cycle or phase that the wait is in, 0: none. Under
 *	JETWATT_RULE_MARK, those of this minibatch
 * @phase: place of the wait in its period, from 0; @period or more: one too many
 * @missing: waits that are missing between this one and the next
 * @rule: what decided about @ends: enum jetwatt_batch_rule
 * @score: how clearly it did; the unit depends on @rule, see jetwatt_batch_rule_score()
 */
struct jetwatt_batch_why {
	uint64_t gap_ns, end_ns;
	uint32_t minibatch, period, phase;
	float score;
	uint8_t rule, ends, missing;
};

/**
 * jetwatt_batch_explain() - jetwatt_batch_segment(), with the reasons
 * @why: @n entries, for each wait of @sync one; NULL: none
 *
 * The code that decides writes @why. The bounds do not depend on it.
 *
 * Return: as jetwatt_batch_segment(); if negative, @why is undefined.
 */
int jetwatt_batch_explain(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
			  struct jetwatt_batch_info *info, struct jetwatt_batch_why *why);

/* Records with gaps and without decisions, for callers that know the bounds from elsewhere.
 * Return: 0, -ENOMEM. */
int jetwatt_batch_undecided(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_why *why);

/* A rule's name, one word; what it says, in a sentence; what its score is. */
const char *jetwatt_batch_rule_name(int rule);
const char *jetwatt_batch_rule_says(int rule);
const char *jetwatt_batch_rule_score(int rule);

/* ------------------------------------------------------------------ */
/* Bounds as they come                                                */

/**
 * struct jetwatt_batch_track - a job's waits one by one: is this one the end of a minibatch?
 *
 * The cycle is learned from the last 256 waits with jetwatt_batch_segment(), and the same walk
 * follows it through the waits that come then. What the program marks itself goes before.
 *
 * The bounds that it tells are those of jetwatt_batch_segment() over the whole job, with these
 * exceptions (tests/unit/batch_live.c):
 *
 * - The first 24 waits: nothing is told. Up to the 96th the period may be that of too few waits.
 * - What only the waits that follow show. It is told of each wait at once, and not taken back:
 *   one more wait after the last of its minibatch (JETWATT_RULE_EXTRA) leaves the bound one wait
 *   early; a wait that was not seen (_MISSING, _RESTART) has no bound told; an evaluation or a
 *   checkpoint (_EVALUATION, _NO_CYCLE, _PHASE) and a change of speed (_SPEED) may be noticed one
 *   period late; nothing is relabelled (_CAUGHT_UP, _ALIKE, _REGAINED, _MERGED).
 * - What 256 waits show differently than 4096 do: a period that beats against something else,
 *   events that are rare, a new period until the next look. Over drawn jobs less than 0.5 % of
 *   the waits; none of a job that nothing disturbs.
 * - Several processes: only the one with the most waits among the last 256 is followed.
 * - Marks: from the first one on, waits end nothing. Over the whole job they never do.
 */
struct jetwatt_batch_track;
struct jetwatt_batch_track *jetwatt_batch_track_new(void);
void jetwatt_batch_track_free(struct jetwatt_batch_track *t);
/* Another job: as new. */
void jetwatt_batch_track_forget(struct jetwatt_batch_track *t);

/**
 * jetwatt_batch_track_add() - the next wait, or mark
 * @held_ns: for how long the job has been held still, in all so far: none of its own time
 *
 * Return: 1: a minibatch has ended; 0: none; -EAGAIN: not known yet where they end.
 */
int jetwatt_batch_track_add(struct jetwatt_batch_track *t, const struct jetwatt_sync *s,
			    uint64_t held_ns);

/* Look again at the last waits, if there are enough that are new: takes a while, so
 * not between a wait and what follows from it. Return: 0, -EAGAIN: not known yet. */
int jetwatt_batch_track_learn(struct jetwatt_batch_track *t);
/* Waits to a minibatch, 0: not known yet. */
size_t jetwatt_batch_track_period(const struct jetwatt_batch_track *t);

/* Median of a minibatch of training, in the job's own time; 0: not known. */
uint64_t jetwatt_batch_track_ns(const struct jetwatt_batch_track *t);

#endif
