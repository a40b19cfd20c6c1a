// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of a minibatch as a pipelined roof (Pagoda, arXiv 2509.20189, section 3,
 * with the loader of POMACS 2022, doi 10.1145/3570604, section 4 beside it):
 *
 *	gpu    = norm_a(norm_p(g / f_gpu, m / f_emc), l / f_cpu + k)
 *	loader = d / (softmin(cores, w) f_cpu) c^2 + q / f_emc
 *	c      = 1 + o / cores + u / (cores f_cpu)
 *	t      = s norm_r(gpu, loader)
 *
 * c: the thread that launches and the system itself want cores and cycles too;
 * where these are short, the loader pays more than their share: it is squared.
 *
 * With the batch size g, m, l and d are so much for each minibatch and so much
 * for each item of it, q is for items alone.
 *
 * a: 1 in training, where each step waits for the one before; inference is
 * launched ahead, and the launches hide behind the kernels.
 *
 * A norm with a finite power is a maximum with its corner rounded: kernels of
 * both kinds follow each other in a minibatch, and pipelines overlap in part.
 */
#include "model/form.h"

#include <math.h>
#include <string.h>

enum { S, G, M, L, K, D, Q, W, O, U, P, A, R, FG, FM, FL, FD, NP };

/* Shares of the time at 1 GHz GPU, 2 GHz CPU and EMC, 8 cores. */
static const double mu[NP] = {
	[S] = 5.0, [G] = -0.5, [M] = -1.2, [L] = -2.0, [K] = -3.0,
	[D] = -2.0, [Q] = -3.0, [W] = -0.7, [O] = -4.7, [U] = -5.3, [P] = 0.7, [A] = 0.7, [R] = 1.0,
	[FG] = -2.0, [FM] = -1.0, [FL] = 0.0, [FD] = -1.0,
};
static const double spread[NP] = {
	[S] = 4.0, [G] = 1.0, [M] = 1.0, [L] = 1.0, [K] = 1.0,
	[D] = 1.5, [Q] = 1.0, [W] = 0.6, [O] = 1.5, [U] = 1.4, [P] = 0.4, [A] = 0.5, [R] = 0.4,
	[FG] = 1.0, [FM] = 1.0, [FL] = 1.5, [FD] = 2.0,
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
	for (int i = O; i < NP; i++)
		coef[i] = exp(th[i]);
}

static double eval(const double *th, const struct jetwatt_point *x, double *g)
{
	double lc = x->lg[JETWATT_CPU], sg, dp, sw, dw, sr, dr, sl, sk, sd;
	double busy = th[O] / x->v[JETWATT_CORES];
	double os = th[U] / (x->v[JETWATT_CORES] * x->v[JETWATT_CPU]);
	double roof, chain, cores, loader, v, bg, bm, bl, bd, bq, sbg, sbm, sbl, sbd, da;

	bg = th[G] + jetwatt_form_work(th[FG], x, &sbg);
	bm = th[M] + jetwatt_form_work(th[FM], x, &sbm);
	bl = th[L] + jetwatt_form_work(th[FL], x, &sbl);
	bd = th[D] + jetwatt_form_work(th[FD], x, &sbd);
	bq = th[Q] + x->lg[JETWATT_BATCH];
	roof = norm(bg - x->lg[JETWATT_GPU], bm - x->lg[JETWATT_EMC], th[P], &sg, &dp);
	chain = plus(bl - lc, th[K], &sl);
	chain = norm(roof, chain, x->serves ? th[A] : 1, &sk, &da);
	/* 4: as sharp as a pool of workers that share their cores fairly. */
	cores = -norm(-x->lg[JETWATT_CORES], -th[W], 4, &sw, &dw);
	loader = plus(bd - cores - lc + 2 * log1p(busy + os), bq - x->lg[JETWATT_EMC], &sd);
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
		g[O] = 2 * g[D] * busy / (1 + busy + os);
		g[U] = 2 * g[D] * os / (1 + busy + os);
		g[A] = x->serves ? sr * da : 0;
		g[R] = dr;
		g[FG] = g[G] * sbg;
		g[FM] = g[M] * sbm;
		g[FL] = g[L] * sbl;
		g[FD] = g[D] * sbd;
	}
	return v;
}

/* The exponent of 1 / f_cpu at this point. */
static double rough(const double *coef, const struct jetwatt_point *x)
{
	double g[NP];

	eval(coef, x, g);
	return g[L] + g[D] + g[U];
}

/* All parts are proportional to their parameters: slopes by these add up to one. */
void jetwatt_roof_shares(const double *coef, const struct jetwatt_point *x, double *share)
{
	double g[NP];

	eval(coef, x, g);
	share[JETWATT_SHARE_GPU] = g[G];
	share[JETWATT_SHARE_EMC] = g[M];
	share[JETWATT_SHARE_LAUNCH] = g[L];
	share[JETWATT_SHARE_LOADER] = g[D] + g[Q];
	share[JETWATT_SHARE_FIXED] = g[K];
}

const struct jetwatt_form jetwatt_roof = {
	.np = NP, .mu = mu, .sd = spread, .prepare = prepare, .eval = eval, .rough = rough,
	.own = S, .unease = 8,
};
