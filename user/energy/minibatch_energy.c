// SPDX-License-Identifier: GPL-2.0-only
/* What a minibatch has drawn, how well that is known, and how good that is. */
#include "energy/energy.h"
#include "minibatch/minibatch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define TURNS	1.2	/* see struct jetwatt_batch_mark */

/* At least so good for a grade: relative error, fresh samples, share covered. */
static const struct {
	char grade;
	double error, samples, covered;
} grades[] = {
	{ 'A', 0.01, 50, 0.999 },
	{ 'B', 0.03, 10, 0.99 },
	{ 'C', 0.10, 3, 0.90 },
};

static char grade(const struct jetwatt_batch_cost *c, const struct jetwatt_batch_bound *b)
{
	if (b && b->flags & JETWATT_BATCH_INFERRED)
		return 'D';
	for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++)
		if (c->total_sd_uj <= grades[i].error * fabs(c->total_uj) &&
		    c->samples >= grades[i].samples && c->covered >= grades[i].covered)
			return grades[i].grade;
	return 'D';
}

/*
 * Variance of quantisation. Readings that stand still are all off by the same,
 * up to half a step; noise of the size of a step spreads them, and what is left
 * of the common error falls as the characteristic function of the noise at one
 * cycle per step. The rest is in the jumps of the readings already.
 */
static double quantum(double step_uw, double noise_uw2, double s)
{
	double square = step_uw * step_uw, left;

	if (step_uw <= 0)
		return 0;
	/* A good third of what is seen is rounding, which does not spread. */
	left = exp(-4 * M_PI * M_PI * 0.6 * noise_uw2 / TURNS / square);
	return square / 12 * left * s * s;
}

void jetwatt_batch_cost_between(const struct jetwatt_batch_mark *from,
				const struct jetwatt_batch_mark *to,
				const struct jetwatt_batch_sensor *s,
				const struct jetwatt_batch_bound *b, struct jetwatt_batch_cost *c)
{
	double ns = (double)(to->time_ns - from->time_ns), skew = JETWATT_BATCH_SKEW_NS * 1e-9;
	double var = 0, idle = 0, w0 = 0, w1 = 0;
	int known = 1;

	memset(c, 0, sizeof(*c));
	c->covered = 1;
	c->samples = INFINITY;
	for (uint32_t r = 0; r < from->nr; r++) {
		double samples = (double)(to->rail[r].samples - from->rail[r].samples), fresh, own;
		double covered = (double)(to->rail[r].covered_ns - from->rail[r].covered_ns);

		c->uj[r] = to->rail[r].uj - from->rail[r].uj;
		own = to->rail[r].var - from->rail[r].var + from->rail[r].end + to->rail[r].end +
		      quantum(s[r].quantum_uw, samples > 0 ? (to->rail[r].noise - from->rail[r].noise) /
			      samples : 0, ns * 1e-9);
		c->sd_uj[r] = sqrt(own + skew * skew * (from->rail[r].uw * from->rail[r].uw +
							to->rail[r].uw * to->rail[r].uw));
		if (!s[r].counts)
			continue;
		c->total_uj += c->uj[r];
		var += own;
		w0 += from->rail[r].uw;
		w1 += to->rail[r].uw;
		fresh = s[r].fresh_hz > 0 ? fmin(samples, s[r].fresh_hz * ns * 1e-9) : samples;
		c->samples = fmin(c->samples, fresh);
		c->covered = fmin(c->covered, ns > 0 ? covered / ns : 0);
		known &= s[r].idle_uw >= 0;
		idle += s[r].idle_uw * ns * 1e-9;
	}
	if (!isfinite(c->samples))
		c->samples = c->covered = 0;
	/* A bound is late by the same for all rails. */
	c->total_sd_uj = sqrt(var + skew * skew * (w0 * w0 + w1 * w1));
	c->idle_uj = known ? idle : -1;
	c->dynamic_uj = known ? c->total_uj - idle : -1;
	c->grade = grade(c, b);
}

int jetwatt_batch_cost(const struct jetwatt_power *p, size_t n,
		       const struct jetwatt_batch_sensor *s, int nr,
		       const struct jetwatt_batch_bound *b, struct jetwatt_batch_cost *c)
{
	/* Rails are read by turns: some before it must be there as well. */
	enum { BEFORE = 16 };
	struct jetwatt_batch_sum *sum = jetwatt_batch_sum_new(s, nr);
	struct jetwatt_batch_mark from, to;
	size_t i = jetwatt_batch_sample_at(p, n, b->start_ns);
	int a = -EAGAIN, z = -EAGAIN;

	if (!sum)
		return -ENOMEM;
	for (i = i > BEFORE ? i - BEFORE : 0; i < n && z == -EAGAIN; i++) {
		jetwatt_batch_sum_add(sum, &p[i]);
		if (a == -EAGAIN)
			a = jetwatt_batch_sum_at(sum, b->start_ns, &from);
		if (a != -EAGAIN)
			z = a ? a : jetwatt_batch_sum_at(sum, b->end_ns, &to);
	}
	jetwatt_batch_sum_free(sum);
	if (a || z)
		return -ENODATA;
	jetwatt_batch_cost_between(&from, &to, s, b, c);
	return 0;
}
