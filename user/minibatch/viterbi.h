/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of a job as the most probable walk through its minibatches.
 */
#ifndef JETWATT_MINIBATCH_VITERBI_H
#define JETWATT_MINIBATCH_VITERBI_H

#include "minibatch/period.h"

/* template.c. @room: for @n values. */

/* A cycle as it is in groups of @k that are marked, relative to its first wait.
 * Return: 0; -ENODATA: too few whole groups; -ENOMEM. */
int jetwatt_template_learn(const struct jetwatt_beat *b, size_t n, int k, bool other,
			   struct jetwatt_cycle *c, double *room);
/* Makes @eval relative to the speed of the training around it. */
void jetwatt_template_shift(const struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *train,
			    struct jetwatt_cycle *eval, double *room);
/* What extra waits are like. */
void jetwatt_template_extra(const struct jetwatt_beat *b, size_t n, struct jetwatt_motif *m,
			    double *room);
/* Share of first gaps that are outliers. */
double jetwatt_template_stalls(const struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c);

/* relabel.c. The usual cycle, or the other phase's, may be several minibatches.
 * Return: their usual size, 0: it is one. */
int jetwatt_remark_several(struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c, bool other);
/* Several minibatches in a row of another size than @k are another phase. */
void jetwatt_remark_aside(struct jetwatt_beat *b, size_t n, int k);
/* Cycles in a row in which more than one gap is as long as a first one are another phase. */
void jetwatt_remark_parts(struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c);
/* With one wait per minibatch: those that are late and those that make up for it. */
void jetwatt_remark_caught_up(struct jetwatt_beat *b, size_t n);
/* With one wait per minibatch: those that fit at no speed, but are like those around them. */
void jetwatt_remark_alike(struct jetwatt_beat *b, size_t n);
/* Beginnings by long gaps. Return: the usual size, 0: there are no two kinds. */
int jetwatt_remark_long_gaps(struct jetwatt_beat *b, size_t n);
/* Are they ones that no disturbance makes? Return: @k, 0: no. */
int jetwatt_remark_heavy(const struct jetwatt_beat *b, size_t n, int k, double *room);

/* decode.c: sets @other, @place, @missing, @odd and @rule of every beat, and @score if the model
 * asks why: the logarithm of the probability that the walk gives the beat. @score: mean
 * logarithm of the probability of a wait; -INFINITY: given up, nothing is set.
 * Return: 0, -ENOMEM. */
int jetwatt_decode(struct jetwatt_beat *b, size_t n, const struct jetwatt_motif *m, double *score);

/* decode.c: the same walk as waits come. What it says of a wait is the most probable at that
 * moment and is not taken back. */
struct jetwatt_follower;
struct jetwatt_follower *jetwatt_follower_new(void);
/* Begin anew with a model. */
void jetwatt_follower_begin(struct jetwatt_follower *f, const struct jetwatt_motif *m);
/* The next wait: sets what jetwatt_decode() sets but for the score. */
void jetwatt_follower_next(struct jetwatt_follower *f, struct jetwatt_beat *b);

/* regain.c: stretches in no cycle in which the job's rhythm is plain to see.
 * Return: 0, -ENOMEM. */
int jetwatt_regain(struct jetwatt_beat *b, size_t n, const struct jetwatt_rhythm *r);

#endif
