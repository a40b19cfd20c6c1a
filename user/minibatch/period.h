/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rhythm of one job's waits: which of them is the first of a minibatch.
 */
#ifndef JETWATT_MINIBATCH_PERIOD_H
#define JETWATT_MINIBATCH_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JETWATT_RHYTHM_MAX	8	/* most waits per minibatch that are looked for */

/**
 * struct jetwatt_beat - one wait of one job
 * @gap: logarithm of the time from the wait before to this one
 * @wait: logarithm of its length
 * @gap_ns, @cycle_ns: the gap itself; the time from the end of the wait before
 *	to the end of this one
 * @around_ns: time that a few waits around it take
 * @who: thread and call
 * @first: out: a minibatch begins with it
 * @inside: it is known to be in no other phase
 * @other: out: it is in a phase of another rhythm than the job's usual one
 * @lost: waits lost just before it, as the records tell
 * @place: out: its place in its cycle: JETWATT_PLACE_...
 * @missing: out: waits that are missing just before it
 * @odd: out: what of it is not as the cycle lets expect: JETWATT_ODD_...
 * @rule, @score: out: what decided whether a minibatch begins with it: enum
 *	jetwatt_batch_rule, and how clearly
 * @period: out: waits per minibatch of its phase, if that is another one
 */
struct jetwatt_beat {
	double gap, wait;
	double gap_ns, cycle_ns, around_ns;
	uint32_t who, lost;
	bool first, other, inside;
	uint8_t place, missing, odd, rule, period;
	float score;
};
#define JETWATT_ODD_GAP		0x1
#define JETWATT_ODD_WAIT	0x2
#define JETWATT_ODD_SPEED	0x4	/* a new speed was taken from it */
#define JETWATT_PLACE_EXTRA	0x40	/* one more after the last */
#define JETWATT_PLACE_NONE	0x80	/* in no cycle */

/* What a wait of a cycle is like, in logarithms relative to the job's speed. */
struct jetwatt_place {
	double gap, wait;		/* means */
	double gap_sd, wait_sd;
	double gap_norm, wait_norm;	/* of their densities: viterbi.c's */
	uint32_t who;			/* 0: not always the same */
};

/* A cycle of @k waits; 0: none. */
struct jetwatt_cycle {
	int k;
	struct jetwatt_place place[JETWATT_RHYTHM_MAX];
};

/**
 * struct jetwatt_motif - what a job does
 * @train, @eval: its usual cycle; another one that comes now and then
 * @extra: a wait more after the last of a minibatch; @extras: it is learned
 * @lost: probability that a wait was lost, where the records don't tell
 * @told: the records tell
 * @stall: probability that the first gap of a minibatch is an outlier
 * @whole: whole minibatches may be lost, and not only parts
 * @abort: logarithm of the probability that a minibatch begins before the one
 *	before is complete
 * @extra_rate: probability of an extra one
 * @why: scores of single waits are asked for
 */
struct jetwatt_motif {
	struct jetwatt_cycle train, eval;
	struct jetwatt_place extra;
	bool extras, told, whole, why;
	double lost, extra_rate, stall, abort;
};

/**
 * struct jetwatt_rhythm - what was found of it
 * @k: waits per minibatch, the usual number
 * @other_k: another number that was seen as well, 0: none
 * @shared: in: other jobs run beside it
 * @why: in: records are asked for
 * @tid: the only thread whose waits count, 0: all do
 */
struct jetwatt_rhythm {
	int k, other_k;
	bool shared, why;
	uint32_t tid;
	double confidence;	/* 0..1 */
	uint64_t missing;	/* waits that the rhythm says are missing */
	struct jetwatt_motif model;	/* .train.k is 0 if too little was seen, or it explains nothing */
	double score, least;		/* how well it explains, and must */
};

/* A stretch of beats and the series in which peaks are sought. */
struct jetwatt_peaks {
	const double *v;
	size_t n;
	double margin;		/* by which a peak stands above its neighbours */
	double *room;		/* for n values */
};

/**
 * struct jetwatt_stride - how well k waits per minibatch explain the peaks
 * @fits: they do
 * @in_step: share of groups of k or k + 1 waits
 * @covered: share of waits in those
 * @uneven: how much more peaks differ from the next than from the one after
 */
struct jetwatt_stride {
	bool fits;
	double in_step, covered, uneven;
};

/* peaks.c */
#define JETWATT_PEAKS_VERY_CLEAR	4.0	/* times their scatter that peaks stand out */
double jetwatt_peaks_median(double *v, size_t n);
size_t jetwatt_peaks_list(const struct jetwatt_peaks *s, int k, size_t *at);
double jetwatt_peaks_above(const struct jetwatt_peaks *s, size_t i, int k);
bool jetwatt_peaks_at(const struct jetwatt_peaks *s, size_t i, int k);
bool jetwatt_peaks_lead(const struct jetwatt_peaks *s, size_t i, int k, size_t end);
bool jetwatt_peaks_stand_out(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			     size_t j, int k, size_t begin, size_t end);
double jetwatt_peaks_clearness(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			       int k);
double jetwatt_peaks_contrast(const struct jetwatt_peaks *s, int k);
struct jetwatt_stride jetwatt_peaks_test(const struct jetwatt_peaks *s, int k, size_t *at);

/* fold.c */
int jetwatt_fold_find(const struct jetwatt_beat *b, size_t n, double *room);
void jetwatt_fold_smooth(double *v, size_t n, int k, double *room);

/* beat_reject.c */
bool jetwatt_weight_differs(const struct jetwatt_beat *b, size_t n, size_t from, size_t to, int k,
			    double *room);
bool jetwatt_weight_usual(const struct jetwatt_beat *b, const size_t *at, size_t peaks, int k,
			  double *room);
bool jetwatt_weight_apart(const struct jetwatt_beat *b, size_t n, double *room);
bool jetwatt_weight_phase(const struct jetwatt_beat *b, size_t n, const size_t *at, size_t peaks,
			  int k, double *room);

/* beat.c: logarithms of times, with a floor below which places are not told apart. */
void jetwatt_beats_sharpen(struct jetwatt_beat *b, size_t n);

/* refine.c: from beginnings to places. Return: 0, -ENOMEM. */
int jetwatt_refine(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r);
/* More of the same job, with what is known of it. Return: 1: it goes on as before;
 * 0: it does not, find it anew; -ENOMEM. */
int jetwatt_refine_more(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r);

/* period.c */
enum jetwatt_rhythm_by { JETWATT_RHYTHM_BY_ANY, JETWATT_RHYTHM_BY_PEAKS };
int jetwatt_rhythm_guess(struct jetwatt_beat *b, size_t n, enum jetwatt_rhythm_by by,
			 struct jetwatt_rhythm *r);
int jetwatt_rhythm_find(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r);
bool jetwatt_rhythm_calls(const struct jetwatt_beat *b, size_t n);

/* group.c */
int jetwatt_group_waits(struct jetwatt_beat *b, const double *v, size_t n, int k, double contrast,
			double slip, struct jetwatt_rhythm *r);

#endif
