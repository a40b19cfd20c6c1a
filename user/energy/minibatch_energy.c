// SPDX-License-Identifier: GPL-2.0-only
/* Energy of a minibatch, its standard error, and its grade. */
#include "energy/energy.h"
#include "minibatch/minibatch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* member "noise" of struct jetwatt_energy_mark, per reading, relative to a reading's variance */
#define NOISE_FACTOR	1.2

/* Limits of the grades: maximum relative error, minimum number of new sensor values, minimum
 * fraction of time in no gap. */
static const struct {
	char grade;
	double error, samples, covered;
} grades[] = {
	{ 'A', 0.01, 50, 0.999 },
	{ 'B', 0.03, 10, 0.99 },
	{ 'C', 0.10, 3, 0.90 },
};

static char grade_of(const struct jetwatt_batch_energy_result *c, const struct jetwatt_batch_bound *b)
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
 * Variance of quantisation, in uJ^2. If the readings of a rail do not change, all readings have the
 * same rounding error, at most half an LSB. Noise of the size of an LSB spreads the readings over
 * several values: the rounding error that they have in common decreases as the characteristic
 * function of the noise at one cycle per LSB. The part of the rounding error that differs between
 * readings is included in the variance of sampling.
 */
static double quantisation_var(double step_uw, double noise_uw2, double s)
{
	double square = step_uw * step_uw, left;

	if (step_uw <= 0)
		return 0;
	/* 40 % of the noise observed in the readings is rounding, which does not spread the
	 * readings. */
	left = exp(-4 * M_PI * M_PI * 0.6 * noise_uw2 / NOISE_FACTOR / square);
	return square / 12 * left * s * s;
}

void jetwatt_batch_cost_between(const struct jetwatt_energy_mark *from,
				const struct jetwatt_energy_mark *to,
				const struct jetwatt_batch_sensor *s,
				const struct jetwatt_batch_bound *b, struct jetwatt_batch_energy_result *c)
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
		      quantisation_var(
			      s[r].quantum_uw,
			      samples > 0 ? (to->rail[r].noise - from->rail[r].noise) / samples : 0,
			      ns * 1e-9);
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
	/* An error in the time of a minibatch's start or end affects the energy of all rails
	 * alike. */
	c->total_sd_uj = sqrt(var + skew * skew * (w0 * w0 + w1 * w1));
	c->idle_uj = known ? idle : -1;
	c->dynamic_uj = known ? c->total_uj - idle : -1;
	c->grade = grade_of(c, b);
}

int jetwatt_batch_energy_result(const struct jetwatt_power *p, size_t n,
		       const struct jetwatt_batch_sensor *s, int nr,
		       const struct jetwatt_batch_bound *b, struct jetwatt_batch_energy_result *c)
{
	/* At high rates, rails are read in rotation, so add samples from before the minibatch too. */
	enum { BEFORE = 16 };
	struct jetwatt_batch_sum *sum = jetwatt_batch_sum_new(s, nr);
	struct jetwatt_energy_mark from, to;
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
