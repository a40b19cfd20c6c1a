// SPDX-License-Identifier: GPL-2.0-only
/* The parametric mean functions of time and power: their gradients, compared with finite
 * differences, and their physical plausibility. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/form.h"
#include "search_run.h"

static struct jetwatt_features random_point(uint64_t *s)
{
	struct jetwatt_mode m = {
		.cores = 1 + search_uniform(s) * 12,
		.cpu_khz = 115200 + search_uniform(s) * 2e6,
		.gpu_hz = 1e8 + search_uniform(s) * 1.2e9,
		.emc_hz = 2e8 + search_uniform(s) * 3e9,
	};
	struct jetwatt_features x;

	jetwatt_features_of(&x, &m);
	jetwatt_features_batch(&x, 1 + search_uniform(s) * 64);
	x.rate = exp(search_normal(s));
	return x;
}

static double at(const struct jetwatt_form *f, const double *th, const struct jetwatt_features *x,
		 double *g)
{
	double coef[JETWATT_PARAMS_MAX];

	f->prepare(th, coef);
	return f->eval(coef, x, g);
}

static double worst_gradient(const struct jetwatt_form *f)
{
	double worst = 0, th[JETWATT_PARAMS_MAX], g[JETWATT_PARAMS_MAX];
	uint64_t s = 1;

	for (int round = 0; round < 200; round++) {
		struct jetwatt_features x = random_point(&s);

		for (int k = 0; k < f->np; k++)
			th[k] = f->mu[k] + f->sd[k] * search_normal(&s);
		at(f, th, &x, g);
		for (int k = 0; k < f->np; k++) {
			double was = th[k], h = 1e-5, up, down;

			th[k] = was + h;
			up = at(f, th, &x, NULL);
			th[k] = was - h;
			down = at(f, th, &x, NULL);
			th[k] = was;
			worst = fmax(worst, fabs((up - down) / (2 * h) - g[k]));
		}
	}
	return worst;
}

TEST(gradients_of_time_match_differences)
{
	EXPECT_LT(worst_gradient(&jetwatt_time_form), 1e-6);
}

TEST(gradients_of_power_match_differences)
{
	EXPECT_LT(worst_gradient(&jetwatt_power_form), 1e-6);
}

/* A higher level of any knob never increases the time, and at equal minibatches per second
 * never lowers the power. */
TEST(time_and_power_are_monotone_in_every_knob)
{
	const struct jetwatt_form *f[] = { &jetwatt_time_form, &jetwatt_power_form };
	double th[JETWATT_PARAMS_MAX];
	uint64_t s = 2;

	for (int round = 0; round < 400; round++) {
		int which = round % 2;
		struct jetwatt_features x = random_point(&s), y = x;
		int d = search_uniform(&s) * JETWATT_DIMS;
		double a, b;

		for (int k = 0; k < f[which]->np; k++)
			th[k] = f[which]->mu[k] + f[which]->sd[k] * search_normal(&s);
		y.v[d] *= 1.3;
		y.lg[d] = log(y.v[d]);
		a = at(f[which], th, &x, NULL);
		b = at(f[which], th, &y, NULL);
		EXPECT_LE(which ? a : b, (which ? b : a) + 1e-12);
	}
}

TEST(feature_vector_refuses_a_zero_knob)
{
	struct jetwatt_mode m = { 4, 1000000, 0, 2133000000 };
	struct jetwatt_features x;

	EXPECT_EQ(-EINVAL, jetwatt_features_of(&x, &m));
}

TEST_HARNESS_MAIN
