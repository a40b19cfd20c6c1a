// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parametric mean of the module's power, a sum of non-negative terms: a constant base, a constant for
 * each core, the dynamic power of each clock (proportional to f; for CPU and GPU also to f^3, because
 * their voltage grows with f), and the energy of a minibatch times the rate of minibatches. Because
 * of the rate, the predicted power of a board that waits for memory is lower than that of one that
 * computes at the same clocks. The energy of a minibatch depends on the minibatch size in the same
 * way as the work in time_form.c.
 */
#include "model/form.h"

#include <math.h>

enum { S, BASE, CORE, GPU, GPU3, WORK, WORK2, CPU, CPU3, LOAD, EMC, BYTES, FW, FL, FB, NP };

/* Prior medians of the parameters, as natural logarithms. exp(S): scale of the power, W. exp(FW),
 * exp(FL), exp(FB): work per minibatch that does not depend on its size. exp() of all other parameters:
 * parts of the power at the reference point (1 GHz GPU, 2 GHz CPU and EMC, 8 cores), in units of exp(S). */
static const double mu[NP] = {
	[S] = 3.3, [BASE] = -1.2, [CORE] = -4.0, [GPU] = -3.0, [GPU3] = -3.0, [WORK] = -2.5,
	[WORK2] = -2.5, [CPU] = -3.0, [CPU3] = -3.0, [LOAD] = -3.0, [EMC] = -3.0, [BYTES] = -2.5,
	[FW] = -2.0, [FL] = -1.0, [FB] = -1.0,
};
static const double sd[NP] = {
	[S] = 1.0, [BASE] = 0.6, [CORE] = 1.0, [GPU] = 1.0, [GPU3] = 1.0, [WORK] = 1.0,
	[WORK2] = 1.0, [CPU] = 1.0, [CPU3] = 1.0, [LOAD] = 1.0, [EMC] = 1.0, [BYTES] = 1.0,
	[FW] = 1.0, [FL] = 1.0, [FB] = 1.0,
};

static void power_prepare(const double *th, double *coef)
{
	coef[S] = th[S];
	for (int i = BASE; i < NP; i++)
		coef[i] = exp(th[i]);
}

static double power_eval(const double *coef, const struct jetwatt_features *x, double *g)
{
	double c = x->v[JETWATT_CORES], fc = x->v[JETWATT_CPU], fg = x->v[JETWATT_GPU];
	double fe = x->v[JETWATT_EMC], r = x->rate, t[NP], sum = 0, sw, sl, sb;
	double work = r * exp(jetwatt_form_work(coef[FW], x, &sw));
	double load = r * exp(jetwatt_form_work(coef[FL], x, &sl));
	double bytes = r * exp(jetwatt_form_work(coef[FB], x, &sb));

	t[S] = 0;
	t[BASE] = 1;
	t[CORE] = c;
	t[GPU] = fg;
	t[GPU3] = fg * fg * fg;
	t[WORK] = work;
	t[WORK2] = work * fg * fg;
	t[CPU] = c * fc;
	t[CPU3] = c * fc * fc * fc;
	t[LOAD] = load * fc * fc;
	t[EMC] = fe;
	t[BYTES] = bytes * fe;
	for (int i = BASE; i <= BYTES; i++)
		sum += t[i] *= coef[i];
	if (g) {
		for (int i = BASE; i <= BYTES; i++)
			g[i] = t[i] / sum;
		g[FW] = (g[WORK] + g[WORK2]) * sw;
		g[FL] = g[LOAD] * sl;
		g[FB] = g[BYTES] * sb;
		g[S] = 1;
	}
	return log(sum) + coef[S];
}

const struct jetwatt_form jetwatt_power_form = {
	.np = NP,
	.mu = mu,
	.sd = sd,
	.prepare = power_prepare,
	.eval = power_eval,
	.own = -1,
	.of_board = 1 << S | 1 << BASE | 1 << CORE | 1 << GPU | 1 << GPU3 | 1 << CPU | 1 << CPU3 | 1 << EMC,
	.growth_prior = 1,
};
