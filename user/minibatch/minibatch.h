/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the boundaries of minibatches in a job's waits for the GPU. The functions use only their
 * arguments, no descriptors and no clocks.
 */
#ifndef JETWATT_MINIBATCH_MINIBATCH_H
#define JETWATT_MINIBATCH_MINIBATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jetwatt.h"
#include "minibatch/rules.h"

/* ------------------------------------------------------------------ */
/* Bounds                                                             */

/* Kinds of bounds: a minibatch of the job's usual kind (training or inference), a minibatch of another
 * phase (usually an evaluation), an interval that is neither. */
enum { JETWATT_BATCH_TRAIN, JETWATT_BATCH_EVAL, JETWATT_BATCH_OTHER };

/* Flag of the first bound of a job; with marks, of the first that is no evaluation. This bound
 * includes warm-up, so leave it out of means. */
#define JETWATT_BATCH_FIRST	0x1
/* Flag: the begin or the end of the minibatch was computed, because the wait that marks it is
 * missing. */
#define JETWATT_BATCH_INFERRED	0x2
/* Flag: launches of GPU work were traced in the minibatch, so @fetch_ns may end at a launch. */
#define JETWATT_BATCH_LAUNCHED	0x4

/**
 * struct jetwatt_batch_bound - one minibatch, or an interval that is not a minibatch
 * @start_ns: end of the job's previous bound, ns; for the first bound, start of its first wait; for a
 *	marked minibatch, time of its begin mark or of the previous mark of the same name
 * @end_ns: time at which the last wait of this minibatch ended, ns; for a marked minibatch, time of its
 *	mark. JETWATT_BATCH_INFERRED: @start_ns or @end_ns is an estimate
 * @wait_ns: time between @start_ns and @end_ns in which the job waited for the GPU, ns
 * @fetch_ns: time from @start_ns to the first launch or the first wait, whichever is earlier, ns; an
 *	upper limit of the time for which the job waited for data
 * @gpu_ns: time in which the GPU had work of the job: from the first launch before each wait
 *	to the end of the wait, ns. Without traced launches only the waits count, so @gpu_ns is a
 *	lower limit
 * @cgroup: id of the v2 cgroup of the last wait; 0: unknown
 * @syncs: number of waits in the minibatch
 * @missing: number of waits that are missing between the minibatch's waits; waits that are missing
 *	before its first or after its last wait do not count
 * @launches: number of launches of GPU work in the minibatch; 0: none, or launches are not traced
 * @phase: number of the phase, set by jetwatt_batch_phases(); 0: not known, or not a minibatch
 * @tgid: process id
 * @kind: JETWATT_BATCH_TRAIN, JETWATT_BATCH_EVAL or JETWATT_BATCH_OTHER
 * @flags: JETWATT_BATCH_FIRST, JETWATT_BATCH_INFERRED, JETWATT_BATCH_LAUNCHED
 * @confidence: confidence, 0 to 1, that the interval is exactly one minibatch
 */
struct jetwatt_batch_bound {
	uint64_t start_ns, end_ns, wait_ns, fetch_ns, gpu_ns, cgroup;
	uint32_t syncs, missing, launches, phase, tgid;
	int kind;
	uint32_t flags;
	float confidence;
};

/**
 * struct jetwatt_batch_info - result of finding minibatches, for all jobs together
 * @period_syncs: usual number of waits per minibatch of the job with the most waits, where a wait without
 *	launches and the wait into which it was merged (rules.h) count as one; with marks, the
 *	number of waits in the last marked minibatch
 * @confidence: confidence in the periods, 0 to 1: mean over the jobs, weighted by their waits; at most 0.5 if
 *	the waits of a job may be parts of minibatches
 * @lost: number of waits that are missing according to the periods that were found
 */
struct jetwatt_batch_info {
	double period_syncs;
	double confidence;
	uint64_t lost;
};

/**
 * jetwatt_batch_segment() - find the minibatches in a sequence of waits
 * @sync: the waits in order of their ends, from any number of threads and processes
 * @n: number of waits
 * @out: receives the bounds in order of @end_ns; must have 2 * @n entries
 * @info: receives the result
 *
 * Context: needs memory proportional to @n, and CPU time proportional to @n log @n.
 * Return: number of bounds; -EINVAL: the waits are not in order, or a wait ends before it starts;
 * -ENODATA: @n is 0; -ENOMEM.
 */
int jetwatt_batch_segment(const struct jetwatt_sync *sync, size_t n,
			  struct jetwatt_batch_bound *out, struct jetwatt_batch_info *info);

/**
 * jetwatt_batch_marked() - find the minibatches that the program has marked
 * @mark: the marks in order of time: waits of the kinds JETWATT_SYNC_MARK and
 *	JETWATT_SYNC_MARK_BEGIN
 * @n: number of marks
 * @name: names of the marks, as in struct jetwatt_probe_state
 * @out: receives the bounds in order of @end_ns, without their waits; must have @n entries
 *
 * Return: number of bounds; 0: nothing but evaluations was marked, or no start is known.
 */
int jetwatt_batch_marked(const struct jetwatt_sync *mark, size_t n,
			 const char (*name)[JETWATT_MARK_LEN], struct jetwatt_batch_bound *out);
/* Return: start of the minibatch that mark @i ends: the time of its begin mark or, for a single
 * mark, of the previous single mark with the same name and process; 0: unknown. */
uint64_t jetwatt_batch_mark_start(const struct jetwatt_sync *mark, size_t i);

/* ------------------------------------------------------------------ */
/* Reasons for the bounds                                             */

#define JETWATT_BATCH_RULE(id, ...)	JETWATT_RULE_##id,
/* The rules that decide whether a minibatch ends with a wait, in the order of rules.h. */
enum jetwatt_batch_rule { JETWATT_BATCH_RULES(JETWATT_BATCH_RULE) JETWATT_RULES };

/* Value of jetwatt_batch_why::minibatch for a wait that belongs to no minibatch. */
#define JETWATT_BATCH_NONE	UINT32_MAX

/**
 * struct jetwatt_batch_why - the decision about one wait
 * @gap_ns: time from the end of the previous wait of the same job to the start of this wait,
 *	ns; 0: the waits overlap, or there is no previous wait
 * @end_ns: end of the minibatch that ends with this wait, ns: the end of this wait, or a
 *	time before the next wait if the last wait is missing; 0: no minibatch ends with this wait
 * @minibatch: index of the bound that contains the wait; JETWATT_BATCH_NONE: none. If
 *	several minibatches end with the wait, this is the index of the first of them
 * @period: number of waits per minibatch in the cycle or phase of the wait; 0: the wait has
 *	no period. With JETWATT_RULE_MARK, the number of waits in this minibatch
 * @phase: phase index of the wait in its period, from 0; 0 if the wait has no period; else @period or
 *	more: a wait beyond the period
 * @score: how clear the decision was; jetwatt_batch_rule_score() describes the meaning of
 *	the number
 * @rule: enum jetwatt_batch_rule: the rule that decided about @ends
 * @ends: number of minibatches that end with this wait or before the next wait
 * @missing: number of waits that are missing between this wait and the next one
 */
struct jetwatt_batch_why {
	uint64_t gap_ns, end_ns;
	uint32_t minibatch, period, phase;
	float score;
	uint8_t rule, ends, missing;
};

/**
 * jetwatt_batch_segment_why() - find minibatches and the reasons for their bounds
 * @sync: as for jetwatt_batch_segment()
 * @n: number of waits
 * @out: as for jetwatt_batch_segment()
 * @info: as for jetwatt_batch_segment()
 * @why: receives one record for each wait; NULL: no records. The bounds do not depend on
 *	whether records are written
 *
 * Return: as jetwatt_batch_segment(); if negative, @why is undefined.
 */
int jetwatt_batch_segment_why(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_bound *out,
			  struct jetwatt_batch_info *info, struct jetwatt_batch_why *why);
/*
 * Initialise the records of all waits with their gaps but without decisions, for callers that know
 * the bounds from elsewhere. Return: 0; -ENOMEM.
 */
int jetwatt_batch_why_init(const struct jetwatt_sync *sync, size_t n, struct jetwatt_batch_why *why);

/* Functions that return the name of a rule (one word), the meaning of the rule (a sentence), the
 * meaning of its score, and how boundaries found while the job runs differ ("": they do not). */
const char *jetwatt_batch_rule_name(int rule);
const char *jetwatt_batch_rule_says(int rule);
const char *jetwatt_batch_rule_score(int rule);
const char *jetwatt_batch_rule_live(int rule);
/* Return: true if a wait with this rule is merged with another wait before bounds are searched. */
bool jetwatt_batch_rule_merged(int rule);

/* ------------------------------------------------------------------ */
/* Detection of bounds while the job runs                              */

/**
 * struct jetwatt_batch_track - online detection whether a minibatch ends with a wait
 *
 * The cycle is learned from the last 256 waits as in jetwatt_batch_segment(), or from the last 2048 if
 * the minibatches have more waits than JETWATT_PERIOD_MAX. After learning, the Viterbi path through the
 * learned cycle is followed through new waits, or steps of several kinds by pauses of the GPU (pauses.h).
 * Marks of the program take precedence.
 *
 * The bounds found online equal those that jetwatt_batch_segment() finds in the whole job, with
 * these exceptions (tests/unit/batch_live.c):
 *
 * - No bounds are reported for the first 24 waits. Up to the 96th wait the period may be wrong,
 *   because it was learned from too few waits.
 * - A decision is made at once and is not revised, so events that only later waits reveal are
 *   missed or found late. The last column of rules.h states the effect for each rule. An
 *   evaluation, a checkpoint or a change of speed may be detected one period late, and no wait is
 *   relabelled.
 * - The 256 waits from which the detector learns may show another period than the 4096 that
 *   jetwatt_batch_segment() analyses: a period that beats against another process, rare events, a
 *   new period before the cycle is learned again. In randomly generated jobs these differences
 *   affect less than 0.5 % of the waits; in a job without disturbances no wait.
 * - With several processes, only the process with the most waits among those from which the detector
 *   learns is followed.
 * - After the first mark that ends a minibatch, waits end none. In jetwatt_batch_segment(), waits
 *   end no minibatch if there is such a mark anywhere in the job.
 */
struct jetwatt_batch_track;
/* Return: a new detector, freed with jetwatt_batch_track_free(); NULL: out of memory. */
struct jetwatt_batch_track *jetwatt_batch_track_new(void);
/* @t: may be NULL. */
void jetwatt_batch_track_free(struct jetwatt_batch_track *t);
/* Reset the detector for another job. */
void jetwatt_batch_track_reset(struct jetwatt_batch_track *t);

/**
 * jetwatt_batch_track_add() - add the next wait or mark
 * @t: the detector
 * @s: the wait or mark; they must be added in order of time
 * @held_ns: total time for which the job has been frozen so far, ns; it is subtracted from
 *	the times
 *
 * Return: 1 if a minibatch has ended; 0 if none has; -EAGAIN if the period is not known yet and no
 * mark has ended a minibatch.
 */
int jetwatt_batch_track_add(struct jetwatt_batch_track *t, const struct jetwatt_sync *s,
			    uint64_t held_ns);

/*
 * Learn the job's cycle again if there are enough new waits. Learning takes CPU time, so do not
 * call this function between a wait and a reaction to it. Return: 0; -EAGAIN if the period is not
 * known yet and no mark has ended a minibatch.
 */
int jetwatt_batch_track_learn(struct jetwatt_batch_track *t);
/* Return: number of waits per minibatch, where merged waits count as one; 0 if it is not known yet. */
size_t jetwatt_batch_track_period(const struct jetwatt_batch_track *t);

/* Return: median duration of up to 32 recent training minibatches or intervals between marks, without
 * frozen time, in ns; 0 if it is unknown. */
uint64_t jetwatt_batch_track_ns(const struct jetwatt_batch_track *t);

#endif
