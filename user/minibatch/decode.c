// SPDX-License-Identifier: GPL-2.0-only
/* The walk through a job's minibatches over waits that are all known, and over waits as they come. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "minibatch/minibatch.h"
#include "minibatch/viterbi.h"
#include "minibatch/walk.h"

/* A walk that explains this small a part of this many waits is not taken further. */
#define LOOK		512
#define HOPELESS	(-0.5)

static int best(const struct decoder *d)
{
	int state = 0;

	if (d->alone >= 0)
		return d->alone;
	for (int s = 1; s < STATES; s++)
		if (d->now[s].score > d->now[state].score)
			state = s;
	return state;
}

/* What brought the walk to @state, not its first one. */
static uint8_t rule_of(const struct decoder *d, int state, const struct step *s)
{
	if (state == NONE_AT)
		return JETWATT_RULE_NO_CYCLE;
	if (state >= EVAL_AT)
		return JETWATT_RULE_EVALUATION;
	if (state >= JETWATT_RHYTHM_MAX)
		return JETWATT_RULE_EXTRA;
	if (s->missing)
		return JETWATT_RULE_MISSING;
	if (s->odd & JETWATT_ODD_SPEED)
		return JETWATT_RULE_SPEED;
	return !state && s->from < NONE_AT && s->from % JETWATT_RHYTHM_MAX != d->m.train.k - 1 ?
		       JETWATT_RULE_RESTART : JETWATT_RULE_TEMPLATE;
}

static void mark(struct jetwatt_beat *b, int state, const struct step *s)
{
	b->missing = s->missing;
	b->odd = s->odd;
	b->other = state >= NONE_AT;
	if (state == NONE_AT)
		b->place = JETWATT_PLACE_NONE;
	else if (state >= EVAL_AT)
		b->place = (uint8_t)(state - EVAL_AT);
	else if (state >= JETWATT_RHYTHM_MAX)
		b->place = JETWATT_PLACE_EXTRA;
	else
		b->place = (uint8_t)state;
}

int jetwatt_decode(struct jetwatt_beat *b, size_t n, const struct jetwatt_motif *m, double *score)
{
	struct decoder *d = malloc(sizeof(*d));
	struct step *step = malloc(n * STATES * sizeof(*step));
	float *gain = m->why ? malloc(n * STATES * sizeof(*gain)) : NULL;
	int state, rc = -ENOMEM;
	size_t at;

	if (!d || !step || (m->why && !gain))
		goto out;
	jetwatt_walk_begin(d, m, b, step, gain);
	for (at = 1; at < n; at++) {
		jetwatt_walk_on(d, b + at, step + at * STATES, gain ? gain + at * STATES : NULL);
		if (at % LOOK == 0 && d->now[best(d)].score < HOPELESS * (double)at)
			break;
	}
	state = best(d);
	*score = at == n ? d->now[state].score / (double)n : -INFINITY;
	for (size_t i = at == n ? n : 0; i--;) {
		const struct step *s = &step[i * STATES + (size_t)state];

		mark(&b[i], state, s);
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

/* Steps are not kept: what was decided is not taken back. */
struct jetwatt_follower {
	struct decoder d;
	struct step step[STATES];
	bool begun;
};

struct jetwatt_follower *jetwatt_follower_new(void)
{
	return calloc(1, sizeof(struct jetwatt_follower));
}

void jetwatt_follower_begin(struct jetwatt_follower *f, const struct jetwatt_motif *m)
{
	f->d.m = *m;
	f->begun = false;
}

void jetwatt_follower_next(struct jetwatt_follower *f, struct jetwatt_beat *b)
{
	struct decoder *d = &f->d;
	struct jetwatt_motif m = d->m;
	int state;

	if (f->begun)
		jetwatt_walk_on(d, b, f->step, NULL);
	else
		jetwatt_walk_begin(d, &m, b, f->step, NULL);
	f->begun = true;
	state = best(d);
	mark(b, state, &f->step[state]);
	b->rule = rule_of(d, state, &f->step[state]);
}
