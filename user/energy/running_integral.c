// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running integrals of all rails, and the variance of what sampling misses.
 *
 * Between two readings power is taken to be a straight line. A step that stands
 * alone is anywhere between them: a variance of step^2 dt^2 / 12. Readings that
 * go up and down by turns are not steps but draws, of noise or of a load that is
 * faster than the sampling: a variance of one reading times dt^2. The product of
 * neighbouring steps tells which: it is 0 in the mean for lone steps and minus
 * one reading's variance for draws. So every step adds d^2 / 12, and TURN of what
 * the product is below 0: for draws the sum is 0.6 of a variance, for pauses
 * shorter than the sampling (two steps and a turn for each that is seen) 1.1 of
 * theirs. Draws alone are rare: where power is noisy, noise is small.
 */
#include "energy/energy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TURN		0.25
#define KEPT		64
#define GAP_TIMES	8	/* no reading for so many times the usual: a gap */
#define GAP_MIN_NS	20e6	/* ... but not below: the reader is late at times */

/* A reading and the integrals up to it. */
struct point {
	uint64_t time_ns, covered_ns, samples;
	double uw, uj, var, noise;
	int gap;		/* between it and the one before */
};

struct track {
	struct point point[KEPT];	/* the last ones, in a ring */
	uint64_t count;
	double step;			/* to the last from the one before */
	double usual_ns;		/* typical time between readings */
	int gap;			/* one since the last reading */
};

struct jetwatt_batch_sum {
	int nr;
	struct jetwatt_batch_sensor sensor[JETWATT_RAILS_MAX];
	struct track rail[JETWATT_RAILS_MAX];
};

struct jetwatt_batch_sum *jetwatt_batch_sum_new(const struct jetwatt_batch_sensor *s, int nr)
{
	struct jetwatt_batch_sum *sum;

	if (nr < 0 || nr > JETWATT_RAILS_MAX)
		return NULL;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	sum->nr = nr;
	for (int r = 0; r < nr; r++)
		sum->sensor[r] = s[r];
	return sum;
}

void jetwatt_batch_sum_free(struct jetwatt_batch_sum *sum)
{
	free(sum);
}

static void add(struct track *t, const struct jetwatt_batch_sensor *s, uint64_t time_ns, double uw,
		int gap)
{
	struct point *to = &t->point[t->count % KEPT], *from;
	double dt, step, turn, fresh_ns, again, spread;

	t->gap |= gap;
	if (!t->count) {
		*to = (struct point){ .time_ns = time_ns, .uw = uw, .samples = 1 };
		t->gap = 0;
		t->count++;
		return;
	}
	from = &t->point[(t->count - 1) % KEPT];
	if (time_ns <= from->time_ns)
		return;
	dt = (double)(time_ns - from->time_ns);
	fresh_ns = s->fresh_hz > 0 ? 1e9 / s->fresh_hz : 0;
	/* A value that is read twice is still one draw. */
	again = fmax(1, fresh_ns / dt);
	/* Averaging spreads a step over many, whose squares add up to less. */
	spread = 1 + 2 * s->lag_ns / fmax(fresh_ns, 1);
	step = uw - from->uw;
	turn = t->count > 1 ? fmax(0, -step * t->step) : 0;
	*to = (struct point){
		.time_ns = time_ns, .uw = uw, .samples = from->samples + 1,
		.uj = from->uj + 0.5e-9 * dt * (uw + from->uw),
		.var = from->var + 1e-18 * (step * step * (dt * dt + spread * fresh_ns * fresh_ns) / 12 +
					    TURN * turn * again * dt * dt),
		.noise = from->noise + turn,
		.gap = t->gap || (t->count > 2 && dt > fmax(GAP_TIMES * t->usual_ns, GAP_MIN_NS)),
	};
	to->covered_ns = from->covered_ns + (to->gap ? 0 : time_ns - from->time_ns);
	if (!to->gap)
		t->usual_ns += (dt - t->usual_ns) / (t->count < 16 ? (double)t->count : 16);
	t->step = step;
	t->gap = 0;
	t->count++;
}

void jetwatt_batch_sum_add(struct jetwatt_batch_sum *sum, const struct jetwatt_power *p)
{
	for (int r = 0; r < sum->nr; r++) {
		struct track *t = &sum->rail[r];

		if (p->valid & 1u << r)
			add(t, &sum->sensor[r], p->time_ns, (double)p->uw[r], p->gap);
		else
			t->gap |= p->gap;
	}
}

/* The integrals of one rail, @at: time at which what was drawn is read. */
static int rail_at(const struct track *t, double at, double lag_ns, struct jetwatt_batch_mark *m, int r)
{
	uint64_t oldest = t->count > KEPT ? t->count - KEPT : 0;
	const struct point *from, *to;
	double dt, part;

	if (!t->count || (double)t->point[(t->count - 1) % KEPT].time_ns < at)
		return -EAGAIN;
	if ((double)t->point[oldest % KEPT].time_ns > at || t->count == oldest + 1)
		return -ENODATA;
	for (uint64_t i = t->count - 1; ; i--) {
		to = &t->point[i % KEPT];
		from = &t->point[(i - 1) % KEPT];
		if ((double)from->time_ns <= at)
			break;
	}
	dt = (double)(to->time_ns - from->time_ns);
	part = (at - (double)from->time_ns) / dt;
	m->rail[r].uw = from->uw + part * (to->uw - from->uw);
	/* What an averaging filter holds back is its lag times its output, exactly. */
	m->rail[r].uj = from->uj + 0.5e-9 * part * dt * (from->uw + m->rail[r].uw) +
			1e-9 * lag_ns * m->rail[r].uw;
	m->rail[r].var = from->var + part * (to->var - from->var);
	m->rail[r].noise = from->noise + part * (to->noise - from->noise);
	m->rail[r].end = 1e-18 * lag_ns * lag_ns * (to->uw - from->uw) * (to->uw - from->uw) / 12;
	m->rail[r].samples = from->samples;
	m->rail[r].covered_ns = from->covered_ns + (to->gap ? 0 : (uint64_t)(part * dt));
	return 0;
}

int jetwatt_batch_sum_at(const struct jetwatt_batch_sum *sum, uint64_t time_ns,
			 struct jetwatt_batch_mark *mark)
{
	mark->time_ns = time_ns;
	mark->nr = (uint32_t)sum->nr;
	for (int r = 0; r < sum->nr; r++) {
		const struct jetwatt_batch_sensor *s = &sum->sensor[r];
		int err = rail_at(&sum->rail[r], (double)time_ns + s->age_ns, s->lag_ns, mark, r);

		if (err)
			return err;
	}
	return 0;
}
