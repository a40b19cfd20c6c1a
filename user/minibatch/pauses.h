/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps with different numbers of waits, which are divided by the pauses of the GPU: of a whole job (pauses.c),
 * and while it runs (pauses_online.c). The launches of the job must be traced.
 */
#ifndef JETWATT_MINIBATCH_PAUSES_H
#define JETWATT_MINIBATCH_PAUSES_H

#include <math.h>

#include "minibatch/period.h"

/* minimum number of steps of a kind */
#define JETWATT_STEPS_MIN	4
/* time that is added to each pause, ns: shorter pauses do not differ */
#define JETWATT_PAUSE_FLOOR_NS	2e4
/* maximum difference between the launches before the same wait of two steps of a kind, as logarithm
 * of the ratio */
#define JETWATT_LAUNCHES_LIKE	0.3
/* number by which these launches may differ in any case */
#define JETWATT_LAUNCHES_FURTHER	2

static inline double jetwatt_pause_of(const struct jetwatt_batch_wait *b)
{
	return b->idle_ns + JETWATT_PAUSE_FLOOR_NS;
}

/* Return whether two numbers of launches are about the same. A step that prints its loss may have a launch or
 * two more than the others. */
static inline bool jetwatt_launches_alike(uint32_t a, uint32_t b)
{
	return (a > b ? a - b : b - a) <= JETWATT_LAUNCHES_FURTHER ||
	       fabs(log((a + 1.0) / (b + 1.0))) < JETWATT_LAUNCHES_LIKE;
}

/* Return whether the first @n waits of the steps of a kind have about @launches. */
static inline bool jetwatt_begins_kind(const struct jetwatt_step_kind *k, const uint32_t *launches, size_t n)
{
	bool same = k->waits >= n;

	for (size_t i = 0; i < n && same; i++)
		same = jetwatt_launches_alike(launches[i], k->launches[i]);
	return same;
}

/*
 * Find the kinds of steps if the pauses of the GPU are short or long, and nearly all waits belong to a few kinds
 * of steps with different numbers of waits, the most frequent with 2 to JETWATT_PERIOD_MAX. Label the waits if no
 * model explains the job. @r: its member steps is set if kinds were found; k, confidence and missing are replaced
 * if the waits were labelled. Return: 0; -ENOMEM.
 */
int jetwatt_pauses_label(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r);

/* Divide sequences of waits that are not in the usual cycle at pauses of the GPU that are as long as those
 * between usual minibatches. jetwatt_regain() calls this function. Return: 0; -ENOMEM. */
int jetwatt_pauses_divide(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_period *r);

/**
 * struct jetwatt_step_follower - the current step of a job, while it runs; initially 0
 * @launches: launches before each of its waits so far
 * @n: number of its waits so far
 * @ended: its end was reported
 */
struct jetwatt_step_follower {
	uint32_t launches[JETWATT_PAUSE_WAITS];
	size_t n;
	bool ended;
};

/* Return whether the most frequent kind of step has @waits waits and about @launches launches. */
bool jetwatt_pauses_usual(const struct jetwatt_step_kinds *s, int waits, uint32_t launches);
/*
 * Add the next wait. Return: a step has ended. A step of a known kind ends with its last wait, unless it may
 * be the beginning of a step of another kind; its end is then reported with the first wait of the next step.
 */
bool jetwatt_pauses_next(struct jetwatt_step_follower *f, const struct jetwatt_step_kinds *s,
			 const struct jetwatt_batch_wait *b);

#endif
