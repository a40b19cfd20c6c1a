/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The period of one job's waits, by which the files of user/minibatch/ find the waits that begin a
 * minibatch.
 */
#ifndef JETWATT_MINIBATCH_PERIOD_H
#define JETWATT_MINIBATCH_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JETWATT_PERIOD_MAX	8	/* maximum waits per minibatch, after merging */
#define JETWATT_PAUSE_KINDS	6	/* maximum number of kinds of steps between pauses of the GPU */
#define JETWATT_PAUSE_WAITS	32	/* maximum waits per step of such a kind */

/**
 * struct jetwatt_batch_wait - one wait of one job
 * @gap: logarithm of @gap_ns plus a floor (wait_times.c), so that short gaps differ little
 * @wait: logarithm of the length of the wait plus a floor
 * @idle: logarithm of @idle_ns plus a floor
 * @gap_ns: the gap: the time from the end of the previous wait to the start of this wait, ns
 * @idle_ns: time from the end of the previous wait to the first launch before this wait, ns; the gap
 *	if there is none
 * @cycle_ns: time from the end of the previous wait to the end of this wait, ns
 * @around_ns: sum of @cycle_ns of a few waits around this wait, of which the longest counts as
 *	the second longest, ns
 * @caller: identifies the thread and the call that waited
 * @launches: number of launches since the previous wait of the process; 0: none, or launches are
 *	not traced
 * @waits: number of waits that this one stands for; 1: no other wait was merged into it
 * @lost: number of waits lost just before this wait, as reported by the probe
 * @starts_minibatch: output: a minibatch begins with this wait
 * @other_phase: output: the wait belongs to another phase than the usual one, or to no cycle
 * @in_phase: the wait is known to belong to the usual phase
 * @phase_index: output: index of the wait in the cycle, or JETWATT_PHASE_INDEX_...
 * @missing: output: number of waits that, according to the cycle, are missing just before this wait
 * @outlier: output: JETWATT_OUTLIER_...: what deviates from the learned cycle
 * @rule: output: enum jetwatt_batch_rule: the rule that decided about @starts_minibatch
 * @period: output: number of waits per minibatch in the phase of the wait, if @other_phase is true
 * @score: output: how clear the decision about @starts_minibatch was
 */
struct jetwatt_batch_wait {
	double gap, wait, idle;
	double gap_ns, idle_ns, cycle_ns, around_ns;
	uint32_t caller, launches, waits, lost;
	bool starts_minibatch, other_phase, in_phase;
	uint8_t phase_index, missing, outlier, rule, period;
	float score;
};
#define JETWATT_OUTLIER_GAP	0x1	/* the gap deviates */
/* the wait is an outlier because its length or its caller deviates */
#define JETWATT_OUTLIER_WAIT	0x2
/* the wait is an outlier from which a new speed was estimated */
#define JETWATT_OUTLIER_SPEED	0x4
/* phase index of an additional wait after the end of the cycle */
#define JETWATT_PHASE_INDEX_EXTRA	0x40
#define JETWATT_PHASE_INDEX_NONE	0x80	/* in no cycle */

/**
 * struct jetwatt_emission - emission of one phase index: distribution of the gap and of the length
 * of the wait at this index
 * @gap: mean logarithm of the gap before the wait, relative to the job's speed
 * @wait: mean logarithm of the length of the wait, relative to the job's speed
 * @gap_sd: standard deviation of the logarithm of the gap
 * @wait_sd: standard deviation of the logarithm of the length of the wait
 * @gap_norm: logarithm of the normalisation of the gap's density: set by viterbi.c
 * @wait_norm: logarithm of the normalisation of the length's density: set by viterbi.c
 * @caller: the thread and call of at least 95 % of the waits at this phase index; 0: they vary
 */
struct jetwatt_emission {
	double gap, wait;
	double gap_sd, wait_sd;
	double gap_norm, wait_norm;
	uint32_t caller;
};

/* A cycle of @k waits with their emissions; @k 0: there is none. */
struct jetwatt_cycle {
	int k;
	struct jetwatt_emission emission[JETWATT_PERIOD_MAX];
};

/**
 * struct jetwatt_wait_hmm - hidden Markov model of a job's waits
 * @train: the cycle of waits of the usual minibatches, of training or of inference
 * @eval: the cycle of waits of the minibatches of another phase, usually an evaluation
 * @extra: emission of an additional wait after the last one of a minibatch
 * @extras: @extra has been learned
 * @losses_reported: the probe reports lost waits
 * @whole_lost: all waits of a minibatch may be lost, not only some
 * @why: 1: compute a score for each wait
 * @lost: probability that a wait was lost, if the probe does not report losses
 * @extra_rate: probability of an additional wait after the end of a minibatch
 * @stall: probability of a stall: the first gap of a minibatch is much longer than usual
 * @abort: logarithm of the probability that a minibatch begins before the previous one is complete
 */
struct jetwatt_wait_hmm {
	struct jetwatt_cycle train, eval;
	struct jetwatt_emission extra;
	bool extras, losses_reported, whole_lost, why;
	double lost, extra_rate, stall, abort;
};

/**
 * struct jetwatt_long_cycle - minibatches with more than JETWATT_PERIOD_MAX waits
 * @launches: minimum number of launches before an anchor, the wait that occurs once in each of these
 *	minibatches and follows far more launches than others; 0: the anchors are known by their length
 * @wait_ns: minimum length of an anchor that is far longer than other waits, ns; 0: the anchors are
 *	known by their launches
 * @waits: usual number of waits per minibatch; 0: the minibatches have fewer waits
 * @after: the minibatch ends this many waits after its anchor; negative: a few waits before the next one
 */
struct jetwatt_long_cycle {
	uint32_t launches, waits;
	uint64_t wait_ns;
	int after;
};

/**
 * struct jetwatt_step_kind - steps with the same number of waits and about the same launches
 * @waits: number of waits in a step
 * @steps: number of steps found
 * @launches: launches before each of the waits of one of these steps
 */
struct jetwatt_step_kind {
	size_t waits, steps;
	uint32_t launches[JETWATT_PAUSE_WAITS];
};

/**
 * struct jetwatt_step_kinds - kinds of steps between which the GPU pauses
 * @limit: limit between the pauses within steps and those between them, ns; 0: there are no such kinds
 * @kind: the kinds; in the first unused one, @steps is 0
 */
struct jetwatt_step_kinds {
	double limit;
	struct jetwatt_step_kind kind[JETWATT_PAUSE_KINDS];
};

/**
 * struct jetwatt_period - the period and the model that were found for a job
 * @k: usual number of waits per minibatch
 * @other_k: another candidate for the number of waits per minibatch; 0: no other candidate
 * @shared: input: other jobs use the GPU at the same time
 * @launches: input: the launches of the job are traced
 * @why: input: compute scores
 * @beat: a period was not accepted, because a disturbance may have caused it
 * @single: the launches show that each wait is a minibatch
 * @tid: the only thread whose waits count; 0: all threads
 * @cycle: the minibatches have more waits than JETWATT_PERIOD_MAX, if @cycle.waits is not 0. The
 *	waits of each minibatch were merged into one wait, so @k is usually 1
 * @steps: the kinds of steps into which pauses of the GPU divide the waits, if they have different numbers of
 *	waits
 * @confidence: confidence in @k, 0 to 1
 * @missing: number of waits that are missing according to the period
 * @model: the learned model; if .train.k is 0, there were too few waits, or no model
 *	explains the job
 * @score: mean log-likelihood of a wait under @model
 * @min_score: minimum of @score for which @model explains the job
 */
struct jetwatt_period {
	int k, other_k;
	bool shared, launches, why, single, beat;
	uint32_t tid;
	struct jetwatt_long_cycle cycle;
	struct jetwatt_step_kinds steps;
	double confidence;
	uint64_t missing;
	struct jetwatt_wait_hmm model;
	double score, min_score;
};

/**
 * struct jetwatt_peaks - a series in which peaks are to be found
 * @v: the values
 * @n: number of values
 * @margin: amount by which a peak must exceed its neighbours
 * @scratch: memory for @n values
 */
struct jetwatt_peaks {
	const double *v;
	size_t n;
	double margin;
	double *scratch;
};

/**
 * struct jetwatt_period_fit - how well a period of k waits explains the peaks
 * @fits: the period explains the peaks
 * @in_step: fraction of the groups between peaks that have k or k + 1 waits
 * @covered: fraction of the waits that belong to groups of k or k + 1 waits
 * @uneven: how much more a peak differs in height from the next peak than from the second next one
 */
struct jetwatt_period_fit {
	bool fits;
	double in_step, covered, uneven;
};

/* peaks.c: peaks of a series. @k: candidate period. See the definitions. */
#define JETWATT_PEAKS_WELL_SEPARATED	4.0	/* ratio of height and scatter of peaks */
double jetwatt_peaks_median(double *v, size_t n);
size_t jetwatt_peaks_list(const struct jetwatt_peaks *s, int k, size_t *at);
double jetwatt_peaks_above(const struct jetwatt_peaks *s, size_t i, int k);
bool jetwatt_peaks_at(const struct jetwatt_peaks *s, size_t i, int k);
bool jetwatt_peaks_lead(const struct jetwatt_peaks *s, size_t i, int k, size_t end);
bool jetwatt_peaks_stand_out(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			     size_t j, int k, size_t begin, size_t end);
double jetwatt_peaks_separation(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
				int k);
double jetwatt_peaks_contrast(const struct jetwatt_peaks *s, int k);
struct jetwatt_period_fit jetwatt_peaks_test(const struct jetwatt_peaks *s, int k, size_t *at);

/* fold.c: find the period by majority vote of windows of waits. See the definitions. */
int jetwatt_fold_find(const struct jetwatt_batch_wait *b, size_t n, double *scratch);
void jetwatt_fold_smooth(double *v, size_t n, int k, double *scratch);

/* wait_reject.c: decide whether a period is the job's own, or a beat with a disturbance. See the
 * definitions. */
bool jetwatt_phase_differs(const struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to,
			   int k, double *scratch);
bool jetwatt_period_is_own(const struct jetwatt_batch_wait *b, const size_t *at, size_t peaks,
			   int k, double *scratch);
bool jetwatt_starts_are_own(const struct jetwatt_batch_wait *b, size_t n, double *scratch);
bool jetwatt_phase_is_own(const struct jetwatt_batch_wait *b, size_t n, const size_t *at,
			  size_t peaks, int k, double *scratch);

/* wait_times.c: compute the logarithms with a small floor, for learning and decoding. */
void jetwatt_wait_logs(struct jetwatt_batch_wait *b, size_t n);

/*
 * relabel_period.c: move misplaced starts of minibatches before a model is learned. If a minibatch
 * has some waits more than @k, a minibatch next to it has as many fewer, and the minibatches around
 * these two have @k waits, then an irregular gap was taken for the start of a minibatch.
 */
void jetwatt_even_out(struct jetwatt_batch_wait *b, size_t n, size_t k);

/* refine.c: learn the model and decode all waits. Return: 0; -ENOMEM. */
int jetwatt_refine(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r);
/*
 * Decode further waits of the same job with its model. Return: 1 if the model still explains the
 * waits; 0 if it does not, so that the period has to be found again; -ENOMEM.
 */
int jetwatt_refine_more(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r);

/*
 * period.c: find the period. The enum says whether the period may be found by any method, or only
 * by peaks that are visible without folding. The comments at the definitions describe the
 * functions.
 */
enum jetwatt_period_by { JETWATT_PERIOD_BY_ANY, JETWATT_PERIOD_BY_PEAKS };
int jetwatt_period_estimate(struct jetwatt_batch_wait *b, size_t n, enum jetwatt_period_by by,
			    struct jetwatt_period *r);
bool jetwatt_period_calls(const struct jetwatt_batch_wait *b, size_t n);

/* doubt.c: return whether waits that are labelled as minibatches may be parts of longer ones. */
bool jetwatt_singles_doubtful(const struct jetwatt_batch_wait *b, size_t n);

/* period_find.c: label all waits of one job. See the definition. */
int jetwatt_period_find(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r);

/* shift.c: move the peaks of a series to the first wait of each minibatch. See the definitions. */
/* minimum height of a peak in the lengths of waits (log) */
#define JETWATT_WAIT_MARGIN	0.40
bool jetwatt_shift_to_idle(const struct jetwatt_batch_wait *b, double *v, size_t n, int k,
			   const struct jetwatt_peaks *s, size_t *at);
bool jetwatt_waits_vary(const struct jetwatt_batch_wait *b, double *v, size_t n, int k, size_t *at);

/* group.c: divide waits into minibatches of a known period. See the definition. */
int jetwatt_group_waits(struct jetwatt_batch_wait *b, const double *v, size_t n, int k,
			double contrast, double slip, struct jetwatt_period *r);

#endif
