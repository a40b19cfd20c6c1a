// SPDX-License-Identifier: GPL-2.0-only
/*
 * Energy roofline: least squares with non-negative coefficients in each mode, then averages over
 * modes that share a clock.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan/roofs.h"
#include "plan/roofs_energy.h"

/* Relative standard deviation of the energy of a byte around the value from all modes, and number
 * of iterations to find that value. */
#define BYTE_SD	0.05
#define BYTE_ITERATIONS	50

/* Indices of the terms of a kernel's energy: operations, bytes, constant power. */
enum { FLOP, BYTES, ALONG, TERMS };

/**
 * struct roof_sums - normal equations of the relative errors of a mode's energy
 * @a: matrix
 * @b: right-hand side
 * @n: number of kernels
 * @unit: scale of each term of the energy, so that all terms are of order 1
 * @x: coefficients of the terms of the energy, in units of @unit
 */
struct roof_sums {
	double a[TERMS][TERMS], b[TERMS], n, unit[TERMS], x[TERMS];
};

static void roof_normal_equations(const struct jetwatt_roofs_kernel *k, size_t n,
				  const struct jetwatt_roofs *r, struct roof_sums *s)
{
	*s = (struct roof_sums){ .n = (double)n, .unit = { 1 / r->flop_s, 1 / r->byte_s, 1 } };
	for (size_t i = 0; i < n; i++) {
		double t = k[i].time_ms * 1e-3, e = k[i].power_w * t;
		double v[TERMS] = { k[i].flop * s->unit[FLOP] / e, k[i].bytes * s->unit[BYTES] / e,
				    t / e };

		for (int p = 0; p < TERMS; p++) {
			s->b[p] += v[p];
			for (int q = 0; q < TERMS; q++)
				s->a[p][q] += v[p] * v[q];
		}
	}
}

/* Solve for the coefficients of the terms in the bit mask @in; the other coefficients keep their
 * values in @x. Return: 1; 0 if the kernels do not determine the coefficients. */
static int roof_solve(const struct roof_sums *s, unsigned int in, double *x)
{
	double m[TERMS][TERMS + 1];
	int at[TERMS], n = 0;

	for (int i = 0; i < TERMS; i++)
		if (in >> i & 1)
			at[n++] = i;
	for (int i = 0; i < n; i++) {
		m[i][n] = s->b[at[i]];
		for (int k = 0; k < n; k++)
			m[i][k] = s->a[at[i]][at[k]];
		for (int k = 0; k < TERMS; k++)
			m[i][n] -= in >> k & 1 ? 0 : s->a[at[i]][k] * x[k];
	}
	for (int i = 0; i < n; i++) {
		/* The matrix is positive definite, so no pivoting is needed. */
		if (!(m[i][i] > 1e-9 * s->a[at[i]][at[i]]))
			return 0;
		for (int r = 0; r < n; r++) {
			double by = m[r][i] / m[i][i];

			for (int c = i; c <= n && r != i; c++)
				m[r][c] -= by * m[i][c];
		}
	}
	for (int i = 0; i < n; i++)
		x[at[i]] = m[i][n] / m[i][i];
	return 1;
}

/* Non-negative least squares by trying all subsets of the terms in @open: take the best fit of the
 * subsets without a negative coefficient. Return: 0; -ENODATA if no subset has such a fit. */
static int roof_fit_nonnegative(struct roof_sums *s, unsigned int open)
{
	double best = INFINITY, x[TERMS], found[TERMS];

	for (unsigned int in = 1; in < 1 << TERMS; in++) {
		double off = s->n;

		if (in & ~open)
			continue;
		for (int p = 0; p < TERMS; p++)
			x[p] = open >> p & 1 ? 0 : s->x[p];
		if (!roof_solve(s, in, x) || x[FLOP] < 0 || x[BYTES] < 0 || x[ALONG] < 0)
			continue;
		for (int p = 0; p < TERMS; p++) {
			off -= 2 * x[p] * s->b[p];
			for (int q = 0; q < TERMS; q++)
				off += x[p] * x[q] * s->a[p][q];
		}
		/* Of equal fits take the last one: each set comes after its subsets. */
		if (off > best + 1e-12 * s->n)
			continue;
		best = off;
		for (int p = 0; p < TERMS; p++)
			found[p] = x[p];
	}
	for (int p = 0; p < TERMS && isfinite(best); p++)
		s->x[p] = found[p];
	return isfinite(best) ? 0 : -ENODATA;
}

/* Return: information of a mode's kernels about term @p (its curvature), if the other terms in
 * @open are fitted too. */
static double roof_information(const struct roof_sums *s, unsigned int open, int p)
{
	struct roof_sums t = *s;
	double x[TERMS] = { 0 };

	double left = s->a[p][p];

	/* Take the part of the term that the other terms cannot reproduce. */
	for (int q = 0; q < TERMS; q++)
		t.b[q] = s->a[q][p];
	if (!roof_solve(&t, open & ~(1u << p), x))
		return 0;
	for (int q = 0; q < TERMS; q++)
		left -= x[q] * s->a[p][q];
	return fmax(left, 0);
}

/**
 * struct roof_term - one term in all modes
 * @own: coefficient of the term, estimated from the mode's own kernels
 * @w: weight of @own
 * @value: coefficient of the term, estimated from all modes with the same clocks
 * @weight: weight of @value
 * @gpu: for each mode, index of the first mode with the same GPU clock
 * @emc: for each mode, index of the first mode with the same EMC clock
 */
struct roof_term {
	double *own, *w, *value, *weight;
	size_t *gpu, *emc;
};

static int roof_term_new(struct roof_term *t, const struct jetwatt_mode *mode, size_t n)
{
	t->own = calloc(4 * n + 1, sizeof(*t->own));
	t->gpu = calloc(2 * n + 1, sizeof(*t->gpu));
	if (!t->own || !t->gpu)
		return -ENOMEM;
	t->w = t->own + n;
	t->value = t->w + n;
	t->weight = t->value + n;
	t->emc = t->gpu + n;
	/* A clock frequency is identified by the first mode that has this frequency. */
	for (size_t i = 0; i < n; i++) {
		while (mode[t->gpu[i]].gpu_hz != mode[i].gpu_hz)
			t->gpu[i]++;
		while (mode[t->emc[i]].emc_hz != mode[i].emc_hz)
			t->emc[i]++;
	}
	return 0;
}

/* Average a term over modes with the same GPU clock, weighted by information; for the term of bytes
 * the EMC clock must be the same too. */
static void roof_average_term(struct roof_term *t, const struct roof_sums *s, size_t n,
			      unsigned int open, int p)
{
	for (size_t i = 0; i < n; i++) {
		t->own[i] = s[i].x[p] * s[i].unit[p];
		t->w[i] = roof_information(&s[i], open, p) / (s[i].unit[p] * s[i].unit[p]);
	}
	for (size_t i = 0; i < n; i++) {
		double sum = 0, weight = 0;

		for (size_t k = 0; k < n; k++)
			if (t->gpu[k] == t->gpu[i] && (p == FLOP || t->emc[k] == t->emc[i])) {
				sum += t->w[k] * t->own[k];
				weight += t->w[k];
			}
		t->value[i] = weight > 0 ? sum / weight : t->own[i];
		t->weight[i] = weight;
	}
}

/* Return: variance of the relative errors of the fitted kernel energies, over all modes. */
static double roof_error_variance(const struct roof_sums *s, size_t n)
{
	double off = 0, free = 0;

	for (size_t i = 0; i < n; i++) {
		off += s[i].n;
		for (int p = 0; p < TERMS; p++) {
			off -= 2 * s[i].x[p] * s[i].b[p];
			for (int q = 0; q < TERMS; q++)
				off += s[i].x[p] * s[i].x[q] * s[i].a[p][q];
		}
		free += s[i].n - TERMS;
	}
	return fmax(free > 0 ? off / free : 0, 1e-12);
}

/* Shrink the energy of a byte towards a sum of two parts: joules that depend on the EMC clock, and
 * watts of waiting GPU units, which depend on the GPU clock, for the time of the transfer. The
 * shrinkage matters if a mode's own kernels say little about the energy of a byte, as at a low EMC
 * clock, where few bytes are moved.
 * Return: 0, -ENOMEM. */
static int roof_shrink_bytes(struct roof_term *t, const struct jetwatt_roofs *r, size_t n,
			     double noise)
{
	double *x = calloc(4 * n + 1, sizeof(*x)), *watt = x + n, *sum = watt + n, *weight = sum + n;

	if (!x)
		return -ENOMEM;
	for (int turn = 0; turn < 2 * BYTE_ITERATIONS; turn++) {
		/* Fit the watts of waiting GPU units in even iterations, the joules in odd
		 * iterations. */
		const size_t *at = turn & 1 ? t->emc : t->gpu;

		for (size_t i = 0; i < n; i++)
			sum[i] = weight[i] = 0;
		for (size_t i = 0; i < n; i++) {
			double per = turn & 1 ? 1 : 1 / r[i].byte_s;
			double rest = t->own[i] - (turn & 1 ? watt[t->gpu[i]] / r[i].byte_s : x[t->emc[i]]);

			sum[at[i]] += t->w[i] * per * rest;
			weight[at[i]] += t->w[i] * per * per;
		}
		for (size_t i = 0; i < n; i++)
			(turn & 1 ? x : watt)[i] = weight[i] > 0 ? fmax(sum[i] / weight[i], 0) : 0;
	}
	for (size_t i = 0; i < n; i++) {
		double all = x[t->emc[i]] + watt[t->gpu[i]] / r[i].byte_s;
		double ours = t->weight[i] / noise, theirs = 1 / (BYTE_SD * BYTE_SD * all * all);

		if (all > 0)
			t->value[i] = (ours * t->value[i] + theirs * all) / (ours + theirs);
	}
	free(x);
	return 0;
}

/* Replace term @p by its average over modes that share clocks, and fit the other terms in @open
 * again. Return: 0, -ENODATA, -ENOMEM. */
static int roof_pool_term(struct roof_sums *s, const struct jetwatt_mode *mode,
			  const struct jetwatt_roofs *r, size_t n, unsigned int open, int p)
{
	struct roof_term t = { NULL };
	int err = roof_term_new(&t, mode, n);

	if (!err)
		roof_average_term(&t, s, n, open, p);
	if (!err && p == BYTES)
		err = roof_shrink_bytes(&t, r, n, roof_error_variance(s, n));
	for (size_t i = 0; i < n && !err; i++) {
		s[i].x[p] = t.value[i] / s[i].unit[p];
		err = roof_fit_nonnegative(&s[i], open & ~(1u << p));
	}
	free(t.own);
	free(t.gpu);
	return err;
}

int jetwatt_roofs_energy(const struct jetwatt_mode *mode, size_t modes,
			 const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r)
{
	struct roof_sums *s = malloc((modes ? modes : 1) * sizeof(*s));
	unsigned int all = (1 << TERMS) - 1;
	int err = s ? 0 : -ENOMEM;

	for (size_t i = 0; i < modes && !err; i++) {
		roof_normal_equations(k + i * n, n, &r[i], &s[i]);
		err = roof_fit_nonnegative(&s[i], all);
	}
	if (!err)
		err = roof_pool_term(s, mode, r, modes, all, BYTES);
	if (!err)
		err = roof_pool_term(s, mode, r, modes, all & ~(1u << BYTES), FLOP);
	for (size_t i = 0; i < modes && !err; i++) {
		r[i].eps_flop = s[i].x[FLOP] * s[i].unit[FLOP];
		r[i].eps_mem = s[i].x[BYTES] * s[i].unit[BYTES];
		r[i].pi0 = s[i].x[ALONG];
	}
	free(s);
	return err;
}
