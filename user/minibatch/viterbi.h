/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hidden Markov model of a job's waits: learning (template.c), decoding (viterbi.c, decode.c),
 * and corrections of the labels (relabel.c, relabel_period.c, pauses.c).
 */
#ifndef JETWATT_MINIBATCH_VITERBI_H
#define JETWATT_MINIBATCH_VITERBI_H

#include "minibatch/period.h"

/* template.c. @scratch: memory for @n values. */

/*
 * Learn the emissions of a cycle from labelled groups of @k waits, relative to the first wait of
 * the group. @other: learn from the groups that are labelled as another phase (evaluation). Return:
 * 0; -ENODATA: too few complete groups; -ENOMEM.
 */
int jetwatt_template_learn(const struct jetwatt_batch_wait *b, size_t n, int k, bool other,
			   struct jetwatt_cycle *c, double *scratch);
/* Make the emissions of the evaluation cycle @eval relative to the speed of the training around
 * it. */
void jetwatt_template_shift(const struct jetwatt_batch_wait *b, size_t n,
			    const struct jetwatt_cycle *train, struct jetwatt_cycle *eval,
			    double *scratch);
/* Learn the emission of additional waits after the end of a minibatch. */
void jetwatt_template_extra(const struct jetwatt_batch_wait *b, size_t n,
			    struct jetwatt_wait_hmm *m, double *scratch);
/* Return the probability of a stall: that the first gap of a minibatch is much longer than usual. */
double jetwatt_template_stalls(const struct jetwatt_batch_wait *b, size_t n,
			       const struct jetwatt_cycle *c);

/*
 * relabel.c. Split a cycle that consists of several minibatches and label its waits; @other: the
 * cycle of the other phase. Return: usual number of waits per minibatch; 0: the cycle is one
 * minibatch.
 */
int jetwatt_relabel_several(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_cycle *c,
			    bool other);
/* Label three or more successive minibatches of one size other than @k as another phase. */
void jetwatt_relabel_sizes(struct jetwatt_batch_wait *b, size_t n, int k);
/* Label three or more successive cycles as another phase if, in each cycle, gaps that are usually
 * short are as long as the first gap. */
void jetwatt_relabel_parts(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_cycle *c);
/* For jobs with one wait per minibatch: label late waits, and the short waits that make up for
 * the delay, as minibatches. */
void jetwatt_relabel_caught_up(struct jetwatt_batch_wait *b, size_t n);
/* For jobs with one wait per minibatch: label waits as minibatches if they fit at no speed but
 * are as long as their neighbours. */
void jetwatt_relabel_alike(struct jetwatt_batch_wait *b, size_t n);
/* Label the waits after long gaps as starts of minibatches. Return: number of waits in more than half
 * of the groups; 0 if there is no such number. */
int jetwatt_relabel_long_gaps(struct jetwatt_batch_wait *b, size_t n);
/* Check that no disturbance causes the long gaps whose next waits were labelled as starts of
 * minibatches. Return: @k; 0 if a disturbance may cause the gaps, if fewer than 20 gaps are long or
 * less than 80 % of them are @k waits apart, or if memory is short. */
int jetwatt_relabel_check_long_gaps(const struct jetwatt_batch_wait *b, size_t n, int k,
				    double *scratch);

/*
 * decode.c: compute the Viterbi path of all waits. The function sets @other_phase, @phase_index,
 * @missing, @outlier and @rule of each wait, and its @score (log-likelihood) if the model's @why is
 * set. @score: mean log-likelihood of a wait; -INFINITY if decoding was stopped and no wait was
 * labelled. Return: 0; -ENOMEM.
 */
int jetwatt_decode(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_wait_hmm *m,
		   double *score);

/*
 * decode.c: follow the Viterbi path online, one wait after the other. The label of a wait is the
 * most probable one at the time of the wait and is not revised.
 */
struct jetwatt_follower;
struct jetwatt_follower *jetwatt_follower_new(void);
/* Discard all paths, and begin a new sequence of waits with the model @m. */
void jetwatt_follower_begin(struct jetwatt_follower *f, const struct jetwatt_wait_hmm *m);
/* Label the next wait, as jetwatt_decode() does, but without a score. */
void jetwatt_follower_next(struct jetwatt_follower *f, struct jetwatt_batch_wait *b);

/* relabel_period.c: label as minibatches those sequences of waits that fit no cycle but have the
 * job's period, and a few disturbed waits that have the callers and launches, or the duration, of
 * the cycle. Return: 0; -ENOMEM. */
int jetwatt_regain(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r);

#endif
