// SPDX-License-Identifier: GPL-2.0-only
/* Computes the Viterbi path of all waits of a job, and contains the online decoder, which labels
 * one wait after the other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "minibatch/minibatch.h"
#include "minibatch/viterbi.h"
#include "minibatch/viterbi_path.h"

/* After every CHECK_WAITS waits, decoding stops if the mean log-likelihood of the waits so far
 * is below SCORE_STOP. */
#define CHECK_WAITS	512
#define SCORE_STOP	(-0.5)

static int best_state(const struct decoder *d)
{
	int state = 0;

	if (d->alone >= 0)
		return d->alone;
	for (int i = 0; i < d->states; i++)
		if (d->now[d->state[i]].score > d->now[state].score)
			state = d->state[i];
	return state;
}

/* Return the rule that describes the transition @s of the Viterbi path to the state @state. */
static uint8_t rule_of(const struct decoder *d, int state, const struct viterbi_step *s)
{
	if (state == NONE_AT)
		return JETWATT_RULE_NO_CYCLE;
	if (state >= EVAL_AT)
		return JETWATT_RULE_EVALUATION;
	if (state >= JETWATT_PERIOD_MAX)
		return JETWATT_RULE_EXTRA;
	if (s->missing)
		return JETWATT_RULE_MISSING;
	if (s->outlier & JETWATT_OUTLIER_SPEED)
		return JETWATT_RULE_SPEED;
	return !state && s->from < NONE_AT && s->from % JETWATT_PERIOD_MAX != d->m.train.k - 1 ?
		       JETWATT_RULE_RESTART : JETWATT_RULE_TEMPLATE;
}

static void label_wait(struct jetwatt_batch_wait *b, int state, const struct viterbi_step *s)
{
	b->missing = s->missing;
	b->outlier = s->outlier;
	b->other_phase = state >= NONE_AT;
	if (state == NONE_AT)
		b->phase_index = JETWATT_PHASE_INDEX_NONE;
	else if (state >= EVAL_AT)
		b->phase_index = (uint8_t)(state - EVAL_AT);
	else if (state >= JETWATT_PERIOD_MAX)
		b->phase_index = JETWATT_PHASE_INDEX_EXTRA;
	else
		b->phase_index = (uint8_t)state;
}

int jetwatt_decode(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_wait_hmm *m,
		   double *score)
{
	struct decoder *d = malloc(sizeof(*d));
	struct viterbi_step *step = malloc(n * STATES * sizeof(*step));
	float *gain = m->why ? malloc(n * STATES * sizeof(*gain)) : NULL;
	int state, rc = -ENOMEM;
	size_t at;

	if (!d || !step || (m->why && !gain))
		goto out;
	jetwatt_viterbi_begin(d, m, b, step, gain);
	for (at = 1; at < n; at++) {
		jetwatt_viterbi_next(d, b + at, step + at * STATES,
				     gain ? gain + at * STATES : NULL);
		if (at % CHECK_WAITS == 0 && d->now[best_state(d)].score < SCORE_STOP * (double)at)
			break;
	}
	state = best_state(d);
	*score = at == n ? d->now[state].score / (double)n : -INFINITY;
	for (size_t i = at == n ? n : 0; i--;) {
		const struct viterbi_step *s = &step[i * STATES + (size_t)state];

		label_wait(&b[i], state, s);
		b[i].rule = rule_of(d, state, s);
		b[i].score = gain ? gain[i * STATES + (size_t)state] : 0;
		state = s->from;
	}
	rc = 0;
out:
	free(gain);
	free(step);
	free(d);
	return rc;
}

/* The online decoder follows the Viterbi path without storing transitions, because its decisions
 * are not revised. */
struct jetwatt_follower {
	struct decoder d;
	struct viterbi_step step[STATES];
	bool begun;
};

struct jetwatt_follower *jetwatt_follower_new(void)
{
	return calloc(1, sizeof(struct jetwatt_follower));
}

void jetwatt_follower_begin(struct jetwatt_follower *f, const struct jetwatt_wait_hmm *m)
{
	f->d.m = *m;
	f->begun = false;
}

void jetwatt_follower_next(struct jetwatt_follower *f, struct jetwatt_batch_wait *b)
{
	struct decoder *d = &f->d;
	struct jetwatt_wait_hmm m = d->m;
	int state;

	if (f->begun)
		jetwatt_viterbi_next(d, b, f->step, NULL);
	else
		jetwatt_viterbi_begin(d, &m, b, f->step, NULL);
	f->begun = true;
	state = best_state(d);
	label_wait(b, state, &f->step[state]);
	b->rule = rule_of(d, state, &f->step[state]);
}
