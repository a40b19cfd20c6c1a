// SPDX-License-Identifier: GPL-2.0-only
/* Reference profiles, and batch sizes as a feature: they must improve predictions, or at least do
 * no harm. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/model.h"
#include "synth.h"

#define FEW	5

/* Create the rows of two workloads on one board; the second workload has other amounts of the same
 * kinds of work. */
static long two_on_a_board(uint64_t seed, struct jetwatt_row **first, struct jetwatt_row **second)
{
	struct synth w;
	long n;

	synth_make(&w, seed, SYNTH_NANO);
	n = synth_rows(&w, first, 0, seed);
	for (int k = 0; k < SYNTH_KERNELS; k++) {
		w.flop[k] *= k % 2 ? 2 : 1.2;
		w.bytes[k] *= k % 2 ? 1.1 : 1.7;
	}
	return n < 0 ? n : synth_rows(&w, second, 0, seed);
}

/* Fit a reference profile to about sixty rows spread over the grid; more rows would only make the
 * test slower. */
static struct jetwatt_prior *learnt(struct jetwatt_row *row, long n)
{
	struct jetwatt_prior *p;
	long step = n / 60;

	for (long i = 0; i < n / step; i++)
		row[i] = row[i * step + i * 7 % step];
	return jetwatt_prior_learn(&p, &(struct jetwatt_reference){ row, n / step }, 1, 1) ? NULL : p;
}

static double power_error(const struct jetwatt_row *row, long n, const struct jetwatt_prior *prior)
{
	struct jetwatt_row few[FEW];
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double sum = 0;

	for (int i = 0; i < FEW; i++)
		few[i] = row[(2 * i + 1) * n / (2 * FEW) + 7 * i];
	if (jetwatt_model_fit_prior(&m, few, FEW, prior, 1))
		return NAN;
	for (long i = 0; i < n; i++) {
		if (jetwatt_model_predict(m, &row[i].mode, 1, &p))
			return NAN;
		sum += fabs(p.power_w / row[i].power_w - 1) / n;
	}
	jetwatt_model_free(m);
	return sum;
}

TEST(a_reference_helps_or_does_no_harm)
{
	double none = 0, same = 0, other = 0;

	for (uint64_t seed = 401; seed < 407; seed++) {
		struct jetwatt_row *a, *b, *c;
		long n = two_on_a_board(seed, &a, &b), k;
		struct jetwatt_prior *near, *far;
		struct synth w;

		ASSERT_LT(0, n);
		synth_make(&w, seed + 100, SYNTH_ORIN);
		k = synth_rows(&w, &c, 0, seed);
		ASSERT_LT(0, k);
		near = learnt(a, n);
		far = learnt(c, k);
		ASSERT_TRUE(near && far);
		none += power_error(b, n, NULL) / 6;
		same += power_error(b, n, near) / 6;
		other += power_error(b, n, far) / 6;
		jetwatt_prior_free(near);
		jetwatt_prior_free(far);
		free(a);
		free(b);
		free(c);
	}
	TH_LOG("power error, %d modes: alone %.1f %%, with same board %.1f %%, other board %.1f %%",
	       FEW, 100 * none, 100 * same, 100 * other);
	EXPECT_LT(same, 0.95 * none);
	EXPECT_LT(other, 1.1 * none);
}

TEST(invalid_references_are_refused)
{
	struct jetwatt_row row = { { 4, 1000000, 500000000, 2133000000 }, NAN, 20, 0, 0, 0 };
	struct jetwatt_prior *p;

	EXPECT_EQ(-ENODATA, jetwatt_prior_learn(&p, NULL, 0, 1));
	EXPECT_EQ(-ENODATA, jetwatt_prior_learn(&p, &(struct jetwatt_reference){ &row, 0 }, 1, 1));
	EXPECT_EQ(-EINVAL, jetwatt_prior_learn(&p, &(struct jetwatt_reference){ &row, 1 }, 1, 1));
	EXPECT_EQ(NULL, p);
}

/* Return a row whose time is the maximum of launches per minibatch, and of work and bytes per
 * item. No parametric mean of the model is a maximum of several terms, so the model cannot fit
 * these rows exactly. */
static struct jetwatt_row served(uint64_t *s)
{
	static const uint32_t size[] = { 1, 4, 16, 32, 64 };
	uint32_t b = size[(int)(search_uniform(s) * 5)];
	double fc = 0.4 + 0.25 * (int)(search_uniform(s) * 8);
	double fg = 0.2 + 0.15 * (int)(search_uniform(s) * 8);
	double fe = search_uniform(s) < 0.5 ? 0.665 : 3.199;
	double t = fmax(20 / fc, b * fmax(1.2 / fg, 1.5 / fe)) + 1;

	return (struct jetwatt_row){
		.mode = { 4, fc * 1e6, fg * 1e9, fe * 1e9 }, .batch = b, .time_ms = t,
		.power_w = 8 + fg + 10 * fg * fg * fg * (b * 1.2 / fg / t) + 2 * fc + fe / 2,
	};
}

TEST(batch_size_is_a_feature)
{
	struct jetwatt_row row[60], r;
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double time = 0, power = 0;
	uint64_t s = 11;

	for (int i = 0; i < 60; i++)
		row[i] = served(&s);
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 60, 1));
	for (int i = 0; i < 300; i++) {
		r = served(&s);
		ASSERT_EQ(0, jetwatt_model_predict_batch(m, &r.mode, &r.batch, 1, &p));
		time += fabs(p.time_ms / r.time_ms - 1) / 300;
		power += fabs(p.power_w / r.power_w - 1) / 300;
	}
	TH_LOG("time %.1f %%, power %.1f %%", 100 * time, 100 * power);
	EXPECT_LT(time, 0.06);
	EXPECT_LT(power, 0.05);
	jetwatt_model_free(m);
}

TEST_HARNESS_MAIN
