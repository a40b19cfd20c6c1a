// SPDX-License-Identifier: GPL-2.0-only
/* Explanations of a mode, for simulated jobs with one known bottleneck. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/form.h"
#include "plan/explain.h"
#include "search_run.h"

#define MODES	144
#define SEEN	28

struct job {
	double gpu, emc, cpu;
	struct jetwatt_mode mode[MODES];
	struct jetwatt_prediction p[MODES];
	struct jetwatt_fitted *m;
	struct jetwatt_explain e;
	struct jetwatt_estimator by;
};

static double time_ms(const struct job *j, const struct jetwatt_mode *m)
{
	/* The simulated job has a data loader with one worker per core. */
	return 2 + j->gpu * 1e9 / m->gpu_hz + j->emc * 2e9 / m->emc_hz +
	       j->cpu * 8e6 / m->cpu_khz / m->cores;
}

static double power_w(const struct jetwatt_mode *m)
{
	double f = m->gpu_hz * 1e-9;

	return 8 + 9 * f * f * f + m->cores * m->cpu_khz * 2e-7 + m->emc_hz * 1e-9;
}

/* Fit a model to a quarter of the modes, and explain the mode with 8 cores, CPU clock 1.4 GHz, GPU
 * clock 0.7 GHz and the highest EMC clock. */
static int explain(struct job *j)
{
	struct jetwatt_row row[SEEN];
	size_t n = 0, at = 0, seen = 0;
	int err;

	for (unsigned int c = 4; c <= 12; c += 4)
		for (unsigned int f = 8; f <= 20; f += 6)
			for (unsigned int g = 3; g <= 13; g += 2)
				for (unsigned int e = 1; e <= 2 && n < MODES; e++)
					j->mode[n++] = (struct jetwatt_mode){ c, f * 100000, g * 100000000u,
									      e * 1600000000u };
	for (size_t i = 1; i < n && seen < SEEN; i += 4, seen++)
		row[seen] = (struct jetwatt_row){ j->mode[i], time_ms(j, &j->mode[i]),
						  power_w(&j->mode[i]), 0.005, 0.005, 0 };
	for (size_t i = 0; i < n; i++)
		if (j->mode[i].cores == 8 && j->mode[i].cpu_khz == 1400000 &&
		    j->mode[i].gpu_hz == 700000000 && j->mode[i].emc_hz == 3200000000u)
			at = i;
	err = jetwatt_estimator_fit(&j->m, &j->by, row, seen, 0, 1);
	if (!err)
		err = jetwatt_fitted_predict(j->m, j->mode, NULL, n, j->p);
	if (!err)
		err = jetwatt_explain(j->m, j->mode, j->p, n, at, &j->e);
	jetwatt_fitted_free(j->m);
	return err;
}

static double sum(const struct jetwatt_explain *e)
{
	double s = 0;

	for (int i = 0; i < JETWATT_SHARES; i++)
		s += e->share[i];
	return s;
}

static const struct jetwatt_explain_step *step(const struct jetwatt_explain *e, enum jetwatt_knob k,
					       int up)
{
	for (int i = 0; i < e->steps; i++)
		if (e->step[i].knob == k && e->step[i].up == up)
			return &e->step[i];
	return NULL;
}

TEST(gpu_is_the_bottleneck)
{
	struct job j = { .gpu = 80, .emc = 5, .cpu = 5 };

	ASSERT_EQ(0, explain(&j));
	EXPECT_EQ(JETWATT_SHARE_GPU, j.e.binds);
	EXPECT_GT(j.e.share[JETWATT_SHARE_GPU], 0.7);
	EXPECT_LT(fabs(sum(&j.e) - 1), 1e-9);
}

TEST(memory_is_the_bottleneck)
{
	struct job j = { .gpu = 3, .emc = 120, .cpu = 3 };

	ASSERT_EQ(0, explain(&j));
	EXPECT_EQ(JETWATT_SHARE_EMC, j.e.binds);
	EXPECT_GT(j.e.share[JETWATT_SHARE_EMC], 0.7);
	EXPECT_LT(fabs(sum(&j.e) - 1), 1e-9);
}

TEST(data_loader_is_the_bottleneck)
{
	struct job j = { .gpu = 3, .emc = 3, .cpu = 200 };

	ASSERT_EQ(0, explain(&j));
	EXPECT_EQ(JETWATT_SHARE_LOADER, j.e.binds);
	EXPECT_GT(j.e.share[JETWATT_SHARE_LOADER], 0.7);
}

/* The explanation states the effect of one level up and one level down of each of the four knobs;
 * the memory clock (EMC) is at its highest level, so seven effects remain. Each predicted change
 * must equal the true one within the error of a model fitted to a quarter of the modes. */
TEST(effect_of_one_level_up_and_down)
{
	struct job j = { .gpu = 40, .emc = 30, .cpu = 30 };

	ASSERT_EQ(0, explain(&j));
	EXPECT_EQ(7, j.e.steps);
	EXPECT_EQ(NULL, step(&j.e, JETWATT_KNOB_EMC, 1));
	ASSERT_NE(NULL, step(&j.e, JETWATT_KNOB_GPU, 1));
	EXPECT_EQ(900000000, j.mode[step(&j.e, JETWATT_KNOB_GPU, 1)->index].gpu_hz);
	EXPECT_EQ(500000000, j.mode[step(&j.e, JETWATT_KNOB_GPU, 0)->index].gpu_hz);
	EXPECT_EQ(12, j.mode[step(&j.e, JETWATT_KNOB_CORES, 1)->index].cores);
	for (int i = 0; i < j.e.steps; i++) {
		struct jetwatt_mode here = { 8, 1400000, 700000000, 3200000000u };
		const struct jetwatt_mode *there = &j.mode[j.e.step[i].index];
		double is = time_ms(&j, there) / time_ms(&j, &here) - 1;

		EXPECT_EQ(1, (there->cores != here.cores) + (there->cpu_khz != here.cpu_khz) +
			     (there->gpu_hz != here.gpu_hz) + (there->emc_hz != here.emc_hz));
		EXPECT_LT(fabs(j.e.step[i].time - is), 0.03);
		EXPECT_LT(fabs(j.e.step[i].power_w - power_w(there) + power_w(&here)),
			  0.05 * power_w(&here));
	}
}

/* For any parameters of the time model, the shares of the parts of the time add up to 1. */
TEST(shares_add_up)
{
	double th[JETWATT_PARAMS_MAX], coef[JETWATT_PARAMS_MAX], share[JETWATT_SHARES];
	uint64_t s = 5;

	for (int round = 0; round < 200; round++) {
		struct jetwatt_mode m = { 1 + search_uniform(&s) * 12, 115200 + search_uniform(&s) * 2e6,
					  1e8 + search_uniform(&s) * 1.2e9, 2e8 + search_uniform(&s) * 3e9 };
		struct jetwatt_features x;
		double all = 0;

		jetwatt_features_of(&x, &m);
		for (int k = 0; k < jetwatt_time_form.np; k++)
			th[k] = jetwatt_time_form.mu[k] + jetwatt_time_form.sd[k] * search_normal(&s);
		jetwatt_time_form.prepare(th, coef);
		jetwatt_time_form_shares(coef, &x, share);
		for (int i = 0; i < JETWATT_SHARES; i++) {
			EXPECT_GE(share[i], 0);
			all += share[i];
		}
		EXPECT_LT(fabs(all - 1), 1e-9);
	}
}

TEST_HARNESS_MAIN
