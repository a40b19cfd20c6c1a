// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hyper-parameters of a surface, its heavy tails and its honesty.
 */
#include "surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "linalg.h"

/* Where the hyper-parameters are expected, and begin. */
#define AMP	0.03
#define NOISE	0.01
#define LEN	1.2

static double log_normal(double v, double mid, double sd)
{
	double z = (log(v) - log(mid)) / sd;

	return z * z;
}

/* Twice the negative log evidence (Laplace) of gp, form refitted from theta. */
static int evidence(struct jetwatt_surface *s, int steps, double *e)
{
	int np = s->form->np, err;

	err = jetwatt_surface_factor(s);
	if (!err)
		err = jetwatt_surface_climb(s, steps, e);
	if (err)
		return err;
	*e += jetwatt_linalg_logdet(s->l, s->n) + jetwatt_linalg_logdet(s->hess, np);
	*e += log_normal(s->gp.amp, AMP, 0.7) + log_normal(s->gp.noise, NOISE, 0.5) +
	      log_normal(s->gp.rough, s->form->unease, 1);
	for (int d = 0; d < JETWATT_FEATURES; d++)
		*e += log_normal(s->gp.len[d], LEN, 0.7);
	return 0;
}

/* Are there several batch sizes? */
static int batches(const struct jetwatt_surface *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->x[i].lg[JETWATT_BATCH] != s->x[0].lg[JETWATT_BATCH])
			return 1;
	return 0;
}

/* Coordinate search over the logarithms of the hyper-parameters. */
static int search(struct jetwatt_surface *s)
{
	double *h[] = { &s->gp.amp, &s->gp.noise, &s->gp.rough, &s->gp.len[0], &s->gp.len[1],
			&s->gp.len[2], &s->gp.len[3], &s->gp.len[4] };
	size_t nr = sizeof(h) / sizeof(*h) - !batches(s);
	double best, e, keep[JETWATT_PARAMS_MAX];
	int err = evidence(s, 60, &best);

	if (!err && s->form->rough) {
		for (size_t i = 0; i < s->n; i++)
			s->x[i].rough = jetwatt_surface_rough(s, &s->x[i]);
		err = evidence(s, 30, &best);
	}
	for (int round = 0; round < 2 && !err; round++) {
		int moved = 0;

		for (size_t k = 0; k < nr && !err; k++)
			for (int dir = 0; dir < 2; dir++) {
				double was = *h[k], by = dir ? 1 / 1.7 : 1.7;
				int tries = 0;

				for (; tries < 3; tries++) {
					memcpy(keep, s->theta, sizeof(keep));
					was = *h[k];
					*h[k] *= by;
					err = evidence(s, 4, &e);
					if (err || e >= best - 1e-3) {
						*h[k] = was;
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
		err = evidence(s, 30, &best);
	/* Constants that all beliefs of a form share are left out. */
	s->evidence = -best / 2;
	for (int k = 0; k < s->form->np; k++)
		s->evidence -= log(s->belief.sd[k]);
	return err;
}

/*
 * Leave-one-out z of each point (Rasmussen and Williams 5.4.2, the form's
 * parameters linearised and integrated out): a point that the others contradict
 * gets a heavier tail, as under a Student-t with 4 degrees of freedom.
 */
static int loo(struct jetwatt_surface *s, double *z2)
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
			z2[j] = 0;
			for (size_t i = 0; i < n; i++)
				z2[j] += inv[i * n + j] * inv[i * n + j];
			for (int k = 0; k < np; k++)
				z2[j] -= a[k * n + j] * a[k * n + j];
		}
		free(w);
	}
	memcpy(al, s->res, n * sizeof(*al));
	/* At the optimum alpha = C^-1 (y - form) is A^-1 z as well. */
	jetwatt_linalg_upper(s->l, n, al, 1);
	for (size_t j = 0; j < n; j++)
		z2[j] = z2[j] > 1e-12 ? al[j] * al[j] / z2[j] : 0;
	err = 0;
out:
	free(a);
	free(inv);
	free(al);
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int jetwatt_surface_tune(struct jetwatt_surface *s)
{
	double *z2 = calloc(s->n, sizeof(*z2)), e;
	int err = -ENOMEM;

	if (!z2)
		return err;
	s->gp = (struct jetwatt_gp){ .amp = AMP, .noise = NOISE, .rough = s->form->unease,
				     .len = { LEN, LEN, LEN, LEN, LEN } };
	err = search(s);
	for (int it = 0; it < 3 && !err; it++) {
		int heavy = 0;

		err = loo(s, z2);
		if (err)
			break;
		for (size_t i = 0; i < s->n; i++) {
			double h = (4 + z2[i]) / 5;

			h = z2[i] > 6 ? h * s->heavy[i] : s->heavy[i];
			heavy |= h > 1.2 * s->heavy[i];
			s->heavy[i] = h > 400 ? 400 : h;
		}
		if (!heavy)
			break;
		err = evidence(s, 30, &e);
	}
	if (!err)
		err = loo(s, z2);
	/* Nine of ten points within what a normal of this spread would say, with
	 * twenty points' worth of belief that they are; and known from n points
	 * only: as a Student-t with half as many degrees of freedom. */
	qsort(z2, s->n, sizeof(*z2), by_value);
	s->scale = (20 + s->n * fmin(z2[s->n * 9 / 10] / 2.706, 4)) / (20 + s->n) *
		   pow(1 + 2.5 / s->n, 2);
	free(z2);
	return err;
}
