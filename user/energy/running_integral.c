// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running energy of all rails, and its variance caused by sampling.
 *
 * Power is interpolated linearly between two readings. If power makes a single step, the step lies
 * anywhere between the two readings, which gives a variance of step^2 dt^2 / 12. Readings that
 * alternate are not steps but random values, caused by noise or by a load that changes faster than
 * the sampling; each adds the variance of one reading times dt^2. The product of two successive
 * differences between readings distinguishes single steps from alternating readings: its mean is 0
 * for single steps and minus one reading's variance for alternating readings. Therefore every
 * difference d between readings adds d^2 (dt^2 + T^2) / 12 to the variance, where T is the interval
 * between two new values (longer if the chip has an averaging filter), and a negative product of
 * successive differences adds ALTERNATION times its absolute value times dt^2. With T = dt, the
 * variance computed so is 0.6 times the true variance for alternating readings, which does not
 * matter, because such noise is small. For
 * pauses shorter than dt (two steps and a negative product for each observed pause), it is 1.1 times
 * the true variance.
 */
#include "energy/energy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALTERNATION	0.25
#define READINGS	64	/* number of readings stored per rail */
/* an interval between readings is a gap if it is longer than this many mean intervals and longer than
 * GAP_MIN_NS, or if a sample in it is marked (jetwatt_power::gap) */
#define GAP_TIMES	8
/* minimum length of a gap without a mark, ns, because the reader is sometimes late */
#define GAP_MIN_NS	20e6

/* A reading of a rail, and the rail's integrals up to the time of the reading. */
struct point {
	uint64_t time_ns, covered_ns, samples;
	double uw, uj, var, noise;
	int gap;		/* 1: there is a gap before this reading */
};

struct rail_sum {
	struct point point[READINGS];	/* ring buffer of the rail's last readings */
	uint64_t count;
	double step;			/* difference between the last two readings, uW */
	double usual_ns;		/* mean interval between readings, ns */
	int gap;			/* 1: samples were missing since the last reading */
};

struct jetwatt_batch_sum {
	int nr;
	struct jetwatt_batch_sensor sensor[JETWATT_RAILS_MAX];
	struct rail_sum rail[JETWATT_RAILS_MAX];
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

static void add_reading(struct rail_sum *t, const struct jetwatt_batch_sensor *s, uint64_t time_ns,
			double uw, int gap)
{
	struct point *to = &t->point[t->count % READINGS], *from;
	double dt, step, turn, fresh_ns, again, spread, longest_ns;

	t->gap |= gap;
	if (!t->count) {
		*to = (struct point){ .time_ns = time_ns, .uw = uw, .samples = 1 };
		t->gap = 0;
		t->count++;
		return;
	}
	from = &t->point[(t->count - 1) % READINGS];
	if (time_ns <= from->time_ns)
		return;
	dt = (double)(time_ns - from->time_ns);
	fresh_ns = s->fresh_hz > 0 ? fmax(1e9 / s->fresh_hz, t->usual_ns) : 0;
	/* Readings that return the same sensor value again count as one random value. */
	again = fmax(1, fresh_ns / dt);
	/* An averaging filter spreads a step over readings, which reduces the sum of the squared
	 * differences. */
	spread = 1 + 2 * s->lag_ns / fmax(fresh_ns, 1);
	step = uw - from->uw;
	turn = t->count > 1 ? fmax(0, -step * t->step) : 0;
	longest_ns = t->count > 2 ? fmax(GAP_TIMES * t->usual_ns, GAP_MIN_NS) : INFINITY;
	*to = (struct point){
		.time_ns = time_ns, .uw = uw, .samples = from->samples + 1,
		.uj = from->uj + 0.5e-9 * dt * (uw + from->uw),
		.var = from->var + 1e-18 * (step * step * (dt * dt + spread * fresh_ns * fresh_ns) / 12 +
					    ALTERNATION * turn * again * dt * dt),
		.noise = from->noise + turn,
		.gap = t->gap || dt > longest_ns,
	};
	to->covered_ns = from->covered_ns + (to->gap ? 0 : time_ns - from->time_ns);
	/* A long interval counts only in part, so that one late reading does not hide a gap; but it counts,
	 * because after a lower sampling rate was set all intervals are long. */
	if (!t->gap)
		t->usual_ns += (fmin(dt, longest_ns) - t->usual_ns) / (t->count < 16 ? (double)t->count : 16);
	t->step = step;
	t->gap = 0;
	t->count++;
}

void jetwatt_batch_sum_add(struct jetwatt_batch_sum *sum, const struct jetwatt_power *p)
{
	for (int r = 0; r < sum->nr; r++) {
		struct rail_sum *t = &sum->rail[r];

		if (p->valid & 1u << r)
			add_reading(t, &sum->sensor[r], p->time_ns, (double)p->uw[r], p->gap);
		else
			t->gap |= p->gap;
	}
}

/* Compute the integrals of one rail up to a time, as element @r of @m. @at: that time plus the mean
 * age of the chip's values, ns. */
static int rail_sum_at(const struct rail_sum *t, double at, double lag_ns,
		       struct jetwatt_energy_mark *m, int r)
{
	uint64_t oldest = t->count > READINGS ? t->count - READINGS : 0;
	const struct point *from, *to;
	double dt, part;

	if (!t->count || (double)t->point[(t->count - 1) % READINGS].time_ns < at)
		return -EAGAIN;
	if ((double)t->point[oldest % READINGS].time_ns > at || t->count == oldest + 1)
		return -ENODATA;
	for (uint64_t i = t->count - 1; ; i--) {
		to = &t->point[i % READINGS];
		from = &t->point[(i - 1) % READINGS];
		if ((double)from->time_ns <= at)
			break;
	}
	dt = (double)(to->time_ns - from->time_ns);
	part = (at - (double)from->time_ns) / dt;
	m->rail[r].uw = from->uw + part * (to->uw - from->uw);
	/* The energy that an averaging filter holds back is exactly its time constant times its
	 * output. */
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
			 struct jetwatt_energy_mark *mark)
{
	mark->time_ns = time_ns;
	mark->nr = (uint32_t)sum->nr;
	for (int r = 0; r < sum->nr; r++) {
		const struct jetwatt_batch_sensor *s = &sum->sensor[r];
		int err;

		if (s->silent) {
			memset(&mark->rail[r], 0, sizeof(mark->rail[r]));
			continue;
		}
		err = rail_sum_at(&sum->rail[r], (double)time_ns + s->age_ns, s->lag_ns, mark, r);
		if (err)
			return err;
	}
	return 0;
}
