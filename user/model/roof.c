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

enum { S, G, M, L, K, D, Q, W, P, R, NP };

/* Shares of the time at 1 GHz GPU, 2 GHz CPU and EMC, 8 cores. */
static const double mu[NP] = {
	[S] = 5.0, [G] = -0.5, [M] = -1.2, [L] = -2.0, [K] = -3.0,
	[D] = -2.0, [Q] = -3.0, [W] = -0.7, [P] = 0.7, [R] = 1.0,
};
static const double sd[NP] = {
	[S] = 4.0, [G] = 1.0, [M] = 1.0, [L] = 1.0, [K] = 1.0,
	[D] = 1.5, [Q] = 1.0, [W] = 0.6, [P] = 0.4, [R] = 0.4,
};

/* log(sum(exp(a))) with the shares of each; -inf free as the inputs are finite. */
static double lse(const double *a, int n, double *share)
{
	double top = a[0], sum = 0;

	for (int i = 1; i < n; i++)
		top = a[i] > top ? a[i] : top;
	for (int i = 0; i < n; i++)
		sum += share[i] = a[i] == top ? 1 : exp(a[i] - top);
	for (int i = 0; i < n; i++)
		share[i] /= sum;
	return top + log(sum);
}

/* Logarithm of the p-norm of exp(a), exp(b); @sa: share of a, @dp: by log p. */
static double norm(double a, double b, double p, double *sa, double *dp)
{
	double in[2] = { p * a, p * b }, sh[2], v = lse(in, 2, sh) / p;

	*sa = sh[0];
	*dp = sh[0] * a + sh[1] * b - v;
	return v;
}

static double eval(const double *th, const struct jetwatt_point *x, double *g)
{
	double lc = x->lg[JETWATT_CPU], sg, dp, sw, dw, sr, dr, in[3], gpu[3], load[2];
	double roof, chain, cores, loader, v;

	roof = norm(th[G] - x->lg[JETWATT_GPU], th[M] - x->lg[JETWATT_EMC], exp(th[P]), &sg, &dp);
	in[0] = roof;
	in[1] = th[L] - lc;
	in[2] = th[K];
	chain = lse(in, 3, gpu);
	/* 4: as sharp as a pool of workers that share their cores fairly. */
	cores = -norm(-x->lg[JETWATT_CORES], -th[W], 4, &sw, &dw);
	in[0] = th[D] - cores - lc;
	in[1] = th[Q] - x->lg[JETWATT_EMC];
	loader = lse(in, 2, load);
	v = norm(chain, loader, exp(th[R]), &sr, &dr) + th[S];
	if (g) {
		g[S] = 1;
		g[G] = sr * gpu[0] * sg;
		g[M] = sr * gpu[0] * (1 - sg);
		g[P] = sr * gpu[0] * dp;
		g[L] = sr * gpu[1];
		g[K] = sr * gpu[2];
		g[D] = (1 - sr) * load[0];
		g[Q] = (1 - sr) * load[1];
		g[W] = -g[D] * (1 - sw);
		g[R] = dr;
	}
	return v;
}

const struct jetwatt_form jetwatt_roof = { .np = NP, .mu = mu, .sd = sd, .eval = eval };
