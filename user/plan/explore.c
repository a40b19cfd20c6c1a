// SPDX-License-Identifier: GPL-2.0-only
/*
 * No budget given: the mode that teaches most about all the others, by the fall
 * of the variance over a sample of them. (The mode of the greatest variance
 * sits in a corner and teaches about corners.)
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/fit.h"

#define CANDIDATES	96
#define REFERENCES	192

static uint64_t hash(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A fit goes through its readings of power, but for those that the others
 * contradict; one so far off was likely disturbed (corpora have some 5 to 60 % too
 * low), if the others know better: it is outside of their 95 %. Times may bend so:
 * whole minibatches were counted. */
#define DIRTY		0.05
#define Z_95		1.96

/* Of modes that teach as much, up to this share, the one that is soonest reached. */
#define AS_GOOD		0.9

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
		jetwatt_model_point(s->m, k->x[i].rate, &k->x[i]);
}

/* What a switch takes, in ms: clocks of CPU, GPU and memory 1, 5 and 8 (arXiv
 * 2606.16106), each core some 30 to be plugged. */
static double switching(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return (a->cpu_khz != b->cpu_khz) + 5.0 * (a->gpu_hz != b->gpu_hz) +
	       8.0 * (a->emc_hz != b->emc_hz) + 30 * fabs((double)a->cores - b->cores);
}

int jetwatt_explore_again(const struct jetwatt_search *s, struct jetwatt_plan_next *next)
{
	double far = DIRTY;

	for (size_t i = 0; i < s->n; i++) {
		struct jetwatt_row mean;
		double d;

		if (s->seen[i] != JETWATT_SEEN ||
		    jetwatt_plan_reading(&s->mode[i], s->row, s->rows, &mean) > 1)
			continue;
		d = fabs(log(mean.power_w / s->p[i].power_w));
		if (d > far && d > Z_95 * s->p[i].power_sd) {
			far = d;
			next->index = i;
		}
	}
	next->why = "again: looks odd";
	return far > DIRTY ? 0 : 1;
}

int jetwatt_explore_next(const struct jetwatt_search *s, uint64_t seed,
			 struct jetwatt_plan_next *next)
{
	struct sample *c = malloc(sizeof(*c)), *r = malloc(sizeof(*r));
	double gain[CANDIDATES] = { 0 }, open = 0, top = 0, least = INFINITY;
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
		top = fmax(top, gain[i]);
	for (size_t i = 0; i < c->n; i++) {
		double ms = switching(&s->row[s->rows - 1].mode, &s->mode[c->index[i]]);

		if (gain[i] >= AS_GOOD * top && ms < least) {
			least = ms;
			next->index = c->index[i];
		}
	}
	next->why = "teaches most";
	for (size_t i = 0; i < r->n; i++) {
		const struct jetwatt_prediction *p = &s->p[r->index[i]];

		open += (p->time_sd * p->time_sd + p->power_sd * p->power_sd) / r->n;
	}
	err = open < JETWATT_PLAN_ENOUGH * JETWATT_PLAN_ENOUGH;
out:
	free(c);
	free(r);
	return err;
}
