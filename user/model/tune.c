// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hyper-parameters of a surface, its heavy tails and its honesty.
 */
#include "model/surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "model/linalg.h"
#include "model/order.h"

/* Where the hyper-parameters are expected, and begin. */
#define AMP	0.03
#define NOISE	0.01

/* Student's t with 8 degrees of freedom in the logarithm: few points do not move a
 * hyper-parameter far from where it is expected; many that agree do, as a normal
 * distribution would not let them. */
static double log_t(double v, double mid, double sd)
{
	double z = (log(v) - log(mid)) / sd;

	return 9 * log1p(z * z / 8);
}

/* Twice the negative log evidence (Laplace) of gp, form refitted from theta; something
 * above @best if it can't come below that. */
static int evidence(struct jetwatt_surface *s, int steps, double best, double *e)
{
	int err = jetwatt_surface_factor(s);
	double gp;

	if (err)
		return err;
	gp = jetwatt_linalg_logdet(s->l, s->n) + log_t(s->gp.amp, AMP, 0.5) +
	     log_t(s->gp.noise, NOISE, 0.25) + log_t(s->gp.rough, s->form->unease, 1);
	for (int d = 0; d < JETWATT_FEATURES; d++)
		gp += log_t(s->gp.len[d], JETWATT_GP_LEN, 0.7);
	err = jetwatt_surface_climb(s, steps, best - gp, e);
	if (!err)
		*e += gp + jetwatt_linalg_logdet(s->hess, s->form->np);
	return err;
}

/* Do points differ in a feature that most workloads do not have: batch size, optional knob? */
static int differ(const struct jetwatt_surface *s, int d)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->x[i].lg[d] != s->x[0].lg[d])
			return 1;
	return 0;
}

/* The same mean spread over the points as with @was: how it is shared out is one
 * question, how much there is another. */
static void level(struct jetwatt_surface *s, const struct jetwatt_gp *was)
{
	double by = 0;

	for (size_t i = 0; i < s->n; i++)
		by += log(jetwatt_gp_scale(was, &s->x[i]) / jetwatt_gp_scale(&s->gp, &s->x[i]));
	by = exp(by / s->n);
	s->gp.amp *= by;
	s->gp.noise *= by;
}

/* Coordinate search over the logarithms of the hyper-parameters. */
static int search(struct jetwatt_surface *s)
{
	double *h[3 + JETWATT_FEATURES] = { &s->gp.amp, &s->gp.noise, &s->gp.rough };
	double best, e, keep[JETWATT_PARAMS_MAX];
	int err = evidence(s, 60, INFINITY, &best);
	size_t nr = 3;

	for (int d = 0; d < JETWATT_FEATURES; d++)
		if (d < JETWATT_DIMS || differ(s, d))
			h[nr++] = &s->gp.len[d];
	if (!err && s->form->rough) {
		for (size_t i = 0; i < s->n; i++)
			s->x[i].rough = jetwatt_surface_rough(s, &s->x[i]);
		err = evidence(s, 30, INFINITY, &best);
	}
	for (int round = 0; round < 2 && !err; round++) {
		int moved = 0;

		for (size_t k = 0; k < nr && !err; k++)
			for (int dir = 0; dir < 2; dir++) {
				double by = dir ? 1 / 1.7 : 1.7;
				int tries = 0;

				for (; tries < 3; tries++) {
					struct jetwatt_gp was = s->gp;

					memcpy(keep, s->theta, sizeof(keep));
					*h[k] *= by;
					if (h[k] == &s->gp.rough)
						level(s, &was);
					err = evidence(s, 4, best, &e);
					if (err || e >= best - 1e-3) {
						s->gp = was;
						memcpy(s->theta, keep, sizeof(keep));
						err = 0;
						break;
					}
					best = e;
					moved = 1;
				}
				if (tries)
					break;
			}
		if (!moved)
			break;
	}
	if (!err)
		err = evidence(s, 30, INFINITY, &best);
	/* Constants that all beliefs of a form share are left out. */
	s->evidence = -best / 2;
	for (int k = 0; k < s->form->np; k++)
		s->evidence -= log(s->belief.sd[k]);
	return err;
}

/*
 * Each point foretold by the others (Rasmussen and Williams 5.4.2, the form's
 * parameters linearised and integrated out). @e2: n entries, squared error; @var:
 * what it was expected to be.
 */
static int loo(struct jetwatt_surface *s, double *e2, double *var)
{
	size_t n = s->n;
	int np = s->form->np;
	double *a = calloc(np * n, sizeof(*a)), *inv = calloc(n * n, sizeof(*inv));
	double *al = calloc(n, sizeof(*al));
	int err = -ENOMEM;

	if (!a || !inv || !al)
		goto out;
	/* A^-1 = l^-T (1 - jac hess^-1 jac') l^-1, with l^-1 = inv */
	for (size_t i = 0; i < n; i++)
		inv[i * n + i] = 1;
	jetwatt_linalg_lower(s->l, n, inv, n);
	{
		double *w = calloc(n * np, sizeof(*w));

		if (!w)
			goto out;
		/* w = hess^-1 (chol) jac' : np x n */
		for (size_t i = 0; i < n; i++)
			for (int k = 0; k < np; k++)
				w[k * n + i] = s->jac[i * np + k];
		jetwatt_linalg_lower(s->hess, np, w, n);
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, np, n, n, 1.0, w, n, inv, n,
			    0.0, a, n);
		/* diag(A^-1) = colsum(inv^2) - colsum((w inv)^2) */
		for (size_t j = 0; j < n; j++) {
			double d = 0;

			for (size_t i = 0; i < n; i++)
				d += inv[i * n + j] * inv[i * n + j];
			for (int k = 0; k < np; k++)
				d -= a[k * n + j] * a[k * n + j];
			var[j] = 1 / fmax(d, 1e-12);
		}
		free(w);
	}
	memcpy(al, s->res, n * sizeof(*al));
	/* At the optimum alpha = C^-1 (y - form) is A^-1 z as well. */
	jetwatt_linalg_upper(s->l, n, al, 1);
	for (size_t j = 0; j < n; j++)
		e2[j] = al[j] * al[j] * var[j] * var[j];
	err = 0;
out:
	free(a);
	free(inv);
	free(al);
	return err;
}

/* A point that the others contradict gets a heavier tail, as under a Student-t with
 * 4 degrees of freedom. Return: did one? */
static int doubt(struct jetwatt_surface *s, const double *e2, const double *var)
{
	int any = 0;

	for (size_t i = 0; i < s->n; i++) {
		double z2 = e2[i] / var[i], h = s->heavy[i];

		if (z2 > 4)
			h *= (4 + z2) / 5;
		any |= h > 1.2 * s->heavy[i];
		s->heavy[i] = fmin(h, 400);
	}
	return any;
}

/*
 * How much wider predictions have to be than they think, as conformal prediction
 * has it (Vovk et al., Algorithmic Learning in a Random World, 2005): the error that
 * 95 of 100 points left out stay within, of n known points the 0.95 (n + 1)-th one;
 * against that, BELIEF points' worth of belief that 95 of 100 are within 1.96. A
 * doubted point counts as what it is: the next one measured may be as bad. That all
 * points have shaped the hyper-parameters makes them look better foretold than they
 * are, by some parameters in n.
 */
#define BELIEF	100
#define SHAPED	1.5
#define Z2_95	3.841

static double calibrate(const struct jetwatt_surface *s, double *e2, const double *var)
{
	size_t n = s->n, at = ceil(0.95 * (n + 1)) - 1;

	for (size_t i = 0; i < n; i++) {
		double own = s->gp.noise * jetwatt_gp_scale(&s->gp, &s->x[i]);
		double doubted = (own * own + s->sd[i] * s->sd[i]) * (s->heavy[i] - 1);

		e2[i] /= fmax(var[i] - doubted, 1e-9);
	}
	qsort(e2, n, sizeof(*e2), jetwatt_order_doubles);
	return (BELIEF + n * fmin(e2[at < n ? at : n - 1] / Z2_95, 6)) / (BELIEF + n) *
	       pow(1 + SHAPED / n, 2);
}

static double untold(const struct jetwatt_surface *s, const double *e2)
{
	double mean = 0, var = 0, left = 0;

	for (size_t i = 0; i < s->n; i++)
		mean += s->y[i] / s->n;
	for (size_t i = 0; i < s->n; i++) {
		var += pow(s->y[i] - mean, 2);
		left += e2[i];
	}
	return var > 0 ? left / var : 1;
}

int jetwatt_surface_tune(struct jetwatt_surface *s)
{
	double *e2 = calloc(2 * s->n, sizeof(*e2)), *var = e2 + s->n, first = 0;
	int err = e2 ? 0 : -ENOMEM;

	if (err)
		return err;
	s->gp = (struct jetwatt_gp){ .amp = AMP, .noise = NOISE, .rough = s->form->unease };
	for (int d = 0; d < JETWATT_FEATURES; d++)
		s->gp.len[d] = JETWATT_GP_LEN;
	for (int it = 0; it < 4 && !err; it++) {
		err = search(s);
		/* A belief must not look better by doubting more points. */
		first = it ? first : s->evidence;
		if (!err)
			err = loo(s, e2, var);
		if (err || it == 3 || !doubt(s, e2, var))
			break;
	}
	s->evidence = first;
	if (!err)
		s->untold = untold(s, e2);
	if (!err)
		s->scale = calibrate(s, e2, var);
	free(e2);
	return err;
}
