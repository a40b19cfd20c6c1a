/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rhythm of one job's waits: which of them is the first of a minibatch.
 */
#ifndef JETWATT_BATCH_RHYTHM_H
#define JETWATT_BATCH_RHYTHM_H

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
 * @who: thread and call
 * @first: out: a minibatch begins with it
 * @inside: it is known to be in no other phase
 * @other: out: it is in a phase of another rhythm than the job's usual one
 */
struct jetwatt_beat {
	double gap, wait;
	double gap_ns, cycle_ns;
	uint32_t who;
	bool first, other, inside;
};

struct jetwatt_rhythm {
	int k;			/* waits per minibatch, the usual number */
	double confidence;	/* 0..1 */
	uint64_t missing;	/* waits that the rhythm says are missing */
};

/* A stretch of beats and the series in which peaks are sought. */
struct jetwatt_peaks {
	const double *v;
	size_t n;
	double margin;		/* by which a peak stands above its neighbours */
	double *room;		/* for n values */
};

/**
 * struct jetwatt_step - how well k waits per minibatch explain the peaks
 * @fits: they do
 * @in_step: share of groups of k or k + 1 waits
 * @covered: share of waits in those
 * @uneven: how much more peaks differ from the next than from the one after
 */
struct jetwatt_step {
	bool fits;
	double in_step, covered, uneven;
};

/* peaks.c */
#define JETWATT_PEAKS_VERY_CLEAR	4.0	/* times their scatter that peaks stand out */
double jetwatt_peaks_median(double *v, size_t n);
size_t jetwatt_peaks_list(const struct jetwatt_peaks *s, int k, size_t *at);
bool jetwatt_peaks_at(const struct jetwatt_peaks *s, size_t i, int k);
bool jetwatt_peaks_lead(const struct jetwatt_peaks *s, size_t i, int k, size_t end);
bool jetwatt_peaks_stand_out(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			     size_t j, int k, size_t begin, size_t end);
double jetwatt_peaks_clearness(const struct jetwatt_peaks *s, const size_t *at, size_t peaks,
			       int k);
double jetwatt_peaks_contrast(const struct jetwatt_peaks *s, int k);
struct jetwatt_step jetwatt_peaks_test(const struct jetwatt_peaks *s, int k, size_t *at);

/* fold.c */
int jetwatt_fold_find(const struct jetwatt_beat *b, size_t n, double *room);
void jetwatt_fold_smooth(double *v, size_t n, int k, double *room);

/* weight.c */
bool jetwatt_weight_differs(const struct jetwatt_beat *b, size_t n, size_t from, size_t to, int k,
			    double *room);
bool jetwatt_weight_usual(const struct jetwatt_beat *b, const size_t *at, size_t peaks, int k,
			  double *room);
bool jetwatt_weight_phase(const struct jetwatt_beat *b, size_t n, const size_t *at, size_t peaks,
			  int k, double *room);

/* rhythm.c */
int jetwatt_rhythm_find(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r);
bool jetwatt_rhythm_calls(const struct jetwatt_beat *b, size_t n);

/* group.c */
int jetwatt_group_waits(struct jetwatt_beat *b, const double *v, size_t n, int k, double contrast,
			double slip, struct jetwatt_rhythm *r);

#endif
