/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Table of the rules that decide whether a minibatch ends with a wait; jetwatt export --waits names
 * them. Most rules examine what follows the wait: the gap after the wait and the next wait.
 * man/tables.c inserts the rows into jetwatt-export(1).
 */
#ifndef JETWATT_MINIBATCH_RULES_H
#define JETWATT_MINIBATCH_RULES_H

#define JETWATT_BY_GROUP	"how much longer the first gap is than the other gaps of the minibatch, at most 1"
#define JETWATT_BY_PATH		"log-likelihood of the next wait"
#define JETWATT_LATE		"the boundaries within one period of this wait may differ"

/*
 * Columns: name of the constant; name in the output; 1: the wait is merged with another one before
 * bounds are searched; description; meaning of the score; how the boundaries differ that
 * jetwatt_batch_track_add() finds while the job runs, because it does not know later waits ("": they
 * are the same).
 *
 * Groups of rows: rules that compare a wait with its neighbours, used if there are few waits, or if
 * no learned cycle explains the job (SINGLE to MERGED); rules of the Viterbi path through the learned
 * cycle (TEMPLATE to NO_CYCLE); corrections of this path (CAUGHT_UP to REGAINED, and PAUSE).
 */
#define JETWATT_BATCH_RULES(R) \
	R(LEFT_OUT, "left-out", 0, \
	  "the wait was ignored: the threads have no common period, so only the busiest one counts", \
	  "0", \
	  "") \
	R(MARK, "mark", 0, \
	  "the program marks its minibatches itself", \
	  "1", \
	  "before the first mark, the waits end minibatches; of several names, the one that was the most frequent lately counts, also if it marks evaluations") \
	R(NO_LAUNCH, "no-launch", 1, \
	  "no GPU work was launched between the previous wait and this one, or between this wait and the next, so no minibatch ends here", \
	  "0", \
	  "the boundary is reported at the end of the first of the waits without launches, not of the last") \
	R(PART, "part", 1, \
	  "the wait is in the middle of a minibatch of more than 8 waits, one of which follows far more launches, or takes far longer, than the others", \
	  "0", \
	  "such minibatches are found at the earliest when the last 2048 waits contain five of them, or six that are known by the length of a wait; until then each of their waits, or a few of them, is reported as a minibatch; the boundary may be reported at the end of the wait that follows far more launches, or takes far longer") \
	R(BURST, "burst", 1, \
	  "the wait precedes or is in a sequence of at least 16 very short waits of different lengths, as of a checkpoint, which belongs to the minibatch before it", \
	  "0", \
	  "each wait of the sequence may be reported as a minibatch") \
	R(SINGLE, "single", 0, \
	  "each wait is a minibatch: no period of two or more waits was found, or the launches show it", \
	  "confidence, 0 to 1: grows with the number of waits; halved if the waits may be parts of minibatches", \
	  "") \
	R(GAP, "gap", 0, \
	  "a minibatch begins after the longest gap of each period", \
	  JETWATT_BY_GROUP, \
	  "") \
	R(FOLDED_GAP, "folded-gap", 0, \
	  "a minibatch begins after the gap that is the longest in the median of five minibatches", \
	  JETWATT_BY_GROUP, \
	  "") \
	R(IDLE, "idle", 0, \
	  "a minibatch begins after the longest time without GPU work of each period", \
	  "how much longer the longest time without GPU work is than the other such times of the minibatch, at most 1", \
	  "") \
	R(WAIT, "wait", 0, \
	  "the waits of a minibatch differ in length, and the pattern of their lengths repeats", \
	  "how clearly the lengths of the minibatch's waits show the pattern, at most 1", \
	  "") \
	R(CALLER, "caller", 0, \
	  "the waits come from several threads or calls, in an order that repeats", \
	  "how well the minibatch's waits follow the order, at most 1", \
	  "") \
	R(PHASE, "phase", 0, \
	  "the next wait is in a part of the run whose period is not the usual one, or that has no period", \
	  "how clear the period of that part is; 0: it has none", \
	  JETWATT_LATE) \
	R(PAUSE, "pause", 0, \
	  "steps differ in their number of waits: a step begins after a pause of the GPU as long as those between steps", \
	  "absolute logarithm of the ratio of the pause to the limit between short and long pauses", \
	  "a step of a kind that the last 256 waits do not show, or that may be the beginning of another kind, ends with the first wait of the next step") \
	R(MERGED, "merged", 0, \
	  "one or two waits between two minibatches fit neither and are added to the earlier one", \
	  "0", \
	  JETWATT_LATE) \
	R(TEMPLATE, "template", 0, \
	  "the next wait fits its position in the learned cycle", \
	  JETWATT_BY_PATH, \
	  "") \
	R(SPEED, "speed", 0, \
	  "the next wait fits its position in the learned cycle, assuming that the speed of the job has changed", \
	  JETWATT_BY_PATH, \
	  JETWATT_LATE) \
	R(MISSING, "missing", 0, \
	  "the next wait fits the learned cycle, assuming that waits before it were lost", \
	  JETWATT_BY_PATH, \
	  "no boundary is reported where the wait at the end of a minibatch is missing") \
	R(RESTART, "restart", 0, \
	  "the next wait begins the learned cycle again, although the previous cycle is not complete", \
	  JETWATT_BY_PATH, \
	  "no boundary is reported where the wait at the end of a minibatch is missing") \
	R(EXTRA, "extra", 0, \
	  "the next wait is an additional one after the last wait of the learned cycle", \
	  JETWATT_BY_PATH, \
	  "the boundary is reported at the wait before the additional one") \
	R(EVALUATION, "evaluation", 0, \
	  "the next wait fits the second learned cycle, that of an evaluation", \
	  JETWATT_BY_PATH, \
	  JETWATT_LATE) \
	R(NO_CYCLE, "no-cycle", 0, \
	  "the next wait fits no learned cycle; it may belong to a checkpoint", \
	  JETWATT_BY_PATH, \
	  JETWATT_LATE) \
	R(CAUGHT_UP, "caught-up", 0, \
	  "relabelled: some minibatches were late; others made up for it, or all of a sequence were late", \
	  "logarithm of the ratio of the mean time to the nearest limit of the permitted range", \
	  JETWATT_LATE) \
	R(ALIKE, "alike", 0, \
	  "relabelled: the next wait fits the cycle at no speed, but is as long as the waits around it", \
	  "share of waits in the sequence without a cycle that are as long as those around them, 0.75 to 1", \
	  JETWATT_LATE) \
	R(REGAINED, "regained", 0, \
	  "relabelled: the next wait is in a sequence that fits no cycle, but has the usual period, callers and launches, or duration", \
	  "confidence in the period of the sequence, above 0.9; 1: by callers or duration", \
	  JETWATT_LATE) \
	R(LAST, "last", 0, \
	  "no wait follows: a minibatch ends here if all its waits were seen, or if it is not of the usual kind", \
	  "share of the minibatch's waits that were seen", \
	  "")

/*
 * The rules of the table above that merge a wait with the one before or after it, in the order in
 * which merge.c asks them. Columns: name of the constant; function that decides how a wait is
 * merged, whose declaration in bounds.h follows from the row; 1: the rule is asked only if the launches
 * of the job are traced. JETWATT_MERGED_BEFORE: the wait and the previous one become one wait, which ends with
 * this one, and the record of the previous one names the rule. _AFTER: the same with the next wait.
 */
#define JETWATT_MERGE_RULES(M) \
	M(NO_LAUNCH, jetwatt_merge_no_launch, 1)

#endif
