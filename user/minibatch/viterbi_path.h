/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Viterbi paths and the costs of their transitions. Only viterbi.c and decode.c include this file.
 *
 * States: 0 .. MAX-1: phase indices of the training cycle; MAX .. 2 MAX-1: an additional wait after
 * that index; NONE_AT: no cycle; EVAL_AT and above: phase indices of the evaluation cycle. MAX is
 * JETWATT_PERIOD_MAX.
 */
#ifndef JETWATT_MINIBATCH_WALK_H
#define JETWATT_MINIBATCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "minibatch/period.h"

#define STATES		(3 * JETWATT_PERIOD_MAX + 1)
#define NONE_AT		(2 * JETWATT_PERIOD_MAX)
#define EVAL_AT		(NONE_AT + 1)
#define BEAM		18.0	/* paths that are this much less probable (logarithm) are dropped */
#define SURE		3.0	/* standard deviations within which a value is expected */
#define LOST_MAX	8	/* maximum number of consecutive missing waits */
#define APART		0.7	/* typical difference of the two CPU speeds (logarithm) */
#define GAIN		0.2	/* weight of a new value in the estimate of a speed */

/* Logarithms of probabilities. An outlier is uniformly distributed over a factor of e^8. */
#define ANYWHERE	(-2.1)
#define OUTLIER		(-5.0)	/* a gap or a wait is an outlier */
#define SAME_AGAIN	(-1.5)	/* the next outlier deviates by the same amount: a new speed */
#define WRONG_CALLER	(-5.0)	/* another thread or call than usual */
#define NEW_SPEED	(-7.0)	/* clocks or the size of minibatches have changed */
#define MID_BATCH	(-9.0)	/* a change of phase within a minibatch */
#define LEAVE		(-5.0)	/* from the end of a minibatch to no cycle */
#define STAY		(-0.1)	/* remain in no cycle */
#define RETURN		(-2.0)	/* from no cycle to the start of the training cycle */
#define TO_EVAL		(-4.0)	/* from training to an evaluation */
#define FROM_EVAL	(-3.0)	/* from an evaluation to training */
#define EXTRA_GAP	2.0	/* gap of an additional wait: a seventh of the loader's */
#define EXTRA_GAP_SD	0.7
#define EXTRA_WAIT_SD	2.5
#define LEAP_SD		0.03	/* minimum deviation of a gap over missing waits */
#define REPORTED	(-0.5)	/* once, and per difference from the reported number */
#define MORE_LOST	(-0.9)	/* for each missing wait after the first */

/**
 * struct viterbi_path - the most probable path to a state
 * @score: log-likelihood
 * @speed_gap: estimated speed (logarithm) of the first gap and of the other gaps of a minibatch
 * @speed_wait: estimated speed (logarithm) of the waits
 * @outlier_gap: deviation of the last gap of each kind; NAN: it was no outlier
 * @outlier_wait: deviation of the last wait; NAN: it was no outlier
 * @old_gap: values of @speed_gap before the last new speeds; NAN: none
 * @old_wait: value of @speed_wait before the last new speed; NAN: none
 * @outlier: JETWATT_OUTLIER_... of the last wait
 */
struct viterbi_path {
	double score;
	double speed_gap[2], speed_wait;
	double outlier_gap[2], outlier_wait;
	double old_gap[2], old_wait;
	uint8_t outlier;
};

/* The last transition of a path: previous state, number of missing waits, outlier flags. */
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
 * @gain: what the transition added to the score; NULL: not wanted
 * @at: number of the present wait
 * @alone: the only state that is left; -1: there are several
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
	int alone;
	double stall, lost, extra;
	double gap[JETWATT_PERIOD_MAX], wait[JETWATT_PERIOD_MAX];
};

/* Begin with the first wait; add the next wait. @step, @gain: arrays of STATES entries. */
void jetwatt_viterbi_begin(struct decoder *d, const struct jetwatt_wait_hmm *m,
			   const struct jetwatt_batch_wait *b, struct viterbi_step *step,
			   float *gain);
void jetwatt_viterbi_next(struct decoder *d, const struct jetwatt_batch_wait *b,
			  struct viterbi_step *step, float *gain);

#endif
