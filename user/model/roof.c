// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of a minibatch as a pipelined roof (Pagoda, arXiv 2509.20189, section 3,
 * with the loader of POMACS 2022, doi 10.1145/3570604, section 4 beside it):
 *
 *	gpu    = norm_p(g / f_gpu, m / f_emc) + l / f_cpu + k
 *	loader = d / (softmin(cores, w) f_cpu) + q / f_emc
 *	t      = s norm_r(gpu, loader)
 *
 * A norm with a finite power is a maximum with its corner rounded: kernels of
 * both kinds follow each other in a minibatch, and pipelines overlap in part.
 */
#include "form.h"

#include <math.h>
#include <string.h>

enum { S, G, M, L, K, D, Q, W, P, R, NP };

/* Shares of the time at 1 GHz GPU, 2 GHz CPU and EMC, 8 cores. */
static const double mu[NP] = {
	[S] = 5.0, [G] = -0.5, [M] = -1.2, [L] = -2.0, [K] = -3.0,
	[D] = -2.0, [Q] = -3.0, [W] = -0.7, [P] = 0.7, [R] = 1.0,
};
static const double spread[NP] = {
	[S] = 4.0, [G] = 1.0, [M] = 1.0, [L] = 1.0, [K] = 1.0,
	[D] = 1.5, [Q] = 1.0, [W] = 0.6, [P] = 0.4, [R] = 0.4,
};

/* log(exp(a) + exp(b)); @sa: share of a. */
static double plus(double a, double b, double *sa)
{
	double d = a - b, e = exp(d < 0 ? d : -d), small = e / (1 + e);

	*sa = d < 0 ? small : 1 - small;
	return (d < 0 ? b : a) + log(1 + e);
}

/* Logarithm of the p-norm of exp(a), exp(b); @dp: by log p. */
static double norm(double a, double b, double p, double *sa, double *dp)
{
	double v = plus(p * a, p * b, sa) / p;

	*dp = *sa * a + (1 - *sa) * b - v;
	return v;
}

static void prepare(const double *th, double *coef)
{
	memcpy(coef, th, NP * sizeof(*coef));
	coef[P] = exp(th[P]);
	coef[R] = exp(th[R]);
}

static double eval(const double *th, const struct jetwatt_point *x, double *g)
{
	double lc = x->lg[JETWATT_CPU], sg, dp, sw, dw, sr, dr, sl, sk, sd;
	double roof, chain, cores, loader, v;

	roof = norm(th[G] - x->lg[JETWATT_GPU], th[M] - x->lg[JETWATT_EMC], th[P], &sg, &dp);
	chain = plus(th[L] - lc, th[K], &sl);
	chain = plus(roof, chain, &sk);
	/* 4: as sharp as a pool of workers that share their cores fairly. */
	cores = -norm(-x->lg[JETWATT_CORES], -th[W], 4, &sw, &dw);
	loader = plus(th[D] - cores - lc, th[Q] - x->lg[JETWATT_EMC], &sd);
	v = norm(chain, loader, th[R], &sr, &dr) + th[S];
	if (g) {
		g[S] = 1;
		g[G] = sr * sk * sg;
		g[M] = sr * sk * (1 - sg);
		g[P] = sr * sk * dp;
		g[L] = sr * (1 - sk) * sl;
		g[K] = sr * (1 - sk) * (1 - sl);
		g[D] = (1 - sr) * sd;
		g[Q] = (1 - sr) * (1 - sd);
		g[W] = -g[D] * (1 - sw);
		g[R] = dr;
	}
	return v;
}

const struct jetwatt_form jetwatt_roof = {
	.np = NP, .mu = mu, .sd = spread, .prepare = prepare, .eval = eval,
};
