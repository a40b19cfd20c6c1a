/* SPDX-License-Identifier: GPL-2.0-only */
/* For viterbi.c and decode.c alone: a walk through a job's minibatches, and what each of its steps costs. */
#ifndef JETWATT_MINIBATCH_WALK_H
#define JETWATT_MINIBATCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "minibatch/period.h"

#define STATES		(3 * JETWATT_RHYTHM_MAX + 1)
#define NONE_AT		(2 * JETWATT_RHYTHM_MAX)
#define EVAL_AT		(NONE_AT + 1)
#define BEAM		18.0
#define SURE		3.0	/* standard deviations that are foreseen */
#define LOST_MAX	8	/* in a row that are looked for */
#define APART		0.7	/* logarithm by which two speeds of the CPU differ */
#define GAIN		0.2	/* by which speed follows what is seen */

/* Logarithms of probabilities. A value that is no fit is anywhere in e^8. */
#define ANYWHERE	(-2.1)
#define ODD		(-5.0)	/* another gap or a wait is */
#define SAME_AGAIN	(-1.5)	/* ... by as much as the one before: a new speed */
#define WRONG_CALLER	(-5.0)
#define NEW_SPEED	(-7.0)	/* clocks or the size of minibatches changed */
#define ODDLY		(-9.0)	/* a change in the middle of a minibatch */
#define LEAVE		(-5.0)	/* to what is in no cycle, between minibatches */
#define STAY		(-0.1)
#define RETURN		(-2.0)
#define TO_EVAL		(-4.0)
#define FROM_EVAL	(-3.0)
#define EXTRA_GAP	2.0	/* a seventh of a loader's */
#define EXTRA_GAP_SD	0.7
#define EXTRA_WAIT_SD	2.5
#define LEAP_SD		0.03
#define TOLD		(-0.5)
#define MORE_LOST	(-0.9)	/* for each but the first */

/* A walk that has come to a state. */
struct walk {
	double score;
	double speed_gap[2], speed_wait;	/* logarithms; of the first gap and of others */
	double odd_gap[2], odd_wait;		/* by how much the last ones were off; NAN: not */
	double old_gap[2], old_wait;		/* speeds before the last new ones */
	uint8_t odd;				/* JETWATT_ODD_... of the last wait */
};

/* How it came there. */
struct step {
	uint8_t from, missing, odd;
};

/**
 * struct decoder - all walks that are worth going on with
 * @b: the wait at hand, which is number @at
 * @step: how each state was reached; @gain: what that added to the score, NULL: not asked for
 * @alone: the only state that is left, -1: there are several
 */
struct decoder {
	struct jetwatt_motif m;
	const struct jetwatt_beat *b;
	struct walk now[STATES], next[STATES];
	struct step *step;
	float *gain;
	size_t at;
	int alone;
	double stall, lost, extra;	/* logarithms of the model's */
	double gap[JETWATT_RHYTHM_MAX], wait[JETWATT_RHYTHM_MAX];	/* no logarithms */
};

/* Begin at a wait, and go on to the next one. @step, @gain: for STATES each. */
void jetwatt_walk_begin(struct decoder *d, const struct jetwatt_motif *m, const struct jetwatt_beat *b,
			struct step *step, float *gain);
void jetwatt_walk_on(struct decoder *d, const struct jetwatt_beat *b, struct step *step, float *gain);

#endif
