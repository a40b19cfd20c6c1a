// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parametric mean of the time of a minibatch: a roofline (Pagoda, arXiv 2509.20189, section 3) of
 * the GPU, overlapped with a data loader (POMACS 2022, doi 10.1145/3570604, section 4):
 *
 *	gpu    = norm_a(norm_p(g / f_gpu, m / f_emc), l / f_cpu + k)
 *	loader = d / (softmin(cores, w) f_cpu) c^2 + q / f_emc
 *	c      = 1 + o / cores + u / (cores f_cpu)
 *	t      = s norm_r(gpu, loader)
 *
 * g: arithmetic, m: memory traffic, l: kernel launches, k: constant part, d: CPU work of the
 * loader, q: its memory traffic, w: its number of workers, s: scale.
 *
 * c: the launching thread (o) and the operating system (u) need CPU time too. If cores or cycles
 * are scarce, the loader slows down by more than their share, so c is squared.
 *
 * Each of g, m, l and d is the sum of a fixed part per minibatch and a part that grows with the
 * minibatch size; q grows with the minibatch size only.
 *
 * a: 1 for training, where launches and kernels of a step follow each other, so that their times
 * add up. Inference launches ahead of the GPU, so launches overlap with kernels and a is fitted.
 *
 * norm_p(x, y) = (x^p + y^p)^(1/p) is a smooth maximum: kernels limited by arithmetic and kernels
 * limited by memory alternate within a minibatch, and pipelines overlap partly.
 */
#include "model/form.h"

#include <math.h>
#include <string.h>

enum { S, G, M, L, K, D, Q, W, O, U, P, A, R, FG, FM, FL, FD, NP };

/* Prior medians of the parameters, as natural logarithms. exp(S): milliseconds at the reference
 * point (1 GHz GPU, 2 GHz CPU and EMC, 8 cores, 16 samples). exp(G) to exp(Q): shares of that time.
 * The exponentials of all parameters but S have no unit. */
static const double mu[NP] = {
	[S] = 5.0, [G] = -0.5, [M] = -1.2, [L] = -2.0, [K] = -3.0,
	[D] = -2.0, [Q] = -3.0, [W] = -0.7, [O] = -4.7, [U] = -5.3, [P] = 0.7, [A] = 0.7, [R] = 1.0,
	[FG] = -2.0, [FM] = -1.0, [FL] = 0.0, [FD] = -1.0,
};
static const double sd[NP] = {
	[S] = 4.0, [G] = 1.0, [M] = 1.0, [L] = 1.0, [K] = 1.0,
	[D] = 1.5, [Q] = 1.0, [W] = 0.6, [O] = 1.5, [U] = 1.4, [P] = 0.4, [A] = 0.5, [R] = 0.4,
	[FG] = 1.0, [FM] = 1.0, [FL] = 1.5, [FD] = 2.0,
};

/* Return: log(exp(a) + exp(b)). @sa: set to the share of exp(a) in the sum. */
static double time_log_sum(double a, double b, double *sa)
{
	double d = a - b, e = exp(d < 0 ? d : -d), small = e / (1 + e);

	*sa = d < 0 ? small : 1 - small;
	return (d < 0 ? b : a) + log(1 + e);
}

/* Return: log of the p-norm of exp(a) and exp(b). @sa: set to the derivative with respect to a;
 * @dp: set to the derivative with respect to log p. */
static double time_log_norm(double a, double b, double p, double *sa, double *dp)
{
	double v = time_log_sum(p * a, p * b, sa) / p;

	*dp = *sa * a + (1 - *sa) * b - v;
	return v;
}

static void time_prepare(const double *th, double *coef)
{
	memcpy(coef, th, NP * sizeof(*coef));
	for (int i = O; i < NP; i++)
		coef[i] = exp(th[i]);
}

static double time_eval(const double *th, const struct jetwatt_features *x, double *g)
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
	roof = time_log_norm(bg - x->lg[JETWATT_GPU], bm - x->lg[JETWATT_EMC], th[P], &sg, &dp);
	chain = time_log_sum(bl - lc, th[K], &sl);
	chain = time_log_norm(roof, chain, x->serves ? th[A] : 1, &sk, &da);
	/* The p-norm with p = -4 of cores and workers fits a pool of loader workers that share the
	 * cores fairly. */
	cores = -time_log_norm(-x->lg[JETWATT_CORES], -th[W], 4, &sw, &dw);
	loader = time_log_sum(bd - cores - lc + 2 * log1p(busy + os), bq - x->lg[JETWATT_EMC], &sd);
	v = time_log_norm(chain, loader, th[R], &sr, &dr) + th[S];
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

/* Return: the exponent of 1 / f_cpu in the time of a minibatch at point @x. */
static double time_cpu_sensitivity(const double *coef, const struct jetwatt_features *x)
{
	double g[NP];

	time_eval(coef, x, g);
	return g[L] + g[D] + g[U];
}

/* Each part of the time is proportional to its parameter, so the derivatives of log time with
 * respect to the log parameters add up to 1. */
void jetwatt_time_form_shares(const double *coef, const struct jetwatt_features *x, double *share)
{
	double g[NP];

	time_eval(coef, x, g);
	share[JETWATT_SHARE_GPU] = g[G];
	share[JETWATT_SHARE_EMC] = g[M];
	share[JETWATT_SHARE_LAUNCH] = g[L];
	share[JETWATT_SHARE_LOADER] = g[D] + g[Q];
	share[JETWATT_SHARE_FIXED] = g[K];
}

const struct jetwatt_form jetwatt_time_form = {
	.np = NP,
	.mu = mu,
	.sd = sd,
	.prepare = time_prepare,
	.eval = time_eval,
	.cpu_sensitivity = time_cpu_sensitivity,
	.own = S,
	.growth_prior = 8,
};
