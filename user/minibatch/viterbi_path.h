/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Viterbi paths and the costs of their transitions. Only viterbi.c and decode.c include this file.
 *
 * States: 0 .. MAX-1: states at phase indices of the training cycle; MAX .. 2 MAX-1: states of an
 * additional wait after the phase index; NONE_AT: no cycle; EVAL_AT and above: states at phase
 * indices of the evaluation cycle. MAX is JETWATT_PERIOD_MAX.
 */
#ifndef JETWATT_MINIBATCH_VITERBI_PATH_H
#define JETWATT_MINIBATCH_VITERBI_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "minibatch/period.h"

#define STATES		(3 * JETWATT_PERIOD_MAX + 1)
#define NONE_AT		(2 * JETWATT_PERIOD_MAX)
#define EVAL_AT		(NONE_AT + 1)
/* paths whose log-probability is this much below that of the best path are dropped */
#define BEAM		18.0
/* a value is expected to be within this many standard deviations of the mean */
#define SURE		3.0
#define LOST_MAX	8	/* maximum number of consecutive missing waits */
/* typical difference between the speed of first gaps and that of other gaps (logarithm) */
#define APART		0.7
#define GAIN		0.2	/* weight of a new value in the running estimate of a speed */
/* number of gaps that must fit the speed of the second gap until that of the first is discarded */
#define PROVED_BY	4

/* Logarithms of probabilities. An outlier is uniformly distributed over a factor of e^8. */
#define ANYWHERE	(-2.1)
/* log-probability that a gap or the length of a wait is an outlier */
#define OUTLIER		(-5.0)
/* log-probability that the next outlier deviates by the same amount, which shows a new speed */
#define SAME_AGAIN	(-1.5)
#define WRONG_CALLER	(-5.0)	/* log-probability that another thread or call than usual waits */
/* log-probability that the speed has changed, because clocks or the size of minibatches have
 * changed */
#define NEW_SPEED	(-7.0)
#define MID_BATCH	(-9.0)	/* log-probability of a change of phase within a minibatch */
/* log-probability of the transition from the end of a minibatch to no cycle */
#define LEAVE		(-5.0)
#define STAY		(-0.1)	/* log-probability of remaining in no cycle */
/* log-probability of the transition from no cycle to the start of the training cycle */
#define RETURN		(-2.0)
/* log-probability of the transition from training to an evaluation */
#define TO_EVAL		(-4.0)
/* log-probability of the transition from an evaluation to training */
#define FROM_EVAL	(-3.0)
/* with one wait per minibatch, the gap before an additional wait is shorter than the other gaps by
 * this (logarithm): a seventh of them */
#define EXTRA_GAP	2.0
#define EXTRA_GAP_SD	0.7
#define EXTRA_WAIT_SD	2.5
/* minimum standard deviation (logarithm) of a gap that includes missing waits */
#define LEAP_SD		0.03
/* log-probability of missing waits if the probe reports losses: added once, and once more for each
 * wait by which the number of missing waits differs from the number that the probe reported */
#define REPORTED	(-0.5)
/* log-probability of each missing wait after the first one if the probe does not report losses */
#define MORE_LOST	(-0.9)

/**
 * struct viterbi_path - the most probable path to a state
 * @score: log-likelihood
 * @speed_gap: estimated speed (logarithm) of the first gap and of the other gaps of a minibatch
 * @speed_wait: estimated speed (logarithm) of the waits
 * @outlier_gap: deviation of the most recent first gap of a minibatch, and of the most recent other
 *	gap, if the gap was an outlier; NAN: it was no outlier. @outlier_gap[0] is INFINITY until the
 *	second wait
 * @outlier_wait: deviation of the length of the last wait, if it was an outlier; NAN: it was
 *	no outlier
 * @old_gap: values of @speed_gap before new speeds were estimated last; NAN: none
 * @old_wait: value of @speed_wait before a new speed was estimated last; NAN: none
 * @provisional_gap: the speed of the first gap, and that of the other gaps, is known from one gap
 *	only
 * @unproven_gap: number of gaps that must still fit @speed_gap before @old_gap, the speed of the gap
 *	that was known first, is discarded; 0: it has been discarded, or only one gap is known
 * @provisional_wait: the speed of the waits is known from one wait only
 * @outlier: JETWATT_OUTLIER_... of the last wait
 */
struct viterbi_path {
	double score;
	double speed_gap[2], speed_wait;
	double outlier_gap[2], outlier_wait;
	double old_gap[2], old_wait;
	uint8_t unproven_gap[2];
	bool provisional_gap[2], provisional_wait;
	uint8_t outlier;
};

/* The last transition of a Viterbi path: previous state, number of missing waits, outlier flags. */
struct viterbi_step {
	uint8_t from, missing, outlier;
};

/**
 * struct decoder - all paths that may still become the best one
 * @m: the model
 * @b: the present wait
 * @now: path to each state after the previous wait
 * @next: path to each state after the present wait
 * @step: transition to each state; written by the decoder
 * @gain: what the last transition added to the score of the path; NULL: not wanted
 * @at: number of the present wait, from 0
 * @state: the @states states that the model has, ascending; no other state ever has a path
 * @alone: the only state that still has a path; -1: several states have one
 * @stall, @lost, @extra: logarithms of the probabilities in the model
 * @gap, @wait: gaps and waits of the training cycle (not logarithms)
 */
struct decoder {
	struct jetwatt_wait_hmm m;
	const struct jetwatt_batch_wait *b;
	struct viterbi_path now[STATES], next[STATES];
	struct viterbi_step *step;
	float *gain;
	size_t at;
	uint8_t state[STATES];
	int states, alone;
	double stall, lost, extra;
	double gap[JETWATT_PERIOD_MAX], wait[JETWATT_PERIOD_MAX];
};

/* Begin the paths with the first wait; extend the paths by the next wait. @step, @gain: arrays
 * of STATES entries. */
void jetwatt_viterbi_begin(struct decoder *d, const struct jetwatt_wait_hmm *m,
			   const struct jetwatt_batch_wait *b, struct viterbi_step *step,
			   float *gain);
void jetwatt_viterbi_next(struct decoder *d, const struct jetwatt_batch_wait *b,
			  struct viterbi_step *step, float *gain);

#endif
