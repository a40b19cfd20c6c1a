// SPDX-License-Identifier: GPL-2.0-only
/*
 * No budget given: the mode that teaches most about all the others, by the fall
 * of the variance over a sample of them. (The mode of the greatest variance
 * sits in a corner and teaches about corners.)
 */
#include "search.h"

#include <errno.h>
#include <stdlib.h>

#include "model/fit.h"

#define CANDIDATES	96
#define REFERENCES	192
/* Mean variance of log time and power at which a further mode is a waste. */
#define ENOUGH		(0.01 * 0.01)

static uint64_t hash(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

struct sample {
	size_t index[REFERENCES];
	struct jetwatt_point x[REFERENCES];
	size_t n;
};

/* An even selection with a random phase, unmeasured modes only. */
static void draw(const struct jetwatt_search *s, struct sample *k, size_t want, uint64_t phase)
{
	size_t left = 0, at = 0;

	for (size_t i = 0; i < s->n; i++)
		left += !s->seen[i];
	if (want > left)
		want = left;
	k->n = 0;
	for (size_t i = 0; i < s->n && k->n < want; i++) {
		size_t lo = k->n * left / want, hi = (k->n + 1) * left / want;

		if (s->seen[i])
			continue;
		if (at++ != lo + hash(phase + k->n) % (hi - lo))
			continue;
		k->index[k->n] = i;
		jetwatt_point_of(&k->x[k->n], &s->mode[i]);
		k->x[k->n].rate = s->p[i].time_ms;
		k->n++;
	}
	for (size_t i = 0; i < k->n; i++)
		k->x[i].rate = jetwatt_model_rate(s->m, k->x[i].rate);
}

int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next)
{
	struct sample *c = malloc(sizeof(*c)), *r = malloc(sizeof(*r));
	double gain[CANDIDATES] = { 0 }, open = 0, top = -1;
	int err = c && r ? 0 : -ENOMEM;

	if (err)
		goto out;
	draw(s, c, CANDIDATES, hash(seed + 2 * s->rows + 1));
	draw(s, r, REFERENCES, hash(seed + 2 * s->rows + 2));
	if (!c->n) {
		err = 1;
		goto out;
	}
	err = jetwatt_surface_reduce(s->m->time, c->x, c->n, r->x, r->n, 0.01, gain);
	if (!err)
		err = jetwatt_surface_reduce(s->m->power, c->x, c->n, r->x, r->n, 0.01, gain);
	if (err)
		goto out;
	for (size_t i = 0; i < c->n; i++)
		if (gain[i] > top) {
			top = gain[i];
			next->index = c->index[i];
		}
	next->why = "teaches most about the rest";
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_prediction *p = &s->p[r->index[i]];

		open += (p->time_sd * p->time_sd + p->power_sd * p->power_sd) / r->n;
	}
	err = open < ENOUGH;
out:
	free(c);
	free(r);
	return err;
}
